//! The parts of a reference in APA, MLA or a numeric style.

mod authors;
mod clean;
mod identifiers;
mod segments;
mod years;

use std::ops::Range;

pub(crate) use authors::{Name, is_particle};
pub(crate) use clean::{Clean, clean};
pub(crate) use years::{is_date_word, year_of};

use self::identifiers::Identifiers;
use super::model::Parsed;

/// Longer references are not parsed.
pub(crate) const MAX_REFERENCE: usize = 4_000;

/// The style that a reference is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    Apa,
    Mla,
    /// IEEE, Vancouver and others.
    Other,
}

/// A parsed reference.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) parsed: Parsed,
    pub(crate) names: Vec<Name>,
    pub(crate) form: Form,
    /// What is wrong with it, each as an end of the sentence "The reference …".
    pub(crate) problems: Vec<String>,
}

/// Parses the text of an entry. Never fails: what is missing is a problem.
pub(crate) fn parse(raw: &str) -> Reference {
    if raw.len() > MAX_REFERENCE {
        return Reference {
            parsed: Parsed::default(),
            names: Vec::new(),
            form: Form::Other,
            problems: vec![format!("is too long: {} bytes, at most {MAX_REFERENCE}", raw.len())],
        };
    }
    let clean = clean(raw);
    let found = Identifiers::find(&clean);
    let text = Text { clean: &clean, end: found.start.unwrap_or(clean.text.len()) };
    let draft = apa(&text).or_else(|| quoted(&text)).unwrap_or_else(|| plain(&text));
    let mut problems = found.problems;
    check(&draft, &text, &found.url, &mut problems);
    let Draft { names, year, title, container, form } = draft;
    let parsed = Parsed {
        authors: names.iter().map(Name::to_string).collect(),
        year,
        title,
        container,
        doi: found.doi,
        url: found.url,
    };
    Reference { parsed, names, form, problems }
}

/// Whether a footnote is a remark: it has neither a year, an address nor a quoted or italic title.
pub(crate) fn is_note(raw: &str, reference: &Reference) -> bool {
    let parsed = &reference.parsed;
    let marked = raw.contains(['*', '_', '"', '“', '«']);
    let problems = reference
        .problems
        .iter()
        .any(|problem| problem.contains("DOI") || problem.contains("address"));
    let people = reference.names.iter().any(|name| !name.is_organisation());
    parsed.year.is_none()
        && parsed.doi.is_none()
        && parsed.url.is_none()
        && !problems
        && !marked
        && !people
        && raw.len() <= MAX_REFERENCE
}

/// A reference without marks.
struct Text<'a> {
    clean: &'a Clean,
    /// Where its DOI or address begins.
    end: usize,
}

impl<'a> Text<'a> {
    /// All but the address.
    fn head(&self) -> &'a str {
        &self.clean.text[..self.end]
    }

    /// The first italic span that begins after `from` and before the address.
    fn italic(&self, from: usize) -> Option<Range<usize>> {
        self.clean.italics.iter().find(|span| span.start >= from && span.start < self.end).cloned()
    }
}

#[derive(Debug)]
struct Draft {
    names: Vec<Name>,
    year: Option<String>,
    title: Option<String>,
    container: Option<String>,
    form: Form,
}

fn check(draft: &Draft, text: &Text<'_>, url: &Option<String>, problems: &mut Vec<String>) {
    if draft.title.is_none() {
        problems.push("has no title".to_owned());
    }
    if draft.year.is_none() {
        // A page that changes is cited with the day on which it was read.
        let lower = text.clean.text.to_lowercase();
        let accessed =
            ["accessed", "retrieved", "zugriff", "abgerufen", "consulté", "visited", "viewed"];
        if url.is_none() || !accessed.iter().any(|word| lower.contains(word)) {
            problems.push("has no year".to_owned());
        }
    }
    let begins_with_date = text.head().trim_start().starts_with('(');
    if draft.names.is_empty() && begins_with_date && draft.form == Form::Apa {
        problems.push("has no author".to_owned());
    }
    let (open, close) = (text.head().matches('(').count(), text.head().matches(')').count());
    if open != close {
        problems.push("has unbalanced parentheses".to_owned());
    }
}

