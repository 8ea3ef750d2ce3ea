use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::schema_of_answers;

#[derive(Serialize, JsonSchema)]
struct TextAnswer {
    text: String,
    language: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[test]
fn a_field_that_may_be_skipped_is_not_required() {
    let schema = schema_of_answers::<TextAnswer>();
    assert_eq!(schema["required"], json!(["text", "language"]));
    assert!(schema["properties"]["warnings"].is_object() && !schema.contains_key("title"));
}
