//! The words that we do not write: each has a plainer term, most of them in the glossary.

use std::path::Path;

/// In comments, messages, docs and names (also as a part of an identifier).
const WORDS: &[&str] = &[
    "anew",
    "anybody",
    "aught",
    "beside",
    "bidden",
    "bids",
    "bystander",
    "confirmation",
    "confirmations",
    "desk",
    "desks",
    "duel",
    "dwell",
    "dwells",
    "ear",
    "ears",
    "errand",
    "errands",
    "handed",
    "heard",
    "hearing",
    "hears",
    "heir",
    "hence",
    "herein",
    "hither",
    "jar",
    "lend",
    "lender",
    "lenders",
    "lends",
    "lent",
    "meant",
    "mend",
    "mended",
    "mends",
    "mouth",
    "naught",
    "neighbour",
    "neighbours",
    "nobody",
    "overhear",
    "owed",
    "owes",
    "pantry",
    "patience",
    "quarrel",
    "seat",
    "seated",
    "seats",
    "shelf",
    "somebody",
    "stands",
    "stood",
    "stranger",
    "strangers",
    "sums",
    "tells",
    "thereof",
    "thinker",
    "told",
    "tongue",
    "unheard",
    "unseen",
    "vain",
    "wanted",
    "wares",
    "whence",
    "whereby",
    "wherein",
    "whoever",
    "whom",
    "whomever",
    "wish",
    "wishes",
    "worthless",
];

/// Phrases in which a listed word has its usual meaning.
pub(crate) const ALLOWED: &[&str] = &[
    // Numbers that are added up, and stored names of older versions.
    "log_sum",
    "below_sum",
    "    arguments_sum ",
    "column arguments_sum",
    "column start_sum",
    "\"start_sum\"",
    // Names and values of other people.
    "sha256 sums",
    "\"jar\"",
    "alias = \"beside\"",
    "\"anybody\"",
    "\"nobody\"",
    // A prompt whose text is pinned.
    "the smallest change that mends it",
    // Text of documents that tests read.
    "the second paragraph stands apart",
    "hiddenslide unseen",
    "\"unseen\"",
];

/// Occurrences in a text, each with its line.
pub(crate) fn occurrences(text: &str) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut line = split_names(line);
        for phrase in ALLOWED {
            line = line.replace(phrase, "");
        }
        let words = line.split(|letter: char| !letter.is_ascii_alphabetic());
        let listed = words.filter_map(|word| WORDS.binary_search(&word).ok());
        found.extend(listed.map(|at| (number + 1, WORDS[at])));
        let mut names = line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        if names.any(is_sum) {
            found.push((number + 1, "sum, for a digest"));
        }
    }
    found
}

/// Whether a name calls what it holds a sum.
fn is_sum(name: &str) -> bool {
    name.ends_with("_sum") || name.starts_with("sum_of")
}

/// Whether a text has a phrase in which a listed word is allowed. A phrase of one bare word would switch that word off.
pub(crate) fn excuses(phrase: &str, text: &str) -> bool {
    WORDS.binary_search(&phrase).is_err()
        && text.lines().any(|line| split_names(line).contains(phrase))
}

/// The line in lower case, with the parts of `snake_case` and `CamelCase` names apart.
fn split_names(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut lower = false;
    for letter in line.chars() {
        if letter.is_ascii_uppercase() && lower {
            out.push(' ');
        }
        lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// Whether the file is text of ours: code, docs, scripts.
pub(crate) fn is_ours(path: &Path) -> bool {
    const KINDS: &[&str] =
        &["rs", "md", "py", "js", "mjs", "ts", "php", "css", "sql", "sh", "toml", "yaml", "yml"];
    let listed = path.extension().is_some_and(|kind| KINDS.iter().any(|known| kind == *known));
    // This list, the history of changes, and the stop words and other data of `language`.
    let excepted =
        ["house/words.rs", "words/stop.rs", "CHANGELOG.md"].iter().any(|name| path.ends_with(name));
    let script = path.parent().is_some_and(|folder| folder.ends_with("scripts"));
    (listed || script) && !excepted
}
