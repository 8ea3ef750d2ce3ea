use std::time::Duration;

use proto::{Clock, Principal, TenantId, Via};
use store::{CommitQueue, Database};
use uuid::Uuid;

use super::answers::NewQuestion;
use super::{Runs, SlotType};

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
    let question = NewQuestion { slot_id, slot_type: SlotType::Text, prompt, options: Vec::new() };
    let mut asking = Box::pin(runs.ask(&run, question));
    let early = tokio::time::timeout(Duration::from_millis(200), &mut asking).await;
    assert!(early.is_err(), "it did not wait for the flush");
    drop(flush);

    asking.await.expect("the question is written");
    runs.flush().await.expect("the run is written");
    let row = runs.0.database.run(run.id()).await.expect("a readable run").expect("the run");
    assert_eq!(row.state, "waiting");
}