/// `Doe, J. (2020). Title. *Container*, 1(2), 3–4.`
fn apa(text: &Text<'_>) -> Option<Draft> {
    let head = text.head();
    let date = years::date_group(head)?;
    let before = head[..date.range.start].trim();
    let after_start = date.range.end;
    let rest = head[after_start..].trim_start_matches(['.', ',', ':', ';', ' ']);
    let rest_start = head.len() - rest.len();
    // In other styles the date comes last, or after the container.
    let at_end = rest.chars().filter(|c| c.is_alphabetic()).count() < 3;
    if authors::has_quote(before) || (at_end && !authors::are_names(before)) {
        return None;
    }
    let after = head[after_start..].trim_start();
    if after.starts_with(':') && before.contains(". ") && !authors::are_names(before) {
        return None;
    }
    let names_before = authors::are_names(before);
    if !names_before && segments::split(before).len() > 2 {
        return None;
    }
    let title_first = !before.is_empty() && !names_before && segments::is_title_first(before, rest);
    if title_first {
        let container = segments::split(rest).into_iter().next();
        return Some(Draft {
            names: Vec::new(),
            year: date.year,
            title: segments::tidy(before),
            container: container.and_then(|part| segments::container(&part)),
            form: Form::Apa,
        });
    }
    let names = authors::parse(before);
    let (title, container) = title_and_container(text, rest, rest_start);
    Some(Draft { names, year: date.year, title, container, form: Form::Apa })
}

/// The title that comes first in `rest`, and the container after it.
fn title_and_container(
    text: &Text<'_>,
    rest: &str,
    start: usize,
) -> (Option<String>, Option<String>) {
    if let Some(quote) = authors::quote(rest).filter(|quote| quote.start == 0) {
        let container = segments::first_container(&rest[quote.end..]);
        return (segments::tidy(&rest[quote.inner.clone()]), container);
    }
    let italic =
        text.italic(start).map(|span| span.start - start..(span.end - start).min(rest.len()));
    match italic {
        // An italic title: a book, report or page.
        Some(span) if span.start == 0 => {
            let (title, after) = (&rest[span.clone()], &rest[span.end..]);
            if segments::has_volume(after) || segments::ends_with_volume(title) {
                return (None, segments::container(title));
            }
            let title = segments::tidy(title);
            (title, segments::first_container(segments::skip_details(after)))
        }
        // An article in an italic journal or book.
        Some(span) => {
            let title = rest[..span.start].trim_end();
            let title = strip_in(title);
            (segments::tidy(title), segments::container(&rest[span]))
        }
        None => segments::plain_title(rest),
    }
}

/// Without the `In` or `In A. Editor (Ed.),` before a container.
fn strip_in(text: &str) -> &str {
    let at = text.rfind(". In ").or_else(|| text.rfind("? In ")).or_else(|| text.rfind("! In "));
    match at {
        Some(at) => &text[..at + 1],
        None if text.ends_with(". In") => &text[..text.len() - 3],
        None => text,
    }
}

/// `Doe, Jane. "Title." *Container*, vol. 1, 2020, pp. 3–4.` and `J. Doe, "Title," *Container*, 2020.`
fn quoted(text: &Text<'_>) -> Option<Draft> {
    let head = text.head();
    let quote = authors::quote(head)?;
    let before = head[..quote.start].trim();
    // Other quotes are words of a title.
    if !(before.is_empty() || before.ends_with(['.', ',', ':', ')'])) {
        return None;
    }
    let mut names_text = before;
    let mut year = None;
    // Chicago has the year after the names.
    if let Some((names, found)) = years::at_end(before) {
        (names_text, year) = (names, Some(found));
    }
    let after = &head[quote.end..];
    let year =
        year.or_else(|| years::in_text(after)).or_else(|| years::after(&text.clean.text, text.end));
    let title = segments::tidy(&head[quote.inner.clone()]);
    let container = match text.italic(quote.end) {
        Some(span) => segments::container(&text.clean.text[span]),
        None => segments::first_container(after),
    };
    let names = authors::parse(names_text);
    let ieee = authors::initials_first(names_text);
    let form = if ieee { Form::Other } else { Form::Mla };
    Some(Draft { names, year, title, container, form })
}

/// Everything else: books in MLA, Vancouver, Nature, and pages without a date.
fn plain(text: &Text<'_>) -> Draft {
    let head = text.head();
    let mut year = years::in_text(head).or_else(|| years::after(&text.clean.text, text.end));
    let lead = authors::lead(head, text.italic(0).map(|span| span.start));
    let names = authors::parse(&head[..lead]);
    let mut rest = head[lead..].trim_start_matches(['.', ',', ':', ' ']);
    // ACM has the year after the names.
    if let Some((found, after)) = years::at_start(rest) {
        (year, rest) = (Some(found), after);
    }
    let start = head.len() - rest.len();
    let italic =
        text.italic(start).map(|span| span.start - start..(span.end - start).min(rest.len()));
    let (title, container) = match italic {
        Some(span) if rest[..span.start].trim().is_empty() => {
            let after = segments::skip_details(&rest[span.end..]);
            (segments::tidy(&rest[span]), segments::first_container(after))
        }
        Some(span) => (
            segments::tidy(strip_in(rest[..span.start].trim_end())),
            segments::container(&rest[span]),
        ),
        None => segments::plain_title(rest),
    };
    let vancouver = names.iter().any(|name| name.is_short());
    let form = if vancouver || names.is_empty() { Form::Other } else { Form::Mla };
    Draft { names, year, title, container, form }
}

#[cfg(test)]
mod tests;
