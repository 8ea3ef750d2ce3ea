//! Which caller gets a process of a server, and which process ends when there are too many.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use proto::{Blame, Code, TenantId};
use runs::RunOf;
use serde_json::json;
use server_entry::{Instances, ServerConfig};
use strip::{AskMode, Job, Request};
use upstream::Timing;

use crate::bridging::{Caller, by};
use crate::python::{alive, needle, server};
use crate::support::{MANY, Setup, TIMEOUT, call_by, quick, text, within};

/// The processes that a server has at most, and those of one caller.
const MOST: usize = 64;
const OF_ONE: usize = 16;

fn call_of(tenant: &str, subject: &str, tool: &str) -> Request {
    let mut call = call_by(subject, tool, json!({}));
    let mut principal = (*call.principal).clone();
    principal.tenant = TenantId::new(tenant);
    call.principal = Arc::new(principal);
    call
}

/// A call of a client whose capabilities are different for each number.
fn varied(subject: &str, tool: &str, number: usize) -> Request {
    // Only capabilities of the protocol count; each of these is present or absent.
    let bit = |n: usize| number >> n & 1 == 1;
    let capabilities = json!({
        "elicitation": {"form": bit(0), "url": bit(1)},
        "sampling": {"context": bit(2), "tools": bit(3)},
        "roots": {"listChanged": bit(4)},
    });
    by(subject, tool, &Arc::new(Caller::new(AskMode::Direct, capabilities)))
}

#[tokio::test]
async fn more_callers_than_processes_are_served_and_the_longest_idle_process_ends() {
    let needle = needle();
    let setup = Setup::with(vec![("py", server(&[&needle]))]).await;
    setup.wait_for_tool("py:count").await;
    let count = async |subject: &str| {
        text(&setup.run(call_by(subject, "py:count", json!({}))).await.unwrap())
    };
    assert_eq!(count("first").await, "1");
    assert_eq!(count("second").await, "1");
    for n in 0..MOST {
        assert_eq!(count(&format!("person-{n}")).await, "1", "person {n} is served");
        // In use again and again, so that it is never the longest idle one.
        assert_eq!(count("first").await, (n + 2).to_string());
        assert!(alive(&needle).len() <= MOST, "{}", alive(&needle).len());
    }
    assert_eq!(count("second").await, "1", "idle for longest, it had to go");
}

#[tokio::test]
async fn one_caller_cannot_take_all_processes_by_varying_its_capabilities() {
    let timing = Timing { start: MANY, ..quick() };
    let setup = Setup::timed(vec![("py", server(&[]))], timing, Default::default()).await;
    setup.wait_for_tool("py:never").await;
    let calls: Vec<Job> = (0..OF_ONE).map(|n| Job::new(varied("greedy", "py:never", n))).collect();
    let cancels: Vec<_> = calls.iter().map(|call| call.cancel().clone()).collect();
    let tool = Arc::clone(&setup.catalog.snapshot().resolve("py:never").unwrap().tool);
    let waiting = join_all(calls.iter().map(|call| tool.run(call)));
    let others = async {
        // Each of them is started, and the one that the gateway listens to.
        within(MANY, "they are busy", || setup.status("py").sessions == OF_ONE + 1).await;
        let failure = setup.run(varied("greedy", "py:echo", OF_ONE)).await.unwrap_err();
        assert_eq!((failure.code, failure.blame), (Code::Unavailable, Blame::Caller));
        assert_eq!((failure.retryable, failure.retry_after), (true, Some(Duration::from_secs(1))));
        assert!(failure.message.contains("`py`"), "{}", failure.message);
        let served = setup.run(call_of("acme", "ann", "py:count")).await.unwrap();
        assert_eq!(text(&served), "1", "there is room for others");
        cancels[3].cancel();
        // The call that was cancelled ends when it is polled next.
        let served = async {
            loop {
                match setup.run(varied("greedy", "py:count", OF_ONE)).await {
                    Err(failure) if failure.blame == Blame::Caller => {
                        tokio::task::yield_now().await
                    }
                    served => return served,
                }
            }
        };
        let served = tokio::time::timeout(TIMEOUT, served).await.expect("room for one more");
        assert_eq!(text(&served.unwrap()), "1", "their own idle one made room");
        assert_eq!(setup.status("py").sessions, OF_ONE + 2);
        cancels.iter().for_each(|cancel| cancel.cancel());
    };
    let (outcomes, ()) = tokio::join!(waiting, others);
    for outcome in outcomes {
        assert_eq!(outcome.unwrap_err().message, "the caller cancelled the call");
    }
}

#[tokio::test]
async fn a_busy_tenant_leaves_processes_for_a_new_one() {
    // Many programs begin at once, on a busy machine too.
    let timing = Timing { start: MANY, ..quick() };
    let setup = Setup::timed(vec![("py", server(&[]))], timing, Default::default()).await;
    setup.wait_for_tool("py:never").await;
    let hogs: Vec<Job> =
        (0..MOST).map(|n| Job::new(call_of("hog", &format!("hog-{n}"), "py:never"))).collect();
    let cancels: Vec<_> = hogs.iter().map(|call| call.cancel().clone()).collect();
    let tool = Arc::clone(&setup.catalog.snapshot().resolve("py:never").unwrap().tool);
    let waiting = join_all(hogs.iter().map(|call| tool.run(call)));
    let others = async {
        within(MANY, "they are busy", || setup.status("py").sessions == 56).await;
        for tenant in ["acme", "globex"] {
            let served = setup.run(call_of(tenant, "ann", "py:count")).await.unwrap();
            assert_eq!(text(&served), "1", "{tenant}");
        }
        cancels.iter().for_each(|cancel| cancel.cancel());
    };
    let (outcomes, ()) = tokio::join!(waiting, others);
    let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    let refused: Vec<_> = refused.filter(|failure| failure.retry_after.is_some()).collect();
    assert_eq!(refused.len(), 9, "in addition to 55 that wait");
    for failure in refused {
        assert_eq!((failure.code, failure.retryable), (Code::Unavailable, true));
    }
}

#[tokio::test]
async fn each_session_has_a_process_where_the_operator_wants_it() {
    let config = ServerConfig { instances: Some(Instances::Session), ..server(&[]) };
    let setup = Setup::with(vec![("py", config)]).await;
    setup.wait_for_tool("py:count").await;
    let count = async |subject: &str, run: RunOf| {
        let mut call = call_by(subject, "py:count", json!({}));
        call.run = run;
        text(&setup.run(call).await.unwrap())
    };
    let session = |id: &str| RunOf::Session(id.into());
    assert_eq!(count("ann", session("a")).await, "1");
    assert_eq!(count("ann", session("a")).await, "2");
    assert_eq!(count("ann", session("b")).await, "1", "another session");
    assert_eq!(count("ann", RunOf::Named("b2".into())).await, "1", "a run that is named");
    assert_eq!(count("bob", session("a")).await, "1", "the same session name of another caller");
    assert_eq!(count("ann", RunOf::Alone).await, "1", "without a session");
    assert_eq!(count("ann", RunOf::Current).await, "2", "there is one more for all of these");
    assert_eq!(count("ann", session("a")).await, "3");
}
