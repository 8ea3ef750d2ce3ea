//! Answers of servers that are too long as a whole: what the tool has done is never lost.

use std::sync::Arc;

use proto::canonical;
use serde_json::{Value, json};
use strip::files::data_of;
use strip::{Answer, Output};

use crate::support::{setup, tool};

const LIMIT: usize = 20_000;

/// The answer of a server's tool with this result.
async fn answer(result: Value) -> Answer {
    let work = move |_| -> futures_util::future::BoxFuture<'static, _> {
        let native = Some(Arc::new(result.clone()));
        let output = Output { native, ..Output::new(data_of(&result)) };
        Box::pin(async move { Ok(output) })
    };
    let tool = tool("odd:read", work).with(|d| d.limits.max_output_bytes = Some(LIMIT));
    setup(vec![tool]).await.call("odd:read", json!({})).await
}

fn text(text: String) -> Value {
    json!({"type": "text", "text": text})
}

#[tokio::test]
async fn the_largest_blocks_are_stored_first() {
    let sizes = [3_000, 9_000, 4_000, 8_000];
    let blocks: Vec<_> = sizes.iter().map(|size| text("t".repeat(*size))).collect();
    let answer = answer(json!({"content": blocks})).await;
    let data = answer.result.unwrap();
    assert!(canonical::len(&data) <= LIMIT, "{}", canonical::len(&data));
    let content = data["content"].as_array().unwrap();
    assert_eq!(answer.references.iter().map(|one| one.size).collect::<Vec<_>>(), [9_000]);
    assert_eq!(content.len(), 5, "the beginning and the reference take the place of one block");
    assert_eq!((&content[0], &content[3], &content[4]), (&blocks[0], &blocks[2], &blocks[3]));
    let reference: Value = serde_json::from_str(content[2]["text"].as_str().unwrap()).unwrap();
    assert_eq!(reference["size"], 9_000);
}

#[tokio::test]
async fn many_small_blocks_become_one_file() {
    let image = json!({"type": "image", "data": "QUJD", "mimeType": "image/png"});
    let blocks: Vec<_> = (0..400).map(|n| text(format!("{n}{}", "t".repeat(100)))).collect();
    let stored = Value::from(blocks.clone()).to_string().len() as u64;
    let mut content = blocks;
    content.push(image.clone());
    let answer = answer(json!({"content": content})).await;
    let data = answer.result.unwrap();
    assert!(canonical::len(&data) <= LIMIT);
    assert_eq!(data["content"].as_array().unwrap().len(), 3);
    assert_eq!(data["content"][0], image, "a model can look at it");
    assert_eq!(answer.references.iter().map(|one| one.size).collect::<Vec<_>>(), [stored]);
}

#[tokio::test]
async fn structured_content_of_many_small_fields_becomes_one_file() {
    let fields: serde_json::Map<_, _> =
        (0..300).map(|n| (format!("f{n}"), json!("t".repeat(100)))).collect();
    let structured = Value::Object(fields);
    let whole = structured.to_string();
    let result = json!({"content": [text(whole.clone())], "structuredContent": structured});
    let answer = answer(result).await;
    let data = answer.result.unwrap();
    assert!(canonical::len(&data) <= LIMIT);
    assert_eq!(data["size"], whole.len());
    assert!(whole.starts_with(data["preview"].as_str().unwrap()));
    let native = answer.native.unwrap();
    let repeated: Value =
        serde_json::from_str(native["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&repeated, &*data, "the text repeats the structured content");
}

#[tokio::test]
async fn long_fields_of_structured_content_are_stored_alone() {
    let structured = json!({"id": 7, "a": "a".repeat(15_000), "b": "b".repeat(9_000)});
    let answer = answer(json!({"content": [], "structuredContent": structured})).await;
    let data = answer.result.unwrap();
    assert_eq!((&data["id"], &data["a"]["size"]), (&json!(7), &json!(15_000)));
    assert_eq!(data["b"], structured["b"]);
}
