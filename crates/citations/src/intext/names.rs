//! Names in front of a year or page.

use crate::parse::{is_date_word, is_particle};

/// The names of one citation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// All of them as written: the name of an organisation may have commas.
    pub(super) whole: String,
    pub(super) list: Vec<String>,
    pub(super) et_al: bool,
    /// `WHO` in `World Health Organization [WHO]`.
    pub(super) acronym: Option<String>,
    /// How many bytes at the end of the text they take.
    pub(super) length: usize,
}

/// Words that begin something else than a citation.
const NO_NAMES: [&str; 74] = [
    "act",
    "after",
    "also",
    "annex",
    "appendix",
    "article",
    "as",
    "august",
    "before",
    "between",
    "box",
    "but",
    "by",
    "ca",
    "chapter",
    "circa",
    "class",
    "count",
    "day",
    "directive",
    "during",
    "eq",
    "equation",
    "est",
    "example",
    "fig",
    "figs",
    "figure",
    "figures",
    "for",
    "from",
    "grade",
    "however",
    "if",
    "in",
    "it",
    "item",
    "level",
    "line",
    "lines",
    "march",
    "may",
    "model",
    "n",
    "no",
    "note",
    "of",
    "on",
    "page",
    "panel",
    "part",
    "phase",
    "q1",
    "q2",
    "q3",
    "q4",
    "question",
    "see",
    "section",
    "since",
    "stage",
    "step",
    "study",
    "table",
    "tables",
    "then",
    "this",
    "to",
    "under",
    "until",
    "version",
    "volume",
    "when",
    "year",
];

const SMALL_WORDS: [&str; 24] = [
    "&",
    "al",
    "and",
    "colleagues",
    "das",
    "des",
    "et",
    "for",
    "für",
    "in",
    "of",
    "on",
    "others",
    "para",
    "pour",
    "sur",
    "the",
    "to",
    "u",
    "und",
    "y",
    "zum",
    "zur",
    "и",
];

fn bare(token: &str) -> &str {
    token.trim_matches([',', '.', ';', ':', '"', '“', '”', '\'', '‘', '’', '(', ')', '[', ']'])
}

/// Whether a word can begin names.
pub(super) fn begins_name(token: &str) -> bool {
    let word = bare(token);
    let first = word.chars().next();
    let capital = first.is_some_and(|c| c.is_alphabetic() && !c.is_lowercase());
    let named = capital || is_particle(word) && word.chars().count() > 1;
    named && !is_excluded(word)
}

/// Months, `Figure`, `Since` and the like.
pub(super) fn is_excluded(word: &str) -> bool {
    let lower = word.to_lowercase();
    NO_NAMES.contains(&lower.as_str()) || is_date_word(&lower) && !lower.is_empty()
}

/// Whether a word can be part of names.
pub(super) fn continues_name(token: &str) -> bool {
    let word = bare(token);
    if word.is_empty() {
        return matches!(token, "&" | ",");
    }
    let capital = word.chars().next().is_some_and(|c| c.is_alphabetic() && !c.is_lowercase());
    let small = SMALL_WORDS.contains(&word.to_lowercase().as_str()) || is_particle(word);
    let plain = word.chars().all(|c| c.is_alphanumeric() || "-‐‑'’.&".contains(c) || !c.is_ascii());
    (capital || small || word.starts_with("d’") || word.starts_with("d'")) && plain
}

/// The names at the end of a text, as long as possible.
pub(super) fn at_end(text: &str) -> Option<Names> {
    let trimmed = text.trim_end_matches([',', ' ']);
    let (trimmed, acronym) =
        match trimmed.strip_suffix(']').and_then(|inner| inner.rsplit_once('[')) {
            Some((before, acronym)) => (before.trim_end(), Some(acronym.trim().to_owned())),
            None => (trimmed, None),
        };
    let start = starts(trimmed).into_iter().next()?;
    let names = &trimmed[start..];
    let length = text.len() - start;
    Some(Names { acronym, length, ..parse(names)? })
}

/// Where names that reach to the end of a text can begin, the longest first.
pub(super) fn starts(text: &str) -> Vec<usize> {
    const MAX_TOKENS: usize = 16;
    let mut starts = Vec::new();
    let mut end = text.trim_end().len();
    for _ in 0..MAX_TOKENS {
        let start = text[..end].rfind(' ').map_or(0, |at| at + 1);
        let token = &text[start..end];
        if !continues_name(token) || ends_sentence(token, starts.is_empty()) {
            break;
        }
        if begins_name(token) {
            starts.push(start);
        }
        if start == 0 {
            break;
        }
        end = text[..start].trim_end().len();
    }
    starts.reverse();
    starts
}

/// Whether names cannot go on after this word. The last word may have a full stop, as in `et al.`
fn ends_sentence(token: &str, last: bool) -> bool {
    let word = token.trim_end_matches('.');
    let stop = token.ends_with(['.', ';', ':', '?', '!', ')', '”', '"']);
    let abbreviation =
        word.chars().count() <= 2 || word.contains('.') || matches!(word, "al" | "Jr" | "Sr");
    stop && !abbreviation && !(last && token.ends_with('.'))
}

/// The single names of `Doe, Roe, & Poe`, `Doe et al.` or an organisation.
pub(super) fn parse(text: &str) -> Option<Names> {
    let text = text.trim().trim_matches(['"', '“', '”', '‘', ',']).trim();
    let text = text.strip_suffix("'s").or_else(|| text.strip_suffix("’s")).unwrap_or(text);
    let lower = text.to_lowercase();
    let ends = ["et al.", "et al", "and colleagues", "and others", "u. a.", "& others", "et al.,"];
    let cut = ends.iter().find_map(|end| lower.strip_suffix(end)).map(str::len);
    let people = cut.and_then(|cut| text.get(..cut)).unwrap_or(text);
    let joined = [" & ", " and ", " und ", " et ", " y "]
        .iter()
        .fold(people.to_owned(), |text, word| text.replace(word, ","));
    let list: Vec<String> = joined
        .split(',')
        .map(|name| {
            without_initials(name.trim().trim_start_matches("& ").trim_start_matches("and "))
        })
        .filter(|name| name.chars().any(char::is_alphabetic))
        .map(str::to_owned)
        .take(20)
        .collect();
    (!list.is_empty()).then(|| Names {
        whole: people.trim().trim_end_matches(',').to_owned(),
        list,
        et_al: cut.is_some(),
        acronym: None,
        length: 0,
    })
}

/// `J. Doe` and `Doe J.` without the initials.
fn without_initials(name: &str) -> &str {
    let mut rest = name;
    while let Some((first, after)) = rest.split_once(' ') {
        let initial = first.ends_with('.')
            && first.chars().count() <= 4
            && !first.starts_with("St.")
            && !first.starts_with("U.");
        if !initial {
            break;
        }
        rest = after.trim_start();
    }
    if rest.ends_with('.') && rest.chars().count() <= 3 { "" } else { rest }
}

/// The words of a text, with where each begins.
pub(super) fn words(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut at = 0;
    for word in text.split(' ') {
        if !word.is_empty() {
            words.push((at, word));
        }
        at += word.len() + 1;
    }
    words
}
