//! Search for tools by a request.
//!
//! A score combines **words** (BM25 over the fields of a tool, words of one concept being equivalent), **spelling**
//! (character 4-grams, for typing errors and compounds) and, with a model, **meaning**. A request for several things is
//! also scored clause by clause, so that a short clause finds its tool next to a long one.

mod blend;
mod lexical;
mod meaning;
mod query;
mod spelling;
mod text;

use std::sync::Arc;

use crate::model::StaticModel;
use lexical::Lexical;
use meaning::Meaning;
use query::Query;
use spelling::Spelling;

pub use text::ToolText;

/// The weight of spelling, relative to words.
const SPELLING: f32 = 0.2;
/// The weight of meaning, relative to words and spelling together.
const MEANING: f32 = 0.7;
/// The most that use history raises a score: by a quarter.
const HISTORY: f32 = 0.25;

/// A search for tools.
#[derive(Clone, Copy, Default)]
pub struct ToolSearch<'a> {
    /// The request in the user's own words.
    pub query: &'a str,
    /// The most hits to return.
    pub limit: usize,
    /// How much each tool is used, from 0 to 1, by index; a tool without a number counts as unused.
    pub history: Option<&'a [f32]>,
    /// Which tools the caller may see, by index.
    pub visible: Option<&'a dyn Fn(usize) -> bool>,
}

/// A tool that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The tool's index in the list that the index was built from.
    pub index: usize,
    /// Comparable only within one result.
    pub score: f32,
    /// The parts of the score.
    pub parts: Parts,
}

/// The parts of a score, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Words in common, or words of one concept.
    pub words: f32,
    /// Character 4-grams in common.
    pub spelling: f32,
    /// Similarity in the model.
    pub meaning: f32,
    /// Use history, as given.
    pub history: f32,
}

/// An index of tools.
#[derive(Debug)]
pub struct ToolIndex {
    lexical: Lexical,
    spelling: Spelling,
    meaning: Option<Meaning>,
    tools: usize,
}

impl ToolIndex {
    /// Builds the index; the same tools give the same index.
    pub fn build(tools: &[ToolText<'_>], model: Option<Arc<StaticModel>>) -> Self {
        Self {
            lexical: Lexical::build(tools),
            spelling: Spelling::build(tools),
            meaning: model.map(|model| Meaning::build(tools, model)),
            tools: tools.len(),
        }
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tools
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools == 0
    }

    /// The tools that fit a request best, best first.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        self.find(&ToolSearch { query, limit, ..ToolSearch::default() })
    }

    /// The tools that fit a request best, among those that the caller may see.
    pub fn find(&self, search: &ToolSearch<'_>) -> Vec<Hit> {
        let query = Query::read(search.query);
        let seen: Vec<usize> =
            (0..self.tools).filter(|&tool| search.visible.is_none_or(|sees| sees(tool))).collect();
        if query.is_empty() || seen.is_empty() || search.limit == 0 {
            return Vec::new();
        }
        let words = blend::clauses(self.lexical.score(&query), &seen);
        let spelling = blend::share_of_best(self.spelling.score(&query), &seen);
        let meaning = self.meaning.as_ref().map(|meaning| meaning.score(&query, &seen));

        let lexical = |at: usize| words[at] + SPELLING * spelling[at];
        let best = (0..seen.len()).map(lexical).fold(0.0, f32::max).max(f32::MIN_POSITIVE);
        let mut hits: Vec<Hit> = seen
            .iter()
            .enumerate()
            .map(|(at, &index)| {
                let parts = Parts {
                    words: words[at],
                    spelling: spelling[at],
                    meaning: meaning.as_ref().map_or(0.0, |meaning| meaning[at]),
                    history: search
                        .history
                        .and_then(|history| history.get(index))
                        .map_or(0.0, |&used| share(used)),
                };
                // History raises the score of a matching tool; it never makes a tool match.
                let fit = lexical(at) / best + MEANING * parts.meaning;
                Hit { index, score: fit * (1.0 + HISTORY * parts.history), parts }
            })
            .filter(|hit| hit.score > 0.0)
            .collect();
        let order = |a: &Hit, b: &Hit| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index));
        if hits.len() > search.limit {
            hits.select_nth_unstable_by(search.limit - 1, order);
            hits.truncate(search.limit);
        }
        hits.sort_unstable_by(order);
        hits
    }
}

/// Clamps a caller's number to 0 to 1.
fn share(number: f32) -> f32 {
    if number.is_nan() { 0.0 } else { number.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests;
