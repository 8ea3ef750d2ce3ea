//! Batches: faults are reported before anything runs, independent calls run concurrently, and the end comes last.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proto::Code;
use runs::RunOf;
use serde_json::{Value, json};
use strip::Output;
use strip::batch::{Batch, BatchAnswer};
use tokio::sync::Barrier;

use crate::support::{Setup, ask, code, echo, setup, tool};

fn batch(value: Value) -> Batch {
    serde_json::from_value(value).unwrap()
}

async fn run(setup: &Setup, calls: Value) -> BatchAnswer {
    let frame = ask("", Value::Null);
    setup.strip.call_batch(batch(json!({"calls": calls})), frame).await.unwrap()
}

#[tokio::test]
async fn all_faults_are_reported_and_nothing_runs() {
    let echo = echo("t.echo");
    let runs = Arc::clone(&echo.runs);
    let setup = setup(vec![echo]).await.with_control();
    let refused = async |calls: Value| {
        let frame = ask("", Value::Null);
        let batch = batch(json!({"calls": calls}));
        setup.strip.call_batch(batch, frame).await.expect_err("a fault").message
    };
    let message = refused(json!([
        {"id": "a", "tool": "t.echo", "depends_on": ["b"]},
        {"id": "b", "tool": "t.echo", "depends_on": ["c", "nowhere"]},
        {"id": "c", "tool": "t.echo", "depends_on": ["a"], "idempotency_key": ""},
        {"id": "c", "tool": ""},
        {"id": "end", "tool": "powerstrip:complete_workflow", "arguments": {"summary": "x"}},
        {"id": "fin", "tool": "powerstrip__complete_workflow", "arguments": {"summary": "x"}},
        {"id": "after", "tool": "t.echo", "depends_on": ["end"]},
    ]))
    .await;
    for part in [
        "cycle: a → b → c → a",
        "`nowhere`",
        "`c` is used twice",
        "`idempotency_key`",
        "`tool` is empty",
        "2 times",
        "`after` depends on complete_workflow",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(refused(json!([])).await.contains("1 to 100"));
    let many: Vec<_> = (0..101).map(|_| json!({"tool": "t.echo"})).collect();
    assert!(refused(json!(many)).await.contains("101"));
    let own = json!([{"id": "a", "tool": "t.echo", "depends_on": ["a"]}]);
    assert!(refused(own).await.contains("cycle: a → a"));
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn calls_run_side_by_side_within_bounds_and_answers_keep_their_order() {
    // Eight must run at once before any of them ends; a ninth never does.
    let (meeting, abreast) = (Arc::new(Barrier::new(8)), Arc::new(AtomicUsize::new(0)));
    let most = Arc::new(AtomicUsize::new(0));
    let (meets, counts, peak) = (Arc::clone(&meeting), Arc::clone(&abreast), Arc::clone(&most));
    let meet = tool("t.meet", move |call| {
        let (meets, counts, peak) = (Arc::clone(&meets), Arc::clone(&counts), Arc::clone(&peak));
        Box::pin(async move {
            let now = counts.fetch_add(1, Ordering::SeqCst) + 1;
            peak.fetch_max(now, Ordering::SeqCst);
            meets.wait().await;
            counts.fetch_sub(1, Ordering::SeqCst);
            Ok(Output::new(json!({"n": call.input["n"]})))
        })
    });
    let setup = setup(vec![meet]).await.with_control();
    let calls: Vec<_> = (0..16).map(|n| json!({"tool": "t.meet", "arguments": {"n": n}})).collect();
    let done =
        tokio::time::timeout(Duration::from_secs(20), run(&setup, json!(calls))).await.unwrap();
    for (place, (id, answer)) in done.answers.iter().enumerate() {
        assert_eq!(*id, (place + 1).to_string());
        assert_eq!(answer.result.as_ref().unwrap()["n"], json!(place));
    }
    assert_eq!(most.load(Ordering::SeqCst), 8);
    let mut traces: Vec<_> =
        done.answers.iter().map(|(_, a)| a.meta.trace_id.to_string()).collect();
    traces.sort();
    traces.dedup();
    assert_eq!(traces.len(), 16, "each call has a trace of its own");
    assert_eq!(setup.rows().await.len(), 16, "and a row of its own");
}

#[tokio::test]
async fn a_failure_skips_what_depends_on_it_and_nothing_else() {
    let setup = setup(vec![echo("t.echo")]).await.with_control();
    let calls = json!([
        {"id": "late", "tool": "t.echo", "arguments": {"n": 1}, "depends_on": ["next"]},
        {"id": "bad", "tool": "t.missing"},
        {"id": "next", "tool": "t.echo", "depends_on": ["bad", "good"]},
        {"id": "good", "tool": "t.echo", "arguments": {"n": 2}},
        {"id": "after", "tool": "t.echo", "arguments": {"n": 3}, "depends_on": ["good"]},
    ]);
    let done = run(&setup, calls.clone()).await;
    let codes: Vec<_> = done.answers.iter().map(|(_, answer)| code(answer)).collect();
    let skipped = Some(Code::Unavailable);
    assert_eq!(codes, [skipped, Some(Code::NotFound), skipped, None, None]);
    let failure = done.answers[2].1.result.as_ref().unwrap_err();
    assert!(failure.message.contains("`bad`, on which it depends"), "{failure}");
    assert!(!failure.retryable);
    assert_eq!(failure.details.as_ref().unwrap()["skipped"], json!(true));
    assert_eq!(setup.rows().await.len(), 3, "what did not run leaves no row");

    let setup = crate::support::setup(vec![echo("t.echo")]).await.with_control();
    let stopping = json!({"stop_on_error": true, "calls": [
        {"id": "bad", "tool": "t.missing"},
        {"id": "then", "tool": "t.echo", "depends_on": ["first"]},
        {"id": "first", "tool": "t.echo", "arguments": {"n": 9}, "depends_on": []},
        {"tool": "powerstrip:complete_workflow", "arguments": {"summary": "x"}},
    ]});
    let done = setup.strip.call_batch(batch(stopping), ask("", Value::Null)).await.unwrap();
    assert_eq!(code(&done.answers[3].1), skipped, "a run whose work failed is not completed");
    assert_eq!(code(&done.answers[1].1), skipped);
}

#[tokio::test]
async fn the_end_of_the_run_comes_last_whatever_its_position() {
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&order);
    let step = tool("t.step", move |call| {
        let seen = Arc::clone(&seen);
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(30)).await;
            seen.lock().unwrap().push(call.input["n"].clone());
            Ok(Output::new(json!({})))
        })
    });
    let setup =
        setup(vec![step.with(|descriptor| descriptor.deterministic = false)]).await.with_control();
    let mut frame = ask("", Value::Null);
    frame.run = RunOf::Named("r".into());
    let calls = json!({"calls": [
        {"tool": "t.step", "arguments": {"n": 1}},
        {"tool": "powerstrip:complete_workflow", "arguments": {"summary": "done"}},
        {"tool": "t.step", "arguments": {"n": 2}},
        {"id": "deep", "tool": "t.step", "arguments": {"n": 3}, "depends_on": ["3"]},
    ]});
    let done = setup.strip.call_batch(batch(calls), frame).await.unwrap();
    assert_eq!(done.run, "r");
    for (id, answer) in &done.answers {
        assert_eq!(code(answer), None, "{id}: {answer:?}");
    }
    let ended = done.answers[1].1.result.as_ref().unwrap();
    assert_eq!(ended["data_tools"], json!(3), "all others were over");
    assert_eq!(order.lock().unwrap().len(), 3);

    // A batch without a name is a run of its own, in which its calls count.
    let calls = json!([
        {"id": "a", "tool": "t.step", "arguments": {}},
        {"id": "b", "tool": "t.step", "arguments": {}},
        {"tool": "powerstrip:request_user_input", "depends_on": ["a", "b"], "arguments":
            {"slot_type": "confirm", "slot_id": "ok", "prompt_key": "Go on?"}},
    ]);
    let mut frame = ask("", Value::Null);
    // As long as the work before the question may take on a busy machine.
    frame.timeout = Some(Duration::from_secs(3));
    let done = setup.strip.call_batch(batch(json!({"calls": calls})), frame).await.unwrap();
    let waiting = done.answers[2].1.result.as_ref().unwrap();
    assert_eq!((&waiting["status"], &waiting["run_id"]), (&json!("waiting"), &json!(done.run)));
    // A caller that has the run's id can continue it.
    let mut call = ask(
        "powerstrip:request_user_input",
        json!({"slot_type": "confirm", "slot_id": "ok", "prompt_key": "Go on?"}),
    );
    call.run = RunOf::Named(done.run.as_str().into());
    call.timeout = Some(Duration::from_millis(40));
    assert_eq!(setup.strip.call(call).await.result.unwrap()["question_id"], waiting["question_id"]);
}
