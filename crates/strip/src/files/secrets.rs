//! What a tool was given in a caller's name and the caller must not see: the bytes of files, and links to them. A tool
//! may repeat its input, in an answer or in an error.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use proto::FileId;
use serde_json::Value;
use url::{Url, form_urlencoded};

use crate::{Failure, Output};
use std::sync::Arc;

/// Encoders break base64 into lines that are no shorter than this.
const LEAST_LINE: usize = 60;

/// So much of the beginning of a secret gives it away.
const LEAST_BEGUN: usize = 24;

/// The parameters of a link by which it opens a file: ours, and those of object storage.
const SIGNATURES: [&str; 3] = ["sig", "X-Amz-Signature", "X-Amz-Security-Token"];

/// How signs of links and of base64 are written where they would mean something else.
const ESCAPED: [&str; 10] =
    ["\\u0026", "\\u003d", "\\u002b", "\\/", "%2B", "%2F", "%3D", "%2b", "%2f", "%3d"];

/// What is shorter is no signature, and may stand in any text.
const LEAST_SIGNATURE: usize = 16;

/// Texts that give something away, and the files that they belong to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets(Vec<Secret>);

#[derive(Clone, Debug)]
struct Secret {
    /// How it begins.
    needle: String,
    /// What belongs to it after that.
    goes_on: fn(char) -> bool,
    /// Whether it may be broken into lines.
    in_lines: bool,
    instead: String,
}

impl Secret {
    /// How much of a text that begins with it belongs to it.
    fn length(&self, text: &str) -> usize {
        let mut end = self.needle.len();
        let mut line = 0;
        loop {
            let rest = &text[end..];
            end += rest.find(|c| !(self.goes_on)(c)).unwrap_or(rest.len());
            // Base64 is often broken into lines, in JSON with the breaks written out.
            let rest = &text[end..];
            let escaped = ESCAPED.iter().find_map(|sign| rest.strip_prefix(sign));
            if let Some(next) = escaped {
                end = text.len() - next.len();
                continue;
            }
            let broken = ["\r\n", "\n", "\\r\\n", "\\n"];
            let Some(next) = broken.iter().find_map(|end| rest.strip_prefix(end)) else {
                return end;
            };
            let full = end - line >= LEAST_LINE;
            let word = next.find(|c| !(self.goes_on)(c)).unwrap_or(next.len());
            if !(self.in_lines && full && word > 0) {
                return end;
            }
            line = text.len() - next.len();
            end = line;
        }
    }

    /// Where a text ends with the beginning of it, because the text was cut.
    fn begun(&self, text: &str) -> Option<usize> {
        let text = text.trim_end_matches(['…', '.']);
        let tail = text.len().saturating_sub(self.needle.len() - 1);
        let tail = (tail..text.len()).find(|at| text.is_char_boundary(*at))?;
        let starts = text[tail..].char_indices().map(|(at, _)| tail + at);
        starts
            .take_while(|at| text.len() - at >= LEAST_BEGUN)
            .find(|at| self.needle.starts_with(&text[*at..]))
    }
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
        let plain = BASE64_STANDARD.encode(head);
        let percent = plain.replace('+', "%2B").replace('/', "%2F");
        let mut forms =
            vec![plain.replace('/', "\\/"), percent, plain, BASE64_URL_SAFE.encode(head)];
        forms.sort();
        forms.dedup();
        for needle in forms {
            let goes_on =
                |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_');
            self.0.push(Secret { needle, goes_on, in_lines: true, instead: instead.clone() });
        }
    }

    pub(super) fn add_link(&mut self, url: &Url, id: &FileId) {
        let instead = format!("[link to {id}]");
        let goes_on = |c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '<' | '>' | '\\');
        // Its path alone would be enough to see where it leads; with the query it opens the file.
        let mut bare = url.clone();
        bare.set_query(None);
        let (bare, in_lines) = (String::from(bare), false);
        let percent = form_urlencoded::byte_serialize(bare.as_bytes()).collect();
        for needle in [bare.replace('/', "\\/"), percent, bare] {
            self.0.push(Secret { needle, goes_on, in_lines, instead: instead.clone() });
        }
        if let Some(query) = url.query().filter(|query| !query.is_empty()) {
            let (needle, instead) = (query.to_owned(), instead.clone());
            self.0.push(Secret { needle, goes_on, in_lines, instead });
        }
        // However the rest of a link is written or cut, without these it opens nothing.
        for (key, value) in url.query_pairs().filter(|(key, _)| SIGNATURES.contains(&&**key)) {
            let raw = url.query().unwrap_or_default().split('&').find_map(|pair| {
                pair.split_once('=').filter(|(name, _)| **name == *key).map(|(_, raw)| raw)
            });
            let raw = raw.unwrap_or_default();
            let mut forms = vec![value.replace('/', "\\/"), raw.replace('%', "%25")];
            forms.extend([raw.to_owned(), value.into_owned()]);
            forms.sort();
            forms.dedup();
            for needle in forms.into_iter().filter(|form| form.len() >= LEAST_SIGNATURE) {
                let instead = instead.clone();
                self.0.push(Secret { needle, goes_on: |_| false, in_lines, instead });
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a text holds any of them.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.0.iter().any(|secret| text.contains(&secret.needle) || secret.begun(text).is_some())
    }

    /// Whether any text in a value holds any of them.
    pub(super) fn are_in(&self, value: &Value) -> bool {
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

    /// Whether a text begins with one of them.
    pub(super) fn begin(&self, text: &str) -> bool {
        self.0.iter().any(|secret| text.starts_with(&secret.needle))
    }

    /// The text without what is secret in it.
    pub(crate) fn out_of_text(&self, text: &mut String) {
        for secret in &self.0 {
            while let Some(start) = text.find(&secret.needle) {
                let end = start + secret.length(&text[start..]);
                text.replace_range(start..end, &secret.instead);
            }
            if let Some(start) = secret.begun(text) {
                text.replace_range(start.., &secret.instead);
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
mod tests;
