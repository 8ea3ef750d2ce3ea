use std::time::Duration;

use proto::{Clock, Principal, TenantId, Via};
use store::{AuditTrail, Database};

use super::answers::NewQuestion;
use super::{Runs, SlotType};

/// A flush that read the run as open and committed after the question would hide that the run waits.
#[tokio::test]
async fn a_question_is_written_after_a_flush_that_began_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = Database::open(folder.path()).await.expect("a database");
    let trail = AuditTrail::start(database.clone());
    let runs = Runs::new(database.clone(), trail, Clock::default());
    let tenant = TenantId::new("acme");
    let ann = Principal {
        tenant,
        subject: "ann".to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    };
    let run = runs.begin_batch(&ann, "report".to_owned());

    let flush = runs.0.writing.lock().await;
    let (slot_id, prompt) = ("tone", "Which tone?".to_owned());
    let question = NewQuestion { slot_id, slot_type: SlotType::Text, prompt, options: Vec::new() };
    let mut asking = Box::pin(runs.ask(&run, question));
    let early = tokio::time::timeout(Duration::from_millis(200), &mut asking).await;
    assert!(early.is_err(), "it did not wait for the flush");
    drop(flush);

    asking.await.expect("the question is written");
    runs.flush().await.expect("the run is written");
    let row = database.run(run.id()).await.expect("a readable run").expect("the run");
    assert_eq!(row.state, "waiting");
}
