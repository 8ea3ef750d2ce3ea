//! Caption tracks as text: the JSON and the XML shapes in which YouTube sends them.

use serde_json::Value;

/// Seconds without speech that begin a paragraph.
const PAUSE_MS: u64 = 4_000;
/// Characters after which the next sentence begins a paragraph.
const PARAGRAPH: usize = 600;

/// A piece of speech.
struct Cue {
    start_ms: u64,
    end_ms: u64,
    text: String,
}

/// The text of a caption track in paragraphs; `None` if the body is no track or has no words.
pub(crate) fn transcript(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(body);
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let cues = match start.chars().next()? {
        '{' => json_cues(&serde_json::from_str(start).ok()?),
        '<' => xml_cues(start),
        _ => return None,
    };
    let transcript = paragraphs(&cues);
    (!transcript.is_empty()).then_some(transcript)
}

/// `{"events": [{"tStartMs": 0, "dDurationMs": 0, "segs": [{"utf8": "…"}]}]}`.
fn json_cues(track: &Value) -> Vec<Cue> {
    let events = track["events"].as_array().into_iter().flatten();
    let cue = |event: &Value| {
        let parts = event["segs"].as_array()?.iter().filter_map(|part| part["utf8"].as_str());
        let start_ms = event["tStartMs"].as_u64().unwrap_or_default();
        let end_ms = start_ms + event["dDurationMs"].as_u64().unwrap_or_default();
        Some(Cue { start_ms, end_ms, text: parts.collect() })
    };
    events.filter_map(cue).collect()
}

/// `<text start="0.5" dur="2">…</text>`, or `<p t="500" d="2000">…</p>` in milliseconds.
fn xml_cues(track: &str) -> Vec<Cue> {
    let mut cues = Vec::new();
    let mut rest = track;
    while let Some((name, at)) = next_cue(rest) {
        let Some((attributes, after)) = rest[at..].split_once('>') else { break };
        let end = format!("</{name}>");
        let (content, after) = after.split_once(end.as_str()).unwrap_or((after, ""));
        let number =
            |key: &str| attribute(attributes, key).and_then(|value| value.parse::<f64>().ok());
        let (start, length) = match name {
            "text" => (number("start").map(|s| s * 1_000.0), number("dur").map(|s| s * 1_000.0)),
            _ => (number("t"), number("d")),
        };
        let milliseconds = |value: Option<f64>| value.unwrap_or_default().max(0.0) as u64;
        let start_ms = milliseconds(start);
        let end_ms = start_ms.saturating_add(milliseconds(length));
        cues.push(Cue { start_ms, end_ms, text: plain(content) });
        rest = after;
    }
    cues
}

fn next_cue(text: &str) -> Option<(&'static str, usize)> {
    let find = |name: &'static str, tag: &str| text.find(tag).map(|at| (name, at));
    let found = [find("text", "<text"), find("p", "<p ")].into_iter().flatten();
    found.min_by_key(|(_, at)| *at)
}

fn attribute<'a>(attributes: &'a str, key: &str) -> Option<&'a str> {
    attributes.split_once(&format!(" {key}=\""))?.1.split_once('"').map(|(value, _)| value)
}

/// The text of an element: without tags, entities decoded twice, because YouTube encodes them twice.
fn plain(content: &str) -> String {
    let mut text = String::with_capacity(content.len());
    let mut in_tag = false;
    for character in content.chars() {
        match character {
            '<' => in_tag = true,
            '>' if in_tag => in_tag = false,
            _ if in_tag => {}
            _ => text.push(character),
        }
    }
    decode(&decode(&text))
}

fn decode(text: &str) -> String {
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&nbsp;", " "),
    ];
    let decoded =
        pairs.iter().fold(text.to_owned(), |text, (name, plain)| text.replace(name, plain));
    decoded.replace("&amp;", "&")
}

/// Joins cues into paragraphs: at pauses, and between sentences of a long one.
fn paragraphs(cues: &[Cue]) -> String {
    let mut out = String::new();
    let mut paragraph = 0;
    let mut end_ms = 0_u64;
    for cue in cues {
        let words = cue.text.split_whitespace().collect::<Vec<_>>().join(" ");
        // Rolling captions repeat the line before.
        if words.is_empty() || out.ends_with(&words) && words.len() > 20 {
            continue;
        }
        let pause = cue.start_ms > end_ms.saturating_add(PAUSE_MS);
        let ended = out.ends_with(['.', '!', '?', '。', '！', '？']);
        if !out.is_empty() {
            let breaks = pause || paragraph > PARAGRAPH && ended || paragraph > 4 * PARAGRAPH;
            out.push_str(if breaks { "\n\n" } else { " " });
            paragraph = if breaks { 0 } else { paragraph };
        }
        paragraph += words.chars().count();
        out.push_str(&words);
        end_ms = cue.end_ms.max(cue.start_ms);
    }
    out
}

#[cfg(test)]
mod tests;
