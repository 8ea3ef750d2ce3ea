//! Whether the sources of citations say what the citing sentences say.

use std::collections::BTreeMap;
use std::ops::Range;

use language::passages::passages;
use language::prose;
use language::similarity;
use language::words;

use super::intext::InTextCitation;
use super::layout::Entry;
use super::model::{Audit, SourceText, Support};
use super::parse::{Reference, clean};
use super::sentences::Sentences;

/// Below this score a claim is not supported.
const LEAST: f64 = 0.5;
/// Bytes of sources that one audit compares with claims; what is left is not checked.
const BUDGET: usize = 64 << 20;
/// How many passages of a source are compared with a claim.
const PASSAGES: usize = 3;
/// The longest claim, and the longest quote.
const MAX_CLAIM: usize = 2_000;

/// Sources by the reference that they belong to.
pub(super) struct Matched<'a> {
    sources: BTreeMap<usize, &'a SourceText>,
}

impl<'a> Matched<'a> {
    pub(super) fn of(
        entries: &[Entry],
        references: &[Reference],
        sources: &'a [SourceText],
    ) -> Self {
        let mut keys: BTreeMap<String, &SourceText> = BTreeMap::new();
        for source in sources {
            for key in [Some(&source.id), source.url.as_ref()].into_iter().flatten() {
                keys.entry(plain(key)).or_insert(source);
            }
        }
        let mut matched = BTreeMap::new();
        for (at, (entry, reference)) in entries.iter().zip(references).enumerate() {
            let found = names_of(at, entry, reference)
                .into_iter()
                .find_map(|name| keys.get(&name).copied());
            if let Some(source) = found {
                matched.insert(at, source);
            }
        }
        Self { sources: matched }
    }
}

/// What an id may be to name a reference, the surest first.
fn names_of(at: usize, entry: &Entry, reference: &Reference) -> Vec<String> {
    let parsed = &reference.parsed;
    let number = entry.label.clone().unwrap_or_else(|| (at + 1).to_string());
    let key = reference
        .names
        .first()
        .map(|name| format!("{}{}", name.family, parsed.year.as_deref().unwrap_or_default()));
    let mut names: Vec<String> =
        [Some(number), parsed.doi.clone(), parsed.url.clone(), parsed.title.clone(), key]
            .iter()
            .flatten()
            .map(|name| plain(name))
            .collect();
    names.retain(|name| !name.is_empty());
    names
}

/// What ids are compared by: `[1]`, `^1` and `1` are the same, and so are two spellings of an address.
fn plain(id: &str) -> String {
    let id = words::fold(id.trim());
    let id = id.split_once("://").map_or(id.as_str(), |(_, rest)| rest);
    let id = id.strip_prefix("doi.org/").or_else(|| id.strip_prefix("www.")).unwrap_or(id);
    id.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// A sentence that none of its sources supports.
pub(super) struct Unsupported {
    pub(super) start: usize,
    pub(super) reference: usize,
    pub(super) message: String,
}

/// Adds support to the citations whose sources are known, and returns the sentences that have none.
pub(super) fn check(
    text: &str,
    sentences: &Sentences,
    found: &[InTextCitation],
    matched: &Matched<'_>,
    audit: &mut Audit,
) -> Vec<Unsupported> {
    let mut spent = 0_usize;
    let mut skipped = 0_usize;
    // The best score of each sentence, and its last citation.
    let mut best: BTreeMap<usize, (f64, Unsupported)> = BTreeMap::new();
    let listed = found.iter().filter(|citation| citation.reference.is_some() || citation.certain);
    for (citation, shown) in listed.zip(&mut audit.citations) {
        let Some((reference, source)) =
            citation.reference.and_then(|at| Some((at, *matched.sources.get(&at)?)))
        else {
            continue;
        };
        let Some(sentence) = sentences.around(text, &citation.range) else { continue };
        spent = spent.saturating_add(source.text.len());
        if spent > BUDGET {
            skipped += 1;
            continue;
        }
        let claim = claim(text, &sentence, found);
        if !claim.contains(char::is_alphabetic) {
            continue;
        }
        let support = support(&claim, source);
        let score = support.score;
        shown.support = Some(support);
        let entry = best.entry(sentence.start).or_insert_with(|| {
            let message =
                format!("Source {} does not say: {}", source.id, super::shorten(&claim, 200));
            (score, Unsupported { start: citation.range.start, reference, message })
        });
        entry.0 = entry.0.max(score);
    }
    if skipped > 0 {
        audit.warnings.push(format!(
            "The support of {skipped} citations was not checked: the sources are too long."
        ));
    }
    best.into_values()
        .filter(|(score, _)| *score < LEAST)
        .map(|(_, unsupported)| unsupported)
        .collect()
}

/// The sentence without its markers.
fn claim(text: &str, sentence: &Range<usize>, found: &[InTextCitation]) -> String {
    let mut claim = String::new();
    let mut from = sentence.start;
    let first = found.partition_point(|citation| citation.range.start < sentence.start);
    for citation in found[first..].iter().take_while(|citation| citation.range.start < sentence.end)
    {
        if citation.range.start < from {
            continue;
        }
        claim.push_str(&text[from..citation.range.start]);
        // The names of `Doe (2020) shows …` are no part of the claim either.
        claim.push(' ');
        from = citation.range.end.min(sentence.end);
    }
    claim.push_str(&text[from.min(sentence.end)..sentence.end]);
    let claim = clean(&claim[..claim.floor_char_boundary(MAX_CLAIM)]).text;
    claim.replace(" .", ".").replace(" ,", ",")
}

/// The best passage of a source for a claim.
pub(super) fn support(claim: &str, source: &SourceText) -> Support {
    let mut best = Support { score: 0.0, source: source.id.clone(), quote: String::new() };
    for passage in passages(&source.text, claim).into_iter().take(PASSAGES) {
        let score = similarity::support(claim, passage.text);
        if score > best.score {
            best.score = score;
            best.quote = quote(claim, passage.text);
        }
    }
    best.score = (best.score * 1_000.0).round() / 1_000.0;
    best
}

/// The sentence of a passage that comes closest, verbatim.
fn quote(claim: &str, passage: &str) -> String {
    let mut best = (0.0, "");
    for sentence in prose::sentences(passage) {
        let score = similarity::support(claim, sentence.text);
        if score > best.0 {
            best = (score, sentence.text);
        }
    }
    let quote = if best.1.is_empty() { passage.trim() } else { best.1 };
    quote[..quote.floor_char_boundary(MAX_CLAIM)].to_owned()
}
