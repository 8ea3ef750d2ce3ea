//! `(Doe 12)` and `Doe … (12)`, as MLA cites.

use std::collections::BTreeSet;

use super::citation::{InTextCitation, Kind};
use super::index::Index;
use super::names;
use crate::parse::year_of;

const MAX_GROUP: usize = 200;

pub(super) fn find(masked: &str, base: usize, index: &Index<'_>, found: &mut Vec<InTextCitation>) {
    for (open, _) in masked.match_indices('(') {
        let limit = masked.floor_char_boundary(open + MAX_GROUP);
        let Some(close) = masked[open..limit].find(')').map(|at| open + at) else { continue };
        let inner = &masked[open + 1..close];
        let single = !inner.contains(';');
        let mut at = open + 1;
        for part in inner.split(';') {
            let start = at;
            at += part.len() + 1;
            let range = if single { open..close + 1 } else { start..start + part.len() };
            let Some((reference, certain)) = cited(part, &masked[..open], index) else { continue };
            found.push(InTextCitation {
                range: base + range.start..base + range.end,
                reference,
                shown: part.trim().to_owned(),
                kind: Kind::Page,
                certain,
            });
        }
    }
}

/// The reference of a part and whether it is surely a citation.
fn cited(part: &str, before: &str, index: &Index<'_>) -> Option<(Option<usize>, bool)> {
    let mut text = part.trim();
    for lead in ["qtd. in ", "see also ", "see ", "See ", "cf. ", "also ", "e.g., "] {
        text = text.strip_prefix(lead).unwrap_or(text);
    }
    let (text, page) = strip_page(text);
    if text.is_empty() {
        // Only a page: the author was named before.
        let reference = page.is_some().then(|| last_named(before, index)).flatten()?;
        return Some((Some(reference), true));
    }
    let (text, title) = strip_title(text);
    if text.is_empty() {
        let reference = title.and_then(|title| index.by_title(title, None));
        return reference.map(|reference| (Some(reference), true));
    }
    let starts = names::starts(text);
    if starts.first() != Some(&0) {
        return None;
    }
    let parsed = names::parse(text)?;
    let reference = index
        .by_name(std::slice::from_ref(&parsed.whole), title)
        .or_else(|| index.by_name(&parsed.list, title));
    let reference = reference.or_else(|| index.of_title(&parsed.whole));
    if reference.is_some() {
        return Some((reference, true));
    }
    let page = page?;
    let person = parsed
        .list
        .iter()
        .all(|name| name.chars().any(char::is_lowercase) && name.split(' ').count() <= 3);
    (person
        && year_of(page).is_none()
        && page.bytes().all(|b| b.is_ascii_digit() || !b.is_ascii_alphanumeric()))
    .then_some((None, true))
}

/// Without the pages at the end.
fn strip_page(text: &str) -> (&str, Option<&str>) {
    let mut rest = text.trim_end();
    let mut page = None;
    while let Some(word) = rest.rsplit(' ').next() {
        let bare = word.trim_matches([',', '.']);
        let number = bare.starts_with(|c: char| c.is_ascii_digit())
            && bare.chars().all(|c| c.is_ascii_digit() || "-–—.:".contains(c));
        let unit = page.is_some()
            && matches!(
                bare.to_lowercase().as_str(),
                "p" | "pp"
                    | "par"
                    | "pars"
                    | "ch"
                    | "line"
                    | "lines"
                    | "sec"
                    | "vol"
                    | "act"
                    | "canto"
                    | "chs"
            );
        if !number && !unit {
            break;
        }
        if number {
            page = Some(bare);
        }
        rest = rest[..rest.len() - word.len()].trim_end();
    }
    (rest.trim_end_matches([',', ' ']), page)
}

/// Without a short title at the end, in quotes or after a comma.
fn strip_title(text: &str) -> (&str, Option<&str>) {
    if let Some(open) = text.find(['"', '“']) {
        let title = text[open..].trim_matches(['"', '“', '”', ',', '.', ' ']);
        return (text[..open].trim_end_matches([',', ' ']), Some(title));
    }
    match text.rsplit_once(", ") {
        Some((names, title))
            if !title.starts_with("and ") && !title.starts_with("& ") && !names.contains(',') =>
        {
            (names, Some(title.trim()))
        }
        _ => (text, None),
    }
}

/// The reference whose author the text named last.
fn last_named(before: &str, index: &Index<'_>) -> Option<usize> {
    const FAR: usize = 1_500;
    let from = before.ceil_char_boundary(before.len().saturating_sub(FAR));
    capitalised(&before[from..]).rev().find_map(|word| index.of_name(word).first().copied())
}

/// References whose author the text names.
pub(super) fn named(masked: &str, index: &Index<'_>, found: &mut BTreeSet<usize>) {
    for word in capitalised(masked) {
        found.extend(index.of_name(word).iter().take(50));
    }
    // Organisations have several words.
    const LONGEST: usize = 8;
    let words = names::words(masked);
    for (at, (start, word)) in words.iter().enumerate() {
        if !names::begins_name(word) {
            continue;
        }
        for (end, last) in words[at..].iter().take(LONGEST).skip(1) {
            let text = &masked[*start..end + last.len()];
            let text = text.trim_end_matches(|c: char| !c.is_alphanumeric());
            let text = text.strip_suffix("'s").or_else(|| text.strip_suffix("’s")).unwrap_or(text);
            found.extend(index.of_name(text).iter().take(50));
        }
    }
}

fn capitalised(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '‐' | '’' | '\'')))
        .map(|word| word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word))
        .map(|word| word.trim_matches(['\'', '’', '-']))
        .filter(|word| word.chars().next().is_some_and(|c| c.is_alphabetic() && !c.is_lowercase()))
}
