//! Removes secret values from text before it leaves the gateway.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use serde_json::Value;

mod folded;

use folded::Folded;

/// The replacement for a secret.
pub const MASK: &str = "****";

/// Shorter values are settings, which occur in any text.
const MIN_LENGTH: usize = 6;

/// A shorter value without both letters and digits is a word or a date, which tool definitions contain: `string`, `2026-07`.
const MIN_PLAIN: usize = 8;

/// A shorter value of a-z only is a word, which occurs in any text.
const MIN_WORD: usize = 12;

/// A shorter part of base64 occurs in any base64.
const MIN_ENCODED: usize = 8;

/// Parts of names whose values are secrets.
const SECRET_NAMES: [&str; 9] =
    ["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE", "SIGNATURE"];

/// Ends of the words of names whose values are secrets even if they look like a plain word.
const CERTAIN_NAMES: [&str; 12] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASS",
    "PASSWORD",
    "PASSPHRASE",
    "PASSWD",
    "PWD",
    "PW",
    "CREDENTIAL",
    "AUTHORIZATION",
    "COOKIE",
];

/// Ends of names whose values are paths or URLs.
const PLACE_NAMES: [&str; 6] = ["FILE", "PATH", "DIR", "SOCK", "HOME", "FOLDER"];

/// Ends of names whose values are settings, which may occur in answers.
const SETTING_NAMES: [&str; 21] = [
    "REGION",
    "ZONE",
    "LANG",
    "LANGUAGE",
    "LOCALE",
    "TZ",
    "LEVEL",
    "MODE",
    "ENV",
    "ENVIRONMENT",
    "HOST",
    "HOSTNAME",
    "PORT",
    "NAME",
    "USER",
    "VERSION",
    "AGENT",
    "PROJECT",
    "BUCKET",
    "FORMAT",
    "ACCEPT",
];

/// Finds secret values in text in these encodings: plain, escaped in JSON, percent-encoded (any of the bytes),
/// hexadecimal, base64 (also broken into lines).
#[derive(Clone, Default)]
pub struct Scrubber(Option<Arc<AhoCorasick>>);

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scrubber")
    }
}

impl Scrubber {
    /// Finds these values, except short ones and numbers, which occur in any text.
    pub fn new<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> Self {
        let mut forms = Vec::new();
        for value in values {
            let value = value.as_ref().trim();
            if !is_trivial(value) {
                add_forms(value, &mut forms);
            }
        }
        forms.sort();
        forms.dedup();
        if forms.is_empty() {
            return Self::default();
        }
        // Building fails only for more or longer patterns than any config can hold.
        Self(
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                // Digits of hexadecimal numbers come in both cases, also mixed.
                .ascii_case_insensitive(true)
                .build(forms)
                .ok()
                .map(Arc::new),
        )
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The text without secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.find(text.as_bytes());
        if found.is_empty() {
            return text.into();
        }
        // Secrets are whole characters, so what is left is UTF-8.
        String::from_utf8_lossy(&masked(text.as_bytes(), &found)).into_owned().into()
    }

    /// Removes secrets from bytes, such as a JSON document, which stays valid.
    pub fn bytes(&self, bytes: &mut Vec<u8>) {
        let found = self.find(bytes);
        if !found.is_empty() {
            *bytes = masked(bytes, &found);
        }
    }

    /// Overwrites secrets in bytes whose length must not change; returns whether there were any.
    pub fn overwrite(&self, bytes: &mut [u8]) -> bool {
        let found = self.find(bytes);
        for range in &found {
            bytes[range.clone()].fill(b'*');
        }
        !found.is_empty()
    }

    /// Removes secrets from every string and key of a value.
    pub fn json(&self, value: &mut Value) {
        if self.is_empty() {
            return;
        }
        match value {
            Value::String(text) => {
                if let Cow::Owned(clean) = self.text(text) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.json(item)),
            Value::Object(map) => {
                if map.keys().any(|key| !self.find(key.as_bytes()).is_empty()) {
                    for (key, item) in std::mem::take(map) {
                        map.insert(self.text(&key).into_owned(), item);
                    }
                }
                map.values_mut().for_each(|item| self.json(item));
            }
            _ => {}
        }
    }

