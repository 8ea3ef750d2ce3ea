//! Small pieces of pages: safe texts, status marks, empty states.

use maud::{Markup, html};
use proto::{Code, clean};
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

/// The page of a run.
pub(super) fn run_page(id: &str) -> String {
    format!("/dashboard/runs/{}", in_url(id))
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

/// The outcome of a call, as in its audit row. Codes stay as they are; what else the trail records is said in words.
pub(super) fn outcome(outcome: &str) -> Markup {
    let tone = match outcome {
        "OK" => Tone::Good,
        "ASKED" => return mark(Tone::Doubtful, "asked a person"),
        "DENIED" | "RATE_LIMIT" | "CANCELLED" | "EXPIRED" | "REJECTED" | "ABANDONED"
        | "INTERRUPTED" => Tone::Doubtful,
        _ if Code::all().any(|code| code.as_str() == outcome) => Tone::Bad,
        // A change, such as `SET` or `REVOKED`: it was made.
        change => return mark(Tone::Quiet, &inert(&change.to_lowercase())),
    };
    mark(tone, &inert(outcome))
}

/// The cause of a failure, in words.
pub(super) fn blame(blame: &str) -> String {
    match blame {
        "caller" | "tool" | "gateway" => format!("caused by the {blame}"),
        other => format!("caused by {}", inert(other)),
    }
}

/// A message: what it has between backticks is code.
pub(super) fn message(text: &str) -> Markup {
    let text = inert(text);
    let parts: Vec<&str> = text.split('`').collect();
    let last = parts.len() - 1;
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if at % 2 == 0 { (part) }
            @else if at == last { "`" (part) }
            @else { code { (part) } }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_show_code_and_stay_inert() {
        let shown = message("run `a <b>`, or ` else").into_string();
        assert_eq!(shown, "run <code>a &lt;b&gt;</code>, or ` else");
        assert_eq!(message("plain").into_string(), "plain");
    }

    #[test]
    fn changes_are_no_failures() {
        for change in ["SET", "MADE", "REMOVED", "REVOKED", "DISABLED"] {
            let shown = outcome(change).into_string();
            assert!(!shown.contains("bad") && shown.contains(&change.to_lowercase()), "{shown}");
        }
        assert!(outcome("TIMEOUT").into_string().contains("mark bad"));
        assert!(outcome("OK").into_string().contains("mark good"));
    }
}
