//! Runs: what counts, who is asked, and how they end.

use std::sync::Arc;
use std::time::Duration;

use builtin::control::{COMPLETE_WORKFLOW, REQUEST_USER_INPUT};
use proto::{Code, Failure, Principal};
use runs::{RunChange, RunFilter, RunOf};
use serde_json::{Value, json};
use strip::{Answer, Output, Reply, Request};
use tokio::sync::Notify;

use crate::support::{Fake, Setup, ask, code, echo, principal, setup, tool};

fn named(tool: &str, input: Value, run: &str) -> Request {
    let mut call = ask(tool, input);
    call.run = RunOf::Named(run.into());
    call
}

/// A question with a short timeout.
pub(crate) fn question(run: &str) -> Request {
    let input = json!({"slot_type": "choice", "slot_id": "tone", "prompt_key": "Which tone?", "options": ["plain", "warm"]});
    let mut call = named(REQUEST_USER_INPUT, input, run);
    call.timeout = Some(Duration::from_millis(40));
    call
}

pub(crate) fn tools() -> Vec<Fake> {
    let broken = tool("t.broken", |_| {
        Box::pin(async { Err(Failure::new(Code::Internal, "it does not work")) })
    });
    let fresh = tool("t.fresh", |_| Box::pin(async { Ok(Output::new(json!({}))) }));
    vec![echo("t.echo"), broken, fresh.with(|descriptor| descriptor.deterministic = false)]
}

pub(crate) async fn works(setup: &Setup, run: &str, times: usize) {
    for n in 0..times {
        assert_eq!(code(&setup.strip.call(named("t.echo", json!({"n": n}), run)).await), None);
    }
}

pub(crate) fn data(answer: &Answer) -> &Value {
    answer.result.as_ref().unwrap_or_else(|failure| panic!("{failure}"))
}

async fn refused(setup: &Setup, call: Request, completed: u64) {
    let answer = setup.strip.call(call).await;
    let failure = answer.result.expect_err("too early");
    assert_eq!(failure.code, Code::Denied, "{failure}");
    assert_eq!(failure.details.unwrap()["completed"], json!(completed));
}

async fn only_run(setup: &Setup) -> Value {
    let runs = setup.strip.runs().list(&RunFilter::default()).await.unwrap().rows;
    assert_eq!(runs.len(), 1, "{runs:?}");
    json!(setup.strip.runs().show(Some("acme"), &runs[0].id).await.unwrap())
}

#[tokio::test]
async fn a_person_is_asked_only_after_two_data_tools_have_completed() {
    let setup = setup(tools()).await.with_control();
    refused(&setup, question("r"), 0).await;
    works(&setup, "r", 1).await;
    refused(&setup, question("r"), 1).await;
    // Neither what fails, nor what is turned away, nor a control-flow tool, nor an answer given again.
    setup.strip.call(named("t.broken", json!({}), "r")).await;
    setup.strip.call(named("t.echo", json!([]), "r")).await;
    setup.strip.call(named("t.missing", json!({}), "r")).await;
    refused(&setup, question("r"), 1).await;
    works(&setup, "r", 1).await;
    refused(&setup, question("r"), 1).await;
    // Nor what happens in another run, or in none.
    works(&setup, "other", 2).await;
    setup.call("t.echo", json!({"n": 7})).await;
    refused(&setup, question("r"), 1).await;
    // A caller's key names one call, however often it is sent.
    for _ in 0..3 {
        let mut call = named("t.fresh", json!({}), "keyed");
        call.idempotency_key = Some("k".to_owned());
        setup.strip.call(call).await;
    }
    refused(&setup, question("keyed"), 1).await;

    setup.strip.call(named("t.fresh", json!({}), "r")).await;
    let waiting = setup.strip.call(question("r")).await;
    assert_eq!(data(&waiting)["status"], json!("waiting"), "{waiting:?}");
    assert_eq!(waiting.reply, Reply::Pending, "nothing that would be recorded");
}

