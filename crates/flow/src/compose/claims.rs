//! From notes to claims: unsupported notes are dropped, and notes that say the same become one claim with several sources.

use std::collections::{BTreeSet, HashMap, HashSet};

use language::similarity::support;

use crate::outline::Outline;
use crate::perspectives::question_id;
use crate::source::Source;
use notes::Note;
use notes::facts::{Facts, conflict};
use notes::stems::{Stems, Vocabulary};

/// Notes of one report that are read.
pub(super) const MAX_NOTES: usize = 1_000;

/// A claim with less support is dropped.
pub(super) const LEAST_SUPPORT: f64 = 0.5;

/// A question of the outline and its section.
#[derive(Debug)]
pub(super) struct ReportQuestion<'a> {
    pub(super) section: usize,
    pub(super) id: &'a str,
    pub(super) text: &'a str,
}

/// A sentence of the report.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) text: String,
    /// Indexes of its sources, the first is the one it was taken from.
    pub(super) sources: Vec<usize>,
    /// The words of its sources that say so.
    pub(super) quotes: Vec<String>,
    /// Indexes of the questions that it was noted for.
    pub(super) questions: BTreeSet<usize>,
    /// Those of them that it answers: of others it only says something about the topic.
    pub(super) answers: BTreeSet<usize>,
    pub(super) stems: Stems,
    pub(super) facts: Facts,
    /// The claims that contradict it.
    pub(super) disputes: BTreeSet<usize>,
    /// Whether it says something about the topic, but answers none of its questions: it may only be in the lead.
    pub(super) general: bool,
}

/// The source of a note and the question that it answers, as indexes.
struct ClaimOrigin {
    source: usize,
    question: usize,
}

/// The claims of a report and what was left out.
#[derive(Debug)]
pub(super) struct Collected {
    pub(super) claims: Vec<Claim>,
    /// Different claims without enough support.
    pub(super) dropped: usize,
    /// Notes whose source is not listed.
    pub(super) without_source: usize,
    /// Notes beyond [`MAX_NOTES`].
    pub(super) unread: usize,
    /// The words of the claims, which their stems name by number.
    pub(super) vocabulary: Vocabulary,
}

/// The questions of an outline in order.
pub(super) fn asked(outline: &Outline) -> Vec<ReportQuestion<'_>> {
    let sections = outline.sections.iter().enumerate();
    sections
        .flat_map(|(section, part)| {
            part.questions.iter().map(move |question| ReportQuestion {
                section,
                id: &question.id,
                text: &question.text,
            })
        })
        .collect()
}

/// The claims that the notes support.
pub(super) fn collect(
    asked: &[ReportQuestion<'_>],
    notes: &[Note],
    sources: &[Source],
    mut vocabulary: Vocabulary,
) -> Collected {
    let by_name = names(sources);
    let mut claims = Vec::new();
    let mut without_source = 0;
    let questions: Vec<Stems> =
        asked.iter().map(|question| vocabulary.read(question.text)).collect();
    let mut dropped: HashSet<&str> = HashSet::new();
    for note in notes.iter().take(MAX_NOTES) {
        let stems = vocabulary.read(&note.text);
        let Some(question) = question_of(note, asked, &questions, &stems) else { continue };
        let Some(source) = note.source.as_deref().and_then(|name| by_name.get(name)) else {
            without_source += 1;
            continue;
        };
        let supported = support(&note.text, &note.quote).min(note.support) >= LEAST_SUPPORT;
        if !supported {
            dropped.insert(&note.text);
            continue;
        }
        let facts = Facts::read(&note.text, &mut vocabulary);
        add(&mut claims, note, ClaimOrigin { source: *source, question }, stems, facts);
    }
    mark_disputes(&mut claims);
    let unread = notes.len().saturating_sub(MAX_NOTES);
    Collected { claims, dropped: dropped.len(), without_source, unread, vocabulary }
}

/// Each source by its id, URL and file.
fn names(sources: &[Source]) -> HashMap<&str, usize> {
    let mut names = HashMap::new();
    for (index, source) in sources.iter().enumerate() {
        let ids = [Some(&source.id), source.url.as_ref(), source.file_id.as_ref()];
        for id in ids.into_iter().flatten() {
            names.entry(id.as_str()).or_insert(index);
        }
    }
    names
}

/// The question that a note answers; one that was removed from the outline has none.
fn question_of(
    note: &Note,
    asked: &[ReportQuestion<'_>],
    questions: &[Stems],
    stems: &Stems,
) -> Option<usize> {
    if let Some(name) = &note.question {
        // A person may have changed the text of a question; its id remains.
        let id = question_id(name);
        return asked
            .iter()
            .position(|question| [question.id, question.text].contains(&name.as_str()))
            .or_else(|| asked.iter().position(|question| question.id == id));
    }
    let best = (0..asked.len()).max_by(|a, b| {
        let (one, other) = (questions[*a].likeness(stems), questions[*b].likeness(stems));
        one.total_cmp(&other).then(b.cmp(a))
    });
    best.filter(|best| questions[*best].shared(stems) > 0)
}

/// Adds a claim, or its source and question to the claim that says the same.
fn add(claims: &mut Vec<Claim>, note: &Note, place: ClaimOrigin, stems: Stems, facts: Facts) {
    let ClaimOrigin { source, question } = place;
    let answers = (!note.general).then_some(question);
    let same = claims.iter_mut().find(|claim| {
        claim.text == note.text || (claim.stems.repeats(&stems) && claim.facts.fit(&facts))
    });
    if let Some(claim) = same {
        claim.general &= note.general;
        claim.questions.insert(question);
        claim.answers.extend(answers);
        if !claim.sources.contains(&source) {
            claim.sources.push(source);
            claim.quotes.push(note.quote.clone());
        }
        return;
    }
    claims.push(Claim {
        text: finish(&note.text),
        sources: vec![source],
        quotes: vec![note.quote.clone()],
        questions: BTreeSet::from([question]),
        answers: answers.into_iter().collect(),
        stems,
        facts,
        disputes: BTreeSet::new(),
        general: note.general,
    });
}

/// One line that ends with a mark.
pub(super) fn finish(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let ends = line.ends_with(['.', '!', '。', '！', '…']);
    if ends || line.ends_with(['"', '”', ')']) { line } else { format!("{line}.") }
}

pub(super) fn mark_disputes(claims: &mut [Claim]) {
    for one in 0..claims.len() {
        for other in one + 1..claims.len() {
            let (a, b) = (&claims[one], &claims[other]);
            let apart = !a.sources.iter().any(|source| b.sources.contains(source));
            let reported = a.facts.is_attributed() || b.facts.is_attributed();
            if (apart || reported) && conflict(&a.facts, &b.facts).is_some() {
                claims[one].disputes.insert(other);
                claims[other].disputes.insert(one);
            }
        }
    }
}
