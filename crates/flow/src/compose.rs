//! Writes a report from an outline and notes. Every sentence cites the sources that support it.

mod arrange;
mod bibliography;
mod claims;
mod corroboration;
mod document;
mod markers;
mod phrases;
mod report;
pub mod tool;
mod written;

use std::collections::BTreeSet;

use notes::intent::language_of;
use notes::stems::Vocabulary;

pub use self::report::{BibliographyEntry, ClaimCounts, Method, Report, Request, SourceUse, Style};

use self::arrange::{Arranged, arrange};
use self::claims::{Claim, Collected, ReportQuestion, asked, collect, mark_disputes};
use self::document::Parts;
use self::phrases::Phrases;

/// Writes the report from the words of its sources.
pub fn compose(request: Request<'_>) -> Report {
    Draft::new(request).finish()
}

/// A report while it is written: its claims, and the place of each of them.
pub(crate) struct Draft<'a> {
    request: Request<'a>,
    asked: Vec<ReportQuestion<'a>>,
    collected: Collected,
    arranged: Arranged,
    phrases: &'static Phrases,
    method: Method,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(request: Request<'a>) -> Self {
        let asked = asked(request.outline);
        let questions: Vec<&str> = asked.iter().map(|question| question.text).collect();
        let texts = request.notes.iter().map(|note| note.text.as_str());
        let language = language_of(&questions.join(" "), texts);
        let vocabulary = Vocabulary::new(language);
        let collected = collect(&asked, request.notes, request.sources, vocabulary);
        let arranged = arrange(&request.outline.title, &asked, &collected.claims, language);
        let (phrases, method) = (phrases::phrases(request.outline), Method::Extractive);
        Self { request, asked, collected, arranged, phrases, method }
    }

    pub(crate) fn finish(mut self) -> Report {
        if self.method == Method::Model {
            mark_disputes(&mut self.collected.claims);
        }
        let Self { request, asked, collected, arranged, phrases, method } = self;
        let Request { outline, notes, sources, style, accessed } = request;
        let claims = &collected.claims;
        let placed: Vec<usize> =
            arranged.lead.iter().chain(arranged.questions.iter().flatten()).copied().collect();
        let order = bibliography::order(style, &cited(&placed, claims), sources);
        let bibliography: Vec<BibliographyEntry> = order
            .iter()
            .enumerate()
            .map(|(at, index)| bibliography::entry(style, at + 1, &sources[*index], accessed))
            .collect();
        let references = bibliography
            .iter()
            .zip(&order)
            .map(|(entry, index)| document::reference(entry, &sources[*index]))
            .collect();
        let parts = Parts {
            outline,
            asked: &asked,
            claims,
            arranged: &arranged,
            markers: &markers::markers(style, sources, &order),
            style,
            phrases,
            method,
        };
        let document = parts.document(references);
        let counts = ClaimCounts {
            total: placed.len() + collected.dropped,
            supported: placed.len(),
            dropped: collected.dropped,
        };
        let warnings = warnings(&collected, placed.is_empty());
        let language = collected.vocabulary.language();
        Report {
            document,
            bibliography,
            claims: counts,
            sources: corroboration::uses(sources, claims, &placed, notes, language),
            cited: order,
            method,
            warnings,
        }
    }
}

/// The sources in the order in which the text cites them.
fn cited(placed: &[usize], claims: &[Claim]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let all = placed.iter().flat_map(|index| &claims[*index].sources).copied();
    all.filter(|source| seen.insert(*source)).collect()
}

fn warnings(collected: &Collected, empty: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if empty {
        warnings.push(
            "No note answers a question of the outline: the report has no claims.".to_owned(),
        );
    }
    if collected.without_source > 0 {
        let count = collected.without_source;
        warnings.push(format!("{count} notes name a source that is not listed and were left out."));
    }
    if collected.unread > 0 {
        let (count, most) = (collected.unread, claims::MAX_NOTES);
        warnings.push(format!("{count} notes beyond the first {most} were left out."));
    }
    warnings
}

#[cfg(test)]
mod tests;
