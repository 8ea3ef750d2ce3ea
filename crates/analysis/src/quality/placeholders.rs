//! The check for what a writer has left to fill in.

use std::sync::LazyLock;

use regex::{Match, Regex};

use super::issue::{Check, Issue, Outcome, Severity, penalised};
use super::text::Text;

static PLACEHOLDERS: LazyLock<[(Regex, Severity, &str); 6]> = LazyLock::new(|| {
    let compiled = pii::compiled;
    [
        (compiled(r"(?i)\blorem ipsum\b[^.\n]{0,200}"), Severity::Error, "Filler text is left."),
        (
            compiled(r"\b(?:TODO|FIXME|TBD|TBC|TBA|XXX+)\b:?"),
            Severity::Error,
            "A note to the writer is left.",
        ),
        (
            compiled(
                r"(?i)\[(?:insert|add|enter|your|company|client|name|date|placeholder|tbd|todo|address|fill|please)\b[^\]\n]{0,80}\]",
            ),
            Severity::Error,
            "A placeholder is left.",
        ),
        (
            compiled(r"\{\{[^{}\n]{1,80}\}\}|\$\{[A-Za-z_][^{}\n]{0,60}\}|%[A-Z_]{3,40}%"),
            Severity::Error,
            "A template field is left.",
        ),
        (
            compiled(
                r"(?i)<(?:your|insert|company|client|name|date|address|placeholder)\b[^<>\n]{0,60}>|\b(?:your name here|your company name|firstname lastname|jane doe|john doe|acme corp(?:oration)?)\b",
            ),
            Severity::Warning,
            "This looks like an example.",
        ),
        (compiled(r"_{4,}|\?{3,}|\.{6,}"), Severity::Warning, "A gap is left."),
    ]
});

/// Words about a gap are at most this many bytes from it.
const NEAR: usize = 200;

/// Dots that lead to a page number, and lines to sign on.
fn is_no_gap(source: &str, hit: &Match<'_>) -> bool {
    // A line may be as long as the text, and have as many gaps.
    let from = source.floor_char_boundary(hit.start().saturating_sub(NEAR));
    let to = source.floor_char_boundary(hit.end() + NEAR);
    let before = source[from..hit.start()].rsplit('\n').next().unwrap_or("");
    let mut after = source[hit.end()..to].split('\n');
    let rest = after.next().unwrap_or("").trim();
    if hit.as_str().starts_with('.') {
        return !rest.is_empty() && rest.len() <= 6 && rest.chars().all(char::is_alphanumeric);
    }
    hit.as_str().starts_with("____")
        && [before, rest, after.next().unwrap_or("")].iter().any(|line| SIGNING.is_match(line))
}

static SIGNING: LazyLock<Regex> = LazyLock::new(|| {
    pii::compiled(
        r"(?i)\b(?:signature|signed|sign here|place, date|by:|unterschrift|ort, datum|signature du|firma)",
    )
});

pub(super) fn check(text: &Text<'_>) -> Outcome {
    let mut issues = Vec::new();
    for (pattern, severity, message) in PLACEHOLDERS.iter() {
        for hit in pattern.find_iter(text.source).filter(|hit| !is_no_gap(text.source, hit)) {
            issues.push(Issue {
                check: Check::Placeholders,
                severity: *severity,
                message: format!(
                    "{message} `{}`",
                    hit.as_str().chars().take(60).collect::<String>()
                ),
                start: hit.start(),
                end: hit.end(),
                suggestions: Vec::new(),
            });
        }
    }
    let evidence = vec![format!("{} places to fill in", issues.len())];
    Outcome { value: penalised(&issues, text.words.len()), evidence, issues }
}
