//! Servers that are child processes.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use operations::servers::ServerState;
use proto::Code;
use serde_json::{Value, json};
use server_entry::{Instances, ServerConfig};
use upstream::{Era, Timing};

use crate::python::{alive, lazy, needle, server};
use crate::support::{Setup, call_by, eventually, quick, text};

#[tokio::test]
async fn both_eras_are_detected() {
    for (options, era) in [
        (&["era=legacy"][..], Era::Legacy),
        (&["era=modern"], Era::Modern),
        (&["era=both"], Era::Modern),
        // It does not answer unknown methods.
        (&["era=deaf"], Era::Legacy),
        // It exits at an unknown method.
        (&["era=frail"], Era::Legacy),
        // It answers the probe after the timeout.
        (&["era=slow-modern", "probe=0.8"], Era::Modern),
    ] {
        let setup = Setup::with(vec![("py", server(options))]).await;
        setup.wait_for_tool("py:echo").await;
        assert_eq!(setup.text("py:echo", json!({"a": 1})).await, r#"{"a": 1}"#, "{options:?}");
        let status = setup.status("py");
        assert_eq!((status.state, status.era), (ServerState::Ready, Some(era)), "{options:?}");
        assert_eq!(status.transport, "stdio");
        setup.upstreams.stop().await;
    }
}

#[tokio::test]
async fn answers_find_their_callers_whatever_their_order() {
    let setup = Setup::with(vec![("py", server(&[]))]).await;
    setup.wait_for_tool("py:sleep").await;
    let calls = (0..200u64).map(|n| {
        let seconds = (n % 7) as f64 / 100.0;
        let setup = &setup;
        async move {
            let output = setup.call("py:sleep", json!({"n": n, "seconds": seconds})).await.unwrap();
            let said: Value = serde_json::from_str(&text(&output)).unwrap();
            assert_eq!(said["n"], n);
        }
    });
    join_all(calls).await;
    assert_eq!(setup.status("py").odd_messages, 0);
}

#[tokio::test]
async fn unexpected_messages_are_ignored_and_counted() {
    let setup = Setup::with(vec![("py", server(&[]))]).await;
    setup.wait_for_tool("py:twice").await;
    assert_eq!(setup.text("py:twice", json!({})).await, "first");
    assert_eq!(setup.text("py:wrong_id", json!({"then_right": true})).await, "right");
    assert_eq!(setup.text("py:noise", json!({})).await, "after noise");
    // The second answer, three wrong ids, and two lines of noise.
    eventually("all are counted", || setup.status("py").odd_messages == 6).await;
    assert_eq!(setup.status("py").restarts, 0);
}

#[tokio::test]
async fn a_broken_message_fails_its_own_call_and_no_other() {
    let setup = Setup::with(vec![("py", server(&[]))]).await;
    setup.wait_for_tool("py:garbage").await;
    let (slow, broken) = tokio::join!(
        setup.call("py:sleep", json!({"seconds": 0.3})),
        setup.call("py:garbage", json!({})),
    );
    assert!(slow.is_ok());
    let failure = broken.unwrap_err();
    assert_eq!(failure.code, Code::Internal);
    assert!(failure.message.contains("`py`"), "{}", failure.message);
    assert_eq!(setup.status("py").restarts, 0);
}

#[tokio::test]
async fn a_line_without_end_breaks_the_server_and_it_comes_back() {
    let setup = Setup::with(vec![("py", server(&[]))]).await;
    setup.wait_for_tool("py:huge").await;
    assert!(setup.call("py:huge", json!({"mb": 7})).await.is_ok());
    let failure = setup.call("py:huge", json!({"mb": 100})).await.unwrap_err();
    assert_eq!(failure.code, Code::Internal);
    assert!(failure.message.contains("`py`") && failure.message.contains("8388608"));
    eventually("it is back", || setup.status("py").restarts == 1).await;
    setup.wait_for_state("py", ServerState::Ready).await;
    assert_eq!(setup.text("py:echo", json!({})).await, "{}");
}

#[tokio::test]
async fn a_crash_is_reported_and_the_process_restarted() {
    let setup = Setup::with(vec![("py", server(&[]))]).await;
    setup.wait_for_tool("py:crash").await;
    for (tool, code) in [("py:crash", "exit code 3"), ("py:half", "exit code 0")] {
        let failure = setup.call(tool, json!({})).await.unwrap_err();
        assert_eq!((failure.code, failure.retryable), (Code::Unavailable, true), "{tool}");
        assert!(failure.message.contains("`py`"), "{}", failure.message);
        let cause = failure.source.unwrap().to_string();
        assert!(cause.contains(code), "{cause}");
        setup.wait_for_state("py", ServerState::Ready).await;
        assert_eq!(setup.text("py:echo", json!({})).await, "{}");
    }
    assert!(setup.status("py").last_error.is_some());
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    for era in ["era=legacy", "era=modern"] {
        let setup = Setup::with(vec![("py", server(&[era]))]).await;
        setup.wait_for_tool("py:never").await;
        let call = call_by("local", "py:never", json!({}));
        let cancel = call.cancel.clone();
        let cancelling = async {
            // The next answer comes after the call was written.
            setup.text("py:echo", json!({})).await;
            cancel.cancel();
        };
        let (outcome, ()) = tokio::join!(setup.run(call), cancelling);
        assert_eq!(outcome.unwrap_err().code, Code::Unavailable);
        let cancelled: Vec<u64> =
            serde_json::from_str(&setup.text("py:cancelled", json!({})).await).unwrap();
        assert_eq!(cancelled.len(), 1, "{era}");
        setup.upstreams.stop().await;
    }
}

#[tokio::test]
async fn questions_are_answered_as_far_as_they_can_be() {
    let setup = Setup::with(vec![("py", server(&[]))]).await;
    setup.wait_for_tool("py:ask").await;
    assert_eq!(setup.text("py:ask", json!({"method": "ping"})).await, "{}");
    for method in ["elicitation/create", "sampling/createMessage", "roots/list"] {
        let said: Value =
            serde_json::from_str(&setup.text("py:ask", json!({"method": method})).await).unwrap();
        assert_eq!(said["code"], -32601, "{method}");
    }
}

#[tokio::test]
async fn a_call_that_needs_an_answer_of_the_caller_is_unsupported() {
    // The server lists `hidden` and knows it only for other clients.
    let setup = Setup::with(vec![("py", server(&["tools=insist,hidden"]))]).await;
    setup.wait_for_tool("py:insist").await;
    for (tool, words) in [("py:insist", "no name: "), ("py:hidden", "unknown tool: hidden")] {
        let failure = setup.call(tool, json!({})).await.unwrap_err();
        assert_eq!(failure.code, Code::Unsupported, "{tool}: {}", failure.message);
        assert!(failure.message.contains(words), "{}", failure.message);
        assert!(failure.message.contains("elicitation"), "{}", failure.message);
    }
}

#[tokio::test]
async fn a_change_of_the_list_is_noticed_in_both_eras() {
    for era in ["era=legacy", "era=modern"] {
        let setup = Setup::with(vec![("py", server(&[era]))]).await;
        setup.wait_for_tool("py:add").await;
        assert_eq!(setup.text("py:add", json!({})).await, "done");
        setup.wait_for_tool("py:added").await;
        setup.upstreams.stop().await;
    }
}

#[tokio::test]
async fn a_child_sees_only_the_environment_it_was_given() {
    let config =
        ServerConfig { env: [("API_KEY".to_owned(), "given".to_owned())].into(), ..server(&[]) };
    let setup = Setup::with(vec![("py", config)]).await;
    setup.wait_for_tool("py:env").await;
    let env: Value = serde_json::from_str(&setup.text("py:env", json!({})).await).unwrap();
    assert_eq!(env["API_KEY"], "given");
    assert!(env["PATH"].is_string());
    assert!(env.get("CARGO_MANIFEST_DIR").is_none() && env.get("HOME").is_none(), "{env}");
}

#[tokio::test]
async fn a_server_that_cannot_start_says_why() {
    let missing =
        ServerConfig { command: Some("no-such-program".to_owned()), ..ServerConfig::default() };
    let setup = Setup::with(vec![("missing", missing), ("loop", server(&["crash=yes"]))]).await;
    setup.wait_for_state("missing", ServerState::Down).await;
    let status = setup.status("missing");
    assert!(status.last_error.as_ref().unwrap().contains("no-such-program"), "{status:?}");
    assert!(status.retry_in.is_some());

    eventually("it crashes again and again", || setup.status("loop").restarts >= 3).await;
    setup.wait_for_state("loop", ServerState::Down).await;
    let status = setup.status("loop");
    let why = status.last_error.unwrap();
    assert!(why.contains("exit code 7") && why.contains("cannot find the database"), "{why}");
    assert!(status.stderr_tail.unwrap().contains("cannot find the database"));
}

#[tokio::test]
async fn crashes_are_met_with_longer_and_longer_waits() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("ledger");
    let timing = Timing {
        backoff: Duration::from_millis(100),
        backoff_max: Duration::from_secs(60),
        start_backoff_max: Duration::from_secs(60),
        ..quick()
    };
    let options = [format!("ledger={}", ledger.display()), "crash=yes".to_owned()];
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let begun = Instant::now();
    let setup = Setup::timed(vec![("py", server(&options))], timing, Default::default()).await;
    eventually("four starts", || setup.status("py").restarts >= 3).await;
    // At least half of 100, 200 and 400 ms.
    assert!(begun.elapsed() >= Duration::from_millis(350), "{:?}", begun.elapsed());
    setup.upstreams.stop().await;
    let starts = std::fs::read_to_string(&ledger).unwrap().lines().count() as u64;
    assert!(starts <= setup.status("py").restarts + 1);
}

