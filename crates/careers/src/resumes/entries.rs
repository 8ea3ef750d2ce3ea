//! Positions and degrees: a line with dates, and the lines around it.

use super::dates::{self, Period};
use super::fields;
use super::finder::{Entries, Entry, EntryKind, is_short_name};
use super::lines::Line;
use super::names::{self, Named, is_degree, is_institution};
use super::profile::{Education, Position};
use super::roles::names_role;

/// With more dated degrees, those without dates are not looked for.
const MAX_DATED: usize = 100;

/// The positions of a résumé.
pub(super) fn positions(lines: &[Line]) -> Vec<Position> {
    let entries = Entries::new(lines, EntryKind::Position);
    let own: Vec<&Line> = lines.iter().filter(|line| entries.owns(line) && !line.heading).collect();
    let labelled = fields::entries(&own);
    if !labelled.is_empty() {
        let position = |entry: fields::LabelledEntry| {
            let (start, end) = written(&entry.period?);
            Some(Position {
                title: entry.main,
                company: entry.organisation,
                start,
                end,
                bullets: entry.bullets,
            })
        };
        return labelled.into_iter().filter_map(position).collect();
    }
    let found = entries.read();
    let named = name_all(&found, names::position_names);
    let named = found.into_iter().zip(named).filter(|(entry, _)| !entry.head);
    named
        .map(|(entry, named)| {
            let (start, end) = written(&entry.period);
            Position {
                title: named.main,
                company: named.organisation,
                start,
                end,
                bullets: entry.bullets,
            }
        })
        .collect()
}

/// The degrees of a résumé.
pub(super) fn education(lines: &[Line]) -> Vec<Education> {
    let entries = Entries::new(lines, EntryKind::Study);
    let own: Vec<&Line> = lines.iter().filter(|line| entries.owns(line) && !line.heading).collect();
    let labelled = if entries.headed { fields::entries(&own) } else { Vec::new() };
    let mut studies: Vec<Education> = if labelled.is_empty() {
        let found = entries.read();
        let named = name_all(&found, |names, _| names::study_names(names));
        let study = |(entry, named): (Entry, Named)| Education {
            degree: named.main,
            institution: named.organisation,
            end: Some(entry.period.to.text()),
        };
        found.into_iter().zip(named).map(study).collect()
    } else {
        let study = |entry: fields::LabelledEntry| Education {
            degree: entry.main,
            institution: entry.organisation,
            end: entry.period.map(|period| period.to.text()),
        };
        labelled.into_iter().map(study).collect()
    };
    if entries.headed && studies.len() < MAX_DATED {
        let undated = undated(&own, &studies);
        studies.extend(undated);
    }
    studies.retain(|entry| entry.degree.is_some() || entry.institution.is_some());
    studies
}

/// Degrees without dates: a line, with the institution in it or in the line next to it.
fn undated(lines: &[&Line], dated: &[Education]) -> Vec<Education> {
    let taken = |line: &Line| {
        let degrees = dated.iter().filter_map(|entry| entry.degree.as_deref());
        degrees.into_iter().any(|degree| {
            line.text.contains(degree)
                || degree.contains(&line.text)
                || degree
                    .split_whitespace()
                    .next()
                    .is_some_and(|first| line.text.starts_with(first))
        })
    };
    let is_free =
        |line: &Line| dates::period(&line.text).or_else(|| dates::single(&line.text)).is_none();
    let mut found: Vec<Education> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let prose = line.text.ends_with('.') && line.text.split_whitespace().count() > 6;
        let fits =
            is_degree(&line.text) && is_free(line) && !taken(line) && !prose && is_short_name(line);
        let whole = is_institution(&line.text);
        if !fits || line.bullet && !whole || !whole && !dated.is_empty() {
            continue;
        }
        let adjacent = |line: Option<&&Line>| {
            line.filter(|line| {
                is_institution(&line.text) && !is_degree(&line.text) && is_free(line)
            })
            .map(|line| line.text.clone())
        };
        let mut names = vec![line.text.clone()];
        if !whole {
            let before = at.checked_sub(1).and_then(|at| adjacent(lines.get(at)));
            names.extend(before.or_else(|| adjacent(lines.get(at + 1))));
        }
        let Named { main, organisation, .. } = names::study_names(&names);
        // "Massachusetts Institute of Technology, Cambridge, MA" above its dated degree: "MA" is no degree.
        let dated_there =
            organisation.is_some() && dated.iter().any(|entry| entry.institution == organisation);
        if main.is_none() && dated_there {
            continue;
        }
        found.push(Education { degree: main, institution: organisation, end: None });
    }
    found
}

