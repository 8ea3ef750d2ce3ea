use std::time::Duration;

use bytes::Bytes;
use dag::Task;
use files::NewFile;
use futures_util::stream;
use proto::{Code, FileKind};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Progress, StartOptions, Until};
use crate::service::MAX_LARGE_EVALUATIONS;
use crate::testing::{LONG, Setup, caller, dag, repeat};

#[tokio::test]
async fn a_dag_goes_on_without_its_caller_and_its_outputs_are_read_whole_after_a_restart() {
    let setup = Setup::new(0).await;
    let (ann, bob) = (caller("ann"), caller("bob"));
    let workflows = setup.workflows();
    let many = Task { for_each: Some(json!(["a", "b"])), ..repeat("many", "{{ item }}", 2) };
    // Together they are longer than one answer, though no text is long enough to be stored by itself.
    let names = ["one", "two", "three", "four"];
    let text_of = |name: &str| name.repeat(40);
    let mut tasks: Vec<_> = names.iter().map(|name| repeat(name, &text_of(name), 2_500)).collect();
    tasks.push(many);
    let id = Uuid::new_v4();
    let options = StartOptions { id: Some(id), ..StartOptions::default() };
    let started = workflows.start_dag(&ann, dag(tasks), options).await.expect("it starts");
    assert_eq!(started, id);
    let soon = Duration::from_millis(10);
    let running = workflows.wait_for(&ann, id, Until::End, soon).await.expect("it runs");
    assert!(matches!(&running, Progress::Running(answer) if answer["status"] == "running"));
    assert_eq!(workflows.task_output(&ann, id, "one").await.expect("no output"), Value::Null);

    setup.gate.add_permits(6);
    let ended = workflows.wait_for(&ann, id, Until::End, LONG).await.expect("it ends");
    let Progress::Ended(answer) = ended else { panic!("{ended:?}") };
    assert_eq!(answer["status"], "complete");
    let stored = answer["results"].as_array().into_iter().flatten();
    assert!(stored.filter(|result| result["output"]["ref_id"].is_string()).count() > 0);

    let again = setup.workflows();
    for workflows in [&workflows, &again] {
        let ended = workflows.wait_for(&ann, id, Until::Pause, LONG).await.expect("its end");
        assert!(matches!(ended, Progress::Ended(_)));
        for name in names {
            let output = workflows.task_output(&ann, id, name).await.expect("its output");
            assert_eq!(output, json!({"texts": vec![text_of(name); 2_500]}), "{name}");
        }
        let many = workflows.task_output(&ann, id, "many").await.expect("its outputs");
        assert_eq!(many, json!([{"texts": ["a", "a"]}, {"texts": ["b", "b"]}]));
        let none = workflows.task_output(&ann, id, "none").await.expect("no such task");
        assert_eq!(none, Value::Null);
        let other = workflows.wait_for(&bob, id, Until::End, LONG).await;
        assert_eq!(other.expect_err("another caller's").code, Code::NotFound);
        let other = workflows.task_output(&bob, id, "one").await;
        assert_eq!(other.expect_err("another caller's").code, Code::NotFound);
        assert!(workflows.run_of_unfinished(&ann, id).await.expect("it ended").is_none());
    }
}

#[tokio::test]
async fn a_start_with_the_same_key_finds_the_first_workflow() {
    let setup = Setup::new(10).await;
    let (ann, workflows) = (caller("ann"), setup.workflows());
    let start = async |text: &str, topic: &str| {
        let options = StartOptions {
            id: Some(Uuid::new_v4()),
            idempotency_key: Some("research:1".to_owned()),
            request: Some(json!({"topic": topic})),
        };
        workflows.start_dag(&ann, dag(vec![repeat("one", text, 1)]), options).await
    };
    let first = start("a", "heat").await.expect("it starts");
    let ended = workflows.wait_for(&ann, first, Until::End, LONG).await.expect("it ends");
    assert!(matches!(ended, Progress::Ended(_)));
    assert_eq!(start("b", "heat").await.expect("the same request"), first);
    let other = start("a", "rain").await.expect_err("another request");
    assert_eq!(other.code, Code::InvalidInput, "{other}");

    let unknown = Task { tool: Some("t.none".to_owned()), ..repeat("one", "a", 1) };
    let refused = workflows.start_dag(&ann, dag(vec![unknown]), StartOptions::default()).await;
    assert_eq!(refused.expect_err("no such tool").code, Code::InvalidInput);
}

/// A text may be JSON: what was stored says which it is, and what is damaged is no output.
#[tokio::test]
async fn a_stored_text_stays_a_text_and_damaged_json_is_an_error() {
    let setup = Setup::new(0).await;
    let (ann, workflows, id) = (caller("ann"), setup.workflows(), Uuid::new_v4());
    let strip = &workflows.service().strip;
    let run = strip.runs().begin_workflow(&ann, id, "outputs");
    for output in [json!("[1, 2]"), json!("plain"), json!([true, {"a": 1}])] {
        let stored = strip.store_output(&ann, &run, &output).await.expect("a reference");
        let reference = stored["ref_id"].as_str().expect("an id");
        let read = workflows.read_reference(&ann, id, reference).await;
        assert_eq!(read.expect("the output"), output, "{stored}");
    }
    let media_type = Some("application/json");
    let cut = NewFile { media_type, ..NewFile::new(FileKind::Reference, "output") };
    let bytes = stream::iter([Ok(Bytes::from_static(b"{\"texts\": ["))]);
    let cut = strip.files().put(&ann, cut, bytes).await.expect("a file");
    let read = workflows.read_reference(&ann, id, cut.id.as_str()).await;
    assert_eq!(read.expect_err("damage").code, Code::Internal);
}

/// Each would take a large part of the memory.
#[tokio::test]
async fn few_evaluations_at_once_read_large_outputs() {
    let setup = Setup::new(100).await;
    let (ann, workflows) = (caller("ann"), setup.workflows());
    let many = Task { for_each: Some(json!([1, 2, 3])), ..repeat("many", &"x".repeat(1_000), 600) };
    let large = repeat("large", "n={{ tasks.many.output | length }}", 1);
    let small = repeat("small", "n={{ tasks.few.output.texts | length }}", 1);
    let tasks = dag(vec![many, repeat("few", "x", 7), large, small]);
    let most = u32::try_from(MAX_LARGE_EVALUATIONS).expect("a few");
    let large_evaluations = &workflows.service().large_evaluations;
    let others = large_evaluations.acquire_many(most).await.expect("it is never closed");
    let options = StartOptions { id: Some(Uuid::new_v4()), ..StartOptions::default() };
    let id = workflows.start_dag(&ann, tasks, options).await.expect("it starts");
    let output = async |task: &str| workflows.task_output(&ann, id, task).await.expect("an output");
    while output("small").await.is_null() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(output("small").await, json!({"texts": ["n=7"]}));
    assert_eq!(output("large").await, Value::Null, "it waits for the others");
    drop(others);
    let ended = workflows.wait_for(&ann, id, Until::End, LONG).await.expect("it ends");
    assert!(matches!(ended, Progress::Ended(_)), "{ended:?}");
    assert_eq!(output("large").await, json!({"texts": ["n=3"]}));
    assert_eq!(large_evaluations.available_permits(), MAX_LARGE_EVALUATIONS);
}
