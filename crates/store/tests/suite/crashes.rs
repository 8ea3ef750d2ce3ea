//! Processes that die while they drive a workflow are counted; those that release it are not.

use store::{
    CommitQueue, Crashes, Database, Lease, RowChange, WorkflowChange, WorkflowFilter,
    WorkflowPhase, WorkflowRow, WorkflowTaskRow, WorkflowUpdate,
};

use crate::support::on_both_engines;
use crate::workflows::{insert, workflow};

async fn save(queue: &CommitQueue, change: WorkflowChange) {
    queue.save_workflow(change).await.unwrap().committed().await.unwrap();
}

async fn row(database: &Database, like: &WorkflowRow) -> WorkflowRow {
    database.workflow(like.id).await.unwrap().unwrap()
}

async fn crashes(database: &Database, like: &WorkflowRow) -> (u64, u64) {
    let Crashes { in_a_row, in_all } = row(database, like).await.crashes;
    (in_a_row, in_all)
}

fn lease(owner: &str) -> Lease<'_> {
    Lease { owner, now_unix_ms: 10, until_unix_ms: 60 }
}

on_both_engines! {
    async fn a_process_that_dies_is_counted_and_progress_counts_for_the_workflow(test) {
        let (database, queue) = test.started().await;
        let running = workflow(None);
        let paused = WorkflowRow { phase: WorkflowPhase::Paused, ..workflow(None) };
        save(&queue, insert(&running)).await;
        save(&queue, insert(&paused)).await;

        database.take_over_workflows("two").await.unwrap();
        assert_eq!(crashes(&database, &running).await, (1, 1));
        assert_eq!(crashes(&database, &paused).await, (0, 0), "it only waited");
        // The next process dies before it drives the workflow.
        database.take_over_workflows("three").await.unwrap();
        assert_eq!(crashes(&database, &running).await, (1, 1));
        // One that drives it stops in an orderly way, and one dies.
        database.take_over_workflow(running.id, lease("three")).await.unwrap();
        database.release_workflows("three").await.unwrap();
        database.take_over_workflows("four").await.unwrap();
        assert_eq!(crashes(&database, &running).await, (1, 1));
        database.take_over_workflow(running.id, lease("four")).await.unwrap();
        database.take_over_workflow(running.id, lease("five")).await.unwrap();
        assert_eq!(crashes(&database, &running).await, (2, 2));

        let all = WorkflowFilter { quarantined: true, ..WorkflowFilter::default() };
        assert_eq!(database.workflows(&all).await.unwrap(), [running.id]);
        let mut task = WorkflowTaskRow {
            workflow: running.id,
            task: "a".to_owned(),
            item: -1,
            status: "parked".to_owned(),
            attempt: 1,
            result: "{}".to_owned(),
            output: None,
            output_bytes: 0,
            started_unix_ms: 2,
            ended_unix_ms: None,
        };
        let fence = row(&database, &running).await.fence;
        let step = |task: &WorkflowTaskRow| WorkflowChange {
            workflow: running.id,
            fence,
            tasks: vec![task.clone()],
            ..WorkflowChange::default()
        };
        save(&queue, step(&task)).await;
        assert_eq!(crashes(&database, &running).await, (2, 2), "it waits for a person");
        task.ended_unix_ms = Some(3);
        save(&queue, step(&task)).await;
        assert_eq!(crashes(&database, &running).await, (0, 2));

        let forgiven = WorkflowUpdate { forgives_crashes: true, ..WorkflowUpdate::default() };
        let row = Some(RowChange::Update(Box::new(forgiven)));
        save(&queue, WorkflowChange { row, tasks: Vec::new(), ..step(&task) }).await;
        assert_eq!(crashes(&database, &running).await, (0, 0));
        assert!(database.workflows(&all).await.unwrap().is_empty());
    }
}
