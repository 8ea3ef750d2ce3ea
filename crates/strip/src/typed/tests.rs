use serde_json::json;

use super::*;

#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct Input {
    /// The question.
    #[schemars(length(min = 1, max = 100))]
    question: String,
    /// What can be chosen.
    #[serde(default)]
    #[schemars(length(max = 9), inner(length(min = 1)), extend("uniqueItems" = true))]
    options: Vec<String>,
    title: Option<String>,
    #[schemars(range(min = 1, max = 50))]
    limit: Option<usize>,
}

#[test]
fn schemas_are_as_if_written_by_hand() {
    let expected = json!({
        "type": "object",
        "properties": {
            "question": {"type": "string", "description": "The question.", "minLength": 1, "maxLength": 100},
            "options": {
                "type": "array",
                "description": "What can be chosen.",
                "items": {"type": "string", "minLength": 1},
                "maxItems": 9,
                "uniqueItems": true,
                "default": [],
            },
            "title": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50},
        },
        "required": ["question"],
        "additionalProperties": false,
    });
    assert_eq!(schema_of::<Input>(true), expected);
}