    /// Where secrets are, in order and without overlaps.
    fn find(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let Some(finder) = &self.0 else { return Vec::new() };
        let mut found: Vec<_> = finder.find_iter(bytes).map(|found| found.range()).collect();
        if let Some(folded) = Folded::of(bytes) {
            let hidden =
                finder.find_iter(folded.bytes()).map(|found| folded.original(&found.range()));
            found.extend(hidden);
            found.sort_by_key(|range| range.start);
            found.dedup_by(|next, before| {
                let overlaps = next.start < before.end;
                if overlaps {
                    before.end = before.end.max(next.end);
                }
                overlaps
            });
        }
        found
    }
}

/// The bytes with a mask in place of each range.
fn masked(bytes: &[u8], ranges: &[Range<usize>]) -> Vec<u8> {
    let mut masked = Vec::with_capacity(bytes.len());
    let mut done = 0;
    for range in ranges {
        masked.extend_from_slice(&bytes[done..range.start]);
        masked.extend_from_slice(MASK.as_bytes());
        done = range.end;
    }
    masked.extend_from_slice(&bytes[done..]);
    masked
}

/// The secrets in a setting: the value itself unless its name or form shows that it is not one, the credentials of a
/// header, the password in a URL.
pub fn secrets_of(name: &str, value: &str) -> Vec<String> {
    let name = name.to_ascii_uppercase();
    let value = value.trim();
    let ends = |names: &[&str]| names.iter().any(|end| name.ends_with(end));
    let is_place = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start));
    if let Some(credentials) = userinfo(value) {
        let password = credentials.split_once(':').map(|(_, password)| password.to_owned());
        return password.into_iter().chain([credentials.to_owned(), value.to_owned()]).collect();
    }
    if SECRET_NAMES.iter().any(|part| name.contains(part)) {
        if is_place && ends(&PLACE_NAMES) {
            return Vec::new();
        }
    } else if is_place || value.contains("://") || ends(&SETTING_NAMES) || ends(&PLACE_NAMES) {
        return Vec::new();
    }
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    if is_word(value) && !words.any(|word| CERTAIN_NAMES.iter().any(|end| word.ends_with(end))) {
        return Vec::new();
    }
    let mut secrets = vec![value.to_owned()];
    // `Bearer TOKEN`, `Basic BASE64`, and the like.
    if let Some((_, credentials)) = value.split_once(' ') {
        secrets.push(credentials.to_owned());
        let decoded = BASE64_STANDARD.decode(credentials).ok();
        if let Some(pair) = decoded.and_then(|bytes| String::from_utf8(bytes).ok()) {
            secrets.extend(pair.split_once(':').map(|(_, password)| password.to_owned()));
            secrets.push(pair);
        }
    }
    secrets
}

/// Whether a value of this name is a secret: `password`, `api_key`, `accessToken`.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| CERTAIN_NAMES.iter().any(|end| word.ends_with(end)))
}

/// `user:password` of a URL.
fn userinfo(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    authority.rsplit_once('@').map(|(userinfo, _)| userinfo)
}

fn is_trivial(value: &str) -> bool {
    let mixed = value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && value.bytes().any(|byte| byte.is_ascii_digit());
    value.len() < MIN_LENGTH
        || (value.len() < MIN_PLAIN && !mixed)
        || value.parse::<f64>().is_ok()
        || ["true", "false", "null", "none"].contains(&value.to_ascii_lowercase().as_str())
}

