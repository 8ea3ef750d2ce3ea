//! Calls that tasks of workflows make.

use std::sync::Arc;
use std::time::Duration;

use builtin::control::{COMPLETE_WORKFLOW, REQUEST_USER_INPUT};
use proto::Code;
use runs::{Run, RunEnd, RunFilter, RunOf};
use serde_json::{Value, json};
use strip::{Door, Output, Park, Parked, Part, Reply, Request};
use uuid::Uuid;

use crate::runs::{data, tools};
use crate::support::{Setup, code, echo, principal, setup, tool};

fn task(tool: &str, input: Value) -> Request {
    Request::new(tool, input, principal("acme", "ann"), Door::Workflow)
}

#[tokio::test]
async fn a_task_calls_data_and_control_flow_tools_only() {
    let mut tools = vec![echo("t.echo")];
    for part in [Part::Finder, Part::Forwarder, Part::Workflow] {
        let mut other = echo(&format!("t.{}", format!("{part:?}").to_lowercase()));
        other.part = part;
        tools.push(other);
    }
    let setup = setup(tools).await;
    assert_eq!(code(&setup.strip.call(task("t.echo", json!({}))).await), None);
    for refused in ["t.finder", "t.forwarder", "t.workflow"] {
        let answer = setup.strip.call(task(refused, json!({}))).await;
        assert_eq!(code(&answer), Some(Code::InvalidInput), "{refused}");
        assert_eq!(code(&setup.call(refused, json!({})).await), None, "{refused}");
    }
}

#[tokio::test]
async fn a_failure_of_a_guard_has_the_form_that_its_tool_gives_it() {
    let strict = |descriptor: &mut proto::Descriptor| {
        descriptor.input_schema = json!({"type": "object", "required": ["workflow_id"]});
    };
    let mut steering = echo("t.steer").with(strict);
    steering.part = Part::Workflow;
    let setup = setup(vec![steering, echo("t.plain").with(strict)]).await;
    let refused = setup.call("t.steer", json!({})).await;
    let message = &refused.result.unwrap_err().message;
    let native = refused.native.unwrap();
    assert_eq!(native["structuredContent"]["error"]["message"], json!(message));
    let plain = setup.call("t.plain", json!({})).await;
    assert!(plain.result.is_err() && plain.native.is_none());
}

/// The call of a task of a workflow.
fn within(run: &Arc<Run>, key: &str, tool: &str, input: Value) -> Request {
    let park = Park { key: key.to_owned(), ..Park::default() };
    let run = RunOf::Joined(Arc::clone(run));
    Request { run, park: Some(Arc::new(park)), ..task(tool, input) }
}

/// The call, repeated with what its answer said.
fn repeated(call: &Request, resume: Option<Value>) -> Request {
    let park = Park::clone(call.park.as_ref().unwrap());
    Request { park: Some(Arc::new(Park { resume, ..park })), ..call.clone() }
}

async fn state(setup: &Setup, run: &str) -> String {
    setup.strip.runs().show(Some("acme"), run).await.unwrap().run.state
}

#[tokio::test]
async fn a_workflow_is_a_run_that_counts_its_tasks_and_ends() {
    let setup = setup(tools()).await.with_control();
    let (ann, workflow) = (principal("acme", "ann"), Uuid::new_v4());
    let runs = setup.strip.runs();
    let run = runs.begin_workflow(&ann, workflow, "report");
    assert_eq!(run.id(), format!("run_{}", workflow.simple()));
    for n in 0..2 {
        let call = within(&run, &format!("w/{n}/1"), "t.echo", json!({"n": n}));
        assert_eq!(code(&setup.strip.call(call).await), None);
    }
    assert_eq!((run.data_tools(), state(&setup, run.id()).await), (2, "open".to_owned()));
    let listed = runs.list(&RunFilter::default()).await.unwrap().rows;
    assert_eq!((listed.len(), listed[0].kind.as_str()), (1, "workflow"));

    runs.set_rejected(&run, true);
    assert_eq!(state(&setup, run.id()).await, "rejected");
    runs.set_rejected(&run, false);
    assert_eq!(state(&setup, run.id()).await, "open", "it went on");
    runs.end(&run, RunEnd::Aborted).await.unwrap();
    runs.end(&run, RunEnd::Failed).await.unwrap();
    assert_eq!(state(&setup, run.id()).await, "aborted", "it ends once");
    let late = setup.strip.call(within(&run, "w/2/1", "t.echo", json!({}))).await;
    assert_eq!(code(&late), Some(Code::Denied));
}

