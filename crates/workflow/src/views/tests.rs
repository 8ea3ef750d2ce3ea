use futures_util::StreamExt as _;
use operations::workflows::WorkflowQuery;
use proto::Principal;
use serde_json::json;
use store::{RowChange, WorkflowChange};

use super::*;
use crate::testing::{Setup, caller, dag, repeat};
use crate::{StartOptions, Until};

/// A workflow that runs until its task may, with this id.
async fn start(workflows: &Workflows, owner: &std::sync::Arc<Principal>) -> Uuid {
    let tasks = dag(vec![repeat("one", "a", 1)]);
    let id = workflows.start_dag(owner, tasks, StartOptions::default()).await.expect("it starts");
    let soon = std::time::Duration::from_millis(10);
    workflows.wait_for(owner, id, Until::End, soon).await.expect("it runs");
    id
}

/// Writes what damages a workflow.
async fn damage(setup: &Setup, change: WorkflowChange) {
    let written = setup.commits.save_workflow(change).await.expect("the queue");
    written.committed().await.expect("it is written");
}

fn event(workflow: Uuid, number: u64, data: &str) -> WorkflowEventRow {
    let (kind, data) = ("task_done".to_owned(), data.to_owned());
    WorkflowEventRow { workflow, number, at_unix_ms: 1, kind, data }
}

#[tokio::test]
async fn a_journal_that_cannot_be_read_ends_with_an_error() {
    let setup = Setup::new(0).await;
    let (ann, workflows) = (caller("ann"), setup.workflows());
    let id = start(&workflows, &ann).await;
    let (caller, name) = (Caller::local(ann), id.to_string());
    let mut events = workflows.events(&caller, &name, 0).await.expect("a journal");
    let first = events.next().await.expect("an event").expect("it can be read");
    assert_eq!((first.number, first.kind.as_str()), (1, "command"));

    let events_of =
        |rows| WorkflowChange { workflow: id, fence: 1, events: rows, ..Default::default() };
    damage(&setup, events_of(vec![event(id, 900, "{}")])).await;
    damage(&setup, events_of(vec![event(id, 901, "{")])).await;
    workflows.service().announce(id);
    let rest: Vec<_> = events.collect().await;
    let last = rest.last().expect("more events");
    assert_eq!(last.as_ref().map_err(|error| error.code), Err(Code::Internal));
    assert_eq!(rest.iter().filter(|event| event.is_err()).count(), 1);

    // So that a client which reconnects, or asks again, does not do so for ever.
    let again = workflows.events(&caller, &name, 900).await.map(drop);
    assert_eq!(again.expect_err("the same row").code, Code::Internal);
    assert!(workflows.events(&caller, &name, 901).await.is_ok());
}

/// Those in the list that can be read are shown, whatever is damaged of the others and whether they have ended.
#[tokio::test]
async fn a_list_shows_what_it_cannot_read_and_the_others() {
    let setup = Setup::new(0).await;
    let (ann, workflows) = (caller("ann"), setup.workflows());
    let (good, active, ended) = (
        start(&workflows, &ann).await,
        start(&workflows, &ann).await,
        start(&workflows, &ann).await,
    );
    let row = setup.database.workflow(active).await.expect("a database").expect("a row");
    let update = store::WorkflowUpdate { dag: Some("{".to_owned()), ..Default::default() };
    let row_change = Some(RowChange::Update(Box::new(update)));
    let change = WorkflowChange {
        workflow: active,
        fence: row.fence,
        row: row_change,
        ..Default::default()
    };
    damage(&setup, change).await;
    // Without the snapshot that all workflows write at their end.
    let change =
        WorkflowChange { workflow: ended, fence: 1, delete_control: true, ..Default::default() };
    damage(&setup, change).await;

    let caller = Caller::local(ann);
    // Showing a run writes its row.
    workflows.run_of(&caller, ended).await.expect("a run");
    let listed = workflows.list(&caller, WorkflowQuery::default()).await.expect("a list");
    let outcome = |id: Uuid| {
        let found = listed.workflows.iter().find(|one| one.workflow_id == id.to_string());
        found.map(|one| (one.state.clone(), one.outcome.clone(), one.name.clone()))
    };
    let unreadable = Some(UNREADABLE.to_owned());
    assert_eq!(outcome(good), Some(("running".to_owned(), None, "repeat".to_owned())));
    assert_eq!(outcome(active).map(|found| found.1), Some(unreadable.clone()));
    let (state, of_ended, name) = outcome(ended).expect("it is listed");
    assert_eq!((of_ended, name.as_str()), (unreadable, "repeat"), "{state}");
    let shown = workflows.show(&caller, &ended.to_string()).await.map(drop);
    assert_eq!(shown.expect_err("no snapshot").code, Code::Internal, "no empty workflow");
    let definition = workflows.definition(&caller, &ended.to_string()).await.map(drop);
    assert_eq!(definition.expect_err("no snapshot").code, Code::Internal);
}

#[tokio::test]
async fn the_dag_of_a_workflow_is_read_or_damaged_or_not_stored() {
    let setup = Setup::new(0).await;
    let (ann, workflows) = (caller("ann"), setup.workflows());
    let caller = Caller::local(std::sync::Arc::clone(&ann));
    let whole = json!({"tasks": [], "dag": {"tasks": []}, "per_layer_validation": true});
    let mut without = whole.clone();
    without.as_object_mut().and_then(|fields| fields.remove("per_layer_validation"));
    for (snapshot, expected) in [
        (whole, Ok(true)),
        (json!({"tasks": []}), Err(Code::NotFound)),
        (without, Err(Code::Internal)),
        (json!({"dag": {"tasks": 1}, "per_layer_validation": true}), Err(Code::Internal)),
    ] {
        let id = start(&workflows, &ann).await;
        let row = event(id, 900, &snapshot.to_string());
        let events = vec![WorkflowEventRow { kind: "snapshot".to_owned(), ..row }];
        let end = WorkflowChange {
            workflow: id,
            fence: 1,
            delete_control: true,
            events,
            ..Default::default()
        };
        damage(&setup, end).await;
        let read = workflows.definition(&caller, &id.to_string()).await;
        let read = read.map(|read| read.per_layer_validation).map_err(|error| error.code);
        assert_eq!(read, expected, "{snapshot}");
    }
}
