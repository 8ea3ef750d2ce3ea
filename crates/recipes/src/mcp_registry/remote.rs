//! A server that a registry lists with a URL.

use serde_json::{Map, Value, json};

use super::settings::{check_header, check_text, setting};
use super::{Options, address};
use crate::Recipe;

/// The transport of a remote.
pub(super) fn transport(remote: &Value) -> &str {
    let transport = remote["type"].as_str().or_else(|| remote["transport_type"].as_str());
    transport.unwrap_or_default()
}

pub(super) fn recipe(name: &str, remote: &Value, options: &Options<'_>) -> Result<Recipe, String> {
    let mut recipe = Recipe::default();
    let url = remote["url"].as_str().unwrap_or_default();
    check_text(url)?;
    // In normal form, so that characters of other scripts in the host are visible.
    let url = address::check(url, options.allow_private)?.url().to_string();
    recipe.entry.insert("url".to_owned(), json!(url));
    if transport(remote) == "sse" {
        recipe.entry.insert("type".to_owned(), json!("sse"));
    }
    let mut headers = Map::new();
    for header in remote["headers"].as_array().into_iter().flatten() {
        check_header(header["name"].as_str().unwrap_or_default())?;
        // A header has the same name at many servers, its secret must not.
        if let Some((header, value)) = setting(header, &format!("{name}-"), &mut recipe.inputs)? {
            headers.insert(header, Value::String(value));
        }
    }
    if !headers.is_empty() {
        recipe.entry.insert("headers".to_owned(), Value::Object(headers));
    }
    Ok(recipe)
}