#[tokio::test]
async fn a_workflow_goes_on_after_a_restart_for_its_owner_only() {
    let setup = setup(tools()).await.with_control();
    let (ann, bob) = (principal("acme", "ann"), principal("acme", "bob"));
    let (written, lost) = (Uuid::new_v4(), Uuid::new_v4());
    let run = setup.strip.runs().begin_workflow(&ann, written, "report");
    let id = run.id().to_owned();
    drop(run);
    let setup = setup.restarted(tools()).await;
    let runs = setup.strip.runs();
    let run = runs.resume_workflow(&ann, written, "report", 2).await.unwrap();
    assert_eq!((run.id(), run.data_tools()), (id.as_str(), 2));
    let other = runs.resume_workflow(&bob, written, "report", 0).await.unwrap_err();
    assert_eq!(other.code, Code::NotFound);
    // The gateway crashed before its row was written.
    let begun = runs.resume_workflow(&ann, lost, "report", 1).await.unwrap();
    assert_eq!(begun.data_tools(), 1);
}

#[tokio::test]
async fn the_last_task_of_a_workflow_may_complete_it_again_after_a_crash() {
    let setup = setup(tools()).await.with_control();
    let run =
        setup.strip.runs().begin_workflow(&principal("acme", "ann"), Uuid::new_v4(), "report");
    for _ in 0..2 {
        let call = within(&run, "w/end/1", COMPLETE_WORKFLOW, json!({"summary": "all done"}));
        let answer = setup.strip.call(call).await;
        assert_eq!(data(&answer)["status"], json!("completed"), "{answer:?}");
    }
    assert_eq!(state(&setup, run.id()).await, "completed");
}

#[tokio::test]
async fn a_task_that_asks_a_person_is_repeated_with_the_answer() {
    let setup = setup(tools()).await.with_control();
    let run =
        setup.strip.runs().begin_workflow(&principal("acme", "ann"), Uuid::new_v4(), "report");
    let asks = json!({"slot_type": "text", "slot_id": "tone", "prompt_key": "Which tone?"});
    let call = within(&run, "w/ask/1", REQUEST_USER_INPUT, asks);
    let early = setup.strip.call(call.clone()).await;
    assert_eq!(code(&early), Some(Code::Denied), "two data tools come first");
    for n in 0..2 {
        setup.strip.call(within(&run, "w/t/1", "t.echo", json!({"n": n}))).await;
    }
    let asked = setup.strip.call(call.clone()).await;
    let Some(Parked::Questions { questions, resume }) = Parked::of(&asked) else {
        panic!("{asked:?}")
    };
    assert_eq!((questions.len(), questions[0].slot_id.as_str()), (1, "tone"));
    assert_eq!(state(&setup, run.id()).await, "waiting");
    let boss = principal("acme", "boss");
    let warm = json!("warm");
    setup.strip.runs().answer(&boss, None, (run.id(), "tone"), &warm).await.unwrap();
    let answered = setup.strip.call(repeated(&call, resume)).await;
    assert_eq!((answered.reply, &data(&answered)["value"]), (Reply::Done, &json!("warm")));
}

