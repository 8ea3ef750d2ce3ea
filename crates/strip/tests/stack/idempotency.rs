use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proto::{Code, Failure};
use serde_json::{Value, json};
use strip::Output;
use tokio::sync::Semaphore;

use crate::support::{Fake, ask, code, principal, settings, setup, setup_with_cache, shared, tool};

/// Answers with how often it has run, which distinguishes a replay from a run.
fn counter(id: &str) -> (Fake, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let inner = Arc::clone(&count);
    let fake = tool(id, move |_| {
        let run = inner.fetch_add(1, Ordering::SeqCst) + 1;
        Box::pin(async move { Ok(Output::new(json!({"run": run}))) })
    });
    (fake, count)
}

fn run_of(answer: strip::Answer) -> Value {
    answer.result.unwrap()["run"].clone()
}

#[tokio::test]
async fn the_same_question_gets_the_same_answer_for_ten_minutes() {
    let setup = setup(vec![counter("t.count").0]).await;
    assert_eq!(run_of(setup.call("t.count", json!({"a": 1, "b": 2})).await), 1);
    setup.clock.advance(Duration::from_secs(599));
    assert_eq!(
        run_of(setup.call("t.count", json!({"b": 2, "a": 1})).await),
        1,
        "key order is no matter"
    );
    assert_eq!(
        run_of(setup.call("t.count", json!({"a": 2, "b": 2})).await),
        2,
        "another input runs"
    );
    setup.clock.advance(Duration::from_secs(2));
    assert_eq!(
        run_of(setup.call("t.count", json!({"a": 1, "b": 2})).await),
        3,
        "after the window it runs"
    );
}

#[tokio::test]
async fn a_replay_has_its_own_trace() {
    let setup = setup(vec![counter("t.count").0]).await;
    let first = setup.call("t.count", json!({})).await;
    let second = setup.call("t.count", json!({})).await;
    assert_ne!(first.meta.trace_id, second.meta.trace_id);
    assert_eq!(first.result.unwrap(), second.result.unwrap());
}

#[tokio::test]
async fn answers_are_never_shared_between_principals() {
    let setup = setup(vec![counter("t.count").0]).await;
    for (expected, (tenant, subject)) in
        [("acme", "ann"), ("acme", "bob"), ("umbrella", "ann")].into_iter().enumerate()
    {
        let mut call = ask("t.count", json!({}));
        call.principal = principal(tenant, subject);
        assert_eq!(run_of(setup.strip.call(call).await), expected + 1);
    }
}

#[tokio::test]
async fn a_changed_definition_or_script_is_a_new_question() {
    let (fake, count) = counter("t.count");
    let setup = setup(vec![fake]).await;
    assert_eq!(run_of(setup.call("t.count", json!({})).await), 1);
    let (changed, _) = counter("t.count");
    let changed = changed.with(|d| d.implementation = Some(proto::digest(b"another script")));
    setup.strip.catalog().publish("tests", shared(vec![changed]));
    assert_eq!(run_of(setup.call("t.count", json!({})).await), 1, "the new tool's own first run");
    assert_eq!(count.load(Ordering::SeqCst), 1, "the old tool ran once");
}

#[tokio::test]
async fn a_tool_whose_code_or_index_changed_runs_again() {
    let (fake, _) = counter("t.count");
    let revision = Arc::clone(&fake.revision);
    let setup = setup(vec![fake]).await;
    assert_eq!(run_of(setup.call("t.count", json!({})).await), 1);
    revision.store(7, Ordering::SeqCst);
    assert_eq!(run_of(setup.call("t.count", json!({})).await), 2);
}

#[tokio::test]
async fn a_nondeterministic_tool_runs_each_time() {
    let (fake, _) = counter("t.send");
    let setup = setup(vec![fake.with(|d| d.deterministic = false)]).await;
    assert_eq!(run_of(setup.call("t.send", json!({})).await), 1);
    assert_eq!(run_of(setup.call("t.send", json!({})).await), 2);
}

