//! robots.txt by RFC 9309: which paths of a host our fetcher may read.

mod ask;

use serde::{Deserialize, Serialize};

pub(crate) use ask::check;

/// The product token under which sites address us.
const PRODUCT: &str = "powerstrip";
/// RFC 9309 asks for at least 500 KiB; what follows is ignored.
const MOST_BYTES: usize = 500 * 1024;
/// Rules of one group that are kept.
const MOST_RULES: usize = 10_000;

/// The rules of a host that apply to us.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Rules {
    rules: Vec<Rule>,
    /// The status with which the host refuses to say its rules.
    #[serde(default)]
    unavailable: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Rule {
    allow: bool,
    /// Normalized, with `*` and a trailing `$` as written.
    pattern: String,
}

impl Rules {
    /// Those of a host that fails to say its rules, which forbids everything.
    fn unavailable(status: u16) -> Self {
        Self { rules: Vec::new(), unavailable: Some(status) }
    }

    /// Reads a robots.txt: the groups that name us, else those for everyone.
    fn parse(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&body[..body.len().min(MOST_BYTES)]);
        let text = text.trim_start_matches('\u{feff}');
        let mut ours = Groups::default();
        let mut everyone = Groups::default();
        // Consecutive user-agent lines begin one group.
        let (mut names_us, mut names_all, mut in_header) = (false, false, false);
        for line in text.split(['\n', '\r']) {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.as_str() {
                "user-agent" => {
                    if !in_header {
                        (names_us, names_all, in_header) = (false, false, true);
                    }
                    names_us |= product(value).eq_ignore_ascii_case(PRODUCT);
                    names_all |= value == "*";
                    ours.found |= names_us;
                }
                "allow" | "disallow" => {
                    in_header = false;
                    let rule = Rule { allow: key == "allow", pattern: normalize(value) };
                    if names_us {
                        ours.push(rule);
                    } else if names_all {
                        everyone.push(rule);
                    }
                }
                // Other records, such as sitemaps, are of no group.
                _ => {}
            }
        }
        let group = if ours.found { ours } else { everyone };
        Self { rules: group.rules, unavailable: None }
    }

    /// Whether a path, with its query, may be read. The longest pattern decides; of two equal ones, `allow`.
    fn allows(&self, path: &str) -> bool {
        if path == "/robots.txt" || self.unavailable.is_some() {
            return self.unavailable.is_none();
        }
        let path = normalize(path);
        let matching = self.rules.iter().filter(|rule| matches(&rule.pattern, &path));
        matching.max_by_key(|rule| (rule.pattern.len(), rule.allow)).is_none_or(|rule| rule.allow)
    }
}

#[derive(Default)]
struct Groups {
    found: bool,
    rules: Vec<Rule>,
}

impl Groups {
    fn push(&mut self, rule: Rule) {
        // `Disallow:` without a path forbids nothing.
        if !rule.pattern.is_empty() && self.rules.len() < MOST_RULES {
            self.rules.push(rule);
        }
    }
}

/// The product token at the start of a user agent, such as `Bot` of `Bot/1.0`.
fn product(value: &str) -> &str {
    let end = value.find(|c: char| !c.is_ascii_alphabetic() && !matches!(c, '_' | '-'));
    &value[..end.unwrap_or(value.len())]
}

/// One spelling of a path: unreserved characters plain, all others that need it percent-encoded in upper case.
fn normalize(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let bytes = path.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        let escaped = (byte == b'%').then(|| hex(bytes.get(at + 1..at + 3)?)).flatten();
        at += if escaped.is_some() { 3 } else { 1 };
        match escaped.unwrap_or(byte) {
            plain if plain.is_ascii_alphanumeric() || b"-._~".contains(&plain) => {
                out.push(char::from(plain));
            }
            plain if escaped.is_none() && plain.is_ascii_graphic() => out.push(char::from(plain)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    Some(digit(digits[0])? * 16 + digit(digits[1])?)
}

/// Whether a path begins with a pattern, in which `*` is any text and a last `$` the end of the path.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, to_the_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return !to_the_end || rest.is_empty() };
    for part in middle {
        // The first occurrence leaves the most for the other parts.
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    if to_the_end { rest.ends_with(last) } else { rest.contains(last) }
}

#[cfg(test)]
mod tests;