#[tokio::test]
async fn an_answer_that_another_run_recorded_counts_once_in_this_one() {
    let setup = setup(tools()).await.with_control();
    works(&setup, "first", 2).await;
    works(&setup, "second", 1).await;
    refused(&setup, question("second"), 1).await;
    works(&setup, "second", 1).await;
    refused(&setup, question("second"), 1).await;
    works(&setup, "second", 2).await;
    assert_eq!(data(&setup.strip.call(question("second")).await)["status"], json!("waiting"));
}

#[tokio::test]
async fn the_same_name_of_another_caller_is_another_run() {
    let setup = setup(tools()).await.with_control();
    works(&setup, "r", 2).await;
    let agent = Principal { agent: Some("bot".to_owned()), ..(*principal("acme", "ann")).clone() };
    for other in [principal("acme", "bob"), principal("globex", "ann"), Arc::new(agent)] {
        let mut call = question("r");
        let is_agent = other.agent.is_some();
        call.principal = other;
        let answer = setup.strip.call(call).await;
        // An agent that is in no config sees nothing at all.
        let expected = if is_agent { Code::NotFound } else { Code::Denied };
        assert_eq!(code(&answer), Some(expected), "{answer:?}");
    }
    // Nor does the id that the gateway gave it open it for others.
    let id = only_run_of(&setup, "r").await;
    let mut call = named("t.echo", json!({}), &id);
    assert_eq!(code(&setup.strip.call(call.clone()).await), None, "its owner may use the id");
    call.principal = principal("acme", "bob");
    assert_eq!(code(&setup.strip.call(call).await), Some(Code::NotFound));
}

async fn only_run_of(setup: &Setup, name: &str) -> String {
    let runs = setup.strip.runs().list(&RunFilter::default()).await.unwrap().rows;
    let named: Vec<_> = runs
        .iter()
        .filter(|run| {
            run.name.as_deref() == Some(name) && run.owner == "ann" && run.tenant == "acme"
        })
        .collect();
    assert_eq!(named.len(), 1);
    named[0].id.clone()
}

#[tokio::test]
async fn a_question_is_answered_once_and_rightly_also_after_a_restart() {
    let mut setup = setup(tools()).await.with_control();
    let mut events = setup.strip.runs().events();
    works(&setup, "r", 2).await;
    let waiting = setup.strip.call(question("r")).await;
    assert_eq!(data(&waiting)["status"], json!("waiting"));
    while events.try_recv().expect("an event").what != RunChange::Asked {}

    setup = setup.restarted(tools()).await;
    let run = only_run(&setup).await;
    assert_eq!((&run["state"], &run["data_tools"]), (&json!("waiting"), &json!(2)));
    let id = run["id"].as_str().unwrap();
    assert_eq!(run["calls"].as_array().unwrap().len(), 3, "{run}");
    let again = setup.strip.call(question("r")).await;
    assert_eq!(data(&again)["question_id"], data(&waiting)["question_id"], "it is the same one");
    let mut other = question("r");
    other.input = Arc::new(json!({"slot_type": "text", "slot_id": "tone", "prompt_key": "Else?"}));
    assert_eq!(code(&setup.strip.call(other).await), Some(Code::InvalidInput));

    let (runs, person) = (setup.strip.runs().clone(), principal("acme", "boss"));
    let mut answers = runs.answered();
    works(&setup, "r", 300).await;
    let slot = (id, "tone");
    for wrong in [json!("loud"), json!(["plain"]), json!(1), Value::Null] {
        let failure = runs.answer(&person, Some("acme"), slot, &wrong).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput, "{wrong}: {failure}");
    }
    let missing = |failure: Failure| assert_eq!(failure.code, Code::NotFound, "{failure}");
    missing(runs.answer(&person, Some("globex"), slot, &json!("warm")).await.unwrap_err());
    missing(runs.answer(&person, Some("acme"), (id, "else"), &json!("warm")).await.unwrap_err());
    missing(
        runs.answer(&person, Some("acme"), ("run_x", "tone"), &json!("warm")).await.unwrap_err(),
    );
    let agent = Principal { agent: Some("bot".to_owned()), ..(*person).clone() };
    let failure = runs.answer(&agent, Some("acme"), slot, &json!("warm")).await.unwrap_err();
    assert_eq!(failure.code, Code::Denied);

    // A waiting call is woken at once.
    let mut patient = question("r");
    patient.timeout = Some(Duration::from_secs(20));
    let strip = Arc::clone(&setup.strip);
    let waits = tokio::spawn(async move { strip.call(patient).await });
    let (first, second) = (json!("warm"), json!("plain"));
    let both = tokio::join!(
        runs.answer(&person, Some("acme"), slot, &first),
        runs.answer(&person, Some("acme"), slot, &second),
    );
    let won = json!(both.0.as_ref().or(both.1.as_ref()).unwrap())["value"].clone();
    let lost = both.0.err().or(both.1.err()).expect("one of two is first");
    assert_eq!(lost.code, Code::InvalidInput, "{lost}");
    assert_eq!(answers.try_recv().as_deref(), Ok(id), "no call has displaced it");
    let answered = waits.await.unwrap();
    assert_eq!((&data(&answered)["status"], &data(&answered)["value"]), (&json!("answered"), &won));

    setup = setup.restarted(tools()).await;
    let still = setup.strip.call(question("r")).await;
    assert_eq!(data(&still)["value"], won, "the answer outlives the process");
    assert_eq!(only_run(&setup).await["state"], json!("open"));
}