fn is_word(value: &str) -> bool {
    value.len() < MIN_WORD && value.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn add_forms(value: &str, forms: &mut Vec<String>) {
    let escaped = escape(value, false);
    forms.push(escape(&escaped, false));
    forms.push(escaped.replace('/', "\\/"));
    forms.push(escape(value, true));
    // As encoders write it that make JSON safe within HTML.
    let mut safe = escaped.clone();
    for special in ['&', '<', '>', '\''] {
        safe = safe.replace(special, &format!("\\u{:04x}", u32::from(special)));
    }
    let safest = safe.replace('+', "\\u002b").replace('=', "\\u003d").replace('/', "\\/");
    forms.extend([safest.replace("\\/", "/"), safest, safe]);
    forms.push(escaped);
    forms.push(value.to_owned());
    let percent = |keeps: &[u8]| -> String {
        let encode = |byte: u8| {
            if byte.is_ascii_alphanumeric() || keeps.contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02x}")
            }
        };
        value.bytes().map(encode).collect()
    };
    for keeps in [&b"-._~"[..], b"-._~/", b"-._~!'()*", b"-._~:@!$&'()*+,;=/?"] {
        forms.push(percent(keeps));
    }
    for keeps in [&b"-._* "[..], b"-._~!'()* "] {
        forms.push(percent(keeps).replace(' ', "+"));
    }
    for before in ["", "%"] {
        forms.push(value.bytes().map(|byte| format!("{before}{byte:02x}")).collect());
    }
    // A prefix shifts the value's bits; characters that also encode neighbouring bytes are left out.
    for before in 0..3 {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(value.as_bytes());
        let start = (before * 8).div_ceil(6);
        let end = bytes.len() * 8 / 6;
        for engine in [BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD] {
            let encoded = engine.encode(&bytes);
            forms.extend(
                encoded.get(start..end).filter(|part| part.len() >= MIN_ENCODED).map(str::to_owned),
            );
        }
    }
}

