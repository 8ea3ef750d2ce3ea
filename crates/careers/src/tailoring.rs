//! Tailors a résumé to a job: what matches moves up, what is least relevant may be left out. Every line is the source's own,
//! so nothing is invented; rewordings of the caller are refused if they state something new.

mod checks;
mod edits;
mod facts;
mod outline;
mod plain_words;
mod relevance;
mod shown;
mod skills;
mod units;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use edits::{Edit, EditError};
pub use facts::{FactKind, Facts, NewFact};

use crate::jobs::Job;
use crate::resumes::SectionKind;
use crate::resumes::names::is_degree;
use edits::Edited;
use outline::{OutlineKind, OutlinePart, OutlineSection};
use relevance::Target;

/// What a résumé is tailored to.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a> {
    pub role: &'a str,
    pub job: Option<&'a Job>,
    pub edits: &'a [Edit],
}

/// A résumé whose lines are in their new order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tailored {
    pub name: Option<String>,
    /// The role, unless it is more than a job title and states what the source does not.
    pub headline: Option<String>,
    pub contact: Vec<String>,
    pub sections: Vec<TailoredSection>,
    /// What was moved, selected and edited.
    pub changes: Vec<Change>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TailoredSection {
    pub heading: Option<String>,
    pub parts: Vec<TailoredPart>,
}

/// A line of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TailoredPart {
    pub kind: LineKind,
    pub text: String,
    /// As written; empty unless the line is dated.
    pub dates: String,
    /// Its place in the source, in characters.
    pub start: usize,
    pub end: usize,
    /// Lines with low numbers are left out first; those without one are always kept.
    pub drop_order: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    Line,
    Bullet,
    /// A position or degree.
    Dated,
    /// A name above a dated line.
    Name,
}

/// A difference from the source, in characters of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    pub kind: ChangeKind,
    pub before: String,
    /// Null for what was left out.
    pub after: Option<String>,
    pub start: usize,
    pub end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Matches the job and moved up.
    Moved,
    /// Matches the job and stays where it was.
    Selected,
    /// Left out, because the pages are full.
    Dropped,
    /// Reworded by the caller.
    Edited,
}

/// Tailors a résumé.
pub fn tailor(source: &str, goal: Goal<'_>) -> Result<Tailored, EditError> {
    let facts = Facts::of(source);
    let edited = edits::apply(source, goal.edits)?;
    let target = Target::new(goal.role, goal.job);
    let outline = outline::read(&edited.text);
    checks::check(source, &facts, goal.edits, &edited, &outline)?;
    let mut tailored = Tailored {
        name: outline.name,
        headline: headline(goal.role, &facts),
        contact: outline.contact,
        ..Tailored::default()
    };
    let mut candidates = Vec::new();
    for section in outline.sections {
        let index = tailored.sections.len();
        tailored.sections.push(arrange(
            section,
            index,
            &target,
            &edited,
            &mut tailored.changes,
            &mut candidates,
        ));
    }
    candidates.sort_by(|left: &Candidate, right: &Candidate| {
        left.key().partial_cmp(&right.key()).unwrap_or(std::cmp::Ordering::Equal)
    });
    for (order, candidate) in candidates.iter().enumerate() {
        tailored.sections[candidate.section].parts[candidate.part].drop_order = Some(order);
    }
    let signs: Vec<char> = source.chars().collect();
    tailored.changes.extend(goal.edits.iter().map(|edit| Change {
        kind: ChangeKind::Edited,
        before: signs[edit.start..edit.end].iter().collect(),
        after: Some(shown::without_hidden(&edit.text)),
        start: edit.start,
        end: edit.end,
    }));
    Ok(tailored)
}

impl Tailored {
    /// Leaves out the lines whose order is lower, and lists them.
    pub fn drop_below(&mut self, order: usize) {
        for section in &mut self.sections {
            let parts = std::mem::take(&mut section.parts);
            for part in parts {
                if part.drop_order.is_some_and(|own| own < order) {
                    // It is not in the result, so it was neither moved nor selected.
                    self.changes.retain(|change| {
                        change.kind == ChangeKind::Edited
                            || (change.start, change.end) != (part.start, part.end)
                    });
                    self.changes.push(Change {
                        kind: ChangeKind::Dropped,
                        before: part.text,
                        after: None,
                        start: part.start,
                        end: part.end,
                    });
                } else {
                    section.parts.push(part);
                }
            }
        }
        self.sections.retain(|section| section.heading.is_none() || !section.parts.is_empty());
        self.changes.sort_by_key(|change| (change.start, change.end));
    }

    /// The job's requirements that the result has, and those that it lacks.
    pub fn matched(&self, goal: Goal<'_>) -> (Vec<String>, Vec<String>) {
        let lines = self.sections.iter().flat_map(|section| &section.parts);
        Target::new(goal.role, goal.job).divide(lines.map(|part| part.text.as_str()))
    }
}

/// The role as a headline: a plain job title, or words of one line of the source. Anything else may name an employer, a
/// degree or a prize that the source lacks.
fn headline(role: &str, facts: &Facts) -> Option<String> {
    let role = shown::without_hidden(role).split_whitespace().collect::<Vec<_>>().join(" ");
    let new = facts.new_in(&role);
    let of_source = new.is_empty() && facts.is_in_one_line(&role);
    let fits = of_source || is_job_title(&role) && !states(&role, &new, facts);
    (fits && role.contains(char::is_alphabetic)).then_some(role)
}

