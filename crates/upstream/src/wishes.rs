//! What the gateway wants to hear of a server: changes of its lists, and of the resources that somebody watches.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The parameters of `subscriptions/listen`: all that the server says it tells, and these resources.
pub(crate) fn filter(capabilities: Option<&Value>, uris: &BTreeSet<String>) -> Map<String, Value> {
    let none = Value::Null;
    let stated = capabilities.unwrap_or(&none);
    let mut wanted = Map::new();
    for (list, key) in [
        ("tools", "toolsListChanged"),
        ("prompts", "promptsListChanged"),
        ("resources", "resourcesListChanged"),
    ] {
        if stated[list]["listChanged"] == true {
            wanted.insert(key.to_owned(), json!(true));
        }
    }
    if !uris.is_empty() {
        wanted.insert("resourceSubscriptions".to_owned(), json!(uris));
    }
    Map::from_iter([("notifications".to_owned(), Value::Object(wanted))])
}

/// The legacy requests that turn what a server was told into what is wanted.
pub(crate) fn differences(
    told: &BTreeSet<String>,
    wanted: &BTreeSet<String>,
) -> Vec<(&'static str, Map<String, Value>)> {
    let about = |uri: &String| Map::from_iter([("uri".to_owned(), json!(uri))]);
    let begun = wanted.difference(told).map(|uri| ("resources/subscribe", about(uri)));
    let ended = told.difference(wanted).map(|uri| ("resources/unsubscribe", about(uri)));
    begun.chain(ended).collect()
}