/// Start and end of a position; a single date is both.
fn written(period: &Period) -> (Option<String>, Option<String>) {
    (Some(period.from.unwrap_or(period.to).text()), Some(period.to.text()))
}

/// Names entries: first those whose words decide, then the others in the same order. A position without a company has that of
/// the one above if a line of its own names it.
fn name_all(entries: &[Entry], name: impl Fn(&[String], Option<bool>) -> Named) -> Vec<Named> {
    let decided: Vec<Named> = entries.iter().map(|entry| name(&entry.names, None)).collect();
    let votes = decided.iter().filter_map(|named| named.title_first);
    let balance = votes.fold(0_i32, |sum, first| if first { sum + 1 } else { sum - 1 });
    let title_first = (balance != 0).then_some(balance > 0);
    let mut above: Option<String> = None;
    let mut all = Vec::with_capacity(entries.len());
    for entry in entries {
        let mut named = name(&entry.names, title_first);
        if entry.head {
            above = named.organisation.clone().or_else(|| named.main.clone());
        } else if named.organisation.is_some() {
            above = named.organisation.clone().filter(|_| entry.above);
        } else if let (Some(company), true) =
            (&above, named.main.as_deref().is_some_and(names_role_or_degree))
        {
            named.organisation = Some(company.clone());
        } else {
            above = None;
        }
        all.push(named);
    }
    all
}

fn names_role_or_degree(name: &str) -> bool {
    let alone = [
        "freelance",
        "self-employed",
        "selbständig",
        "freiberuf",
        "indépendant",
        "autónomo",
        "autônomo",
    ];
    let lower = name.to_lowercase();
    (names_role(name) || is_degree(name)) && !alone.iter().any(|word| lower.contains(word))
}

pub(crate) fn starts_or_ends(text: &str, period: &Period) -> bool {
    let signs = |text: &str| !text.contains(char::is_alphanumeric);
    signs(&text[..period.start]) || signs(&text[period.end..])
}

/// A line without its dates and the signs around them.
pub(crate) fn without_period(text: &str, period: &Period) -> String {
    let signs = |sign: char| {
        sign.is_whitespace()
            || matches!(
                sign,
                '(' | ')'
                    | '['
                    | ']'
                    | ':'
                    | ','
                    | ';'
                    | '|'
                    | '–'
                    | '—'
                    | '-'
                    | '·'
                    | '•'
                    | '_'
                    | '*'
                    | '.'
            )
    };
    let ends = |sign: char| signs(sign) && sign != '.';
    let before = trim_end(&text[..period.start], ends);
    let after = trim_end(text[period.end..].trim_start_matches(signs), ends);
    match (before.is_empty(), after.is_empty()) {
        (true, _) => after.to_owned(),
        (_, true) => before.to_owned(),
        _ => format!("{before}, {after}"),
    }
}

/// A text without the signs at its end, but with a bracket that closes one of its own.
fn trim_end(mut text: &str, signs: impl Fn(char) -> bool) -> &str {
    let count = |sign| text.chars().filter(|other| *other == sign).count();
    let mut round = (count('('), count(')'));
    let mut square = (count('['), count(']'));
    while let Some(last) = text.chars().next_back().filter(|sign| signs(*sign)) {
        match last {
            ')' if round.0 >= round.1 => break,
            ']' if square.0 >= square.1 => break,
            '(' => round.0 -= 1,
            ')' => round.1 -= 1,
            '[' => square.0 -= 1,
            ']' => square.1 -= 1,
            _ => {}
        }
        text = &text[..text.len() - last.len_utf8()];
    }
    text
}
