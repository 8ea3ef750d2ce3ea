//! Links of servers to resources, by the URIs that callers use: a server's own URI may be another server's, too. MCP Apps
//! (`io.modelcontextprotocol/ui`) link tools and results to the apps that hosts show them in.

use proto::{Principal, UI_META, UI_RESOURCE, UI_RESOURCE_META};
use rmcp::model::{ExtensionCapabilities, JsonObject};
use serde_json::{Map, Value};
use strip::Strip;
use strip::servers::Listing;

/// The links of one server as one caller may use them.
pub(super) struct Links<'a> {
    pub(super) listing: &'a Listing,
    pub(super) server: &'a str,
    /// Whether the caller may read the server's resources.
    pub(super) readable: bool,
}

impl Links<'_> {
    /// Translates the links of a tool's result.
    pub(super) fn translate_result(&self, result: &mut Map<String, Value>) {
        if let Some(Value::Array(blocks)) = result.get_mut("content") {
            blocks.iter_mut().for_each(|block| self.translate_block(block));
        }
        if let Some(Value::Object(meta)) = result.get_mut("_meta") {
            self.translate_meta(meta);
        }
    }

    /// Translates the links in the messages of a prompt.
    pub(super) fn translate_prompt(&self, prompt: &mut Value) {
        let messages = prompt.get_mut("messages").and_then(Value::as_array_mut);
        for message in messages.into_iter().flatten() {
            if let Some(block) = message.get_mut("content") {
                self.translate_block(block);
            }
        }
    }

    /// Translates the link to an app in the `_meta` of a tool or a result. A caller who may not read the app gets no
    /// link to it.
    pub(super) fn translate_meta(&self, meta: &mut Map<String, Value>) {
        if let Some(Value::Object(ui)) = meta.get_mut(UI_META) {
            self.translate_app(ui, UI_RESOURCE);
            if ui.is_empty() {
                meta.remove(UI_META);
            }
        }
        self.translate_app(meta, UI_RESOURCE_META);
    }

    fn translate_app(&self, fields: &mut Map<String, Value>, key: &str) {
        if self.readable {
            fields.get_mut(key).into_iter().for_each(|uri| self.translate_uri(uri));
        } else {
            fields.remove(key);
        }
    }

    fn translate_block(&self, block: &mut Value) {
        let uri = match block["type"].as_str() {
            Some("resource_link") => block.get_mut("uri"),
            Some("resource") => block.get_mut("resource").and_then(|inner| inner.get_mut("uri")),
            _ => None,
        };
        uri.into_iter().for_each(|uri| self.translate_uri(uri));
    }

    pub(super) fn translate_uri(&self, uri: &mut Value) {
        if let Some(remote) = uri.as_str() {
            let shown = self.listing.shown(self.server, remote);
            if shown != remote {
                *uri = Value::String(shown.into_owned());
            }
        }
    }
}

/// The extensions that the caller's servers state; of all servers, if the caller is not known.
pub(super) fn extensions(strip: &Strip, principal: Option<&Principal>) -> ExtensionCapabilities {
    let listing = strip.servers().listing();
    let mut extensions = ExtensionCapabilities::new();
    for (server, stated) in listing.extensions() {
        if principal.is_some_and(|principal| !strip.may_use_server(principal, server)) {
            continue;
        }
        for (name, settings) in stated {
            let settings = settings.as_object().cloned().unwrap_or_default();
            merge(extensions.entry(name.clone()).or_default(), settings);
        }
    }
    extensions
}

/// Adds the settings of one more server: lists are joined, and of other settings the first stays.
fn merge(known: &mut JsonObject, settings: JsonObject) {
    for (key, value) in settings {
        match (known.get_mut(&key), value) {
            (Some(Value::Array(known)), Value::Array(items)) => {
                for item in items {
                    if !known.contains(&item) {
                        known.push(item);
                    }
                }
            }
            (Some(_), _) => {}
            (None, value) => {
                known.insert(key, value);
            }
        }
    }
}