#[tokio::test]
async fn only_a_process_that_never_gets_ready_waits_long() {
    let timing = Timing {
        backoff: Duration::from_millis(20),
        backoff_max: Duration::from_millis(40),
        start_backoff_max: Duration::from_secs(60),
        ..quick()
    };
    let broken = ServerConfig { command: Some("false".into()), ..Default::default() };
    let servers = vec![("broken", broken), ("leaves", server(&["leave=yes"]))];
    let setup = Setup::timed(servers, timing, Default::default()).await;
    let wait = |name: &str| setup.status(name).retry_in.unwrap_or_default();
    eventually("its waits become long", || wait("broken") > Duration::from_millis(500)).await;
    eventually("the other one ends often", || setup.status("leaves").restarts >= 6).await;
    assert!(wait("leaves") <= timing.backoff_max, "it got ready each time");

    let failures = setup.status("broken").restarts;
    assert!(setup.upstreams.restart("broken").await);
    eventually("it is tried at once", || setup.status("broken").restarts > failures).await;
    assert!(wait("broken") < Duration::from_millis(500), "and with short waits again");
}

#[tokio::test]
async fn processes_do_not_accumulate_and_end_with_the_gateway() {
    let needle = needle();
    let setup = Setup::with(vec![("a", server(&[&needle])), ("b", server(&[&needle]))]).await;
    setup.wait_for_tool("a:pid").await;
    setup.wait_for_tool("b:pid").await;
    for _ in 0..20 {
        setup.text("a:pid", json!({})).await;
    }
    assert_eq!(alive(&needle).len(), 2, "one for each server");
    let begun = Instant::now();
    setup.upstreams.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert!(alive(&needle).is_empty());
}

