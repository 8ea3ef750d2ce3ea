use tempfile::TempDir;

use super::*;

/// The plan of a task, one for each item of a list, and a sub-workflow.
fn plan() -> Plan {
    let tool = |id: &str| json!({"task": {"id": id, "tool": "t.work@1"}, "layer": 0});
    let each = json!({"task": {"id": "each", "tool": "t.work@1", "for_each": [1, 2]}, "layer": 0});
    let mut within = json!({"task": {"id": "within"}, "layer": 0});
    within["workflow"] = json!({"tasks": [tool("step")]});
    serde_json::from_value(json!({"tasks": [tool("one"), each, within]})).expect("a plan")
}

fn row(task: &str, status: &str, result: &Value) -> WorkflowTaskRow {
    WorkflowTaskRow {
        workflow: Uuid::nil(),
        task: task.to_owned(),
        item: WHOLE,
        status: status.to_owned(),
        attempt: 1,
        result: result.to_string(),
        output: None,
        output_bytes: 0,
        started_unix_ms: 1,
        ended_unix_ms: None,
    }
}

async fn results() -> (TempDir, Results) {
    let folder = tempfile::tempdir().expect("a folder");
    let database = Database::open(folder.path()).await.expect("a database");
    (folder, Results::new(Uuid::nil(), database))
}

/// What waits for an approval and for answers, as rows have it.
fn waits() -> [Value; 2] {
    let approval = json!({"parked": "approval", "approval_id": "apr_1", "tool": "t.work@1", "arguments": {"n": 1}, "deadline_unix_ms": 9});
    let question = json!({"question_id": "q_1", "slot_id": "s", "prompt": "Which?"});
    [approval, json!({"parked": "questions", "questions": [question], "resume": {"at": 2}})]
}

#[tokio::test]
async fn rows_are_read_as_they_were_written() {
    let (_folder, results) = results().await;
    let plan = plan();
    let [approval, questions] = waits();
    let rows = vec![
        row("one", "parked", &json!({"sequence": 0, "waits": approval})),
        row("each", "open", &json!({"sequence": 0, "items": 2})),
        row("within/step", "asking", &json!({"sequence": 0, "waits": questions})),
        row("one~", "success", &json!({"sequence": 3})),
    ];
    let records = results.read(&plan, rows.clone()).expect("all can be read");
    assert_eq!(records[1].status, RecordStatus::Open { items: 2 });
    for (record, row) in records.iter().zip(&rows) {
        let again = results.row(&plan, record, 1);
        let [written, read] = [&again.result, &row.result]
            .map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
        assert_eq!((written, &again.task), (read, &row.task));
    }
}

/// What could not be read would run again, count as done or be settled without a person.
#[tokio::test]
async fn a_damaged_row_is_an_error() {
    let (_folder, results) = results().await;
    let [approval, questions] = waits();
    let mut nameless = approval.clone();
    nameless.as_object_mut().and_then(|fields| fields.remove("approval_id"));
    let waiting = |waits: &Value| json!({"sequence": 0, "waits": waits});
    for (row, problem) in [
        (row("other", "success", &json!({"sequence": 1})), "`other` is not part of the DAG"),
        (row("within/other", "success", &json!({"sequence": 1})), "is not part of the DAG"),
        (row("one", "success", &json!({})), "missing field `sequence`"),
        (row("each", "open", &json!({"sequence": 0})), "`each` has no number of items"),
        (row("one", "parked", &json!({"sequence": 0})), "waits for an approval"),
        (row("one", "parked", &waiting(&questions)), "waits for an approval"),
        (row("one", "asking", &json!({"sequence": 0})), "waits for answers"),
        (row("one", "asking", &waiting(&approval)), "waits for answers"),
        (row("one", "parked", &waiting(&nameless)), "missing field `approval_id`"),
        (row("one", "done", &json!({"sequence": 0})), "`done` is no status"),
        (row("one", "success", &json!({"sequence": 1})), "`one` has succeeded and has no output"),
        (row("within/step", "success", &json!({"sequence": 1})), "has no output"),
        (
            WorkflowTaskRow { item: 0, ..row("each", "success", &json!({"sequence": 1})) },
            "no output",
        ),
    ] {
        let error = results.read(&plan(), vec![row]).expect_err(problem).to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[tokio::test]
async fn tasks_without_a_call_and_empty_answers_are_not_damaged() {
    let (_folder, results) = results().await;
    let done = json!({"sequence": 1, "items": 2});
    let null = WorkflowTaskRow { output: Some("null".to_owned()), ..row("one", "success", &done) };
    let rows = vec![null, row("each", "success", &done), row("within", "success", &done)];
    assert_eq!(results.read(&plan(), rows).expect("all can be read").len(), 3);
    for status in ["failed", "skipped", "pending"] {
        results.read(&plan(), vec![row("one", status, &done)]).expect("no output is needed");
    }
}

#[tokio::test]
async fn a_list_that_succeeded_has_a_number_of_items() {
    let (_folder, results) = results().await;
    let (plan, each) = (plan(), Address::task(1));
    let output = async |status: &str, result: &Value| {
        results.read(&plan, vec![row("each", status, result)]).expect("a row");
        results.output(&plan, &each).await
    };
    assert_eq!(*output("skipped", &json!({"sequence": 0})).await.expect("none"), Value::Null);
    let none = output("success", &json!({"sequence": 0, "items": 0})).await;
    assert_eq!(*none.expect("an empty list"), json!([]));
    let damaged = output("success", &json!({"sequence": 0})).await;
    assert!(matches!(damaged, Err(StoreError::Unreadable { column: "output", .. })), "{damaged:?}");
}