#[tokio::test]
async fn a_callers_key_makes_a_side_effect_happen_once() {
    let (fake, _) = counter("t.send");
    let setup = setup(vec![fake.with(|d| d.deterministic = false)]).await;
    let keyed = |input: Value| {
        let mut call = ask("t.send", input);
        call.idempotency_key = Some("order-17".to_owned());
        call
    };
    assert_eq!(run_of(setup.strip.call(keyed(json!({"n": 1}))).await), 1);
    assert_eq!(run_of(setup.strip.call(keyed(json!({"n": 1}))).await), 1);
    let reused = setup.strip.call(keyed(json!({"n": 2}))).await;
    assert_eq!(code(&reused), Some(Code::InvalidInput), "one key, other arguments");
    assert_eq!(setup.rows().await[0].decision, "refused");
}

#[tokio::test]
async fn a_replay_keeps_the_form_that_a_server_gave() {
    let image = json!({"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]});
    let given = Arc::new(image.clone());
    let server = tool("server:draw", move |_| {
        let native = Some(Arc::clone(&given));
        Box::pin(async move { Ok(Output { native, ..Output::new(json!({})) }) })
    });
    let setup = setup(vec![server]).await;
    for _ in 0..2 {
        let answer = setup.call("server:draw", json!({})).await;
        assert_eq!(answer.native.as_deref(), Some(&image));
    }
    assert_eq!(setup.rows().await[0].decision, "replayed");
}

#[tokio::test]
async fn a_cache_key_replaces_the_input_but_not_the_principal() {
    let (mut fake, _) = counter("t.count");
    fake.cache_key = Some("all the same".to_owned());
    let setup = setup(vec![fake]).await;
    assert_eq!(run_of(setup.call("t.count", json!({"n": 1})).await), 1);
    assert_eq!(run_of(setup.call("t.count", json!({"n": 2})).await), 1);
    let mut other = ask("t.count", json!({"n": 1}));
    other.principal = principal("umbrella", "eve");
    assert_eq!(run_of(setup.strip.call(other).await), 2);
}

#[tokio::test]
async fn only_successes_are_recorded() {
    let calls = Arc::new(AtomicUsize::new(0));
    let inner = Arc::clone(&calls);
    let flaky = tool("t.flaky", move |_| {
        let first = inner.fetch_add(1, Ordering::SeqCst) == 0;
        Box::pin(async move {
            if first {
                Err(Failure::new(Code::Unavailable, "not yet"))
            } else {
                Ok(Output::new(json!({})))
            }
        })
    });
    let setup = setup(vec![flaky]).await;
    assert_eq!(code(&setup.call("t.flaky", json!({})).await), Some(Code::Unavailable));
    assert_eq!(code(&setup.call("t.flaky", json!({})).await), None);
}

/// A tool that waits at a gate and says how many are inside.
fn gated(id: &str) -> (Fake, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let inner = Arc::clone(&gate);
    let fake = tool(id, move |_| {
        let gate = Arc::clone(&inner);
        Box::pin(async move {
            gate.acquire().await.unwrap().forget();
            Ok(Output::new(json!({"done": true})))
        })
    });
    (fake, gate)
}

#[tokio::test]
async fn equal_calls_in_flight_run_once() {
    let (fake, gate) = gated("t.slow");
    let runs = Arc::clone(&fake.runs);
    let setup = setup(vec![fake]).await;
    let waiting: Vec<_> = (0..50)
        .map(|_| {
            let strip = Arc::clone(&setup.strip);
            tokio::spawn(async move { strip.call(ask("t.slow", json!({}))).await })
        })
        .collect();
    while runs.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    gate.add_permits(1);
    for call in waiting {
        assert_eq!(*call.await.unwrap().result.unwrap(), json!({"done": true}));
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn shared_work_goes_on_when_its_first_caller_leaves() {
    let (fake, gate) = gated("t.slow");
    let runs = Arc::clone(&fake.runs);
    let setup = setup(vec![fake]).await;
    let mut first = Box::pin(setup.call("t.slow", json!({})));
    let mut second = Box::pin(setup.call("t.slow", json!({})));
    while runs.load(Ordering::SeqCst) == 0 {
        assert!(futures_util::poll!(&mut first).is_pending());
        tokio::task::yield_now().await;
    }
    assert!(futures_util::poll!(&mut second).is_pending());
    drop(first);
    gate.add_permits(1);
    assert_eq!(*second.await.result.unwrap(), json!({"done": true}));
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn work_that_all_callers_left_is_dropped_and_can_begin_again() {
    let (fake, gate) = gated("t.slow");
    let runs = Arc::clone(&fake.runs);
    let setup = setup(vec![fake]).await;
    let mut first = Box::pin(setup.call("t.slow", json!({})));
    while runs.load(Ordering::SeqCst) == 0 {
        assert!(futures_util::poll!(&mut first).is_pending());
        tokio::task::yield_now().await;
    }
    drop(first);
    gate.add_permits(1);
    assert_eq!(code(&setup.call("t.slow", json!({})).await), None);
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn verifying_runs_again_and_refuses_a_difference() {
    let (liar, _) = counter("t.liar");
    let setup = setup(vec![liar, crate::support::echo("t.echo")]).await;
    let verify = |id: &str| {
        let mut call = ask(id, json!({}));
        call.verify = true;
        call
    };
    let failure = setup.strip.call(verify("t.liar")).await.result.unwrap_err();
    assert_eq!(failure.code, Code::Nondeterministic);
    assert_eq!(failure.details, Some(json!({"path": "/run"})));
    assert_eq!(code(&setup.strip.call(verify("t.echo")).await), None);
}

#[tokio::test]
async fn there_is_nothing_to_verify_where_nothing_was_promised() {
    let (fake, count) = counter("t.send");
    let setup = setup(vec![fake.with(|d| d.deterministic = false)]).await;
    let mut call = ask("t.send", json!({}));
    call.verify = true;
    assert_eq!(code(&setup.strip.call(call).await), Some(Code::InvalidInput));
    assert_eq!(count.load(Ordering::SeqCst), 0, "a side effect must not happen for a check");
}

fn keyed(tool: &str, key: &str) -> strip::Request {
    let mut call = ask(tool, json!({}));
    call.idempotency_key = Some(key.to_owned());
    call
}

fn outcome(answer: strip::Answer) -> (Code, Option<Value>, bool) {
    let failure = answer.result.unwrap_err();
    (failure.code, failure.details, failure.retryable)
}

#[tokio::test]
async fn a_callers_key_keeps_its_answer_over_a_restart_and_an_edit() {
    let acting = |count: &str| counter(count).0.with(|d| d.deterministic = false);
    let setup = setup(vec![acting("t.send")]).await;
    assert_eq!(run_of(setup.strip.call(keyed("t.send", "order")).await), 1);
    let edited = acting("t.send").with(|d| d.implementation = Some(proto::digest(b"edited")));
    let runs = Arc::clone(&edited.runs);
    let setup = setup.restarted(vec![edited]).await;
    assert_eq!(run_of(setup.strip.call(keyed("t.send", "order")).await), 1);
    assert_eq!(runs.load(Ordering::SeqCst), 0, "the answer was recorded");
    for (tenant, subject) in [("acme", "bob"), ("umbrella", "ann")] {
        let mut call = keyed("t.send", "order");
        call.principal = principal(tenant, subject);
        run_of(setup.strip.call(call).await);
    }
    assert_eq!(runs.load(Ordering::SeqCst), 2, "a key is its caller's own");
    setup.clock.advance(Duration::from_secs(601));
    run_of(setup.strip.call(keyed("t.send", "order")).await);
    assert_eq!(runs.load(Ordering::SeqCst), 3, "after the window it runs");
}

#[tokio::test]
async fn a_call_that_everybody_left_does_not_act_again() {
    for (idempotent, expected) in [(None, 1), (Some(true), 2)] {
        let (fake, gate) = gated("t.slow");
        let fake = fake.with(|d| {
            d.deterministic = false;
            d.annotations.idempotent_hint = idempotent;
        });
        let runs = Arc::clone(&fake.runs);
        let setup = setup(vec![fake]).await;
        let strip = Arc::clone(&setup.strip);
        let first = tokio::spawn(async move { strip.call(keyed("t.slow", "order")).await });
        while runs.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        first.abort();
        assert!(first.await.unwrap_err().is_cancelled());
        gate.add_permits(1);
        let again = setup.strip.call(keyed("t.slow", "order")).await;
        if idempotent.is_none() {
            let unknown = (Code::Unavailable, Some(json!({"outcome": "unknown"})), false);
            assert_eq!(outcome(again), unknown);
        } else {
            assert_eq!(code(&again), None);
        }
        assert_eq!(runs.load(Ordering::SeqCst), expected);
    }
}

#[tokio::test]
async fn a_call_that_failed_may_run_again_and_one_that_timed_out_may_not() {
    let calls = Arc::new(AtomicUsize::new(0));
    let inner = Arc::clone(&calls);
    let flaky = tool("t.flaky", move |call| {
        let first = inner.fetch_add(1, Ordering::SeqCst) == 0;
        Box::pin(async move {
            match (&call.input["late"], first) {
                (Value::Bool(true), _) => Err(Failure::new(Code::Timeout, "too late")),
                (_, true) => Err(Failure::new(Code::Unavailable, "not yet")),
                _ => Ok(Output::new(json!({}))),
            }
        })
    });
    let setup = setup(vec![flaky.with(|d| d.deterministic = false)]).await;
    assert_eq!(code(&setup.strip.call(keyed("t.flaky", "order")).await), Some(Code::Unavailable));
    assert_eq!(code(&setup.strip.call(keyed("t.flaky", "order")).await), None);
    let late = || {
        let mut call = keyed("t.flaky", "late");
        call.input = Arc::new(json!({"late": true}));
        call
    };
    assert_eq!(code(&setup.strip.call(late()).await), Some(Code::Timeout));
    let unknown = (Code::Unavailable, Some(json!({"outcome": "unknown"})), false);
    assert_eq!(outcome(setup.strip.call(late()).await), unknown);
    assert_eq!(calls.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_call_of_unknown_effect_does_not_run_again_unless_its_tool_may() {
    let lost = || {
        tool("t.act", |_| {
            let failure = Failure::new(Code::Unavailable, "lost").details(json!({"of": "t"}));
            Box::pin(async move { Err(failure.with_unknown_effect()) })
        })
    };
    let unfit = || {
        tool("t.act", |_| Box::pin(async { Ok(Output::new(json!({"n": "text"}))) }))
            .with(|d| d.output_schema = Some(json!({"properties": {"n": {"type": "integer"}}})))
    };
    for (fake, idempotent, runs) in
        [(lost(), None, 1), (lost(), Some(true), 2), (unfit(), None, 1), (unfit(), Some(true), 2)]
    {
        let fake = fake.with(|d| {
            d.deterministic = false;
            d.annotations.idempotent_hint = idempotent;
        });
        let count = Arc::clone(&fake.runs);
        let setup = setup(vec![fake]).await;
        let unknown = idempotent.is_none();
        for _ in 0..2 {
            let (_, details, retryable) = outcome(setup.strip.call(keyed("t.act", "order")).await);
            let stated = details.is_some_and(|details| details["outcome"] == "unknown");
            assert_eq!((stated, unknown && retryable), (unknown, false));
        }
        assert_eq!(count.load(Ordering::SeqCst), runs);
        let (_, details, _) = outcome(setup.call("t.act", json!({})).await);
        assert!(details.is_none_or(|details| details.get("outcome").is_none()), "it has no key");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_in_memory_any_more_is_not_made_again() {
    let sized = |id: &str, numbers: usize| {
        let fake = tool(id, move |_| {
            Box::pin(async move { Ok(Output::new(json!({"numbers": vec![1_234_567; numbers]}))) })
        });
        fake.with(|d| {
            d.deterministic = false;
            d.limits.max_output_bytes = Some(4 << 20);
        })
    };
    let (small, large) = (sized("t.small", 10), sized("t.large", 200_000));
    let (runs_of_small, runs_of_large) = (Arc::clone(&small.runs), Arc::clone(&large.runs));
    let mut settings = settings();
    settings.limits.max.max_output_bytes = 4 << 20;
    let setup = setup_with_cache(settings, 1_000, vec![small, large]).await;
    for _ in 0..2 {
        assert_eq!(code(&setup.strip.call(keyed("t.small", "order")).await), None, "from the disk");
    }
    assert_eq!(runs_of_small.load(Ordering::SeqCst), 1);
    assert_eq!(code(&setup.strip.call(keyed("t.large", "order")).await), None);
    let again = setup.strip.call(keyed("t.large", "order")).await;
    let not_kept = (Code::Unavailable, Some(json!({"outcome": "answered"})), false);
    assert_eq!(outcome(again), not_kept, "more than is kept on disk");
    assert_eq!(runs_of_large.load(Ordering::SeqCst), 1);
}