/// A tool that asks for two values and then for a yes or no.
fn booking() -> crate::support::Fake {
    let ask = |state: &str, properties: Value| {
        let native = json!({
            "resultType": "input_required",
            "inputRequests": {"form": {"method": "elicitation/create", "params": {
                "message": "Book?",
                "requestedSchema": {
                    "type": "object", "properties": properties, "required": ["day"],
                },
            }}},
            "requestState": state,
        });
        let asked = Output::new(json!({}));
        Output { reply: Reply::NeedsInput, native: Some(Arc::new(native)), ..asked }
    };
    tool("t.book", move |job| {
        let first = json!({"day": {"type": "string"}, "persons": {"type": "integer"}});
        let output = match job.resume.as_deref() {
            None => ask("one", first),
            Some(resume) if resume.state.as_deref() == Some("one") => {
                let content = resume.responses["form"]["content"].to_string();
                ask(&content, json!({}))
            }
            Some(resume) => Output::new(json!({
                "booked": resume.state, "sure": resume.responses["form"]["action"],
            })),
        };
        Box::pin(async move { Ok(output) })
    })
    .with(|descriptor| descriptor.deterministic = false)
}

#[tokio::test]
async fn the_form_of_a_tool_becomes_questions_of_the_run() {
    let setup = setup(vec![booking()]).await.with_control();
    let run =
        setup.strip.runs().begin_workflow(&principal("acme", "ann"), Uuid::new_v4(), "report");
    let call = within(&run, "w/book/1", "t.book", json!({}));
    let boss = principal("acme", "boss");
    let park = async |call: Request| match Parked::of(&setup.strip.call(call).await) {
        Some(Parked::Questions { questions, resume }) => (questions, resume),
        other => panic!("{other:?}"),
    };
    let settle = async |slot: &str, value: Value| {
        setup.strip.runs().answer(&boss, None, (run.id(), slot), &value).await.unwrap();
    };
    let (questions, resume) = park(call.clone()).await;
    assert_eq!(questions.len(), 2);
    let slot = |name: &str| {
        questions.iter().find(|one| one.slot_id.starts_with(name)).unwrap().slot_id.clone()
    };
    settle(&slot("day"), json!("Monday")).await;
    let (open, _) = park(repeated(&call, resume.clone())).await;
    assert_eq!(open.len(), 1, "the other is still open");
    settle(&slot("persons"), json!(2)).await;
    // As after a restart: the call begins again, and what was answered is not asked again.
    let (none, resume) = park(call.clone()).await;
    assert!(none.is_empty(), "{none:?}");
    let (sure, resume) = park(repeated(&call, resume)).await;
    assert_eq!((sure.len(), sure[0].prompt.as_str()), (1, "Book?"));
    settle(&sure[0].slot_id, json!(true)).await;
    let done = setup.strip.call(repeated(&call, resume)).await;
    let booked: Value = serde_json::from_str(data(&done)["booked"].as_str().unwrap()).unwrap();
    assert_eq!(booked, json!({"day": "Monday", "persons": 2}));
    assert_eq!(data(&done)["sure"], json!("accept"));
}

/// A default in place of the damaged questions would ask again what people have answered.
#[tokio::test]
async fn damaged_questions_of_a_task_are_an_error() {
    let setup = setup(vec![booking()]).await.with_control();
    let run =
        setup.strip.runs().begin_workflow(&principal("acme", "ann"), Uuid::new_v4(), "report");
    let call = within(&run, "w/book/1", "t.book", json!({}));
    let asked = setup.strip.call(call.clone()).await;
    let Some(Parked::Questions { resume: Some(mut resume), .. }) = Parked::of(&asked) else {
        panic!("{asked:?}")
    };
    resume["round"] = json!("?");
    let refused = setup.strip.call(repeated(&call, Some(resume))).await.result.unwrap_err();
    assert_eq!(refused.code, Code::Internal);
    assert!(refused.message.contains("start the workflow again"), "{}", refused.message);
}

