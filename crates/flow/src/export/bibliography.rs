//! References as BibTeX and RIS.

use std::collections::BTreeMap;

use language::words;
use markup::Reference;

/// BibTeX entries, one for each reference. Keys depend on the references and their order only.
pub fn to_bibtex(references: &[Reference]) -> String {
    let keys = keys(references);
    let entries = references.iter().zip(keys).map(|(reference, key)| bibtex(reference, &key));
    entries.collect::<Vec<_>>().join("\n")
}

fn bibtex(reference: &Reference, key: &str) -> String {
    let kind = Kind::of(reference);
    let (name, container) = match kind {
        Kind::Article => ("article", "journal"),
        Kind::Page => ("misc", "howpublished"),
        Kind::Work => ("misc", "publisher"),
    };
    let authors: Vec<_> = reference.authors.iter().map(|author| bibtex_author(author)).collect();
    let plain = |text: &Option<String>| text.as_deref().map(escape_latex);
    let title = plain(&reference.title).or_else(|| some(escape_latex(reference.text.trim())));
    let fields = [
        ("author", some(authors.join(" and "))),
        // A second brace keeps the capitals.
        ("title", title.map(|title| format!("{{{title}}}"))),
        (container, plain(&reference.container)),
        ("year", reference.year.as_deref().map(|year| escape_latex(without_suffix(year)))),
        ("doi", reference.doi.as_deref().map(verbatim)),
        ("url", web_address(reference).map(verbatim)),
        ("urldate", reference.accessed.as_deref().map(verbatim)),
    ];
    let mut entry = format!("@{name}{{{key},\n");
    for (field, value) in fields {
        if let Some(value) = value {
            entry.push_str(&format!("  {field} = {{{value}}},\n"));
        }
    }
    entry.push_str("}\n");
    entry
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Article,
    Page,
    Work,
}

impl Kind {
    fn of(reference: &Reference) -> Self {
        match (&reference.container, &reference.doi, web_address(reference)) {
            (Some(_), Some(_), _) => Self::Article,
            (Some(container), ..) if is_journal(container, &reference.text) => Self::Article,
            (_, None, Some(_)) => Self::Page,
            _ => Self::Work,
        }
    }
}

/// Words of the names of journals.
const JOURNALS: [&str; 11] = [
    "journal",
    "annals",
    "transactions",
    "quarterly",
    "bulletin",
    "acta",
    "archives",
    "zeitschrift",
    "revue",
    "revista",
    "rivista",
];

/// Whether a container is a journal: by its name, or because a volume or pages follow it in the line of the reference.
fn is_journal(container: &str, line: &str) -> bool {
    let folded = words::fold(container);
    let mut parts = folded.split(|c: char| !c.is_alphanumeric());
    parts.any(|part| JOURNALS.contains(&part)) || has_issue(container, line)
}

/// Whether a line goes on after the container with a volume and pages, such as `12(3), 45–67`, `12, 45-67` or `pp. 4-9`.
fn has_issue(container: &str, line: &str) -> bool {
    let Some((_, rest)) = line.rsplit_once(container) else { return false };
    let mut rest = rest.trim_start_matches(['*', '_', ',', '.', ' ']);
    for mark in ["vol.", "volume", "Vol.", "no.", "pp.", "p."] {
        rest = rest.strip_prefix(mark).map_or(rest, str::trim_start);
    }
    let rest = rest.trim_start_matches(['*', '_']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = rest[digits..].trim_start_matches(['*', '_']);
    // A year has four digits and no issue, a date goes on with its month and day; pages are a range.
    let dashed = |text: &str| text.matches(['-', '–', '—']).count();
    let word = after.split_whitespace().next().unwrap_or_default();
    (1..=5).contains(&digits)
        && dashed(word) < 2
        && (after.starts_with('(') || after.starts_with(['-', '–', '—']) || has_pages(after))
}

/// Whether `, 45–67` or `: 45-67` comes next.
fn has_pages(text: &str) -> bool {
    let Some(pages) = text.strip_prefix([',', ':']).map(str::trim_start) else { return false };
    let pages = pages.strip_prefix("pp.").map_or(pages, str::trim_start);
    let digits = pages.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && pages[digits..].starts_with(['-', '–', '—'])
}

/// The address of a reference, if programs that read bibliographies can follow it without harm.
fn web_address(reference: &Reference) -> Option<&str> {
    let address = reference.url.as_deref().map(str::trim)?;
    let (scheme, rest) = address.split_once("://")?;
    let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    (is_web && !rest.is_empty()).then_some(address)
}

/// `2020` of `2020a`.
fn without_suffix(year: &str) -> &str {
    let digits = year.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(year);
    if digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()) { digits } else { year }
}

