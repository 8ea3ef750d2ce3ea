//! What a tool was given in a caller's name and the caller must not see: the bytes of files, and links to them. A tool
//! may repeat its input, in an answer or in an error.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use proto::FileId;
use serde_json::Value;
use url::Url;

use crate::{Failure, Output};
use std::sync::Arc;

/// Texts that give something away, and the files that they belong to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets(Vec<Secret>);

#[derive(Clone, Debug)]
struct Secret {
    /// How it begins.
    needle: String,
    /// What belongs to it after that.
    goes_on: fn(char) -> bool,
    instead: String,
}

impl Secrets {
    /// So many of a file's first bytes tell it from other files; a multiple of three.
    pub(crate) const HEAD: u64 = 48;

    pub(super) fn add_bytes(&mut self, head: &[u8], id: &FileId) {
        let head = &head[..head.len().min(Self::HEAD as usize) / 3 * 3];
        // A few bytes are everywhere, and tell nothing.
        if head.len() < 12 {
            return;
        }
        let instead = format!("[bytes of {id}]");
        for needle in [BASE64_STANDARD.encode(head), BASE64_URL_SAFE.encode(head)] {
            let goes_on =
                |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_');
            self.0.push(Secret { needle, goes_on, instead: instead.clone() });
        }
    }

    pub(super) fn add_link(&mut self, url: &Url, id: &FileId) {
        let instead = format!("[link to {id}]");
        let goes_on = |c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '<' | '>' | '\\');
        // Its path alone would be enough to see where it leads; with the query it opens the file.
        let mut bare = url.clone();
        bare.set_query(None);
        self.0.push(Secret { needle: bare.into(), goes_on, instead: instead.clone() });
        if let Some(query) = url.query() {
            self.0.push(Secret { needle: query.to_owned(), goes_on, instead });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn is_in(&self, text: &str) -> bool {
        self.0.iter().any(|secret| text.contains(&secret.needle))
    }

    /// The text without what is secret in it.
    pub(crate) fn out_of_text(&self, text: &mut String) {
        for secret in &self.0 {
            while let Some(start) = text.find(&secret.needle) {
                let after = start + secret.needle.len();
                let rest =
                    text[after..].find(|c| !(secret.goes_on)(c)).unwrap_or(text.len() - after);
                text.replace_range(start..after + rest, &secret.instead);
            }
        }
    }

    /// The value without what is secret in it.
    pub(crate) fn out_of(&self, value: &mut Value) {
        match value {
            Value::String(text) if self.is_in(text) => self.out_of_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.out_of(item)),
            Value::Object(map) => {
                if map.keys().any(|key| self.is_in(key)) {
                    for (mut key, value) in std::mem::take(map) {
                        self.out_of_text(&mut key);
                        map.insert(key, value);
                    }
                }
                map.values_mut().for_each(|item| self.out_of(item));
            }
            _ => {}
        }
    }

    fn out_of_shared(&self, value: &mut Arc<Value>) {
        self.out_of(Arc::make_mut(value));
    }

    pub(crate) fn out_of_output(&self, mut output: Output) -> Output {
        self.out_of_shared(&mut output.data);
        output.native.iter_mut().for_each(|native| self.out_of_shared(native));
        output.warnings.iter_mut().for_each(|warning| self.out_of_text(warning));
        output
    }

    pub(crate) fn out_of_failure(&self, mut failure: Failure) -> Failure {
        self.out_of_text(&mut failure.message);
        failure.details.iter_mut().for_each(|details| self.out_of(details));
        failure.native.iter_mut().for_each(|native| self.out_of_shared(native));
        // The cause goes to the log, which people read; links that open files have no place there, either.
        if failure.source.as_ref().is_some_and(|source| self.is_in(&source.to_string())) {
            failure.source = None;
        }
        failure
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use proto::FileKind;
    use serde_json::json;

    use super::*;

    fn secrets() -> (Secrets, String, String) {
        let mut secrets = Secrets::default();
        let id = FileId::from_random(FileKind::File, [7; 16]);
        let bytes: Vec<u8> = (0..=255).collect();
        secrets.add_bytes(&bytes[..48], &id);
        let url = Url::parse("http://127.0.0.1:7/v1/files/x/content?expires=1&sig=abc").unwrap();
        secrets.add_link(&url, &id);
        (secrets, BASE64_STANDARD.encode(&bytes), url.into())
    }

    #[test]
    fn neither_bytes_nor_links_come_back() {
        let (secrets, bytes, link) = secrets();
        let mut value = json!({"echo": bytes, "said": format!("cannot open {link}, sorry"), link.clone(): [
            format!("'{}…' is too short", &bytes[..80]), "expires=1&sig=abc", 5]});
        secrets.out_of(&mut value);
        let text = value.to_string();
        assert!(
            !text.contains(&bytes[..64])
                && !text.contains("sig=abc")
                && !text.contains("/v1/files"),
            "{text}"
        );
        assert!(text.contains("cannot open [link to file_"), "{text}");
        assert!(text.contains("' is too short") || text.contains("…' is too short"), "{text}");
    }

    #[test]
    fn a_failure_tells_nothing_either() {
        let (secrets, bytes, link) = secrets();
        let failure = Failure::new(proto::Code::Internal, format!("bad: {bytes}"))
            .details(json!({"url": link}))
            .native(Arc::new(json!({"content": [{"text": link}]})))
            .caused_by(std::io::Error::other(link.clone()));
        let failure = secrets.out_of_failure(failure);
        let told = format!("{failure:?}");
        assert!(!told.contains("sig=abc") && !told.contains(&bytes[..64]), "{told}");
    }
}
