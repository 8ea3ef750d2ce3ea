//! Gated tasks of workflows: they do not wait, and are repeated after the decision.

use std::sync::Arc;
use std::time::Duration;

use approvals::{Approvals, EventKind};
use proto::Code;
use serde_json::json;
use store::ApprovalState;
use strip::{Answer, Door, Park, Parked, Reply, Request};

use super::{Gate, write};
use crate::support::{ask, code, principal, shared};

/// The call of a task, first or repeated.
fn task(key: &str, approval: Option<&str>) -> Request {
    let park =
        Park { key: key.to_owned(), approval: approval.map(str::to_owned), ..Park::default() };
    let key = Some(key.to_owned());
    Request { door: Door::Workflow, park: Some(Arc::new(park)), idempotency_key: key, ..write(1) }
}

/// The id of the approval that an answer waits for.
fn parked(answer: &Answer) -> String {
    assert_eq!(answer.reply, Reply::Pending, "{answer:?}");
    let Some(Parked::Approval { approval_id, tool, arguments, deadline_unix_ms }) =
        Parked::of(answer)
    else {
        panic!("{answer:?}")
    };
    assert_eq!((tool.as_str(), &arguments), ("crm.write", &json!({"n": 1})));
    assert!(deadline_unix_ms >= 1_800_000_000_000);
    approval_id
}

#[tokio::test]
async fn a_task_is_parked_and_runs_after_the_decision_once() {
    let gate = Gate::within(60.0).await;
    let call = async |key, approval: Option<&str>| gate.setup.strip.call(task(key, approval)).await;
    let first = parked(&call("w/a/1", None).await);
    assert_eq!(parked(&call("w/a/1", None).await), first, "a repeated call finds its approval");
    assert_eq!(parked(&call("w/a/1", Some(&first)).await), first);
    let second = parked(&call("w/b/1", None).await);
    assert_ne!(first, second, "equal tasks need one each");
    assert_eq!((gate.runs(), gate.pending().await.len()), (0, 2));

    gate.approve(&first).await.unwrap();
    let ran = call("w/a/1", Some(&first)).await;
    assert_eq!((code(&ran), ran.reply, gate.runs()), (None, Reply::Done, 1));
    assert_eq!(gate.state(&first).await, ApprovalState::Consumed);
    assert_eq!(parked(&call("w/b/1", Some(&second)).await), second, "it is not the other's");
}

#[tokio::test]
async fn a_decision_before_a_restart_counts() {
    let gate = Gate::within(60.0).await;
    let id = parked(&gate.setup.strip.call(task("w/a/1", None)).await);
    gate.approve(&id).await.unwrap();
    let Gate { setup, runs, .. } = gate;
    let setup = setup.restarted(vec![super::writing(&runs)]).await;
    let gate = Gate::at(setup, runs, 60.0).await;
    let ran = gate.setup.strip.call(task("w/a/1", None)).await;
    assert_eq!((code(&ran), gate.runs()), (None, 1));
}

