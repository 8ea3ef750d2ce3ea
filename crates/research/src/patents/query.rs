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

/// The text of the web search.
pub(super) fn text(input: &PatentSearch) -> String {
    let words = input.query.trim();
    let cpc = input.cpc_code.as_deref().map(|code| code.trim().to_ascii_uppercase());
    let mut text = match (input.search_type, &cpc) {
        (PatentSearchType::PriorArt, None) | (PatentSearchType::Landscape, None) => {
            words.to_owned()
        }
        (PatentSearchType::PriorArt, Some(cpc)) => format!("{words} {}", quoted(cpc)),
        (PatentSearchType::Landscape, Some(cpc)) => format!("({words}) OR {}", quoted(cpc)),
        (PatentSearchType::Specific, _) => match number_in(words) {
            Some(number) => number,
            None => quoted(words),
        },
    };
    if let Some(assignee) = &input.assignee {
        let variants: Vec<_> = variants(assignee).iter().map(|name| quoted(name)).collect();
        text.push_str(&format!(" ({})", variants.join(" OR ")));
    }
    if let Some(inventor) = &input.inventor {
        text.push_str(&format!(" {}", quoted(inventor)));
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