#[tokio::test]
async fn processes_end_when_the_gateway_is_dropped() {
    let needle = needle();
    let setup = Setup::with(vec![("a", server(&[&needle]))]).await;
    setup.wait_for_tool("a:pid").await;
    drop(setup);
    eventually("all are gone", || alive(&needle).is_empty()).await;
}

#[tokio::test]
async fn callers_do_not_share_a_process_unless_the_server_is_shared() {
    let shared = ServerConfig { instances: Some(Instances::Shared), ..server(&[]) };
    let setup = Setup::with(vec![("own", server(&[])), ("shared", shared)]).await;
    setup.wait_for_tool("own:count").await;
    setup.wait_for_tool("shared:count").await;
    let text_of = async |subject: &str, tool: &str| {
        text(&setup.run(call_by(subject, tool, json!({}))).await.unwrap())
    };
    for n in 1..=3 {
        assert_eq!(text_of("ann", "own:count").await, n.to_string());
    }
    assert_eq!(text_of("bob", "own:count").await, "1", "bob sees nothing of ann");
    assert_eq!(text_of("ann", "own:count").await, "4", "and ann keeps her own");
    assert_ne!(text_of("ann", "own:pid").await, text_of("bob", "own:pid").await);
    assert_eq!(
        setup.status("own").sessions,
        3,
        "one per caller, and the one that the gateway lists from"
    );

    assert_eq!(text_of("ann", "shared:count").await, "1");
    assert_eq!(text_of("bob", "shared:count").await, "2");
    assert_eq!(setup.status("shared").sessions, 1);
}