/// The value as it is written between the quotes of a JSON string.
fn escape(value: &str, ascii: bool) -> String {
    let quoted = Value::from(value).to_string();
    let inside = quoted[1..quoted.len() - 1].to_owned();
    if !ascii {
        return inside;
    }
    let mut escaped = String::with_capacity(inside.len());
    let mut units = [0; 2];
    for character in inside.chars() {
        if character.is_ascii() {
            escaped.push(character);
        } else {
            let units = character.encode_utf16(&mut units);
            units.iter().for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_found_in_every_form() {
        let secret = "pä\"ss/w0rd+?";
        let scrubber = Scrubber::new([secret]);
        let percent = "p%C3%A4%22ss%2Fw0rd%2B%3F";
        let forms = [
            secret.to_owned(),
            json!(secret).to_string(),
            json!(json!(secret).to_string()).to_string(),
            "p\\u00e4\\\"ss/w0rd+?".to_owned(),
            "pä\\\"ss\\/w0rd+?".to_owned(),
            percent.to_owned(),
            percent.to_ascii_lowercase(),
            secret.bytes().map(|byte| format!("%{byte:02X}")).collect(),
            secret.bytes().map(|byte| format!("%{byte:02x}")).collect(),
            secret.bytes().map(|byte| format!("{byte:02X}")).collect(),
            secret.bytes().map(|byte| format!("{byte:02x}")).collect(),
            secret
                .bytes()
                .map(|byte| format!("%{byte:02X}"))
                .collect::<String>()
                .replace("%2B", "%2b"),
            "pä\\\"ss\\/w0rd\\u002b?".to_owned(),
        ];
        for form in forms {
            let text = format!("a {form} b");
            let clean = scrubber.text(&text);
            assert!(clean.contains(MASK) && clean.len() < 16, "{form}: {clean}");
        }
        for before in ["", "u", "us", "user:"] {
            for engine in [BASE64_STANDARD, BASE64_STANDARD_NO_PAD] {
                let encoded = engine.encode(format!("{before}{secret}"));
                let clean = scrubber.text(&encoded).into_owned();
                assert!(clean.contains(MASK) && clean.len() < 16, "{before}: {clean}");
            }
        }
    }

    #[test]
    fn secrets_are_found_across_line_breaks_and_in_partly_encoded_text() {
        let secret = "s3cret-value-of-some-length";
        let scrubber = Scrubber::new([secret]);
        let found = |text: &str| {
            let clean = scrubber.text(text).into_owned();
            assert!(clean.contains(MASK), "{text}: {clean}");
            clean
        };
        for before in 0..80 {
            let encoded =
                BASE64_STANDARD.encode(format!("{}{secret} and more", "x".repeat(before)));
            for columns in [20, 64, 76] {
                for end in ["\n", "\r\n", "\n    ", "%0A"] {
                    let lines: Vec<_> = encoded.as_bytes().chunks(columns).collect();
                    let wrapped = String::from_utf8(lines.join(end.as_bytes())).unwrap();
                    found(&wrapped);
                    let mut json = json!({"text": wrapped}).to_string().into_bytes();
                    scrubber.bytes(&mut json);
                    let json: Value = serde_json::from_slice(&json).unwrap();
                    assert!(json["text"].as_str().unwrap().contains(MASK), "{json}");
                }
            }
        }
        for step in 2..6 {
            let mixed = |upper: bool| -> String {
                let encode = |(at, byte): (usize, u8)| match (at % step, upper) {
                    (0, true) => format!("%{byte:02X}"),
                    (0, false) => format!("%{byte:02x}"),
                    _ => char::from(byte).to_string(),
                };
                secret.bytes().enumerate().map(encode).collect()
            };
            assert_eq!(found(&format!("a={}&b=%41", mixed(true))), "a=****&b=%41");
            let mut fixed = format!("ä {} ö", mixed(false)).into_bytes();
            let length = fixed.len();
            assert!(scrubber.overwrite(&mut fixed));
            assert_eq!((fixed.len(), String::from_utf8(fixed).is_ok()), (length, true));
        }
        for text in ["100%", "%zz %4", "a\nb\\nc", "word\nword\n", &"x\n".repeat(100)] {
            assert_eq!(scrubber.text(text), text);
        }
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        let scrubber = Scrubber::new(["s3cret-value-of-some-length"]);
        let lines = format!("{}\n", "A".repeat(76)).repeat(50_000);
        for text in [lines, "%41".repeat(1_000_000), "\n".repeat(3_000_000)] {
            let began = std::time::Instant::now();
            assert_eq!(scrubber.text(&text), text);
            assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
        }
    }

    #[test]
    fn documents_stay_documents_and_lengths_stay_lengths() {
        let scrubber = Scrubber::new(["s3cret-value", "s3cret-value-longer"]);
        let mut value =
            json!({"s3cret-value": ["x s3cret-value-longer y", 1, null], "other": "s3cret"});
        let mut bytes = value.to_string().into_bytes();
        scrubber.bytes(&mut bytes);
        let expected = json!({"****": ["x **** y", 1, null], "other": "s3cret"});
        assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), expected);
        scrubber.json(&mut value);
        assert_eq!(value, expected);
        let mut fixed = b"a s3cret-value b".to_vec();
        assert!(scrubber.overwrite(&mut fixed));
        assert_eq!(fixed, b"a ************ b");
        assert!(Scrubber::new(["1", "true", "123456", "hello", "12.5e10"]).is_empty());
        let definition = r#"{"type":"string","required":["object"],"since":"2026-07"}"#;
        let short = Scrubber::new(["string", "object", "2026-07"]);
        assert_eq!(short.text(definition), definition, "short words occur in any definition");
        assert_eq!(Scrubber::new(["s3cret"]).text("a s3cret b"), "a **** b");
    }

    #[test]
    fn secrets_are_recognized_by_name_and_value() {
        for (name, value, secrets) in [
            ("API_KEY", "abc-123-x", vec!["abc-123-x"]),
            ("Authorization", "Bearer t0ken-1", vec!["Bearer t0ken-1", "t0ken-1"]),
            (
                "authorization",
                "Basic dTpwYXNzLXcwcmQ=",
                vec!["Basic dTpwYXNzLXcwcmQ=", "dTpwYXNzLXcwcmQ=", "pass-w0rd", "u:pass-w0rd"],
            ),
            (
                "DATABASE_URL",
                "pg://u:hunter22@h/db",
                vec!["hunter22", "u:hunter22", "pg://u:hunter22@h/db"],
            ),
            ("CANARY", "some-value", vec!["some-value"]),
            ("DB_PASSWORD", "hunter", vec!["hunter"]),
            ("X-Api-Key", "hunter", vec!["hunter"]),
            ("AUTHOR", "goethe", vec![]),
            ("KEYCLOAK_REALM", "master", vec![]),
            ("AWS_SECRET_ACCESS_KEY", "/abc/def", vec!["/abc/def"]),
            ("TOKEN_FILE", "/run/token", vec![]),
            ("AWS_REGION", "eu-central-1", vec![]),
            ("ROOT", "/srv/files", vec![]),
            ("BASE", "https://api.example.com/v1", vec![]),
            ("User-Agent", "powerstrip/1.0", vec![]),
        ] {
            assert_eq!(secrets_of(name, value), secrets, "{name}");
        }
    }
}
