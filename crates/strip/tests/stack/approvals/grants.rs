//! What an approval is good for: recorded answers, verified and interrupted calls, standing rules.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use approvals::{ApprovalState, DecideError, Decider, Decision, Extent, Standing, Verdict};
use proto::Code;
use serde_json::{Map, json};
use strip::{Output, Reply, Resume};

use super::{Gate, write};
use crate::support::{ask, code, principal, setup, tool};

#[tokio::test]
async fn a_recorded_answer_never_spends_or_skips_an_approval() {
    let gate = Gate::within(30.0).await;
    let keyed = || {
        let mut call = write(1);
        call.idempotency_key = Some("once".to_owned());
        call
    };
    let first = gate.begin(keyed());
    let row = gate.waits(1).await.remove(0);
    gate.approve(&row.id).await.unwrap();
    assert!(first.await.unwrap().result.is_ok());
    let second = gate.begin(keyed());
    let row = gate.waits(1).await.remove(0);
    gate.approve(&row.id).await.unwrap();
    assert!(second.await.unwrap().result.is_ok());
    assert_eq!(gate.runs(), 1, "the answer was recorded");
    assert_eq!(
        gate.state(&row.id).await,
        ApprovalState::Approved,
        "nothing ran, so nothing is spent"
    );
    assert!(gate.setup.strip.call(keyed()).await.result.is_ok(), "the approval is still good");
    assert_eq!((gate.runs(), gate.state(&row.id).await), (1, ApprovalState::Approved));
}

#[tokio::test]
async fn a_late_decision_changes_nothing() {
    let gate = Gate::within(30.0).await;
    let row = gate.abandoned(write(1)).await;
    gate.approve(&row.id).await.unwrap();
    assert!(gate.approve(&row.id).await.is_err(), "it is decided");
    assert!(gate.reject(&row.id, "no").await.is_err(), "it is decided");
    assert!(gate.setup.strip.call(write(1)).await.result.is_ok());
    assert_eq!((gate.runs(), gate.state(&row.id).await), (1, ApprovalState::Consumed));
}

#[tokio::test]
async fn a_call_that_its_tool_interrupts_continues_without_another_approval_and_no_other_call_does()
{
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let asking = tool("crm.asks", move |call| {
        counted.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            let native = Some(Arc::new(json!({"requestState": "given out"})));
            let question =
                Output { reply: Reply::NeedsInput, native, ..Output::new(json!("what?")) };
            Ok(if call.resume.is_some() { Output::new(json!({"done": true})) } else { question })
        })
    })
    .with(|descriptor| descriptor.deterministic = false);
    let gate = Gate::at(setup(vec![asking]).await, runs, 30.0).await;
    let resumed = |state: Option<&str>| {
        let mut call = ask("crm.asks", json!({}));
        let responses = Map::from_iter([("name".to_owned(), json!({"action": "accept"}))]);
        call.resume = Some(Arc::new(Resume { state: state.map(str::to_owned), responses }));
        call
    };
    let forged = gate.begin(resumed(Some("given out")));
    gate.waits(1).await;
    assert_eq!(gate.runs(), 0, "a state that was not given out allows nothing");
    forged.abort();
    let _ = forged.await;

    let first = gate.begin(ask("crm.asks", json!({})));
    tokio::time::sleep(Duration::from_millis(30)).await;
    let row = gate.waits(1).await.remove(0);
    gate.approve(&row.id).await.unwrap();
    assert_eq!(first.await.unwrap().reply, Reply::NeedsInput);
    for (n, state) in [None, Some("forged")].into_iter().enumerate() {
        let begun = gate.begin(resumed(state));
        gate.waits(1).await;
        assert_eq!(gate.runs(), 1, "{n}: only the state that was given out goes on");
        begun.abort();
        let _ = begun.await;
    }
    let done = gate.setup.strip.call(resumed(Some("given out"))).await;
    assert_eq!((done.reply, gate.runs()), (Reply::Done, 2));
    let again = gate.begin(resumed(Some("given out")));
    let row = gate.waits(1).await.remove(0);
    assert_eq!(gate.runs(), 2, "each interruption is gone on with once");
    gate.approve(&row.id).await.unwrap();
    let again = again.await.unwrap().reply;
    assert_eq!(
        again,
        Reply::NeedsInput,
        "it begins again, without answers that no reviewer has seen"
    );
}

