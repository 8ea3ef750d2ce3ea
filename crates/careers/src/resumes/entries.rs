//! Positions and degrees: a line with dates, and the lines around it.

use std::sync::LazyLock;

use regex::Regex;

use super::dates::{self, Period};
use super::lines::{Line, SectionKind};
use super::profile::{Education, Position};
use crate::jobs::header::names_role;

fn pattern(source: &str) -> Regex {
    // cannot fail: the patterns are constants, and a test uses them.
    Regex::new(source).expect("a pattern that compiles")
}

static DEGREE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:b\.?\s?sc|b\.?a|m\.?\s?sc|m\.?a|b\.?eng|m\.?eng|b\.?ed|ll\.?[bm]|m\.?phil|hnd|hnc|mba|ph\.?\s?d|dphil|gcse|a-levels?|foundation degree|bachelor\p{L}*|master\p{L}*|magister|doctorate|doctor|doktor|promotion|diplom\p{L}*|diplôme|certificate|certificat|certificado|degree|associate|licence|licenciatura|licenciad[oa]|grado|máster|doctorado|abitur|fachabitur|mittlere reife|staatsexamen|ausbildung|lehre|fachhochschulreife|bts|dut|but|cap|baccalauréat|bac|maîtrise|ingénierie|technik\p{L}*\s+in|apprenticeship|bachillerato|ciclo formativo|formación profesional|técnico superior|nvq|btec)\b",
    )
});

static INSTITUTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:\b(?:university|college|institute|school|polytechnic|academy|faculty|université|école|institut|lycée|iut|faculté|universidad|escuela|instituto|facultad|colegio|politécnica|academia|conservatory|seminary|tu|fh|eth|mit)\b|universität|hochschule|\p{L}*schule\b|akademie|gymnasium|berufskolleg|ihk\b)",
    )
});

/// Words between a title and a company.
static AT: LazyLock<Regex> = LazyLock::new(|| pattern(r"\s+(?:at|bei|beim|chez|@|for|with)\s+"));
static DASH: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\s+[–—|·•]\s*|\s*[|·•]\s+|\s+-\s+|\t+|\s{3,}"));

/// The longest line that names a position or a degree, in words.
const MAX_NAME_WORDS: usize = 14;

/// A line with dates, the rest of it, and the lines that go with it.
struct Entry {
    period: Period,
    /// Names on the line and around it, in order.
    names: Vec<String>,
    bullets: Vec<String>,
}

/// The positions of a résumé.
pub(super) fn positions(lines: &[Line]) -> Vec<Position> {
    let headed = lines.iter().any(|line| line.section == Some(SectionKind::Experience));
    let own = |line: &Line| match line.section {
        Some(SectionKind::Experience) => true,
        None | Some(SectionKind::Contact | SectionKind::Summary) => !headed,
        _ => false,
    };
    let entries = entries(lines, &own, &names_role, &|line| {
        let period = dates::period(&line.text)?;
        // Without headings a period of study looks the same but for its words.
        let study = !headed
            && (DEGREE.is_match(&line.text) || INSTITUTION.is_match(&line.text))
            && !names_role(&line.text);
        // Bullets hold years that are no dates of employment.
        (!study
            && (!line.bullet
                || line.text.len() - (period.end - period.start) < 80
                    && starts_or_ends(&line.text, &period)))
        .then_some(period)
    });
    entries.into_iter().map(position).collect()
}

/// The degrees of a résumé.
pub(super) fn education(lines: &[Line]) -> Vec<Education> {
    let headed = lines.iter().any(|line| line.section == Some(SectionKind::Education));
    let own = |line: &Line| {
        if headed {
            line.section == Some(SectionKind::Education)
        } else {
            line.section.is_none_or(|kind| kind == SectionKind::Experience)
        }
    };
    let dated = |line: &Line| dates::period(&line.text).or_else(|| dates::single(&line.text));
    let entries = entries(lines, &own, &|name| DEGREE.is_match(name), &|line| {
        let study = DEGREE.is_match(&line.text) || INSTITUTION.is_match(&line.text);
        let period = dated(line)?;
        (headed && (!line.bullet || study)
            || study
                && !line.bullet
                && (!names_role(&line.text) || dates::period(&line.text).is_none()))
        .then_some(period)
    });
    let mut found: Vec<Education> = entries.into_iter().map(degree).collect();
    if found.is_empty() && headed {
        let undated =
            lines.iter().filter(|line| own(line) && !line.heading && DEGREE.is_match(&line.text));
        found.extend(undated.map(|line| {
            let (degree, institution) = study_names(&parts(&line.text));
            Education { degree, institution, end: None }
        }));
    }
    found.retain(|entry| entry.degree.is_some() || entry.institution.is_some());
    found
}

