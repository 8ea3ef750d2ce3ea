use proto::canonical;
use serde_json::Value;

/// About how many tokens one tool takes of a model's context: its name, its description and its input schema as JSON
/// without white space, at 3.6 bytes a token. Models do not see output schemas, titles or annotations.
pub fn estimated_tokens(name: &str, description: &str, input_schema: &Value) -> usize {
    let bytes = name.len() + description.len() + canonical::len(input_schema);
    (bytes * 10).div_ceil(36)
}