/// Whether a role has a number, or a degree, licence or prize that the source lacks.
fn states(role: &str, new: &[NewFact], facts: &Facts) -> bool {
    let credential = |word: &str| plain_words::is_credential(word) && !facts.has_all(word);
    new.iter().any(|fact| fact.kind == FactKind::Number)
        || role.split([' ', '-', '/']).any(credential)
        || is_degree(role) && !facts.has_all(role)
}

/// Whether a role has alphabetic characters only, but for the signs within names such as `C++`, and no word that links an employer.
fn is_job_title(role: &str) -> bool {
    let inside = |word: &str| {
        let word = word.trim_start_matches('.').trim_end_matches(['+', '#', '.']);
        word == "&"
            || word.starts_with(char::is_alphabetic)
                && !word.contains("..")
                && word.chars().all(|sign| {
                    sign.is_alphabetic()
                        || matches!(sign, '-' | '/' | '&' | '\'' | '’' | '.' | '+' | '#')
                })
    };
    role.split(' ').all(inside) && !role.split([' ', '-', '/']).any(plain_words::is_link)
}

/// A line that may be left out.
struct Candidate {
    section: usize,
    part: usize,
    /// Lower classes go first.
    class: u8,
    relevance: f64,
}

impl Candidate {
    /// The least relevant first; of equals, the last of the document, which is the oldest.
    fn key(&self) -> (u8, f64, std::cmp::Reverse<(usize, usize)>) {
        (self.class, self.relevance, std::cmp::Reverse((self.section, self.part)))
    }
}

/// Puts the lines of a section in their new order.
fn arrange(
    section: OutlineSection,
    index: usize,
    target: &Target,
    edited: &Edited,
    changes: &mut Vec<Change>,
    candidates: &mut Vec<Candidate>,
) -> TailoredSection {
    let kind = section.kind;
    let mut parts: Vec<TailoredPart> = Vec::with_capacity(section.parts.len());
    let mut rest = &section.parts[..];
    while let Some(first) = rest.first() {
        let bullets = rest.iter().take_while(|part| part.kind == OutlineKind::Bullet).count();
        let (run, after) = rest.split_at(bullets.max(1));
        rest = after;
        let mut order: Vec<usize> = (0..run.len()).collect();
        let relevance: Vec<f64> = run.iter().map(|part| target.relevance(&part.text)).collect();
        order.sort_by(|left, right| relevance[*right].total_cmp(&relevance[*left]));
        for (place, at) in order.iter().enumerate() {
            let mut part = tailored_part(&run[*at], edited);
            if kind == Some(SectionKind::Skills) && first.kind == OutlineKind::Line {
                skills::sort(&mut part, target, changes);
            } else if first.kind == OutlineKind::Bullet && target.matches(&part.text) {
                let kind = if place < *at { ChangeKind::Moved } else { ChangeKind::Selected };
                changes.push(Change { kind, ..kept(&part) });
            }
            if let Some(class) = drop_class(kind, &run[*at], place == 0) {
                candidates.push(Candidate {
                    section: index,
                    part: parts.len(),
                    class,
                    relevance: relevance[*at],
                });
            }
            parts.push(part);
        }
    }
    TailoredSection { heading: section.heading, parts }
}

fn tailored_part(part: &OutlinePart, edited: &Edited) -> TailoredPart {
    let (start, end) = edited.source_span(part.start, part.end);
    let kind = match part.kind {
        OutlineKind::Line => LineKind::Line,
        OutlineKind::Bullet => LineKind::Bullet,
        OutlineKind::Dated => LineKind::Dated,
        OutlineKind::Name => LineKind::Name,
    };
    TailoredPart {
        kind,
        text: part.text.clone(),
        dates: part.dates.clone(),
        start,
        end,
        drop_order: None,
    }
}

fn kept(part: &TailoredPart) -> Change {
    Change {
        kind: ChangeKind::Selected,
        before: part.text.clone(),
        after: Some(part.text.clone()),
        start: part.start,
        end: part.end,
    }
}

/// How early a line may be left out; None if never: names, positions, degrees and lists of skills stay.
fn drop_class(section: Option<SectionKind>, part: &OutlinePart, first: bool) -> Option<u8> {
    let prose = part.kind == OutlineKind::Line
        && part.text.ends_with('.')
        && part.text.split_whitespace().count() > 5;
    let text = part.kind == OutlineKind::Bullet || prose;
    match section {
        Some(SectionKind::Education | SectionKind::Skills | SectionKind::Contact) => None,
        Some(SectionKind::Other)
            if matches!(part.kind, OutlineKind::Bullet | OutlineKind::Line) =>
        {
            Some(0)
        }
        Some(SectionKind::Summary) if text => Some(3),
        Some(SectionKind::Certifications | SectionKind::Languages) if text => Some(2),
        // One bullet of each position stays as long as possible.
        _ if text => Some(if first { 2 } else { 1 }),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
