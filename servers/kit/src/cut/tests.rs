use serde_json::json;

use super::*;
use crate::StorageLimits;

async fn cut(answer: Value) -> (Value, CallToolResult, ReferenceStore) {
    let store = ReferenceStore::in_memory("test", StorageLimits::default());
    let result = cut_longest_list(CallToolResult::structured(answer), &store).await.unwrap();
    (result.structured_content.clone().unwrap(), result, store)
}

#[tokio::test]
async fn a_large_answer_is_stored_and_its_longest_list_is_cut() {
    let rows: Vec<Value> = (0..40_000).map(|row| json!({"row": row})).collect();
    let whole = json!({"rows": rows, "few": [1, 2], "count": 40_000});
    let (answer, result, store) = cut(whole.clone()).await;
    let size = answer.to_string().len();
    assert!((150_000..=MAX_ANSWER + 500).contains(&size), "{size}");
    assert_eq!((&answer["few"], &answer["truncated"]), (&json!([1, 2]), &json!(true)));
    assert_eq!(answer["rows"][7], json!({"row": 7}));
    let stored = store.find(answer["ref_id"].as_str().unwrap()).await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&stored.bytes).unwrap(), whole);
    // Clients that read text see the same answer.
    assert_eq!(result.content[0].as_text().unwrap().text, answer.to_string());
}

#[tokio::test]
async fn small_answers_and_long_texts_stay() {
    for whole in [json!({"rows": [1, 2]}), json!({"text": "a".repeat(300_000), "rows": [1]})] {
        assert_eq!(cut(whole.clone()).await.0, whole);
    }
}
