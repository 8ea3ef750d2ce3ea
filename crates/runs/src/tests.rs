use std::time::Duration;

use proto::{Clock, Code, Principal, SlotType, TenantId, Via};
use serde_json::Value;
use store::{CommitQueue, Database};
use uuid::Uuid;

use super::answers::NewQuestion;
use super::kind::Kind;
use super::{IDLE, Run, Runs};

async fn opened(folder: &tempfile::TempDir) -> Runs {
    let database = Database::open(folder.path()).await.expect("a database");
    let commits = CommitQueue::start(database.clone());
    Runs::new(database, commits, Clock::default())
}

fn ann() -> Principal {
    Principal {
        tenant: TenantId::new("acme"),
        subject: "ann".to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    }
}

#[tokio::test]
async fn the_run_of_a_workflow_leaves_memory_with_its_driver() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = opened(&folder).await;
    let (driven, paused) = (Uuid::new_v4(), Uuid::new_v4());
    let held = runs.begin_workflow(&ann(), driven, "report");
    let left = runs.begin_workflow(&ann(), paused, "report").id().to_owned();
    runs.flush().await.expect("the runs are written");
    assert!(runs.known().of_id(held.id()).is_some());
    assert!(runs.known().of_id(&left).is_none());
    let again = runs.resume_workflow(&ann(), paused, "report", 3).await.expect("it is read again");
    assert_eq!((again.id(), again.data_tools()), (left.as_str(), 3));
}

/// A flush that read the run as open and committed after the question would hide that the run waits.
#[tokio::test]
async fn a_question_is_written_after_a_flush_that_began_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = opened(&folder).await;
    let run = runs.begin_batch(&ann(), "report".to_owned());

    let flush = runs.0.writing.lock().await;
    let (slot_id, prompt) = ("tone", "Which tone?".to_owned());
    let (slot_type, options) = (SlotType::Text, Vec::new());
    let question = NewQuestion { slot_id, slot_type, prompt, options, check: None };
    let mut asking = Box::pin(runs.ask(&run, question));
    let early = tokio::time::timeout(Duration::from_millis(200), &mut asking).await;
    assert!(early.is_err(), "it did not wait for the flush");
    drop(flush);

    asking.await.expect("the question is written");
    runs.flush().await.expect("the run is written");
    let row = runs.0.database.run(None, run.id()).await.expect("a readable run").expect("the run");
    assert_eq!(row.state, "waiting");
}

#[tokio::test]
async fn an_answer_that_fails_its_check_leaves_the_question_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = opened(&folder).await;
    let no_tabs = |text: &str| match text.lines().position(|line| line.contains('\t')) {
        Some(line) => Err(format!("line {}: a tab", line + 1)),
        None => Ok(()),
    };
    runs.add_check("no tabs", no_tabs);
    let run = runs.begin_batch(&ann(), "report".to_owned());
    let question = || NewQuestion {
        slot_id: "text",
        slot_type: SlotType::Document,
        prompt: "Edit it.".to_owned(),
        options: vec!["one\ntwo".to_owned()],
        check: Some("no tabs"),
    };
    runs.ask(&run, question()).await.expect("the question is asked");
    let answer = async |text: &str| {
        let value = Value::from(text);
        runs.answer(&ann(), Some("acme"), (run.id(), "text"), &value).await
    };
    let long = "x".repeat(64 * 1024 + 1);
    for (bad, why) in [("one\n\ttwo", "line 2: a tab"), (" \n", "says something"), (&long, "65536")]
    {
        let refused = answer(bad).await.expect_err("the answer does not fit");
        assert!(refused.message.contains(why), "{}", refused.message);
        assert_eq!(run.open_questions().len(), 1, "{why}");
    }
    let answered = answer("one\nthree").await.expect("the answer fits");
    assert_eq!((answered.state.as_str(), run.open_questions().len()), ("answered", 0));
}

/// Counted as open, a run that has ended would admit calls again.
#[tokio::test]
async fn a_run_whose_stored_state_is_damaged_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = opened(&folder).await;
    for (kind, state, is_read) in [
        (Kind::Batch, "open", true),
        (Kind::Batch, "completed", true),
        (Kind::Workflow, "rejected", true),
        (Kind::Workflow, "expired", true),
        (Kind::Batch, "complete", false),
        (Kind::Batch, "", false),
        (Kind::Batch, "aborted", false),
        (Kind::Workflow, "Failed", false),
    ] {
        let mut row = Run::begin(kind, &ann(), None, 1).row(1, IDLE);
        state.clone_into(&mut row.state);
        runs.0.database.save_runs(&[row.clone()], &[]).await.expect("the run is written");
        let read = runs.by_id(None, &row.id).await;
        assert_eq!(read.is_ok(), is_read, "{kind:?} {state}");
        if let Err(failure) = read {
            assert_eq!((failure.code, failure.retryable), (Code::Internal, false), "{state}");
        }
    }
}
