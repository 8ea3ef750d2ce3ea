//! Small pieces of pages: safe texts, status marks, empty states.

use maud::{Markup, html};
use proto::clean;
use serde_json::Value;
use url::form_urlencoded::byte_serialize;

/// Untrusted text with invisible characters shown; the template escapes it.
pub(super) fn inert(text: &str) -> String {
    clean::visible(text)
}

/// Indented JSON with invisible characters shown.
pub(super) fn json(value: &Value) -> String {
    inert(&format!("{value:#}"))
}

/// Text encoded for a path or a query.
pub(super) fn in_url(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// The page of an approval.
pub(super) fn approval_page(id: &str) -> String {
    format!("/dashboard/approvals/{}", in_url(id))
}

/// The page of a tool.
pub(super) fn tool_page(id: &str) -> String {
    format!("/dashboard/tools/{}", in_url(id))
}

/// A size in the unit that fits it.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{:.1} KB", bytes as f64 / 1_024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.2} GB", bytes as f64 / 1_073_741_824.0),
    }
}

/// `1 tool`, `2 tools`.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A status as a dot and a word, never by colour alone.
pub(super) fn mark(tone: Tone, word: &str) -> Markup {
    html! { span class=(format!("mark {}", tone.class())) { (word) } }
}

/// The meaning of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Doubtful,
    Bad,
    Quiet,
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Doubtful => "doubtful",
            Self::Bad => "bad",
            Self::Quiet => "quiet",
        }
    }
}

/// The outcome of a call, as in its audit row.
pub(super) fn outcome(outcome: &str) -> Markup {
    let tone = match outcome {
        "OK" => Tone::Good,
        "ASKED" | "EXPIRED" | "REJECTED" | "DENIED" | "RATE_LIMIT" | "CANCELLED" => Tone::Doubtful,
        "APPROVED" | "RESTARTED" => Tone::Quiet,
        _ => Tone::Bad,
    };
    mark(tone, &inert(outcome))
}

/// An empty state, and what to do about it.
pub(super) fn empty(title: &str, what_next: Markup) -> Markup {
    html! { div.empty { p.empty-title { (title) } div.empty-next { (what_next) } } }
}

/// Text cut to a length.
pub(super) fn short(text: &str, most: usize) -> String {
    let text = inert(text);
    if text.chars().count() <= most {
        return text;
    }
    let mut cut: String = text.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}
