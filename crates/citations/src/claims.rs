//! Sentences that need a citation and have none.

use std::ops::Range;

use language::words;

use super::intext::InTextCitation;
use super::layout::{Part, PartKind};
use super::sentences::Sentences;

/// More findings of this kind do not help.
const MAX_CLAIMS: usize = 200;
/// Longer sentences are read up to here.
const MAX_SENTENCE: usize = 2_000;

/// Sections that state the author's own work.
const OWN: [&str; 32] = [
    "abstract",
    "acknowledgement",
    "acknowledgements",
    "acknowledgment",
    "acknowledgments",
    "appendix",
    "background and methods",
    "conclusion",
    "conclusions",
    "contents",
    "data",
    "data and methods",
    "disclaimer",
    "executive summary",
    "findings",
    "funding",
    "key findings",
    "key points",
    "limitations",
    "material and methods",
    "materials and methods",
    "method",
    "methodology",
    "methods",
    "our approach",
    "outlook",
    "recommendations",
    "results",
    "summary",
    "supplement",
    "tl dr",
    "zusammenfassung",
];

/// Words of sentences about the text itself or about what might be.
const NO_CLAIMS: [&str; 34] = [
    "appendix",
    "assume",
    "chapter",
    "could",
    "example",
    "figure",
    "i",
    "imagine",
    "let",
    "me",
    "my",
    "our",
    "ours",
    "please",
    "question",
    "recommend",
    "section",
    "shall",
    "should",
    "suppose",
    "table",
    "today",
    "tomorrow",
    "us",
    "we",
    "whether",
    "will",
    "would",
    "ich",
    "mein",
    "unser",
    "unsere",
    "wir",
    "you",
];

/// The places of sentences with a statistic, or that appeal to research, in paragraphs that cite nothing.
pub(super) fn uncited(
    text: &str,
    body: &[Part],
    sentences: &Sentences,
    found: &[InTextCitation],
) -> Vec<Range<usize>> {
    let mut claims = Vec::new();
    for (at, part) in body.iter().enumerate() {
        let own = OWN.contains(&part.section.as_str());
        if part.kind != PartKind::Paragraph || own || cites(text, part, found) {
            continue;
        }
        for sentence in sentences.in_part(at) {
            if claims.len() >= MAX_CLAIMS {
                return claims;
            }
            if is_claim(&text[sentence.clone()]) {
                claims.push(sentence.clone());
            }
        }
    }
    claims
}

/// Whether a part cites something: it has a marker, or links to a source.
fn cites(text: &str, part: &Part, found: &[InTextCitation]) -> bool {
    let first = found.partition_point(|citation| citation.range.start < part.range.start);
    let marked = found.get(first).is_some_and(|citation| citation.range.start < part.range.end);
    let content = &text[part.range.clone()];
    marked
        || content.contains("](http")
        || content.contains("http://")
        || content.contains("https://")
        || content.contains("[@")
}

fn is_claim(sentence: &str) -> bool {
    let sentence = &sentence[..sentence.floor_char_boundary(MAX_SENTENCE)];
    if !sentence.trim_end_matches(['"', '”', ')', '*', '_']).ends_with(['.', '!', '。'])
        || sentence.ends_with("...")
    {
        return false;
    }
    let folded = words::fold(sentence);
    let words: Vec<&str> = folded
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .collect();
    if words.len() < 6 || words.iter().any(|word| NO_CLAIMS.contains(word)) {
        return false;
    }
    let about_text = [
        "this report",
        "this study",
        "this article",
        "this review",
        "this document",
        "this essay",
        "this text",
        "the authors",
    ];
    if about_text.iter().any(|phrase| folded.contains(phrase)) {
        return false;
    }
    has_statistic(&folded) || appeals_to_research(&words)
}

/// A share, a temperature, an amount of money, a large number, or a multiple.
fn has_statistic(folded: &str) -> bool {
    let bytes = folded.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len()
            && (bytes[at].is_ascii_digit()
                || matches!(bytes[at], b'.' | b',')
                    && bytes.get(at + 1).is_some_and(u8::is_ascii_digit))
        {
            at += 1;
        }
        let number = &folded[start..at];
        let after = folded[at..].trim_start_matches([' ', '\u{a0}', '\u{202f}', '-']);
        let before = folded[..start].trim_end();
        let unit = after.starts_with(['%', '°', '℃'])
            || [
                "percent",
                "per cent",
                "prozent",
                "percentage",
                "million",
                "billion",
                "trillion",
                "times ",
                "times,",
                "times.",
                "degrees",
                "fold",
                "per 100",
            ]
            .iter()
            .any(|unit| after.starts_with(unit));
        let money = before.ends_with(['$', '€', '£', '¥']);
        let large = number.contains(',') && number.split(',').skip(1).all(|group| group.len() == 3);
        if unit || money || large {
            return true;
        }
    }
    false
}

/// `Studies show that …`.
fn appeals_to_research(words: &[&str]) -> bool {
    const SOURCES: [&str; 15] = [
        "evidence",
        "experts",
        "investigations",
        "literature",
        "research",
        "researchers",
        "scholars",
        "scientists",
        "studies",
        "study",
        "survey",
        "surveys",
        "statistics",
        "studien",
        "forscher",
    ];
    const VERBS: [&str; 24] = [
        "agree",
        "confirm",
        "confirms",
        "demonstrate",
        "demonstrated",
        "demonstrates",
        "find",
        "finds",
        "found",
        "indicate",
        "indicates",
        "prove",
        "proved",
        "proven",
        "proves",
        "reveal",
        "reveals",
        "show",
        "showed",
        "shown",
        "shows",
        "suggest",
        "suggests",
        "zeigen",
    ];
    words.iter().enumerate().any(|(at, word)| {
        SOURCES.contains(word) && words[at + 1..].iter().take(3).any(|next| VERBS.contains(next))
    })
}
