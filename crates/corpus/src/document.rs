//! Documents as items of a collection.

use language::passages::{ChunkOptions, chunks};
use serde_json::{Map, Value, json};

use super::{Item, MAX_TEXT_CHARS};

/// The key of the metadata with the digest of the document.
pub const DIGEST: &str = "digest";

/// What a document says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentFacts {
    pub title: Option<String>,
    pub author: Option<String>,
    pub site: Option<String>,
    /// A date such as `2024-05-03`, `2024-05` or `2024`.
    pub published_at: Option<String>,
    pub url: Option<String>,
    pub language: Option<String>,
}

impl DocumentFacts {
    fn meta(&self) -> Map<String, Value> {
        let fields = [
            ("title", &self.title),
            ("author", &self.author),
            ("site", &self.site),
            ("publishedAt", &self.published_at),
            ("url", &self.url),
            ("language", &self.language),
        ];
        let known = fields.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
        known.map(|(key, value)| (key.to_owned(), json!(value))).collect()
    }
}

/// The chunks of a document, each with what is known about the document.
pub fn items(source: &str, text: &str, facts: &DocumentFacts, digest: Option<&str>) -> Vec<Item> {
    let mut shared = facts.meta();
    if let Some(digest) = digest {
        shared.insert(DIGEST.to_owned(), json!(digest));
    }
    let chunk = |(index, chunk): (usize, language::passages::TextChunk)| {
        let mut meta = shared.clone();
        meta.insert("index".to_owned(), json!(index));
        meta.insert("offset".to_owned(), json!(chunk.offset));
        if !chunk.heading_path.is_empty() {
            meta.insert("heading_path".to_owned(), json!(chunk.heading_path));
        }
        Item {
            id: None,
            text: chunk.text.chars().take(MAX_TEXT_CHARS).collect(),
            meta: Some(meta),
            source: Some(source.to_owned()),
        }
    };
    chunks(text, ChunkOptions::default()).enumerate().map(chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_know_their_document() {
        let facts = DocumentFacts { title: Some("Heat".to_owned()), ..DocumentFacts::default() };
        let text = format!("# One\n\n{}", "It is hot in the city. ".repeat(200));
        let items = items("a.md", &text, &facts, Some("d1"));
        assert!(items.len() > 1);
        for (index, item) in items.iter().enumerate() {
            let meta = item.meta.as_ref().unwrap();
            assert_eq!(
                (&meta["title"], &meta["digest"], &meta["index"]),
                (&json!("Heat"), &json!("d1"), &json!(index))
            );
            assert_eq!(meta["heading_path"], json!(["One"]));
            assert_eq!(item.source.as_deref(), Some("a.md"));
        }
    }
}
