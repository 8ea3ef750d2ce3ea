//! The check of links: what is wrong with them can be seen without opening them.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::issue::{Check, Issue, Outcome, Severity, penalised};
use super::text::Text;

static MARKDOWN: LazyLock<Regex> =
    LazyLock::new(|| pii::compiled(r"\[([^\]\n]{0,300})\]\(([^)\n]{0,1000})\)"));
static BROKEN: LazyLock<Regex> = LazyLock::new(|| {
    pii::compiled(
        r"(?i)\b(?:https?:/[^/\s]|https?//|htps?://|http(?:s)?:\s//|https?://https?://)\S*",
    )
});
static PLAIN: LazyLock<Regex> = LazyLock::new(|| pii::compiled(r#"(?i)\bhttps?://[^\s<>"')\]]+"#));

pub(super) fn check(text: &Text<'_>) -> Outcome {
    let anchors: HashSet<String> =
        text.headings.iter().map(|heading| anchor(&heading.title)).collect();
    let mut issues = Vec::new();
    let mut count = 0;
    let mut report = |severity, message: String, place: std::ops::Range<usize>| {
        issues.push(Issue {
            check: Check::Links,
            severity,
            message,
            start: place.start,
            end: place.end,
            suggestions: Vec::new(),
        });
    };
    for hit in MARKDOWN.captures_iter(text.source) {
        let (Some(whole), Some(target)) = (hit.get(0), hit.get(2)) else { continue };
        count += 1;
        let address = target.as_str().split_whitespace().next().unwrap_or_default();
        if address.is_empty() {
            report(Severity::Error, "The link has no target.".to_owned(), whole.range());
        } else if hit[1].trim().is_empty() {
            report(Severity::Warning, "The link has no text.".to_owned(), whole.range());
        } else if let Some(name) = address.strip_prefix('#')
            && !anchors.contains(&name.to_lowercase())
        {
            report(Severity::Error, format!("No heading has the anchor `#{name}`."), whole.range());
        }
    }
    for hit in BROKEN.find_iter(text.source) {
        report(Severity::Error, "The address is misspelt.".to_owned(), hit.range());
    }
    for hit in PLAIN.find_iter(text.source) {
        count += 1;
        let host = hit.as_str().split("://").nth(1).unwrap_or_default();
        let host = host.split(['/', '?', '#', ':']).next().unwrap_or_default().to_lowercase();
        if host.is_empty() || !host.contains('.') && host != "localhost" {
            report(Severity::Warning, format!("`{host}` is no host name."), hit.range());
        } else if host == "localhost" || host.starts_with("127.") {
            report(
                Severity::Warning,
                "The address leads to the reader's own machine.".to_owned(),
                hit.range(),
            );
        } else if hit.as_str().starts_with("http://") {
            report(
                Severity::Info,
                "The address is not encrypted; prefer https.".to_owned(),
                hit.range(),
            );
        }
    }
    let evidence = vec![format!("{count} links, {} findings", issues.len())];
    Outcome { value: penalised(&issues, text.words.len()), evidence, issues }
}

/// The anchor that Markdown programs give a heading.
fn anchor(title: &str) -> String {
    title
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}
