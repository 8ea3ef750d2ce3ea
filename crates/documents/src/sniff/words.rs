//! Detects text and its kind.

use encoding_rs::Encoding;
use extraction::encoding;

use super::{HTML, JSON};

/// Elements that only HTML begins with.
const HTML_STARTS: [&str; 16] = [
    "<!doctype html",
    "<html",
    "<head",
    "<body",
    "<script",
    "<style",
    "<title",
    "<meta",
    "<link",
    "<table",
    "<div",
    "<h1",
    "<p>",
    "<iframe",
    "<br",
    "<a ",
];

/// One character in so many may be a control character: pages are pasted together from terminals and word processors.
/// Of compressed data every tenth byte is one.
const PER_CONTROL: usize = 20;

/// The kind of text; none if the bytes are no text.
pub(super) fn kind(head: &[u8], name: Option<&str>) -> Option<&'static str> {
    let text = text(head)?;
    let start = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let lower = start.chars().take(4096).collect::<String>().to_ascii_lowercase();
    let lower = past_comments(&lower);
    if HTML_STARTS.iter().any(|element| lower.starts_with(element)) {
        return Some(HTML);
    }
    if lower.starts_with("<svg") {
        return Some("image/svg+xml");
    }
    if lower.starts_with("<?xml") {
        return Some(match () {
            () if lower.contains("<svg") => "image/svg+xml",
            () if lower.contains("<html") => "application/xhtml+xml",
            () => "application/xml",
        });
    }
    let extension =
        name.and_then(|name| name.rsplit_once('.')).map(|(_, end)| end.to_ascii_lowercase());
    Some(match extension.as_deref() {
        Some("csv") => "text/csv",
        Some("tsv") => "text/tab-separated-values",
        Some("md" | "markdown") => "text/markdown",
        Some("yaml" | "yml") => "application/yaml",
        Some("css") => "text/css",
        Some("js" | "mjs") => "text/javascript",
        Some("ics") => "text/calendar",
        Some("vcf") => "text/vcard",
        _ if start.is_empty() => "text/plain",
        _ if is_json(start) => JSON,
        _ => "text/plain",
    })
}

/// The head as text, if it decodes and has few control characters but white space.
fn text(head: &[u8]) -> Option<String> {
    let text = match (Encoding::for_bom(head), std::str::from_utf8(head)) {
        (Some((encoding, mark)), _) => {
            encoding.decode_without_bom_handling(&head[mark..]).0.into_owned()
        }
        (None, Ok(text)) => text.to_owned(),
        // The head may end within a character.
        (None, Err(error)) if error.error_len().is_none() => {
            String::from_utf8_lossy(&head[..error.valid_up_to()]).into_owned()
        }
        (None, Err(_)) => match encoding::wide(head) {
            Some(encoding) => encoding.decode_without_bom_handling(head).0.into_owned(),
            None => older(head)?,
        },
    };
    let odd = |c: char| {
        c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}' | '\u{85}')
    };
    let (mut all, mut bad) = (0_usize, 0_usize);
    for character in text.chars() {
        all += 1;
        bad += usize::from(odd(character));
    }
    // UTF-16 of ASCII is valid UTF-8, too, full of zeros.
    if bad > 0
        && std::str::from_utf8(head).is_ok()
        && Encoding::for_bom(head).is_none()
        && let Some(encoding) = encoding::wide(head)
    {
        return Some(encoding.decode_without_bom_handling(head).0.into_owned());
    }
    (bad * PER_CONTROL <= all).then_some(text)
}

/// Text in an encoding that predates Unicode: few control characters, and a detected encoding.
fn older(head: &[u8]) -> Option<String> {
    let controls =
        head.iter().filter(|byte| matches!(byte, 0..=8 | 0xe..=0x1a | 0x1c..=0x1f | 0x7f)).count();
    if controls * PER_CONTROL > head.len() {
        return None;
    }
    let alphanumeric = head
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace())
        .count();
    let high = head.iter().filter(|byte| !byte.is_ascii()).count();
    // Compressed data has few ASCII alphanumerics; Russian or Chinese text has few as well, but mostly high bytes.
    if head.len() > 512 && alphanumeric * 20 < head.len() && high * 10 < head.len() * 9 {
        return None;
    }
    Some(encoding::encoding_of(head).decode_without_bom_handling(head).0.into_owned())
}

fn past_comments(mut text: &str) -> &str {
    while let Some(rest) = text.strip_prefix("<!--") {
        let Some(end) = rest.find("-->") else { break };
        text = rest[end + 3..].trim_start();
    }
    text
}

/// Recognizes JSON by its first two tokens; the rest is not checked.
fn is_json(start: &str) -> bool {
    let rest = |text: &str| text.trim_start().chars().next();
    match start.chars().next() {
        Some('{') => matches!(rest(&start[1..]), Some('"' | '}')),
        Some('[') => {
            let next = rest(&start[1..]);
            matches!(next, Some('{' | '[' | '"' | ']' | '0'..='9' | '-'))
        }
        _ => false,
    }
}
