//! Workflows: steps are stored whole or not at all, under the fence of a claim.

use std::sync::Arc;

use store::{
    CommitQueue, Crashes, Database, Lease, Receipt, RowChange, RunChanges, RunRow, StoreError,
    WorkflowAnswer, WorkflowChange, WorkflowCheckpointRow, WorkflowEventRow, WorkflowFilter,
    WorkflowOwner, WorkflowPhase, WorkflowRow, WorkflowTaskRow, WorkflowUpdate,
};
use uuid::Uuid;

use crate::support::{on_both_engines, row};

const ANN: WorkflowOwner<'static> = WorkflowOwner { tenant: "acme", subject: "ann", agent: None };

pub(crate) fn workflow(client_key: Option<&str>) -> WorkflowRow {
    let id = Uuid::new_v4();
    WorkflowRow {
        id,
        run: format!("run_{}", id.simple()),
        tenant: "acme".to_owned(),
        subject: "ann".to_owned(),
        agent: None,
        principal: r#"{"tenant":"acme"}"#.to_owned(),
        client_key: client_key.map(str::to_owned),
        start_digest: client_key.map(|key| proto::digest(key.as_bytes())),
        dag: "{\"tasks\":[\"nul \\u0000 and \u{0}\"]}".to_owned(),
        intent: None,
        config: "{}".to_owned(),
        state: "{\"layer\":0}".to_owned(),
        phase: WorkflowPhase::Running,
        control_calls: "[]".to_owned(),
        created_unix_ms: 1,
        updated_unix_ms: 1,
        expires_unix_ms: 100,
        lease_owner: Some("one".to_owned()),
        lease_until_unix_ms: 50,
        fence: 1,
        crashes: Crashes::default(),
    }
}

pub(crate) fn insert(row: &WorkflowRow) -> WorkflowChange {
    WorkflowChange {
        row: Some(RowChange::Insert(Box::new(row.clone()))),
        events: vec![event(row.id, 1, "started")],
        ..step(row.id, 1)
    }
}

fn step(workflow: Uuid, fence: u64) -> WorkflowChange {
    WorkflowChange { workflow, fence, ..WorkflowChange::default() }
}

fn update(workflow: Uuid, fence: u64, update: WorkflowUpdate) -> WorkflowChange {
    WorkflowChange { row: Some(RowChange::Update(Box::new(update))), ..step(workflow, fence) }
}

fn task(workflow: Uuid, name: &str, item: i64, output: Option<String>) -> WorkflowTaskRow {
    WorkflowTaskRow {
        workflow,
        task: name.to_owned(),
        item,
        status: "success".to_owned(),
        attempt: 1,
        result: "{}".to_owned(),
        output_bytes: output.as_ref().map_or(0, |output| output.len() as u64),
        output,
        started_unix_ms: 2,
        ended_unix_ms: Some(3),
    }
}

fn event(workflow: Uuid, number: u64, kind: &str) -> WorkflowEventRow {
    WorkflowEventRow {
        workflow,
        number,
        at_unix_ms: 1,
        kind: kind.to_owned(),
        data: "{}".to_owned(),
    }
}

fn checkpoint(workflow: Uuid, layer: i64, id: &str) -> WorkflowCheckpointRow {
    WorkflowCheckpointRow {
        workflow,
        id: id.to_owned(),
        layer,
        kind: "layer".to_owned(),
        answer: "{\"status\":\"layer_complete\"}".to_owned(),
    }
}

fn run_of(workflow: Uuid, touched_unix_ms: u64) -> RunRow {
    RunRow {
        id: format!("run_{}", workflow.simple()),
        tenant: "acme".to_owned(),
        subject: "ann".to_owned(),
        agent: None,
        kind: "workflow".to_owned(),
        name: None,
        state: "completed".to_owned(),
        summary: None,
        artifacts: Vec::new(),
        data_tools: 0,
        created_unix_ms: 1,
        touched_unix_ms,
    }
}

