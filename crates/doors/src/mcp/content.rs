//! The kinds of content that each protocol revision has. Clients refuse a whole result with a block of an unknown kind.

use std::sync::Arc;

use serde_json::{Value, json};

/// The revision of requests without a stated one.
const DEFAULT_REVISION: &str = "2025-03-26";

/// The kinds of content that a client can read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContentKinds {
    audio: bool,
    links: bool,
}

impl ContentKinds {
    /// The kinds of the revision that a request uses.
    pub(crate) fn of(revision: Option<&str>) -> Self {
        let revision = revision.unwrap_or(DEFAULT_REVISION);
        Self { audio: revision >= "2025-03-26", links: revision >= "2025-06-18" }
    }

    /// Whether the client can read links to resources.
    pub(super) fn has_links(self) -> bool {
        self.links
    }

    /// Replaces the blocks of a server's result that the client cannot read: the content of a tool's result, the
    /// messages of a prompt, and the result of a task.
    pub(super) fn render(self, result: &mut Arc<Value>) {
        if self.audio && self.links {
            // Not copied where nothing changes: a result may be large.
            return;
        }
        let result = Arc::make_mut(result);
        self.render_blocks(result.get_mut("content"));
        self.render_blocks(result.get_mut("result").and_then(|inner| inner.get_mut("content")));
        let messages = result.get_mut("messages").and_then(Value::as_array_mut);
        for message in messages.into_iter().flatten() {
            if let Some(block) = message.get_mut("content") {
                self.render_block(block);
            }
        }
    }

    fn render_blocks(self, blocks: Option<&mut Value>) {
        let blocks = blocks.and_then(Value::as_array_mut);
        blocks.into_iter().flatten().for_each(|block| self.render_block(block));
    }

    fn render_block(self, block: &mut Value) {
        let text = match block["type"].as_str() {
            Some("audio") if !self.audio => {
                let kind = block["mimeType"].as_str().unwrap_or("of an unknown type");
                format!("[audio ({kind}) left out: this client cannot read it]")
            }
            Some("resource_link") if !self.links => block.to_string(),
            _ => return,
        };
        *block = json!({"type": "text", "text": text});
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_revision_gets_the_kinds_of_content_that_it_has() {
        let blocks = json!([
            {"type": "text", "text": "hi"},
            {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "test://x", "name": "x"},
        ]);
        let messages: Vec<_> = blocks
            .as_array()
            .unwrap()
            .iter()
            .map(|block| json!({"role": "user", "content": block}))
            .collect();
        let sent = json!({"content": blocks, "result": {"content": blocks}, "messages": messages});
        for (revision, kinds) in [
            (Some("2024-11-05"), ["text", "text", "text"]),
            (Some("2025-03-26"), ["text", "audio", "text"]),
            (None, ["text", "audio", "text"]),
            (Some("2025-06-18"), ["text", "audio", "resource_link"]),
            (Some("2026-07-28"), ["text", "audio", "resource_link"]),
        ] {
            let mut result = Arc::new(sent.clone());
            ContentKinds::of(revision).render(&mut result);
            for (place, kind) in kinds.iter().enumerate() {
                for path in ["/content/{}", "/result/content/{}", "/messages/{}/content"] {
                    let block = result.pointer(&path.replace("{}", &place.to_string())).unwrap();
                    assert_eq!(block["type"], *kind, "{revision:?} {path}: {block}");
                }
            }
            let link = result["content"][2].to_string();
            assert!(link.contains("test://x"), "a model can still read where it leads: {link}");
        }
    }
}
