//! However many files a call names, what is put into its input is bounded.

use bytes::Bytes;
use files::NewFile;
use futures_util::stream;
use proto::{Code, FileKind, FileStrategy};
use serde_json::{Value, json};
use strip::{Job, Output};

use crate::asking::Person;
use crate::support::{Fake, Setup, ask, code, principal, setup, tool};

/// A tool that takes any number of files, and returns how many base64 characters they came in.
fn taking() -> Fake {
    taking_with(|call| {
        let characters = |data: &Value| data.as_str().map_or(0, str::len);
        let count: usize = call.input["file_data"].as_array().unwrap().iter().map(characters).sum();
        Output::new(json!({"characters": count}))
    })
}

fn taking_with(work: fn(&Job) -> Output) -> Fake {
    tool("near:take", move |call| {
        let output = work(&call);
        Box::pin(async move { Ok(output) })
    })
    .with(|descriptor| {
        descriptor.deterministic = false;
        descriptor.files = Some(FileStrategy::BinaryBase64.into());
        descriptor.input_schema = json!({"type": "object", "required": ["file_data"],
            "additionalProperties": false,
            "properties": {"file_data": {"type": "array", "items": {"type": "string"}}}});
    })
}

async fn file(setup: &Setup, size: usize) -> String {
    let chunks = stream::iter(
        (0..size.div_ceil(1 << 20))
            .map(move |at| Ok(Bytes::from(vec![7; (size - (at << 20)).min(1 << 20)]))),
    );
    let new = NewFile::new(FileKind::File, "a.bin");
    let kept = setup.strip.files().put(&principal("acme", "ann"), new, chunks).await.unwrap();
    kept.id.as_str().to_owned()
}

#[tokio::test]
async fn a_call_names_32_files_at_most_by_whatever_argument() {
    let setup = setup(vec![taking()]).await;
    let id = file(&setup, 30).await;
    for (argument, count) in
        [("file_ids", 32), ("file_ids", 33), ("source_ref_ids", 32), ("source_ref_ids", 33)]
    {
        let answer = setup.call("near:take", json!({argument: vec![&id; count]})).await;
        let expected = (count > 32).then_some(Code::InvalidInput);
        assert_eq!(code(&answer), expected, "{argument} {count}: {:?}", answer.result);
    }
}

#[tokio::test]
async fn a_cached_answer_is_not_repeated_after_its_file_is_deleted() {
    let setup = setup(vec![taking().with(|descriptor| descriptor.deterministic = true)]).await;
    let id = file(&setup, 30).await;
    for _ in 0..2 {
        setup.call("near:take", json!({"file_ids": [id]})).await.result.unwrap();
    }
    setup.strip.files().delete(&principal("acme", "ann"), &id).await.unwrap();
    let answer = setup.call("near:take", json!({"file_ids": [id]})).await;
    assert_eq!(code(&answer), Some(Code::NotFound), "{:?}", answer.result);
}

/// What a tool sees of its caller's client.
fn curious() -> Fake {
    taking_with(|call| {
        let capabilities = call.client.as_ref().unwrap().capabilities().clone();
        Output::new(json!({"capabilities": capabilities}))
    })
}

#[tokio::test]
async fn no_task_is_asked_for_with_a_file_in_the_call() {
    let setup = setup(vec![curious()]).await;
    let id = file(&setup, 30).await;
    for (input, tasks) in
        [(json!({"file_ids": [id]}), false), (json!({"file_ids": [tiny(&setup).await]}), true)]
    {
        let mut call = ask("near:take", input);
        call.client = Some(Person::speaking(json!({"extensions": {
            "io.modelcontextprotocol/tasks": {}, "other": {}}})));
        let data = setup.strip.call(call).await.result.unwrap();
        let extensions = &data["capabilities"]["extensions"];
        assert!(extensions["other"].is_object(), "{data}");
        assert_eq!(extensions["io.modelcontextprotocol/tasks"].is_object(), tasks, "{data}");
    }
}

/// A file that gives nothing away.
async fn tiny(setup: &Setup) -> String {
    file(setup, 3).await
}

#[tokio::test]
async fn the_files_of_a_call_share_the_room_in_its_input() {
    let setup = setup(vec![taking()]).await;
    let large = file(&setup, 20 << 20).await;
    let answer = setup.call("near:take", json!({"file_ids": [large]})).await;
    let characters = answer.result.unwrap()["characters"].as_u64().unwrap();
    assert_eq!(characters, (20_u64 << 20).div_ceil(3) * 4);
    let answer = setup.call("near:take", json!({"file_ids": [large, large]})).await;
    assert_eq!(code(&answer), Some(Code::InvalidInput), "{:?}", answer.result);
}