#[tokio::test]
async fn answers_fit_what_was_asked_for() {
    let setup = setup(tools()).await.with_control();
    works(&setup, "r", 2).await;
    let options = json!(["a", "b"]);
    let cases = [
        ("choice", true, vec![json!("a")], vec![json!("c"), json!(["a"])]),
        (
            "multi",
            true,
            vec![json!(["b", "a"])],
            vec![json!("a"), json!(["a", "a"]), json!(["a", "c"])],
        ),
        (
            "text",
            false,
            vec![json!("some words")],
            vec![json!("  "), json!("x".repeat(10_001)), json!(1)],
        ),
        ("number", false, vec![json!(-1.5)], vec![json!("1"), json!(true)]),
        ("confirm", false, vec![json!(false)], vec![json!("yes"), json!(0)]),
        ("file", false, vec![], vec![json!(""), json!(7)]),
    ];
    let person = principal("acme", "boss");
    for (slot, has_options, good, bad) in cases {
        let mut input = json!({"slot_type": slot, "slot_id": slot, "prompt_key": "What?"});
        let wrong_options = if has_options { json!([]) } else { options.clone() };
        input["options"] = wrong_options;
        let refused = setup.strip.call(named(REQUEST_USER_INPUT, input.clone(), "r")).await;
        assert_eq!(code(&refused), Some(Code::InvalidInput), "{slot}: {refused:?}");
        input["options"] = if has_options { options.clone() } else { json!([]) };
        let mut call = named(REQUEST_USER_INPUT, input, "r");
        call.timeout = Some(Duration::from_millis(20));
        assert_eq!(data(&setup.strip.call(call).await)["status"], json!("waiting"), "{slot}");
        let id = only_run(&setup).await["id"].as_str().unwrap().to_owned();
        let runs = setup.strip.runs();
        for value in bad {
            let failure =
                runs.answer(&person, Some("acme"), (&id, slot), &value).await.unwrap_err();
            assert_eq!(failure.code, Code::InvalidInput, "{slot}: {value}");
        }
        for value in good {
            let answered = runs.answer(&person, Some("acme"), (&id, slot), &value).await.unwrap();
            assert_eq!(json!(answered)["value"], value);
        }
    }
}

