use serde::Deserialize;
use serde_json::json;

use super::*;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Count {
    words: usize,
}

#[test]
fn options_and_text_are_taken_apart() {
    let count = |most: usize, text: &str| Ok(Count { words: text.lines().count().min(most) });
    let done = compute(b"3\na\nb\nc\nd", count).unwrap();
    assert_eq!(done.value, json!({"words": 3}));
    assert_eq!(compute(b"{\na", count).unwrap_err().reason, "options");
    assert_eq!(compute(b"3\n\xff", count).unwrap_err().reason, "options");
}

#[test]
fn an_answer_has_the_schema_and_the_json_of_its_type() {
    let answer = Computed::new(&Count { words: 2 }).unwrap();
    assert_eq!(serde_json::to_value(&answer).unwrap(), json!({"words": 2}));
    let schema = crate::answer::schema_of_answers::<Computed<Count>>();
    assert_eq!(schema, crate::answer::schema_of_answers::<Count>());
    assert_eq!(answer.read().unwrap().words, 2);
}
