//! The words of a patent search.

use super::number::number_in;
use crate::tools::{PatentSearch, PatentSearchType};

/// Endings of company names that are not part of the name.
const SUFFIXES: [&str; 16] = [
    "inc",
    "incorporated",
    "corp",
    "corporation",
    "llc",
    "ltd",
    "limited",
    "co",
    "company",
    "gmbh",
    "ag",
    "sa",
    "plc",
    "bv",
    "nv",
    "kk",
];

/// The endings that are tried.
const TRIED: [&str; 5] = ["Inc", "Corp", "LLC", "Ltd", "Co"];

/// Bytes of the names that are tried for an assignee: providers take some 400 characters, of which the words need some.
const MAX_NAMES_BYTES: usize = 200;

/// The text of the web search. Filters come first, where they are not cut off.
pub(super) fn text(input: &PatentSearch) -> String {
    let mut parts = Vec::new();
    if let Some(assignee) = &input.assignee {
        parts.push(format!("({})", any_of(&variants(assignee))));
    }
    if let Some(inventor) = &input.inventor {
        parts.push(quoted(inventor));
    }
    let words = input.query.trim();
    let cpc = input.cpc_code.as_deref().map(|code| quoted(&code.trim().to_ascii_uppercase()));
    parts.push(match (input.search_type, cpc) {
        (PatentSearchType::PriorArt | PatentSearchType::Landscape, None) => words.to_owned(),
        (PatentSearchType::PriorArt, Some(cpc)) => format!("{cpc} {words}"),
        (PatentSearchType::Landscape, Some(cpc)) => format!("{cpc} OR ({words})"),
        (PatentSearchType::Specific, _) => number_in(words).unwrap_or_else(|| quoted(words)),
    });
    parts.join(" ")
}

/// As many of these names as there is room for, and at least one.
fn any_of(names: &[String]) -> String {
    let mut text = String::new();
    for name in names {
        let name = quoted(name);
        if !text.is_empty() && text.len() + name.len() > MAX_NAMES_BYTES {
            break;
        }
        text.push_str(if text.is_empty() { "" } else { " OR " });
        text.push_str(&name);
    }
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', " ").trim())
}

/// Five to eight ways in which a company may be written: as given, its base name, without spaces, with common endings.
pub(super) fn variants(assignee: &str) -> Vec<String> {
    let given = assignee.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut words: Vec<&str> = given.split(' ').collect();
    while words.len() > 1 && words.last().is_some_and(|word| is_suffix(word)) {
        words.pop();
    }
    let base = words.join(" ").trim_end_matches([',', '.']).to_owned();
    let mut variants = vec![given.clone(), base.clone(), base.replace(' ', "")];
    variants.extend(TRIED.iter().map(|ending| format!("{base} {ending}")));
    let mut seen = std::collections::HashSet::new();
    variants.retain(|variant| seen.insert(variant.to_lowercase()));
    variants
}

fn is_suffix(word: &str) -> bool {
    let plain: String = word.chars().filter(char::is_ascii_alphabetic).collect();
    SUFFIXES.contains(&plain.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests;
