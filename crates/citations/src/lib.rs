//! The audit of citations: references, the places that cite them, and whether sources say what is claimed.

mod claims;
mod duplicates;
mod intext;
mod layout;
mod model;
mod offsets;
mod parse;
mod sentences;
mod support;

use std::collections::BTreeSet;

pub use model::{
    Audit, AuditedReference, Citation, Finding, FindingKind, Parsed, Severity, SourceText, Status,
    Style, Support,
};

use self::intext::{Citations, InTextCitation, Index};
use self::layout::{Entry, Layout, layout};
use self::offsets::Offsets;
use self::parse::Reference;
use self::sentences::Sentences;
use self::support::Matched;

/// Longer texts are cut.
const MAX_TEXT: usize = 4 << 20;
/// How much of a reference is shown.
const MAX_RAW: usize = 2_000;

/// Audits a text in Markdown. Pure and bounded: the same input has the same result, and any text is accepted.
pub fn audit(markdown: &str, sources: &[SourceText], style: Style) -> Audit {
    let text = &markdown[..markdown.floor_char_boundary(MAX_TEXT)];
    let Layout { entries, omitted, body } = layout(text);
    let (entries, references, notes) = references_of(entries);
    let index = Index::new(
        entries
            .iter()
            .zip(&references)
            .map(|(entry, reference)| intext::Entry { label: entry.label.as_deref(), reference })
            .collect(),
        notes,
    );
    let Citations { style, found, named, truncated } = intext::find(text, &body, &index, style);
    let duplicates = duplicates::find(&references);
    let mut auditor = Auditor {
        offsets: Offsets::new(text),
        entries: &entries,
        references: &references,
        duplicates: &duplicates,
        audit: Audit { style, ..Audit::default() },
    };
    auditor.references(&used(&found, &named, &duplicates));
    auditor.citations(text, &found, &index);
    let sentences = Sentences::of(text, &body);
    for unsupported in support::check(
        text,
        &sentences,
        &found,
        &Matched::of(&entries, &references, sources),
        &mut auditor.audit,
    ) {
        auditor.finding(
            FindingKind::UnsupportedClaim,
            unsupported.message,
            Some(unsupported.start),
            Some(unsupported.reference),
        );
    }
    for claim in claims::uncited(text, &body, &sentences, &found) {
        let message =
            format!("No source is cited for: {}", shorten(text[claim.clone()].trim(), 200));
        auditor.finding(FindingKind::MissingCitation, message, Some(claim.start), None);
    }
    if omitted > 0 {
        let limit = layout::MAX_REFERENCES;
        auditor
            .audit
            .warnings
            .push(format!("Only the first {limit} references were read; {omitted} were not."));
    }
    if truncated {
        auditor.audit.warnings.push("The text has more citations than are listed.".to_owned());
    }
    if text.len() < markdown.len() {
        auditor.audit.warnings.push(format!("Only the first {MAX_TEXT} bytes were read."));
    }
    finish(auditor.audit)
}

/// Parses entries. Footnotes that are notes and no references are returned by their labels.
fn references_of(entries: Vec<Entry>) -> (Vec<Entry>, Vec<Reference>, BTreeSet<String>) {
    let mut kept = Vec::with_capacity(entries.len());
    let mut references = Vec::with_capacity(entries.len());
    let mut notes = BTreeSet::new();
    for entry in entries {
        let reference = parse::parse(&entry.text);
        if entry.footnote && parse::is_note(&entry.text, &reference) {
            notes.extend(entry.label);
            continue;
        }
        references.push(reference);
        kept.push(entry);
    }
    (kept, references, notes)
}

/// The references that the text cites, by their position. Who cites one of two duplicates uses both.
fn used(
    found: &[InTextCitation],
    named: &BTreeSet<usize>,
    duplicates: &[Option<usize>],
) -> BTreeSet<usize> {
    let mut used: BTreeSet<usize> =
        found.iter().filter_map(|citation| citation.reference).collect();
    used.extend(named);
    for (at, first) in duplicates.iter().enumerate() {
        if let Some(first) = first
            && used.contains(&at)
        {
            used.insert(*first);
        }
    }
    used
}