async fn submit(queue: &CommitQueue, change: WorkflowChange) -> Receipt {
    queue.save_workflow(change).await.unwrap()
}

async fn save(queue: &CommitQueue, change: WorkflowChange) -> Result<(), StoreError> {
    submit(queue, change).await.committed().await
}

async fn kinds(database: &Database, id: Uuid) -> Vec<String> {
    let events = database.workflow_events(id, 0, 100).await.unwrap();
    events.into_iter().map(|event| event.kind).collect()
}

on_both_engines! {
    async fn a_step_is_stored_whole(test) {
        let (database, queue) = test.started().await;
        let row = workflow(None);
        let id = row.id;
        save(&queue, insert(&row)).await.unwrap();
        assert_eq!(database.workflow(id).await.unwrap(), Some(row.clone()));
        assert_eq!(database.workflow_checkpoint(id).await.unwrap(), None);
        let long = format!("\"{}\"", "x".repeat(16 << 20));
        let tasks = vec![
            task(id, "a", -1, Some("[1]".to_owned())),
            task(id, "each", 0, Some("\"\\u0000 é\"".to_owned())),
            task(id, "each", 1, None),
            task(id, "long", -1, Some(long.clone())),
        ];
        let change = WorkflowChange {
            tasks: tasks.clone(),
            checkpoint: Some(checkpoint(id, 0, "chk_1")),
            events: vec![event(id, 2, "layer_complete")],
            ..update(id, 1, WorkflowUpdate {
                state: Some("{\"layer\":1}".to_owned()),
                phase: Some(WorkflowPhase::Paused),
                updated_unix_ms: 5,
                expires_unix_ms: Some(200),
                ..WorkflowUpdate::default()
            })
        };
        save(&queue, change).await.unwrap();
        let paused = WorkflowRow {
            state: "{\"layer\":1}".to_owned(),
            phase: WorkflowPhase::Paused,
            updated_unix_ms: 5,
            expires_unix_ms: 200,
            ..row
        };
        assert_eq!(database.workflow(id).await.unwrap(), Some(paused));
        let [mut short, long_row] = [tasks.clone(), vec![tasks[3].clone()]];
        short[3] = WorkflowTaskRow { output: None, ..long_row[0].clone() };
        assert_eq!(database.workflow_tasks(id).await.unwrap(), short);
        assert_eq!(database.task_output(id, "long", -1).await.unwrap(), Some(long));
        assert_eq!(database.task_output(id, "each", 1).await.unwrap(), None);
        assert_eq!(database.workflow_checkpoint(id).await.unwrap(), Some(checkpoint(id, 0, "chk_1")));
        assert_eq!(kinds(&database, id).await, ["started", "layer_complete"]);
        assert_eq!(database.workflow_events(id, 1, 9).await.unwrap(), [event(id, 2, "layer_complete")]);
        assert_eq!(database.last_workflow_events(id, 1).await.unwrap(), [event(id, 2, "layer_complete")]);
    }

    async fn steps_of_one_group_are_stored_in_their_order(test) {
        let (database, queue) = test.started().await;
        let rows: Vec<_> = (0..30).map(|_| workflow(None)).collect();
        let mut receipts = Vec::new();
        for row in &rows {
            receipts.push(submit(&queue, insert(row)).await);
            for number in 2..5 {
                let change = WorkflowChange {
                    tasks: vec![task(row.id, "a", -1, Some(number.to_string()))],
                    checkpoint: Some(checkpoint(row.id, i64::try_from(number / 4).unwrap(), &number.to_string())),
                    events: vec![event(row.id, number, "step")],
                    ..step(row.id, 1)
                };
                receipts.push(submit(&queue, change).await);
            }
        }
        queue.record(row(1)).await.unwrap().committed().await.unwrap();
        for receipt in receipts {
            receipt.committed().await.unwrap();
        }
        for row in &rows {
            assert_eq!(kinds(&database, row.id).await, ["started", "step", "step", "step"]);
            assert_eq!(database.workflow_tasks(row.id).await.unwrap()[0].output.as_deref(), Some("4"));
            assert_eq!(database.workflow_checkpoint(row.id).await.unwrap().unwrap().id, "4");
        }
    }

    async fn nothing_is_stored_after_the_end_in_the_same_group(test) {
        let (database, queue) = test.started().await;
        // More than one statement deletes.
        let rows: Vec<_> = (0..70).map(|_| workflow(None)).collect();
        for row in &rows {
            submit(&queue, insert(row)).await;
        }
        queue.record(row(1)).await.unwrap().committed().await.unwrap();
        let mut late = Vec::new();
        for row in &rows {
            let end = WorkflowChange { delete_control: true, ..step(row.id, 1) };
            let tasks = || vec![task(row.id, "a", -1, None)];
            submit(&queue, WorkflowChange { tasks: tasks(), ..step(row.id, 1) }).await;
            submit(&queue, WorkflowChange { events: vec![event(row.id, 2, "complete")], ..end }).await;
            let changed = WorkflowUpdate { updated_unix_ms: 7, ..WorkflowUpdate::default() };
            let updated = WorkflowChange { tasks: tasks(), ..update(row.id, 1, changed) };
            late.push(submit(&queue, updated).await);
            late.push(submit(&queue, WorkflowChange { tasks: tasks(), ..step(row.id, 1) }).await);
        }
        for receipt in late {
            assert!(matches!(receipt.committed().await, Err(StoreError::Fenced)));
        }
        for row in &rows {
            assert_eq!(database.workflow(row.id).await.unwrap(), None);
            assert_eq!(database.workflow_tasks(row.id).await.unwrap(), []);
            assert_eq!(kinds(&database, row.id).await, ["started", "complete"]);
        }
    }

    async fn a_start_that_is_written_twice_keeps_its_claim(test) {
        let (database, queue) = test.started().await;
        let row = workflow(None);
        let first = submit(&queue, insert(&row)).await;
        let second = submit(&queue, insert(&row)).await;
        let end = submit(&queue, WorkflowChange { delete_control: true, ..step(row.id, 1) }).await;
        end.committed().await.unwrap();
        first.committed().await.unwrap();
        assert!(matches!(second.committed().await, Err(StoreError::Fenced)));
        assert_eq!(database.workflow(row.id).await.unwrap(), None);
    }

    async fn a_step_with_an_old_fence_changes_nothing(test) {
        let (database, queue) = test.started().await;
        let row = workflow(None);
        let id = row.id;
        save(&queue, insert(&row)).await.unwrap();
        let lease = |owner, now_unix_ms| Lease { owner, now_unix_ms, until_unix_ms: 90 };
        assert_eq!(database.claim_workflow(id, lease("two", 49)).await.unwrap(), None, "it is leased");
        assert_eq!(database.claim_workflow(id, lease("one", 49)).await.unwrap(), Some(2));
        assert_eq!(database.claim_workflow(id, lease("two", 90)).await.unwrap(), Some(3));
        assert_eq!(database.claim_workflow(Uuid::new_v4(), lease("two", 90)).await.unwrap(), None);
        let before = database.workflow(id).await.unwrap();

        let stale = WorkflowChange {
            tasks: vec![task(id, "a", -1, None)],
            checkpoint: Some(checkpoint(id, 0, "chk_1")),
            answer: Some(WorkflowAnswer { answer: "{}".to_owned(), expires_unix_ms: 9 }),
            events: vec![event(id, 2, "stale")],
            delete_control: true,
            ..update(id, 2, WorkflowUpdate { updated_unix_ms: 7, ..WorkflowUpdate::default() })
        };
        // The refusal does not touch other changes of the same group.
        let other = workflow(None);
        let refused = submit(&queue, stale).await;
        let unchanged = submit(&queue, step(id, 1)).await;
        let good = submit(&queue, insert(&other)).await;
        good.committed().await.unwrap();
        assert!(matches!(refused.committed().await, Err(StoreError::Fenced)));
        assert!(matches!(unchanged.committed().await, Err(StoreError::Fenced)));
        assert_eq!(database.workflow(id).await.unwrap(), before);
        assert_eq!(database.workflow_tasks(id).await.unwrap(), []);
        assert_eq!(database.workflow_checkpoint(id).await.unwrap(), None);
        assert_eq!(database.workflow_answer(id, 1).await.unwrap(), None);
        assert_eq!(kinds(&database, id).await, ["started"]);
        assert!(database.workflow(other.id).await.unwrap().is_some());
        assert_eq!(queue.failing(), None);
        save(&queue, step(id, 3)).await.unwrap();
    }

    async fn a_client_key_names_one_workflow_of_its_caller_until_the_answer_expires(test) {
        let (database, queue) = test.started().await;
        let first = workflow(Some("key"));
        let second = workflow(Some("key"));
        let of_agent = WorkflowRow { agent: Some("bot".to_owned()), ..workflow(Some("key")) };
        save(&queue, insert(&first)).await.unwrap();
        assert!(matches!(save(&queue, insert(&second)).await, Err(StoreError::Fenced)));
        assert_eq!(kinds(&database, second.id).await, Vec::<String>::new());
        save(&queue, insert(&of_agent)).await.unwrap();
        let find = async |owner, key| database.workflow_by_client_key(owner, key).await.unwrap();
        let bot = WorkflowOwner { agent: Some("bot"), ..ANN };
        let digest = first.start_digest;
        assert_eq!(find(ANN, "key").await, Some((first.id, digest)));
        assert_eq!(find(bot, "key").await, Some((of_agent.id, digest)));
        assert_eq!(find(WorkflowOwner { tenant: "other", ..ANN }, "key").await, None);
        assert_eq!(find(ANN, "other").await, None);
        let is_of_another = async |owner| database.is_workflow_of_another_caller(first.id, owner).await.unwrap();
        let others = [bot, WorkflowOwner { tenant: "other", ..ANN }, WorkflowOwner { subject: "amy", ..ANN }];
        assert!(!is_of_another(ANN).await);
        for other in others {
            assert!(is_of_another(other).await, "{other:?}");
        }

        let end = WorkflowChange {
            answer: Some(WorkflowAnswer { answer: "{\"status\":\"complete\"}".to_owned(), expires_unix_ms: 9 }),
            delete_control: true,
            ..step(first.id, 1)
        };
        save(&queue, end).await.unwrap();
        assert_eq!(find(ANN, "key").await, Some((first.id, digest)), "its answer is kept");
        assert!(!is_of_another(ANN).await, "after its end");
        for other in others {
            assert!(is_of_another(other).await, "after its end, {other:?}");
        }
        assert_eq!(database.forget_workflow_answers(8).await.unwrap(), 0);
        assert_eq!(database.forget_workflow_answers(9).await.unwrap(), 1);
        assert_eq!(find(ANN, "key").await, None);
        save(&queue, insert(&second)).await.unwrap();
    }

    async fn the_end_leaves_the_answer_and_the_journal(test) {
        let (database, queue) = test.started().await;
        let (row, other) = (workflow(None), workflow(None));
        let id = row.id;
        let begin = WorkflowChange {
            tasks: vec![task(id, "a", -1, None)],
            checkpoint: Some(checkpoint(id, 0, "chk_1")),
            ..insert(&row)
        };
        let end = WorkflowChange {
            tasks: vec![task(id, "b", -1, None)],
            answer: Some(WorkflowAnswer { answer: "{\"status\":\"complete\"}".to_owned(), expires_unix_ms: 9 }),
            events: vec![event(id, 2, "complete")],
            delete_control: true,
            ..step(id, 1)
        };
        // In one group and in two.
        for together in [true, false] {
            let (begin, end) = (begin.clone(), end.clone());
            let kept = WorkflowChange { tasks: vec![task(other.id, "a", -1, None)], ..insert(&other) };
            let first = submit(&queue, begin).await;
            let _ = submit(&queue, kept).await;
            if !together {
                first.committed().await.unwrap();
            }
            save(&queue, end).await.unwrap();
            assert_eq!(database.workflow(id).await.unwrap(), None);
            assert_eq!(database.workflow_tasks(id).await.unwrap(), []);
            assert_eq!(database.workflow_checkpoint(id).await.unwrap(), None);
            let answer = database.workflow_answer(id, 8).await.unwrap().unwrap();
            assert_eq!((answer.subject.as_str(), answer.agent), ("ann", None));
            assert_eq!(answer.answer, "{\"status\":\"complete\"}");
            assert_eq!(database.workflow_answer(id, 9).await.unwrap(), None);
            assert_eq!(kinds(&database, id).await, ["started", "complete"]);
            assert_eq!(database.workflow_tasks(other.id).await.unwrap().len(), 1);
        }
        assert!(matches!(save(&queue, step(id, 1)).await, Err(StoreError::Fenced)));

        let run = run_of(id, 5);
        let runs = Arc::new(RunChanges { runs: vec![run], calls: Vec::new() });
        queue.save_runs(&runs).await.unwrap().committed().await.unwrap();
        database.forget_runs(5).await.unwrap();
        assert_eq!(kinds(&database, id).await.len(), 2);
        database.forget_runs(6).await.unwrap();
        assert_eq!(kinds(&database, id).await.len(), 0, "the journal goes with the run");
        assert_eq!(kinds(&database, other.id).await.len(), 1);
    }

    async fn a_restart_takes_over_what_was_running(test) {
        let running = workflow(None);
        let paused = WorkflowRow { phase: WorkflowPhase::Paused, created_unix_ms: 2, ..workflow(None) };
        {
            let (database, queue) = test.started().await;
            save(&queue, insert(&running)).await.unwrap();
            save(&queue, insert(&paused)).await.unwrap();
            queue.close().await.unwrap();
            database.close().await;
        }
        let (database, queue) = test.started().await;
        let lease = Lease { owner: "two", now_unix_ms: 10, until_unix_ms: 60 };
        let taken = database.take_over_workflows("two").await.unwrap();
        let released = WorkflowRow {
            lease_owner: None,
            fence: 2,
            crashes: Crashes { in_a_row: 1, in_all: 1 },
            ..running.clone()
        };
        assert_eq!(taken, [released]);
        assert!(matches!(save(&queue, step(running.id, 1)).await, Err(StoreError::Fenced)));
        assert_eq!(database.take_over_workflows("two").await.unwrap(), taken, "it is free");
        assert_eq!(database.workflow(paused.id).await.unwrap(), Some(paused.clone()));
        for _ in 0..2 {
            database.take_over_workflow(paused.id, lease).await.unwrap();
        }
        assert!(matches!(save(&queue, step(paused.id, 1)).await, Err(StoreError::Fenced)));
        save(&queue, step(paused.id, 2)).await.unwrap();

        assert_eq!(database.active_workflows("acme").await.unwrap(), 2);
        assert_eq!(database.active_workflows("other").await.unwrap(), 0);
        assert_eq!(database.expired_workflows(99).await.unwrap(), Vec::<Uuid>::new());
        assert_eq!(database.expired_workflows(100).await.unwrap(), [paused.id]);
    }

    async fn all_that_wait_for_people_are_found(test) {
        let (database, queue) = test.started().await;
        let mut waiting = Vec::new();
        // More than any list holds.
        for created in 0..510 {
            let (phase, kind) = match created {
                0 => (WorkflowPhase::Running, "approval_required"),
                1 => (WorkflowPhase::Paused, "layer"),
                2 => (WorkflowPhase::Paused, "input_required"),
                _ => (WorkflowPhase::Paused, "approval_required"),
            };
            let row = WorkflowRow { phase, created_unix_ms: created, ..workflow(None) };
            if created > 1 {
                waiting.push(row.id);
            }
            let checkpoint = WorkflowCheckpointRow {
                kind: kind.to_owned(),
                ..checkpoint(row.id, 0, "chk_0")
            };
            submit(&queue, WorkflowChange { checkpoint: Some(checkpoint), ..insert(&row) }).await;
        }
        queue.close().await.unwrap();
        let kinds = ["approval_required", "input_required"];
        assert_eq!(database.workflows_paused_at(kinds).await.unwrap(), waiting);
    }

    async fn a_count_that_no_task_can_have_is_damage(test) {
        let (database, queue) = test.started().await;
        let row = workflow(None);
        let tasks = vec![task(row.id, "a", -1, None)];
        save(&queue, insert(&row)).await.unwrap();
        save(&queue, WorkflowChange { tasks, ..step(row.id, 1) }).await.unwrap();
        test.execute("UPDATE workflow_tasks SET attempt = 4294967296").await.unwrap();
        let error = database.workflow_tasks(row.id).await.unwrap_err();
        assert!(matches!(error, StoreError::Unreadable { column: "attempt", .. }), "{error}");
    }

    async fn workflows_are_listed_by_their_last_change(test) {
        let (database, queue) = test.started().await;
        let row = |phase, updated_unix_ms| WorkflowRow { phase, updated_unix_ms, ..workflow(None) };
        let (running, paused) = (row(WorkflowPhase::Running, 3), row(WorkflowPhase::Paused, 9));
        save(&queue, insert(&running)).await.unwrap();
        save(&queue, insert(&paused)).await.unwrap();
        let ended = [Uuid::new_v4(), Uuid::new_v4()];
        let other = RunRow { kind: "named".to_owned(), ..run_of(Uuid::new_v4(), 8) };
        // A task has completed the run of the first, which goes on.
        let runs = vec![run_of(running.id, 9), run_of(ended[0], 2), run_of(ended[1], 5), other];
        let runs = Arc::new(RunChanges { runs, calls: Vec::new() });
        queue.save_runs(&runs).await.unwrap().committed().await.unwrap();

        let all = WorkflowFilter { tenant: Some("acme".to_owned()), ..WorkflowFilter::default() };
        let list = async |filter: WorkflowFilter| database.workflows(&filter).await.unwrap();
        assert_eq!(list(all.clone()).await, [paused.id, ended[1], running.id, ended[0]]);
        let page = WorkflowFilter { limit: Some(2), offset: 1, ..all.clone() };
        assert_eq!(list(page).await, [ended[1], running.id]);
        for (phase, found) in [
            (WorkflowPhase::Running, &[running.id][..]),
            (WorkflowPhase::Paused, &[paused.id]),
            (WorkflowPhase::Ended, &[ended[1], ended[0]]),
        ] {
            assert_eq!(list(WorkflowFilter { phase: Some(phase), ..all.clone() }).await, found);
        }
        let next = WorkflowFilter { phase: Some(WorkflowPhase::Ended), limit: Some(1), offset: 1, ..all.clone() };
        assert_eq!(list(next).await, [ended[0]]);
        for id in [paused.id, ended[0]] {
            let begins = format!("run_{}", id.simple())[..20].to_owned();
            assert_eq!(list(WorkflowFilter { run_prefix: Some(begins), ..all.clone() }).await, [id]);
        }
        let elsewhere = WorkflowFilter { tenant: Some("other".to_owned()), ..all };
        assert_eq!(list(elsewhere).await, Vec::<Uuid>::new());
    }
}

/// Older versions left rows for the next start under this name.
#[test]
fn a_workflow_of_an_older_version_keeps_the_digest_of_its_start() {
    let row = workflow(Some("key"));
    let mut left = serde_json::to_value(&row).unwrap();
    let members = left.as_object_mut().unwrap();
    let digest = members.remove("start_digest").unwrap();
    members.insert("start_sum".to_owned(), digest);
    assert_eq!(serde_json::from_value::<WorkflowRow>(left).unwrap(), row);
}
