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

use std::collections::BTreeSet;

pub use self::report::{BibliographyEntry, ClaimCounts, Report, Request, SourceUse, Style};

use self::arrange::arrange;
use self::claims::{Claim, asked, collect};
use self::document::Parts;

/// Writes the report.
pub fn compose(request: Request<'_>) -> Report {
    let Request { outline, notes, sources, style, accessed } = request;
    let asked = asked(outline);
    let collected = collect(&asked, notes, sources);
    let claims = &collected.claims;
    let arranged = arrange(&outline.title, &asked, claims);
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
        phrases: phrases::phrases(outline),
    };
    let document = parts.document(references);
    let counts = ClaimCounts {
        total: placed.len() + collected.dropped,
        supported: placed.len(),
        dropped: collected.dropped,
    };
    let warnings = warnings(&collected, placed.is_empty());
    Report {
        document,
        bibliography,
        claims: counts,
        sources: corroboration::uses(sources, claims, &placed, notes),
        cited: order,
        warnings,
    }
}

/// The sources in the order in which the text cites them.
fn cited(placed: &[usize], claims: &[Claim]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let all = placed.iter().flat_map(|index| &claims[*index].sources).copied();
    all.filter(|source| seen.insert(*source)).collect()
}

fn warnings(collected: &claims::Collected, empty: bool) -> Vec<String> {
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
