//! Character 4-grams, which misspelt words and compounds still have in common with a word.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::query::Query;
use super::text::ToolText;
use crate::ranking::Bm25;
use crate::ranking::postings::Postings;
use crate::words::{is_stop_word, words};

/// How much the length of a text reduces the weight of its 4-grams.
const LENGTH: Bm25 = Bm25 { k1: 1.2, b: 0.5 };

/// Four characters, the ends of a word marked.
type Group = [char; 4];

/// The 4-gram index of names, titles and descriptions.
#[derive(Debug)]
pub(super) struct Spelling {
    vocabulary: HashMap<Group, u32>,
    postings: Postings,
    tools: usize,
}

impl Spelling {
    pub(super) fn build(tools: &[ToolText<'_>]) -> Self {
        let mut vocabulary = HashMap::new();
        let counted: Vec<BTreeMap<u32, f32>> = tools
            .iter()
            .map(|tool| {
                let mut uses = BTreeMap::new();
                for word in [tool.name, tool.title, tool.description].into_iter().flat_map(words) {
                    if !is_stop_word(&word) {
                        for group in groups(&word) {
                            let next = vocabulary.len() as u32;
                            *uses.entry(*vocabulary.entry(group).or_insert(next)).or_default() +=
                                1.0;
                        }
                    }
                }
                uses
            })
            .collect();
        let length = |uses: &BTreeMap<u32, f32>| uses.values().sum::<f32>();
        let average = counted.iter().map(length).sum::<f32>() / tools.len().max(1) as f32;
        let average = average.max(f32::MIN_POSITIVE);
        let weighed: Vec<Vec<(u32, f32)>> = counted
            .into_iter()
            .map(|uses| {
                let scale = LENGTH.length_norm(length(&uses).into(), average.into()) as f32;
                uses.into_iter().map(|(group, uses)| (group, uses / scale)).collect()
            })
            .collect();
        let postings = Postings::build(&weighed, vocabulary.len());
        Self { vocabulary, postings, tools: tools.len() }
    }

    /// The sum of the weights of the request's distinct 4-grams for each tool.
    pub(super) fn score(&self, query: &Query<'_>) -> Vec<f32> {
        let mut scores = vec![0.0; self.tools];
        let mut done = HashSet::new();
        for group in query.words.iter().flat_map(|word| groups(word)) {
            if let Some(&group) = self.vocabulary.get(&group)
                && done.insert(group)
            {
                for entry in self.postings.of(group) {
                    scores[entry.text as usize] += entry.weight;
                }
            }
        }
        scores
    }
}

fn groups(word: &str) -> impl Iterator<Item = Group> {
    let marked: Vec<char> = std::iter::once('^').chain(word.chars()).chain(['$']).collect();
    let count = marked.len().saturating_sub(3).max(1);
    (0..count).map(move |at| std::array::from_fn(|i| marked.get(at + i).copied().unwrap_or('$')))
}
