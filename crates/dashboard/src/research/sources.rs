//! The sources of a report and how they were scored.

use maud::{Markup, html};
use serde_json::Value;

use crate::words::{Tone, inert, mark, short};

/// The most sources that are shown.
const MAX_SOURCES: usize = 200;

/// The scores: their names in the answer and in the table.
const SCORES: [(&str, &str); 5] = [
    ("overall", "Overall"),
    ("relevance", "Relevance"),
    ("freshness", "Freshness"),
    ("authority", "Authority"),
    ("contentQuality", "Quality"),
];

/// The table of sources.
pub(super) fn table(sources: &Value) -> Markup {
    let Some(sources) = sources.as_array() else {
        return html! { p.soft { "The scores are kept as long as the answer of the workflow, which has expired. The references are part of the report." } };
    };
    if sources.is_empty() {
        return html! { p.soft { "No source was found." } };
    }
    let mut sources: Vec<&Value> = sources.iter().collect();
    sources.sort_by(|a, b| place(a).total_cmp(&place(b)));
    html! {
        p.soft.screen-only {
            "Scores are from 0 to 1. "
            em { "Corroborated" } " counts the other sites that say the same; "
            em { "moved" } " is how many places a source won or lost by re-ranking."
        }
        div.table tabindex="0" role="region" aria-label="Sources and their scores" { table.figures-table.sources {
            thead { tr {
                th scope="col" { "Source" }
                th scope="col" { "Published" }
                @for (_, name) in SCORES { th.number.score scope="col" { (name) } }
                th.number scope="col" { "Corroborated" }
                th.number.score scope="col" { "Moved" }
                th scope="col" { "Cited" }
            } }
            tbody { @for source in sources.iter().take(MAX_SOURCES) { (row(source)) } }
        } }
        @if sources.len() > MAX_SOURCES { p.soft { "The first " (MAX_SOURCES) " of " (sources.len()) " sources." } }
    }
}

/// Where a source is listed: those that are cited by their numbers, then the others by their scores.
fn place(source: &Value) -> f64 {
    let number = source["citation"].as_f64().or((source["used"] == true).then_some(UNNUMBERED));
    let score = source["scores"]["overall"].as_f64().unwrap_or_default();
    number.unwrap_or(2.0 * UNNUMBERED - score)
}

/// Beyond all numbers of entries.
const UNNUMBERED: f64 = 1e6;

fn row(source: &Value) -> Markup {
    let text = |name: &str| source[name].as_str().unwrap_or_default();
    let url = Some(text("url")).filter(|url| markup::is_safe_url(url));
    let title = [text("title"), text("url"), text("id")].into_iter().find(|name| !name.is_empty());
    let title = short(title.unwrap_or("unnamed"), 120);
    html! {
        tr {
            td {
                @if let Some(number) = source["citation"].as_u64() { span.citation { "[" (number) "]" } " " }
                @if let Some(url) = url { a href=(url) rel="noreferrer noopener" { (title) } } @else { (title) }
                @if !text("site").is_empty() { br; span.soft.small { (short(text("site"), 80)) } }
                @if let Some(url) = url { span.print-only.small { br; (inert(url)) } }
            }
            td { (inert(text("publishedAt"))) }
            @for (name, label) in SCORES { td.number.score data-name=(label.to_lowercase()) { (score(&source["scores"][name])) } }
            td.number data-name="sites agree" { (whole(&source["corroborated"])) }
            td.number.score data-name="places" { (places(&source["moved"])) }
            td { @if source["used"] == true { (mark(Tone::Good, "cited")) } @else { (mark(Tone::Quiet, "not cited")) } }
        }
    }
}

fn score(value: &Value) -> String {
    value.as_f64().map_or_else(|| "–".to_owned(), |score| format!("{score:.2}"))
}

/// A number; a list counts as its length.
fn whole(value: &Value) -> String {
    let length = value.as_array().map(Vec::len);
    match (length, value.as_i64()) {
        (Some(length), _) => length.to_string(),
        (None, Some(number)) => number.to_string(),
        (None, None) => "–".to_owned(),
    }
}

fn places(value: &Value) -> String {
    match value.as_i64() {
        Some(won) if won > 0 => format!("+{won}"),
        Some(lost) if lost < 0 => format!("−{}", lost.unsigned_abs()),
        Some(_) => "0".to_owned(),
        None => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sources_are_listed_with_their_scores_and_safe_links() {
        let shown = table(&json!([
            {"id": "s1", "url": "https://example.org/a", "title": "Roofs <b>", "publishedAt": "2024-05",
             "scores": {"overall": 0.625, "relevance": 1.0}, "corroborated": 2, "moved": -3, "used": true},
            {"id": "s2", "url": "javascript:alert(1)", "scores": {}, "used": false},
        ]))
        .into_string();
        for part in [
            "href=\"https://example.org/a\"",
            "Roofs &lt;b&gt;",
            "2024-05",
            ">1.00<",
            ">−3<",
            "not cited",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains("href=\"javascript"), "{shown}");
        assert!(table(&Value::Null).into_string().contains("expired"));
        assert!(table(&json!([])).into_string().contains("No source"));
    }
}
