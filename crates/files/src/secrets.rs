//! Values that a tool gets and its caller must not see: the bytes of files, and links to them. A tool may repeat its
//! input in an answer or an error.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use proto::{Failure, FileId};
use serde_json::Value;
use url::{Url, form_urlencoded};

/// The shortest lines into which encoders break base64.
const MIN_LINE: usize = 60;

/// A secret that is cut off is recognized by this many characters.
const MIN_PREFIX: usize = 24;

/// The query parameters that make a link valid: ours, and those of object storage.
const SIGNATURES: [&str; 3] = ["sig", "X-Amz-Signature", "X-Amz-Security-Token"];

/// Escaped forms of characters in links and base64.
const ESCAPES: [&str; 10] =
    ["\\u0026", "\\u003d", "\\u002b", "\\/", "%2B", "%2F", "%3D", "%2b", "%2f", "%3d"];

/// A shorter value is no signature and may occur in any text.
const MIN_SIGNATURE: usize = 16;

/// The secret texts of one call, and their replacements.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Vec<Secret>);

#[derive(Clone, Debug)]
struct Secret {
    /// Its beginning.
    needle: String,
    /// Which characters continue it.
    continues: fn(char) -> bool,
    /// Whether line breaks may interrupt it.
    multiline: bool,
    replacement: String,
}

impl Secret {
    /// The length of the secret at the start of a text.
    fn length(&self, text: &str) -> usize {
        let mut end = self.needle.len();
        let mut line = 0;
        loop {
            let rest = &text[end..];
            end += rest.find(|c| !(self.continues)(c)).unwrap_or(rest.len());
            // Base64 is often broken into lines; in JSON the breaks are escaped.
            let rest = &text[end..];
            let escaped = ESCAPES.iter().find_map(|sign| rest.strip_prefix(sign));
            if let Some(next) = escaped {
                end = text.len() - next.len();
                continue;
            }
            let broken = ["\r\n", "\n", "\\r\\n", "\\n"];
            let Some(next) = broken.iter().find_map(|end| rest.strip_prefix(end)) else {
                return end;
            };
            let full = end - line >= MIN_LINE;
            let word = next.find(|c| !(self.continues)(c)).unwrap_or(next.len());
            if !(self.multiline && full && word > 0) {
                return end;
            }
            line = text.len() - next.len();
            end = line;
        }
    }

    /// The position at which a text ends with the beginning of the secret, because the text was cut.
    fn cut_prefix(&self, text: &str) -> Option<usize> {
        let text = text.trim_end_matches(['…', '.']);
        let tail = text.len().saturating_sub(self.needle.len() - 1);
        let tail = (tail..text.len()).find(|at| text.is_char_boundary(*at))?;
        let starts = text[tail..].char_indices().map(|(at, _)| tail + at);
        starts
            .take_while(|at| text.len() - at >= MIN_PREFIX)
            .find(|at| self.needle.starts_with(&text[*at..]))
    }
}

impl Secrets {
    /// How many of the first bytes identify a file; a multiple of three.
    pub const HEAD: u64 = 48;

    pub fn add_bytes(&mut self, head: &[u8], id: &FileId) {
        let head = &head[..head.len().min(Self::HEAD as usize) / 3 * 3];
        // Fewer bytes occur in any text.
        if head.len() < 12 {
            return;
        }
        let replacement = format!("[bytes of {id}]");
        let plain = BASE64_STANDARD.encode(head);
        let percent = plain.replace('+', "%2B").replace('/', "%2F");
        let mut forms =
            vec![plain.replace('/', "\\/"), percent, plain, BASE64_URL_SAFE.encode(head)];
        forms.sort();
        forms.dedup();
        for needle in forms {
            let continues =
                |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_');
            self.0.push(Secret {
                needle,
                continues,
                multiline: true,
                replacement: replacement.clone(),
            });
        }
    }