fn some(text: String) -> Option<String> {
    (!text.trim().is_empty()).then_some(text)
}

/// An organisation is put in braces: it has no given name.
fn bibtex_author(author: &str) -> String {
    let escaped = escape_latex(author);
    if author.contains(", ") { escaped } else { format!("{{{escaped}}}") }
}

/// Text with the characters that LaTeX reserves escaped. Braces stay balanced, because none is written unescaped.
fn escape_latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '\\' => out.push_str("\\textbackslash "),
            '{' => out.push_str("\\textbraceleft "),
            '}' => out.push_str("\\textbraceright "),
            '~' => out.push_str("\\textasciitilde "),
            '^' => out.push_str("\\textasciicircum "),
            '&' | '%' | '$' | '#' | '_' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Addresses are not typeset; braces in them would end the field.
fn verbatim(text: &str) -> String {
    one_line(text)
        .chars()
        .map(|c| match c {
            '{' => "%7B".to_owned(),
            '}' => "%7D".to_owned(),
            '\\' => "%5C".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

/// Without line breaks and control characters.
fn one_line(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| if c.is_control() || c == '\u{2028}' || c == '\u{2029}' { ' ' } else { c })
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A key such as `doe2020heat` for each reference; equal ones get a number.
fn keys(references: &[Reference]) -> Vec<String> {
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    let keys = references.iter().enumerate().map(|(at, reference)| {
        let base = base_key(reference, at);
        let count = used.entry(base.clone()).or_default();
        *count += 1;
        // No base has a hyphen, so that a number makes no key equal to another.
        if *count == 1 { base } else { format!("{base}-{count}") }
    });
    keys.collect()
}

fn base_key(reference: &Reference, at: usize) -> String {
    let ascii = |text: &str, most: usize| -> String {
        words::fold(text).chars().filter(char::is_ascii_alphanumeric).take(most).collect()
    };
    let family =
        reference.authors.first().map(|author| author.split(',').next().unwrap_or_default());
    let title = reference.title.as_deref().unwrap_or_default();
    let word = title.split(' ').find(|word| ascii(word, 20).len() > 3).unwrap_or_default();
    let year = reference.year.as_deref().unwrap_or_default();
    let key =
        format!("{}{}{}", ascii(family.unwrap_or_default(), 24), ascii(year, 8), ascii(word, 20));
    match key.chars().next() {
        None => format!("ref{}", at + 1),
        // Many programs want a letter first; names in other scripts leave none.
        Some(first) if !first.is_ascii_alphabetic() => format!("ref{key}"),
        Some(_) => key,
    }
}

/// RIS records, one for each reference.
pub fn to_ris(references: &[Reference]) -> String {
    let keys = keys(references);
    references
        .iter()
        .zip(keys)
        .map(|(reference, key)| ris(reference, &key))
        .collect::<Vec<_>>()
        .join("\r\n")
}

fn ris(reference: &Reference, key: &str) -> String {
    let kind = match Kind::of(reference) {
        Kind::Article => "JOUR",
        Kind::Page => "ELEC",
        Kind::Work => "GEN",
    };
    let mut lines = vec![("TY", kind.to_owned()), ("ID", key.to_owned())];
    lines.extend(reference.authors.iter().map(|author| ("AU", one_line(author))));
    let year =
        reference.year.as_deref().filter(|year| year.starts_with(|c: char| c.is_ascii_digit()));
    let title = reference.title.clone().or_else(|| some(reference.text.clone()));
    let fields = [
        ("TI", title.as_deref()),
        ("T2", reference.container.as_deref()),
        ("PY", year),
        ("DO", reference.doi.as_deref()),
        ("UR", web_address(reference)),
        ("Y2", reference.accessed.as_deref()),
    ];
    for (tag, value) in fields {
        let value = value.map(one_line).unwrap_or_default();
        let value = if tag == "PY" {
            value.chars().take_while(char::is_ascii_digit).collect()
        } else {
            value
        };
        if !value.is_empty() {
            lines.push((tag, value));
        }
    }
    lines.push(("ER", String::new()));
    lines.into_iter().map(|(tag, value)| format!("{tag}  - {value}\r\n")).collect()
}

#[cfg(test)]
mod tests;
