//! Subscriptions of the gateway at a server: changes of its lists, and of the resources that clients watch.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The parameters of `subscriptions/listen`: every list whose changes the server announces, and these resources.
pub(crate) fn listen_params(
    capabilities: Option<&Value>,
    uris: &BTreeSet<String>,
) -> Map<String, Value> {
    let none = Value::Null;
    let stated = capabilities.unwrap_or(&none);
    let mut filter = Map::new();
    for (list, key) in [
        ("tools", "toolsListChanged"),
        ("prompts", "promptsListChanged"),
        ("resources", "resourcesListChanged"),
    ] {
        if stated[list]["listChanged"] == true {
            filter.insert(key.to_owned(), json!(true));
        }
    }
    if !uris.is_empty() {
        filter.insert("resourceSubscriptions".to_owned(), json!(uris));
    }
    Map::from_iter([("notifications".to_owned(), Value::Object(filter))])
}

/// The legacy requests that turn the current subscriptions into the requested ones.
pub(crate) fn changes(
    current: &BTreeSet<String>,
    requested: &BTreeSet<String>,
) -> Vec<(&'static str, Map<String, Value>)> {
    let about = |uri: &String| Map::from_iter([("uri".to_owned(), json!(uri))]);
    let begun = requested.difference(current).map(|uri| ("resources/subscribe", about(uri)));
    let ended = current.difference(requested).map(|uri| ("resources/unsubscribe", about(uri)));
    begun.chain(ended).collect()
}
