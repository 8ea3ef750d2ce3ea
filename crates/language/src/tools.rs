//! How a request finds its tools among thousands.
//!
//! Three looks at every tool are weighed: its **words** (BM25 over the fields of a tool, with words of one concept
//! standing for one another), its **spelling** (groups of four letters, for typing errors and compounds), and, where a
//! model is given, its **meaning**. A request for several things is also judged clause by clause, so that the second
//! wish finds its tool although the first is longer.

mod blend;
mod lexical;
mod meaning;
mod postings;
mod query;
mod spelling;

use std::sync::Arc;

use crate::model::StaticModel;
use lexical::Lexical;
use meaning::Meaning;
use query::Query;
use spelling::Spelling;

/// How much spelling counts beside words, which count one.
const SPELLING: f32 = 0.2;
/// How much meaning counts beside words and spelling.
const MEANING: f32 = 0.7;
/// How far use history can lift a tool: by a quarter of its score.
const HISTORY: f32 = 0.25;

/// What can be read about a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolText<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// The title for people, if any.
    pub title: &'a str,
    /// What the tool says of itself.
    pub description: &'a str,
    /// The name and the description of each parameter.
    pub parameters: &'a [(&'a str, &'a str)],
}

/// A request for tools.
#[derive(Clone, Copy, Default)]
pub struct Ask<'a> {
    /// What is wanted, in anybody's words.
    pub query: &'a str,
    /// How many tools to name at most.
    pub limit: usize,
    /// How much each tool is used, from 0 to 1, by its place; a tool without a number counts as unused.
    pub history: Option<&'a [f32]>,
    /// Which tools the asker may see, by their place.
    pub visible: Option<&'a dyn Fn(usize) -> bool>,
}

/// A tool that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The tool's place in what the index was built from.
    pub index: usize,
    /// How well it fits, comparable only within one answer.
    pub score: f32,
    /// What the score is made of.
    pub parts: Parts,
}

/// What a score is made of, each part from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Words in common, or words of one concept.
    pub words: f32,
    /// Letters in common.
    pub spelling: f32,
    /// Nearness in the model.
    pub meaning: f32,
    /// Use history, as given.
    pub history: f32,
}

/// Tools, ready to be found.
#[derive(Debug)]
pub struct ToolIndex {
    lexical: Lexical,
    spelling: Spelling,
    meaning: Option<Meaning>,
    tools: usize,
}

impl ToolIndex {
    /// Reads all tools; the same tools make the same index.
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
        self.find(&Ask { query, limit, ..Ask::default() })
    }

    /// The tools that fit a request best, among those that the asker may see.
    pub fn find(&self, ask: &Ask<'_>) -> Vec<Hit> {
        let query = Query::read(ask.query);
        let seen: Vec<usize> =
            (0..self.tools).filter(|&tool| ask.visible.is_none_or(|sees| sees(tool))).collect();
        if query.is_empty() || seen.is_empty() || ask.limit == 0 {
            return Vec::new();
        }
        let words = blend::clauses(self.lexical.score(&query), &seen);
        let spelling = blend::share_of_best(self.spelling.score(&query), &seen);
        let meaning = self.meaning.as_ref().map(|meaning| meaning.score(&query, &seen));

        let letters = |place: usize| words[place] + SPELLING * spelling[place];
        let best = (0..seen.len()).map(letters).fold(0.0, f32::max).max(f32::MIN_POSITIVE);
        let mut hits: Vec<Hit> = seen
            .iter()
            .enumerate()
            .map(|(place, &index)| {
                let parts = Parts {
                    words: words[place],
                    spelling: spelling[place],
                    meaning: meaning.as_ref().map_or(0.0, |meaning| meaning[place]),
                    history: ask
                        .history
                        .and_then(|history| history.get(index))
                        .map_or(0.0, |&used| share(used)),
                };
                // History lifts what fits; it never brings up what does not.
                let fit = letters(place) / best + MEANING * parts.meaning;
                Hit { index, score: fit * (1.0 + HISTORY * parts.history), parts }
            })
            .filter(|hit| hit.score > 0.0)
            .collect();
        let order = |a: &Hit, b: &Hit| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index));
        if hits.len() > ask.limit {
            hits.select_nth_unstable_by(ask.limit - 1, order);
            hits.truncate(ask.limit);
        }
        hits.sort_unstable_by(order);
        hits
    }
}

/// A number of the caller's, brought to 0 to 1.
fn share(number: f32) -> f32 {
    if number.is_nan() { 0.0 } else { number.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests;