#[tokio::test]
async fn a_stored_output_is_kept_as_long_as_its_run() {
    let setup = setup(tools()).await;
    let ann = principal("acme", "ann");
    let run = setup.strip.runs().begin_workflow(&ann, Uuid::new_v4(), "report");
    let output = json!({"rows": vec!["x".repeat(1_000); 100]});
    let reference = setup.strip.store_output(&ann, &run, &output).await.unwrap();
    let id = reference["ref_id"].as_str().unwrap();
    assert_eq!(reference["size"], json!(output.to_string().len()));
    setup.clock.advance(Duration::from_secs(29 * 24 * 60 * 60));
    let record = setup.strip.files().find(&ann, id).await.unwrap();
    let bytes = setup.strip.files().bytes(&record, 1 << 20).await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), output);
    let other = setup.strip.files().find(&principal("globex", "ann"), id).await;
    assert_eq!(other.unwrap_err().code, Code::NotFound);
    setup.clock.advance(Duration::from_secs(24 * 60 * 60));
    assert!(setup.strip.files().find(&ann, id).await.is_err());
}

#[tokio::test]
async fn compensations_and_no_other_calls_pass_after_the_end_of_a_workflows_run() {
    let setup = setup(tools()).await.with_control();
    let (ann, workflow) = (principal("acme", "ann"), Uuid::new_v4());
    let runs = setup.strip.runs();
    let run = runs.begin_workflow(&ann, workflow, "report");
    let compensation = || {
        let call = within(&run, "w/a~/1", "t.fresh", json!({}));
        let park = Park { compensates: true, ..Park::clone(call.park.as_ref().unwrap()) };
        Request { park: Some(Arc::new(park)), ..call }
    };
    let end = within(&run, "w/end/1", COMPLETE_WORKFLOW, json!({"summary": "all done"}));
    assert_eq!(code(&setup.strip.call(end).await), None);
    assert_eq!(code(&setup.strip.call(compensation()).await), None, "it was aborted afterwards");
    for ended in [RunEnd::Aborted, RunEnd::Failed] {
        runs.end(&run, ended).await.unwrap();
        assert_eq!(
            state(&setup, run.id()).await,
            "aborted",
            "the first end after completion stays"
        );
        assert_eq!(code(&setup.strip.call(compensation()).await), None);
        // A task of the workflow, and its owner by any name of the run.
        let task = within(&run, "w/b/1", "t.fresh", json!({}));
        let mut named = task.clone();
        (named.park, named.door) = (None, Door::Http);
        named.run = RunOf::Named(run.id().into());
        for call in [task, named] {
            assert_eq!(code(&setup.strip.call(call).await), Some(Code::Denied));
        }
    }
    // Runs of other kinds are over for everything.
    let batch = runs.begin_batch(&ann, "report".to_owned());
    let other = Request { run: RunOf::Joined(Arc::clone(&batch)), ..compensation() };
    let mut end = other.clone();
    (end.tool, end.input, end.park) =
        (COMPLETE_WORKFLOW.to_owned(), Arc::new(json!({"summary": "x"})), None);
    assert_eq!(code(&setup.strip.call(end).await), None);
    assert_eq!(code(&setup.strip.call(other).await), Some(Code::Denied));
}

#[tokio::test]
async fn a_workflow_that_goes_on_opens_the_run_that_was_ended_for_it() {
    let setup = setup(tools()).await.with_control();
    let ann = principal("acme", "ann");
    let (ending, completed) = (Uuid::new_v4(), Uuid::new_v4());
    let run = setup.strip.runs().begin_workflow(&ann, ending, "report");
    // The process dies before the end of the workflow itself is committed.
    setup.strip.runs().end(&run, RunEnd::Failed).await.unwrap();
    let run = setup.strip.runs().begin_workflow(&ann, completed, "report");
    let end = within(&run, "w/end/1", COMPLETE_WORKFLOW, json!({"summary": "all done"}));
    assert_eq!(code(&setup.strip.call(end).await), None);
    drop(run);
    let setup = setup.restarted(tools()).await;
    let runs = setup.strip.runs();
    for (workflow, refusal) in [(ending, None), (completed, Some(Code::Denied))] {
        let run = runs.resume_workflow(&ann, workflow, "report", 0).await.unwrap();
        let again = setup.strip.call(within(&run, "w/a/1", "t.fresh", json!({}))).await;
        assert_eq!(code(&again), refusal);
    }
}