struct Auditor<'a> {
    offsets: Offsets<'a>,
    entries: &'a [Entry],
    references: &'a [Reference],
    duplicates: &'a [Option<usize>],
    audit: Audit,
}

impl Auditor<'_> {
    fn references(&mut self, used: &BTreeSet<usize>) {
        for (at, (entry, reference)) in self.entries.iter().zip(self.references).enumerate() {
            let malformed = !reference.problems.is_empty();
            let unused = !used.contains(&at) && self.duplicates[at].is_none();
            let status = match self.duplicates[at] {
                _ if malformed => Status::Malformed,
                Some(_) => Status::Duplicate,
                None if unused => Status::Unused,
                None => Status::Valid,
            };
            let shown = shorten(&entry.text, 80);
            if malformed {
                let message = format!("The reference {}: {shown}", reference.problems.join(", "));
                self.finding(FindingKind::MalformedReference, message, Some(entry.start), Some(at));
            }
            if let Some(first) = self.duplicates[at] {
                let message = format!("The same work as reference {}: {shown}", first + 1);
                self.finding(FindingKind::DuplicateReference, message, Some(entry.start), Some(at));
            }
            if unused {
                let message = format!("The text does not cite the reference: {shown}");
                self.finding(FindingKind::UnusedReference, message, Some(entry.start), Some(at));
            }
            self.audit.references.push(AuditedReference {
                index: at + 1,
                raw: shorten(&entry.text, MAX_RAW),
                parsed: reference.parsed.clone(),
                status,
            });
        }
    }

    fn citations(&mut self, text: &str, found: &[InTextCitation], index: &Index<'_>) {
        for citation in found {
            let range = &citation.range;
            if citation.reference.is_none() {
                if !citation.certain {
                    continue;
                }
                let close = index.suggestion(&citation.shown).map_or_else(String::new, |at| {
                    format!("; reference {} has the same name", at + 1)
                });
                let message = format!("No reference fits {}{close}", citation.shown);
                self.finding(FindingKind::MissingReference, message, Some(range.start), None);
            }
            let (offset, end) = (self.offsets.of(range.start), self.offsets.of(range.end));
            self.audit.citations.push(Citation {
                marker: text[range.clone()].to_owned(),
                offset,
                length: end - offset,
                reference: citation.reference.map(|at| at + 1),
                support: None,
            });
        }
    }

    fn finding(
        &mut self,
        kind: FindingKind,
        message: String,
        start: Option<usize>,
        reference: Option<usize>,
    ) {
        let offset = start.map(|start| self.offsets.of(start));
        let reference = reference.map(|at| at + 1);
        self.audit.findings.push(Finding {
            kind,
            severity: kind.severity(),
            message,
            offset,
            reference,
        });
    }
}

/// Orders findings by place and says whether any is an error.
pub fn finish(mut audit: Audit) -> Audit {
    audit.findings.sort_by(|a, b| {
        let key = |finding: &Finding| (finding.offset, finding.kind, finding.reference);
        key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
    });
    audit.findings.dedup();
    audit.ok = audit.findings.iter().all(|finding| finding.severity == Severity::Warning);
    audit
}

/// The parsed references of a text, for exports.
pub fn references(markdown: &str) -> Vec<(Option<String>, String, Parsed)> {
    let text = &markdown[..markdown.floor_char_boundary(MAX_TEXT)];
    let (entries, references, _) = references_of(layout(text).entries);
    entries
        .into_iter()
        .zip(references)
        .map(|(entry, reference)| (entry.label, entry.text, reference.parsed))
        .collect()
}

/// The parts of one reference.
pub fn parse_reference(text: &str) -> Parsed {
    parse::parse(text).parsed
}

/// The start of a text, cut between characters.
fn shorten(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most)])
}

#[cfg(test)]
mod tests;