pub(crate) fn starts_or_ends(text: &str, period: &Period) -> bool {
    let signs = |text: &str| !text.contains(char::is_alphanumeric);
    signs(&text[..period.start]) || signs(&text[period.end..])
}

/// Finds the lines with dates and the names around them. `is_main` knows titles or degrees.
fn entries(
    lines: &[Line],
    own: &dyn Fn(&Line) -> bool,
    is_main: &dyn Fn(&str) -> bool,
    dated: &dyn Fn(&Line) -> Option<Period>,
) -> Vec<Entry> {
    let anchors: Vec<(usize, Period)> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| own(line) && !line.heading)
        .filter_map(|(at, line)| Some((at, dated(line)?)))
        .collect();
    let before = names_precede(lines, own, is_main, &anchors);
    let mut found = Vec::new();
    let mut free = 0;
    for (index, (at, period)) in anchors.iter().enumerate() {
        let next = anchors.get(index + 1).map_or(lines.len(), |(next, _)| *next);
        let rest = parts(&without_period(&lines[*at].text, period));
        let lacking = lacks_main(&rest, is_main);
        let complete = rest.len() > 1 && !lacking;
        // A place after the company leaves room for the title, but only a title may take it.
        let fits = |line: &&Line| is_name_line(line) && (rest.len() < 2 || is_main(&line.text));
        let is_own = |line: &&Line| own(line) && !line.heading;
        let mut names = Vec::new();
        if before && !complete {
            let start = name_lines_before(lines, free, *at);
            names.extend(
                lines[start..*at].iter().filter(is_own).filter(fits).map(|line| line.text.clone()),
            );
        }
        names.extend(rest.iter().cloned());
        let after = lines[at + 1..next].iter().take_while(is_own);
        let mut used = *at + 1;
        if !before && !complete {
            let room = 2_usize.saturating_sub(names.len()).max(usize::from(lacking));
            let following = after.clone().take_while(fits).take(room);
            for line in following {
                names.push(line.text.clone());
                used += 1;
            }
        }
        // The names of the next entry are no text of this one.
        let stop = match anchors.get(index + 1) {
            Some((next, _)) if before => name_lines_before(lines, used, *next),
            _ => next,
        };
        let bullets = lines[used.min(stop)..stop]
            .iter()
            .take_while(is_own)
            .map(|line| line.text.clone())
            .collect();
        free = used;
        found.push(Entry { period: *period, names, bullets });
    }
    found
}

/// Whether none of the names of a line is a title or a degree.
fn lacks_main(names: &[String], is_main: &dyn Fn(&str) -> bool) -> bool {
    !names.iter().any(|name| is_main(name))
}

/// Whether titles and companies come before the dates: by the first entry.
fn names_precede(
    lines: &[Line],
    own: &dyn Fn(&Line) -> bool,
    is_main: &dyn Fn(&str) -> bool,
    anchors: &[(usize, Period)],
) -> bool {
    let Some((at, period)) = anchors.first() else { return false };
    let rest = parts(&without_period(&lines[*at].text, period));
    let previous = at
        .checked_sub(1)
        .map(|at| &lines[at])
        .filter(|line| own(line) && !line.heading && is_name_line(line));
    if rest.len() > 1
        && (!lacks_main(&rest, is_main) || !previous.is_some_and(|line| is_main(&line.text)))
    {
        return false;
    }
    match previous {
        // Without headings the line before the first entry is contact data or a summary.
        Some(previous) if previous.section.is_none() => {
            names_role(&previous.text) || DEGREE.is_match(&previous.text)
        }
        other => other.is_some(),
    }
}

/// The first of the lines with names directly before a line: at most two, none a bullet.
fn name_lines_before(lines: &[Line], free: usize, at: usize) -> usize {
    let mut start = at;
    while start > free && at - start < 2 && is_name_line(&lines[start - 1]) {
        start -= 1;
    }
    start
}

fn is_name_line(line: &Line) -> bool {
    let words = line.text.split_whitespace().count();
    let prose = line.text.ends_with('.') && words > 5;
    !line.bullet
        && !line.heading
        && !prose
        && words <= MAX_NAME_WORDS
        && line.text.starts_with(|first: char| first.is_uppercase() || first.is_numeric())
}

