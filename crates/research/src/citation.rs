//! Citations of pages in APA (7th edition), MLA (9th edition) and a numeric style (IEEE).

mod names;

use search::dates::Date;

use crate::tools::{Citation, CitationFormats, CitationMetadata};

use self::names::Names;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const MLA_MONTHS: [&str; 12] = [
    "Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec.",
];

/// Cites a page that was read on `accessed`, a date such as `2026-11-16`.
pub fn cite(url: &str, accessed: &str, metadata: CitationMetadata) -> Citation {
    let source = Source::new(url, &metadata);
    let formatted =
        CitationFormats { apa: source.apa(), mla: source.mla(Date::parse_iso(accessed)) };
    Citation { url: url.to_owned(), accessed_date: accessed.to_owned(), metadata, formatted }
}

/// How a source is cited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Apa,
    Mla,
    Numeric,
}

/// One source in one style, without the number of the numeric style. `url` may be empty, for a file.
pub fn format(style: Style, url: &str, accessed: &str, metadata: &CitationMetadata) -> String {
    let source = Source::new(url, metadata);
    let accessed = Date::parse_iso(accessed);
    let text = match style {
        Style::Apa => source.apa(),
        Style::Mla => source.mla(accessed),
        Style::Numeric => source.numeric(accessed),
    };
    text.trim_end().to_owned()
}

struct Source<'a> {
    url: &'a str,
    names: Names,
    title: &'a str,
    site: &'a str,
    date: Option<Date>,
}

impl<'a> Source<'a> {
    fn new(url: &'a str, metadata: &'a CitationMetadata) -> Self {
        let site = metadata.site.as_deref().unwrap_or_default().trim();
        Self {
            url,
            names: Names::of_site(metadata.author.as_deref().unwrap_or_default(), site),
            title: metadata.title.as_deref().unwrap_or_default().trim(),
            site,
            date: metadata.date.as_deref().and_then(Date::parse_iso),
        }
    }

    /// `J. Doe, "Title," Site, May 3, 2024. [Online]. Available: URL. Accessed: Nov. 16, 2026.`
    fn numeric(&self, accessed: Option<Date>) -> String {
        let title = self.title.replace('"', "'");
        let title = if title.ends_with(['!', '?', '…']) {
            format!("\"{title}\"")
        } else {
            format!("\"{},\"", title.trim_end_matches('.'))
        };
        let authors = if self.names.is(self.site) { String::new() } else { self.names.numeric() };
        let mut text = authors;
        if !self.title.is_empty() {
            let separator = if text.is_empty() { "" } else { ", " };
            text = format!("{text}{separator}{title}");
        }
        let nothing = text.is_empty() && self.site.is_empty();
        let undated = if nothing { String::new() } else { "n.d.".to_owned() };
        for part in [self.site.to_owned(), self.date.map_or(undated, numeric_date)] {
            let separator = match text.chars().last() {
                None => "",
                Some('"') => " ",
                Some(_) => ", ",
            };
            if !part.is_empty() {
                text = format!("{text}{separator}{part}");
            }
        }
        // A title that comes last has no comma.
        if let Some(front) = text.strip_suffix(",\"") {
            text = format!("{front}\"");
        }
        let mut parts: Vec<String> = Vec::new();
        if !text.is_empty() {
            parts.push(sentence(&text));
        }
        if !self.url.is_empty() {
            parts.push(format!("[Online]. Available: {}.", self.url));
            parts.extend(accessed.map(|date| format!("Accessed: {}.", numeric_date(date))));
        }
        parts.join(" ")
    }

    /// `Doe, J. (2024, May 3). Title. Site. URL`; without an author the title comes first.
    fn apa(&self) -> String {
        let date = format!("({}).", self.date.map_or_else(|| "n.d.".to_owned(), apa_date));
        let authors = self.names.apa();
        let mut parts = match (authors.is_empty(), self.title.is_empty()) {
            (false, true) => vec![sentence(&authors), date],
            (false, false) => vec![sentence(&authors), date, sentence(self.title)],
            (true, false) => vec![sentence(self.title), date],
            (true, true) => vec![sentence(self.site_or_url()), date],
        };
        let named = authors.is_empty() && self.title.is_empty();
        if !self.site.is_empty() && !named && !self.names.is(self.site) {
            parts.push(sentence(self.site));
        }
        if !self.url.is_empty() {
            parts.push(self.url.to_owned());
        }
        parts.join(" ")
    }

    /// `Doe, Jane. "Title." Site, 3 May 2024, URL. Accessed 16 Nov. 2026.`
    fn mla(&self, accessed: Option<Date>) -> String {
        let mut parts = Vec::new();
        // An organisation that publishes its own page is named once, as the publisher.
        let authors = if self.names.is(self.site) { String::new() } else { self.names.mla() };
        if !authors.is_empty() {
            parts.push(sentence(&authors));
        }
        if !self.title.is_empty() {
            parts.push(format!("\"{}\"", sentence(&self.title.replace('"', "'"))));
        }
        let date = self.date.map(mla_date);
        let container = [Some(self.site.to_owned()), date, Some(self.url.to_owned())];
        let container: Vec<_> =
            container.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        parts.push(format!("{}.", container.join(", ")));
        if let Some(accessed) = accessed {
            parts.push(format!("Accessed {}.", mla_date(accessed)));
        }
        parts.join(" ")
    }

    fn site_or_url(&self) -> &str {
        if self.site.is_empty() { self.url } else { self.site }
    }
}

fn apa_date(date: Date) -> String {
    match (month(&MONTHS, date), date.day) {
        (Some(month), Some(day)) => format!("{}, {month} {day}", date.year),
        (Some(month), None) => format!("{}, {month}", date.year),
        (None, _) => date.year.to_string(),
    }
}

fn numeric_date(date: Date) -> String {
    match (month(&MLA_MONTHS, date), date.day) {
        (Some(month), Some(day)) => format!("{month} {day}, {}", date.year),
        (Some(month), None) => format!("{month} {}", date.year),
        (None, _) => date.year.to_string(),
    }
}

fn mla_date(date: Date) -> String {
    match (month(&MLA_MONTHS, date), date.day) {
        (Some(month), Some(day)) => format!("{day} {month} {}", date.year),
        (Some(month), None) => format!("{month} {}", date.year),
        (None, _) => date.year.to_string(),
    }
}

fn month(names: &'static [&'static str; 12], date: Date) -> Option<&'static str> {
    names.get(usize::from(date.month?).checked_sub(1)?).copied()
}

/// The text with a full stop, unless it ends in a mark already.
fn sentence(text: &str) -> String {
    let ends = text.ends_with(['.', '!', '?', '…', '。', '！', '？']);
    if ends { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests;