#[tokio::test]
async fn a_rejected_expired_or_cancelled_task_is_denied_however_often_it_is_repeated() {
    let gate = Gate::within(60.0).await;
    let call = async |key, approval: Option<&str>| gate.setup.strip.call(task(key, approval)).await;
    let denied = async |key, id: &str, state: &str| {
        for _ in 0..2 {
            let answer = call(key, Some(id)).await;
            let failure = answer.result.unwrap_err();
            assert_eq!(failure.code, Code::Denied);
            let details = failure.details.unwrap();
            assert_eq!((&details["state"], &details["approval"]), (&json!(state), &json!(id)));
        }
    };
    let rejected = parked(&call("w/a/1", None).await);
    gate.reject(&rejected, "too loud").await.unwrap();
    denied("w/a/1", &rejected, "rejected").await;
    assert_eq!(code(&call("w/a/1", None).await), Some(Code::Denied), "also without its id");

    let cancelled = parked(&call("w/b/1", None).await);
    let mut events = gate.approvals.events();
    let ids = [cancelled.clone(), rejected.clone()];
    let ann = principal("acme", "ann");
    assert_eq!(gate.approvals.cancel(&ids, &ann, Some("aborted")).await.unwrap(), 1);
    assert_eq!(gate.state(&rejected).await, ApprovalState::Rejected, "it was decided before");
    let event = events.recv().await.unwrap();
    assert_eq!((event.kind, event.row.id.as_str()), (EventKind::Cancelled, cancelled.as_str()));
    denied("w/b/1", &cancelled, "cancelled").await;

    let short = Park { key: "w/c/1".to_owned(), timeout: Some(Duration::ZERO), ..Park::default() };
    let mut due = task("w/c/1", None);
    due.park = Some(Arc::new(short));
    let expired = parked(&gate.setup.strip.call(due).await);
    let tending = Arc::clone(&gate.approvals);
    let tending = tokio::spawn(async move { tending.tend().await });
    while gate.state(&expired).await == ApprovalState::Pending {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tending.abort();
    denied("w/c/1", &expired, "expired").await;
    assert_eq!(gate.runs(), 0);
}

#[tokio::test]
async fn a_task_changed_after_its_approval_needs_another() {
    let gate = Gate::within(60.0).await;
    let id = parked(&gate.setup.strip.call(task("w/a/1", None)).await);
    let mut changed = task("w/a/1", Some(&id));
    changed.input = Arc::new(json!({"n": 2}));
    let answer = gate.setup.strip.call(changed).await;
    let Some(Parked::Approval { approval_id, arguments, .. }) = Parked::of(&answer) else {
        panic!("{answer:?}")
    };
    assert_ne!(approval_id, id);
    assert_eq!(arguments, json!({"n": 2}));
    assert_eq!(gate.state(&id).await, ApprovalState::Cancelled);
    assert_eq!(gate.runs(), 0);
}

#[tokio::test]
async fn a_task_can_ask_for_approval_where_no_skill_does() {
    let gate = Gate::within(60.0).await;
    gate.setup.strip.catalog().publish("free", shared(vec![crate::support::echo("free.echo")]));
    let rule = |timeout: Option<u64>| {
        let timeout = timeout.map(Duration::from_secs);
        let park = Park { key: "w/a/1".to_owned(), timeout, ..Park::default() };
        let call = ask("free.echo", json!({}));
        Request { door: Door::Workflow, park: Some(Arc::new(park)), ..call }
    };
    let free = gate.setup.strip.call(rule(None)).await;
    assert_eq!((free.reply, code(&free)), (Reply::Done, None));
    let asked = gate.setup.strip.call(rule(Some(10))).await;
    let Some(Parked::Approval { deadline_unix_ms, .. }) = Parked::of(&asked) else {
        panic!("{asked:?}")
    };
    assert_eq!(deadline_unix_ms, 1_800_000_010_000, "its own time to decide");
}

#[tokio::test]
async fn a_caller_has_a_limited_number_of_parked_tasks() {
    let gate = Gate::within(60.0).await;
    gate.approvals.set_terms(approvals::Terms { max_waiting: 2, ..Default::default() });
    for key in ["w/a/1", "w/b/1"] {
        parked(&gate.setup.strip.call(task(key, None)).await);
    }
    let third = gate.setup.strip.call(task("w/c/1", None)).await;
    assert_eq!(code(&third), Some(Code::RateLimit));
}

/// Approvals that no call waits for are decided after a restart as well.
#[tokio::test]
async fn a_parked_approval_outlives_the_process() {
    let gate = Gate::within(60.0).await;
    let id = parked(&gate.setup.strip.call(task("w/a/1", None)).await);
    let (database, clock) = (gate.setup.database.clone(), gate.setup.clock.clone());
    let reborn = Approvals::open(database, clock, gate.setup.commits.clone()).await.unwrap();
    let decision = approvals::Decision::once(approvals::Verdict::Approve, None);
    let decided = reborn.decide(&id, &approvals::Decider::Operator, decision).await.unwrap();
    assert_eq!(decided.state, ApprovalState::Approved);
}

#[tokio::test]
async fn arguments_that_are_nested_too_deeply_are_refused_before_an_approval_is_opened() {
    let gate = Gate::within(60.0).await;
    let nest = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let deep = |levels: usize, call: Request| Request {
        input: Arc::new(json!({"n": 1, "more": nest(levels)})),
        ..call
    };
    for call in [deep(65, task("w/a/1", None)), deep(65, write(1))] {
        let refused = gate.setup.strip.call(call).await;
        assert_eq!(code(&refused), Some(Code::InvalidInput), "{refused:?}");
    }
    assert_eq!(gate.pending().await.len(), 0);
    let asked = gate.setup.strip.call(deep(64, task("w/a/1", None))).await;
    assert_eq!((asked.reply, gate.pending().await.len()), (Reply::Pending, 1), "{asked:?}");
}