#[tokio::test]
async fn an_idle_process_of_a_caller_is_stopped() {
    let needle = needle();
    // Long enough that all four run at once on a busy machine.
    let timing = Timing { idle: Duration::from_secs(5), ..quick() };
    let setup = Setup::timed(vec![("py", server(&[&needle]))], timing, Default::default()).await;
    setup.wait_for_tool("py:pid").await;
    for subject in ["ann", "bob", "cem"] {
        setup.run(call_by(subject, "py:pid", json!({}))).await.unwrap();
    }
    assert_eq!(alive(&needle).len(), 4, "one per caller, and the one that the gateway lists from");
    // The eager one stays.
    eventually("three are gone", || alive(&needle).len() == 1).await;
    let again = setup.run(call_by("cem", "py:count", json!({}))).await.unwrap();
    assert_eq!(text(&again), "1", "a new process for a returning caller");
}

#[tokio::test]
async fn a_lazy_server_starts_at_the_first_call_and_sleeps_when_idle() {
    let needle = needle();
    // Long enough to observe it on a busy machine.
    let timing = Timing { idle: Duration::from_millis(1_500), ..quick() };
    let first = Setup::timed(vec![("py", lazy(&[&needle]))], timing, Default::default()).await;
    // Without a list from an earlier run it is started once to get one.
    first.wait_for_tool("py:echo").await;
    first.wait_for_state("py", ServerState::Stopped).await;
    eventually("no process", || alive(&needle).is_empty()).await;
    let lists = first.lists.clone();
    first.upstreams.stop().await;
    drop(first);

    let second = Setup::timed(vec![("py", lazy(&[&needle]))], timing, lists).await;
    second.clock.advance(Duration::from_secs(90));
    second.wait_for_tool("py:echo").await;
    let status = second.status("py");
    assert_eq!((status.state, status.restarts), (ServerState::Stopped, 0));
    assert_eq!(status.list_age, Some(Duration::from_secs(90)), "the list of the first run");
    assert!(alive(&needle).is_empty(), "listing starts nothing");

    for _ in 0..2 {
        assert_eq!(second.text("py:echo", json!({})).await, "{}");
        assert_eq!(alive(&needle).len(), 1);
        second.wait_for_state("py", ServerState::Stopped).await;
        eventually("no process", || alive(&needle).is_empty()).await;
    }
}

#[tokio::test]
async fn calls_and_idle_stops_do_not_lose_each_other() {
    let timing = Timing { idle: Duration::from_millis(1), ..quick() };
    let setup = Setup::timed(vec![("py", lazy(&[]))], timing, Default::default()).await;
    setup.wait_for_tool("py:echo").await;
    for n in 0..15 {
        assert_eq!(setup.text("py:echo", json!({"n": n})).await, format!(r#"{{"n": {n}}}"#));
    }
}