/// A line without its dates and the signs around them.
pub(crate) fn without_period(text: &str, period: &Period) -> String {
    let signs = |sign: char| {
        sign.is_whitespace()
            || matches!(
                sign,
                '(' | ')' | '[' | ']' | ':' | ',' | ';' | '|' | '–' | '—' | '-' | '·' | '•' | '_'
            )
    };
    let before = text[..period.start].trim_end_matches(signs);
    let after = text[period.end..].trim_start_matches(signs).trim_end_matches(signs);
    match (before.is_empty(), after.is_empty()) {
        (true, _) => after.to_owned(),
        (_, true) => before.to_owned(),
        _ => format!("{before}, {after}"),
    }
}

/// The names in a line: split at "at", dashes and bars, else at commas.
fn parts(text: &str) -> Vec<String> {
    let tidy = |part: &str| {
        part.trim().trim_matches([',', ';', ':', '(', ')', '_', '*']).trim().to_owned()
    };
    let list = |parts: Vec<String>| {
        parts.into_iter().filter(|part| part.contains(char::is_alphabetic)).collect::<Vec<_>>()
    };
    if let Some(found) = AT.find(text)
        && names_role(&text[..found.start()])
    {
        return list(vec![tidy(&text[..found.start()]), tidy(&text[found.end()..])]);
    }
    let dashed = list(DASH.split(text).map(tidy).collect());
    if dashed.len() > 1 {
        return dashed;
    }
    list(text.split(", ").map(tidy).collect())
}

fn position(entry: Entry) -> Position {
    let mut names: Vec<String> = entry.names.iter().flat_map(|name| parts(name)).collect();
    let title_at = names
        .iter()
        .position(|name| names_role(name) && !is_company(name))
        .or_else(|| names.iter().position(|name| names_role(name)));
    let (title, company) = match title_at {
        Some(at) => {
            let title = names.remove(at);
            (Some(title), take_company(names))
        }
        None => {
            let mut names = names.into_iter();
            (names.next(), names.next())
        }
    };
    Position {
        title,
        company,
        start: entry.period.from.map(dates::Written::text),
        end: Some(entry.period.to.text()),
        bullets: entry.bullets,
    }
}

/// The company among the names that are left: one that looks like a company, else the first.
fn take_company(names: Vec<String>) -> Option<String> {
    let at = names.iter().position(|name| is_company(name)).unwrap_or(0);
    names.into_iter().nth(at)
}

fn is_company(name: &str) -> bool {
    let name = name.to_lowercase();
    let forms = [
        "gmbh",
        "ag",
        "kg",
        "se",
        "ltd",
        "limited",
        "inc",
        "inc.",
        "llc",
        "plc",
        "corp",
        "corporation",
        "company",
        "co.",
        "group",
        "holding",
        "sa",
        "sas",
        "sarl",
        "s.a.",
        "s.l.",
        "sl",
        "bank",
        "council",
        "clinic",
        "hospital",
        "school",
        "university",
        "labs",
        "systems",
        "solutions",
        "technologies",
        "services",
        "studio",
        "media",
        "insurance",
        "consulting",
        "partners",
        "associates",
        "klinik",
        "klinikum",
        "krankenhaus",
        "hôpital",
        "clínica",
        "ayuntamiento",
        "stadt",
        "ministry",
        "foundation",
    ];
    name.split(|sign: char| sign.is_whitespace() || sign == ',').any(|word| forms.contains(&word))
        || name.contains(" & ")
}

fn degree(entry: Entry) -> Education {
    let names: Vec<String> = entry.names.iter().flat_map(|name| parts(name)).collect();
    let (degree, institution) = study_names(&names);
    Education { degree, institution, end: Some(entry.period.to.text()) }
}

/// The degree and the institution among names.
fn study_names(names: &[String]) -> (Option<String>, Option<String>) {
    let institution = names
        .iter()
        .position(|name| INSTITUTION.is_match(name) && !DEGREE.is_match(name))
        .or_else(|| names.iter().position(|name| INSTITUTION.is_match(name)));
    let degree = names
        .iter()
        .enumerate()
        .position(|(at, name)| DEGREE.is_match(name) && Some(at) != institution);
    let other = |taken: Option<usize>| (0..names.len()).find(|at| Some(*at) != taken);
    let degree = degree.or_else(|| other(institution));
    let institution = institution.or_else(|| other(degree));
    // "BSc, Computer Science, University": the subject belongs to the degree.
    let subject = degree.and_then(|at| {
        names
            .get(at + 1)
            .filter(|_| Some(at + 1) != institution && names.len() > 2 && is_short(&names[at]))
    });
    let text = |at: Option<usize>| at.map(|at| names[at].clone());
    let degree = match (text(degree), subject) {
        (Some(degree), Some(subject)) => Some(format!("{degree} {subject}")),
        (degree, _) => degree,
    };
    (degree, text(institution))
}

fn is_short(degree: &str) -> bool {
    degree.split_whitespace().count() == 1
}
