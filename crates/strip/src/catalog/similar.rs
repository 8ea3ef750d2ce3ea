//! The tools whose names are similar to one that no tool has.

use proto::ToolId;

/// A tool whose name is less similar is not suggested.
const LEAST: f64 = 0.75;

/// How many tools are suggested.
const MOST: usize = 3;

/// The ids most similar to a name, the best first.
pub(super) fn nearest<'a>(name: &str, ids: impl Iterator<Item = &'a ToolId>) -> Vec<&'a ToolId> {
    let asked = Name::of(name);
    let mut scored: Vec<_> = ids
        .map(|id| (asked.similarity(&Name::of(id.as_str())), id))
        .filter(|(score, _)| *score >= LEAST)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(MOST).map(|(_, id)| id).collect()
}

/// A name in lower case, the words separated by `_`.
struct Name {
    whole: String,
    /// The name without the server.
    bare: String,
}

impl Name {
    fn of(name: &str) -> Self {
        let bare = name.rsplit_once(':').or_else(|| name.rsplit_once("__"));
        Self { whole: normalize(name), bare: normalize(bare.map_or(name, |(_, bare)| bare)) }
    }

    /// From 0 to 1. A name with a missing or an additional word counts as similar, as does one with typing errors.
    fn similarity(&self, other: &Self) -> f64 {
        let edits = strsim::normalized_damerau_levenshtein;
        let whole = edits(&self.whole, &other.whole);
        let bare = edits(&self.bare, &other.bare).max(edits(&self.whole, &other.bare));
        whole.max(bare).max(shared_words(&self.bare, &other.bare))
    }
}

fn normalize(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

/// The share of words that two names have in common, if there are at least two of them.
fn shared_words(a: &str, b: &str) -> f64 {
    let words = |name: &str| name.split('_').map(str::to_owned).collect::<Vec<_>>();
    let (a, b) = (words(a), words(b));
    let shared = a.iter().filter(|word| b.contains(word)).count();
    if shared < 2 { 0.0 } else { 2.0 * shared as f64 / (a.len() + b.len()) as f64 }
}

#[cfg(test)]
mod tests;
