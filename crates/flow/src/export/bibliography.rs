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
        ("url", reference.url.as_deref().map(verbatim)),
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
        match (&reference.container, &reference.doi, &reference.url) {
            (Some(_), Some(_), _) => Self::Article,
            (_, None, Some(_)) => Self::Page,
            _ => Self::Work,
        }
    }
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
    if key.is_empty() { format!("ref{}", at + 1) } else { key }
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
        ("UR", reference.url.as_deref()),
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