#[tokio::test]
async fn completing_waits_for_calls_in_flight_and_then_nothing_more_runs() {
    let (begun, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (started, go) = (Arc::clone(&begun), Arc::clone(&release));
    let slow = tool("t.slow", move |_| {
        let (started, go) = (Arc::clone(&started), Arc::clone(&go));
        Box::pin(async move {
            started.notify_one();
            go.notified().await;
            Ok(Output::new(json!({})))
        })
    });
    let mut all = tools();
    all.push(slow);
    let setup = setup(all).await.with_control();
    let end = |run: &str| named(COMPLETE_WORKFLOW, json!({"summary": "all done"}), run);
    let strip = Arc::clone(&setup.strip);
    let working = tokio::spawn({
        let strip = Arc::clone(&strip);
        async move { strip.call(named("t.slow", json!({}), "r")).await }
    });
    begun.notified().await;

    // The end of a run has a time limit, and its failure names the calls that were still running.
    let mut hasty = end("r");
    hasty.timeout = Some(Duration::from_millis(50));
    let failure = strip.call(hasty).await.result.unwrap_err();
    assert_eq!(failure.code, Code::Timeout);
    assert_eq!(failure.details.unwrap()["in_flight"], json!(["t.slow"]));

    let ending = tokio::spawn({
        let (strip, end) = (Arc::clone(&strip), end("r"));
        async move { strip.call(end).await }
    });
    // The other calls of the turn may come later than this one: they are waited for, too.
    works(&setup, "r", 1).await;
    assert!(!ending.is_finished());
    release.notify_one();
    assert_eq!(code(&working.await.unwrap()), None);
    let ended = ending.await.unwrap();
    assert_eq!(data(&ended)["status"], json!("completed"));
    assert_eq!(data(&ended)["data_tools"], json!(2));

    for late in [named("t.echo", json!({}), "r"), end("r"), question("r")] {
        let failure = strip.call(late).await.result.unwrap_err();
        assert_eq!(failure.code, Code::Denied, "{failure}");
        assert!(failure.message.contains("`r`") && failure.message.contains("name another run"));
    }
    assert_eq!(code(&strip.call(named("t.echo", json!({}), "another")).await), None);
    let setup = setup.restarted(tools()).await;
    let late = setup.strip.call(named("t.echo", json!({}), "r")).await;
    assert_eq!(code(&late), Some(Code::Denied), "a restart opens nothing again");
}

#[tokio::test]
async fn a_call_whose_caller_left_is_not_waited_for() {
    let begun = Arc::new(Notify::new());
    let started = Arc::clone(&begun);
    let endless = tool("t.endless", move |_| {
        let started = Arc::clone(&started);
        Box::pin(async move {
            started.notify_one();
            std::future::pending().await
        })
    });
    let setup = setup(vec![endless]).await.with_control();
    let strip = Arc::clone(&setup.strip);
    let working = tokio::spawn(async move { strip.call(named("t.endless", json!({}), "r")).await });
    begun.notified().await;
    working.abort();
    let ended = setup.strip.call(named(COMPLETE_WORKFLOW, json!({"summary": "x"}), "r")).await;
    assert_eq!(data(&ended)["status"], json!("completed"));
}

#[tokio::test]
async fn completing_withdraws_what_is_still_asked() {
    let setup = setup(tools()).await.with_control();
    works(&setup, "r", 2).await;
    setup.strip.call(question("r")).await;
    let ended = setup.strip.call(named(COMPLETE_WORKFLOW, json!({"summary": "x"}), "r")).await;
    assert_eq!(code(&ended), None, "{ended:?}");
    let run = only_run(&setup).await;
    assert_eq!((&run["state"], &run["summary"]), (&json!("completed"), &json!("x")));
    assert_eq!(run["questions"][0]["state"], json!("withdrawn"));
    let (id, person) = (run["id"].as_str().unwrap(), principal("acme", "boss"));
    let late = setup.strip.runs().answer(&person, Some("acme"), (id, "tone"), &json!("warm")).await;
    assert_eq!(late.unwrap_err().code, Code::InvalidInput);
}

#[tokio::test]
async fn a_caller_without_a_named_run_has_one_until_it_ends_or_is_idle_for_thirty_minutes() {
    let setup = setup(tools()).await.with_control();
    let current = |tool: &str, input: Value| {
        let mut call = ask(tool, input);
        call.run = RunOf::Current;
        call.timeout = Some(Duration::from_millis(40));
        call
    };
    let asks = || {
        let input = json!({"slot_type": "confirm", "slot_id": "ok", "prompt_key": "Go on?"});
        current(REQUEST_USER_INPUT, input)
    };
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    setup.strip.call(current("t.echo", json!({"n": 1}))).await;
    setup.clock.advance(minutes(29));
    setup.strip.call(current("t.echo", json!({"n": 2}))).await;
    setup.clock.advance(minutes(29));
    let waiting = setup.strip.call(asks()).await;
    assert_eq!(data(&waiting)["status"], json!("waiting"), "{waiting:?}");
    // A run that waits for a person is not idle; after a restart it is still the run at hand.
    setup.clock.advance(minutes(600));
    let setup = setup.restarted(tools()).await;
    let again = setup.strip.call(asks()).await;
    assert_eq!(data(&again)["question_id"], data(&waiting)["question_id"]);
    let id = data(&again)["run_id"].as_str().unwrap().to_owned();
    let person = principal("acme", "boss");
    setup.strip.runs().answer(&person, Some("acme"), (&id, "ok"), &json!(true)).await.unwrap();
    assert_eq!(data(&setup.strip.call(asks()).await)["value"], json!(true));
    setup.clock.advance(minutes(31));
    refused(&setup, asks(), 0).await;
    let shown = json!(setup.strip.runs().show(Some("acme"), &id).await.unwrap());
    assert_eq!(shown["state"], json!("expired"));

    // Such a caller cannot name another run: after the end the next call begins a new one.
    setup.strip.call(current("t.fresh", json!({}))).await;
    setup.strip.call(current("t.fresh", json!({}))).await;
    let ended = setup.strip.call(current(COMPLETE_WORKFLOW, json!({"summary": "x"}))).await;
    assert_eq!(data(&ended)["data_tools"], json!(2));
    assert_eq!(code(&setup.strip.call(current("t.fresh", json!({}))).await), None);
    refused(&setup, asks(), 1).await;
}

#[tokio::test]
async fn a_session_is_a_run_and_a_single_call_is_one_by_itself() {
    let setup = setup(tools()).await.with_control();
    let within = |tool: &str, input: Value| {
        let mut call = ask(tool, input);
        call.run = RunOf::Session("s1".into());
        call
    };
    setup.strip.call(within("t.echo", json!({"n": 1}))).await;
    let setup = setup.restarted(tools()).await;
    let input = json!({"slot_type": "confirm", "slot_id": "ok", "prompt_key": "Go on?"});
    refused(&setup, within(REQUEST_USER_INPUT, input.clone()), 1).await;
    setup.strip.call(within(COMPLETE_WORKFLOW, json!({"summary": "x"}))).await;
    let late = setup.strip.call(within("t.echo", json!({}))).await.result.unwrap_err();
    assert!(late.message.contains("new session"), "{late}");

    setup.call("t.echo", json!({"n": 2})).await;
    setup.call("t.echo", json!({"n": 3})).await;
    refused(&setup, ask(REQUEST_USER_INPUT, input), 0).await;
    let ended = setup.call(COMPLETE_WORKFLOW, json!({"summary": "x"})).await;
    assert_eq!(data(&ended)["status"], json!("completed"));
    assert_eq!(code(&setup.call("t.echo", json!({})).await), None);
    assert_eq!(only_run(&setup).await["kind"], json!("session"), "single calls leave no row");
}