#[tokio::test]
async fn standing_rules_hold_for_what_they_say_until_they_end_or_are_removed() {
    let gate = Gate::within(30.0).await;
    let standing = |arguments: Extent| Decision {
        decision: Verdict::Approve,
        reason: None,
        standing: Some(Standing { arguments, run: false, seconds: Some(60) }),
    };
    let first = gate.begin(write(1));
    let row = gate.waits(1).await.remove(0);
    let link = gate.approvals.decide(&row.id, &Decider::Link, standing(Extent::These)).await;
    assert!(matches!(link, Err(DecideError::Invalid(_))), "a link decides about one call");
    gate.approvals.decide(&row.id, &Decider::Operator, standing(Extent::These)).await.unwrap();
    assert!(first.await.unwrap().result.is_ok());
    assert!(gate.setup.strip.call(write(1)).await.result.is_ok());
    assert_eq!(gate.runs(), 2);
    let rules = gate.approvals.rules(None).rows;
    assert_eq!((rules.len(), rules[0].uses, &*rules[0].created_by), (1, 1, "operator"));
    assert_eq!(gate.approvals.rules(Some("globex")).rows, []);
    assert!(!gate.approvals.remove_rule(Some("globex"), &rules[0].id).await.unwrap());

    let other = gate.begin(write(2));
    let row = gate.waits(1).await.remove(0);
    gate.approvals.decide(&row.id, &Decider::Operator, standing(Extent::Any)).await.unwrap();
    assert!(other.await.unwrap().result.is_ok());
    assert!(gate.setup.strip.call(write(3)).await.result.is_ok(), "any arguments");
    let mut bobs = write(3);
    bobs.principal = principal("acme", "bob");
    let bobs = gate.begin(bobs);
    let row = gate.waits(1).await.remove(0);
    gate.reject(&row.id, "not bob's").await.unwrap();
    assert_eq!(code(&bobs.await.unwrap()), Some(Code::Denied));

    let any =
        gate.approvals.rules(None).rows.into_iter().find(|rule| rule.arguments_digest.is_none());
    assert!(gate.approvals.remove_rule(None, &any.unwrap().id).await.unwrap());
    let removed = gate.begin(write(3));
    gate.waits(1).await;
    removed.abort();
    gate.setup.clock.advance(Duration::from_secs(61));
    let ended = gate.begin(write(1));
    let rows = gate.waits(2).await;
    assert!(rows.iter().any(|row| row.arguments.as_deref() == Some(r#"{"n":1}"#)));
    ended.abort();
}

#[tokio::test]
async fn an_approval_of_a_call_that_was_cancelled_is_kept_for_the_next_one() {
    let gate = Gate::within(30.0).await;
    let call = write(1);
    let cancel = call.cancel.clone();
    // Polled by hand, so that it sees the decision and the cancellation at once.
    let mut waiting = Box::pin(gate.setup.strip.call(call));
    let row = loop {
        assert!(futures_util::poll!(&mut waiting).is_pending());
        if let Some(row) = gate.pending().await.pop() {
            break row;
        }
    };
    gate.approve(&row.id).await.unwrap();
    cancel.cancel();
    assert_eq!(code(&waiting.await), Some(Code::Unavailable));
    assert_eq!((gate.runs(), gate.state(&row.id).await), (0, ApprovalState::Approved));
    assert!(gate.setup.strip.call(write(1)).await.result.is_ok());
    assert_eq!((gate.runs(), gate.state(&row.id).await), (1, ApprovalState::Consumed));
}