    pub fn add_link(&mut self, url: &Url, id: &FileId) {
        let replacement = format!("[link to {id}]");
        let continues = |c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '<' | '>' | '\\');
        // The path alone reveals the location; with the query the link opens the file.
        let mut bare = url.clone();
        bare.set_query(None);
        let (bare, multiline) = (String::from(bare), false);
        let percent = form_urlencoded::byte_serialize(bare.as_bytes()).collect();
        for needle in [bare.replace('/', "\\/"), percent, bare] {
            self.0.push(Secret { needle, continues, multiline, replacement: replacement.clone() });
        }
        if let Some(query) = url.query().filter(|query| !query.is_empty()) {
            let (needle, replacement) = (query.to_owned(), replacement.clone());
            self.0.push(Secret { needle, continues, multiline, replacement });
        }
        // Without these a link opens nothing, however the rest of it is written or cut.
        for (key, value) in url.query_pairs().filter(|(key, _)| SIGNATURES.contains(&&**key)) {
            let raw = url.query().unwrap_or_default().split('&').find_map(|pair| {
                pair.split_once('=').filter(|(name, _)| **name == *key).map(|(_, raw)| raw)
            });
            let raw = raw.unwrap_or_default();
            let mut forms = vec![value.replace('/', "\\/"), raw.replace('%', "%25")];
            forms.extend([raw.to_owned(), value.into_owned()]);
            forms.sort();
            forms.dedup();
            for needle in forms.into_iter().filter(|form| form.len() >= MIN_SIGNATURE) {
                let replacement = replacement.clone();
                self.0.push(Secret { needle, continues: |_| false, multiline, replacement });
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a text contains a secret.
    pub fn is_in(&self, text: &str) -> bool {
        self.0
            .iter()
            .any(|secret| text.contains(&secret.needle) || secret.cut_prefix(text).is_some())
    }

    /// Whether any text in a value contains a secret.
    pub fn are_in(&self, value: &Value) -> bool {
        !self.is_empty()
            && match value {
                Value::String(text) => self.is_in(text),
                Value::Array(items) => items.iter().any(|item| self.are_in(item)),
                Value::Object(map) => {
                    map.iter().any(|(key, item)| self.is_in(key) || self.are_in(item))
                }
                _ => false,
            }
    }

    /// Whether a text begins with a secret.
    pub fn is_prefix_of(&self, text: &str) -> bool {
        self.0.iter().any(|secret| text.starts_with(&secret.needle))
    }

    /// Replaces the secrets in a text.
    pub fn scrub_text(&self, text: &mut String) {
        for secret in &self.0 {
            while let Some(start) = text.find(&secret.needle) {
                let end = start + secret.length(&text[start..]);
                text.replace_range(start..end, &secret.replacement);
            }
            if let Some(start) = secret.cut_prefix(text) {
                text.replace_range(start.., &secret.replacement);
            }
        }
    }

    /// Replaces the secrets in a value.
    pub fn scrub(&self, value: &mut Value) {
        match value {
            Value::String(text) if self.is_in(text) => self.scrub_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.scrub(item)),
            Value::Object(map) => {
                if map.keys().any(|key| self.is_in(key)) {
                    for (mut key, value) in std::mem::take(map) {
                        self.scrub_text(&mut key);
                        map.insert(key, value);
                    }
                }
                map.values_mut().for_each(|item| self.scrub(item));
            }
            _ => {}
        }
    }

    pub fn scrub_shared(&self, value: &mut Arc<Value>) {
        self.scrub(Arc::make_mut(value));
    }

    pub fn scrub_failure(&self, mut failure: Failure) -> Failure {
        self.scrub_text(&mut failure.message);
        failure.details.iter_mut().for_each(|details| self.scrub(details));
        failure.native.iter_mut().for_each(|native| self.scrub_shared(native));
        // The cause goes to the log, which must not contain links that open files.
        if failure.source.as_ref().is_some_and(|source| self.is_in(&source.to_string())) {
            failure.source = None;
        }
        failure
    }
}

#[cfg(test)]
mod tests;
