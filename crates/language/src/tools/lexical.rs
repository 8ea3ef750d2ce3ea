//! BM25 over the fields of a tool.

use std::collections::{BTreeMap, HashMap};

use super::ToolText;
use super::blend::Scores;
use super::postings::Postings;
use super::query::Query;
use crate::words::{is_stop_word, neighbours, stem, words};

/// A field of a tool: how much a word in it counts, and how much the field's length takes from that.
struct Field {
    weight: f32,
    length: f32,
}

/// Name, title, description, names of parameters, descriptions of parameters. The ranking hardly moves when these
/// change by half, which is why they are not settings.
const FIELDS: [Field; 5] = [
    Field { weight: 2.0, length: 0.3 },
    Field { weight: 1.0, length: 0.3 },
    Field { weight: 1.0, length: 0.6 },
    Field { weight: 0.5, length: 0.5 },
    Field { weight: 0.3, length: 0.5 },
];

/// What a word of the same concept counts where the tools do use the asker's own word.
const AKIN: f32 = 0.3;
/// What it counts where no tool uses the asker's word.
const AKIN_TO_UNKNOWN: f32 = 0.8;

/// Words to tools.
#[derive(Debug)]
pub(super) struct Lexical {
    vocabulary: HashMap<Box<str>, u32>,
    postings: Postings,
    tools: usize,
}

/// How often each term stands in each field of one tool.
type Uses = BTreeMap<u32, [f32; FIELDS.len()]>;

impl Lexical {
    pub(super) fn build(tools: &[ToolText<'_>]) -> Self {
        let mut vocabulary = HashMap::new();
        let mut stems = HashMap::new();
        let mut lengths = Vec::with_capacity(tools.len());
        let uses: Vec<Uses> = tools
            .iter()
            .map(|tool| {
                let mut uses = Uses::new();
                let mut length = [0.0; FIELDS.len()];
                for (field, text) in fields(tool) {
                    for word in words(text) {
                        // Stop words can be found by a request of nothing else, but make no field longer.
                        length[field] += f32::from(u8::from(!is_stop_word(&word)));
                        let term = term(word, &mut stems, &mut vocabulary);
                        uses.entry(term).or_default()[field] += 1.0;
                    }
                }
                lengths.push(length);
                uses
            })
            .collect();
        let average: [f32; FIELDS.len()] = std::array::from_fn(|field| {
            let sum: f32 = lengths.iter().map(|length| length[field]).sum();
            (sum / tools.len().max(1) as f32).max(f32::MIN_POSITIVE)
        });
        let weighed: Vec<Vec<(u32, f32)>> = uses
            .into_iter()
            .zip(&lengths)
            .map(|(uses, length)| {
                let scale: [f32; FIELDS.len()] = std::array::from_fn(|field| {
                    let Field { weight, length: share } = FIELDS[field];
                    weight / (1.0 - share + share * length[field] / average[field])
                });
                let weigh = |uses: [f32; FIELDS.len()]| {
                    uses.iter().zip(scale).map(|(uses, scale)| uses * scale).sum()
                };
                uses.into_iter().map(|(term, uses)| (term, weigh(uses))).collect()
            })
            .collect();
        let postings = Postings::build(&weighed, vocabulary.len());
        Self { vocabulary, postings, tools: tools.len() }
    }

    /// The sum of what each term of the request says for each tool.
    pub(super) fn score(&self, query: &Query<'_>) -> Scores {
        let mut scores = Scores::zero(self.tools, query.clauses.len());
        let mut best = vec![0.0f32; self.tools];
        let mut touched: Vec<u32> = Vec::new();
        for (place, term) in query.terms.iter().enumerate() {
            for (term, share) in self.readings(term) {
                for entry in self.postings.of(term) {
                    let seen = &mut best[entry.tool as usize];
                    if *seen == 0.0 {
                        touched.push(entry.tool);
                    }
                    // A tool that uses three words of one concept says the thing once.
                    *seen = seen.max(entry.weight * share);
                }
            }
            let holders = query.clauses.iter().zip(&mut scores.clauses);
            let mut sums: Vec<&mut Vec<f32>> = holders
                .filter(|(clause, _)| clause.terms.contains(&place))
                .map(|(_, sum)| sum)
                .collect();
            sums.push(&mut scores.whole);
            for tool in touched.drain(..) {
                let tool = tool as usize;
                for sum in &mut sums {
                    sum[tool] += best[tool];
                }
                best[tool] = 0.0;
            }
        }
        scores
    }

    /// The terms of the catalog that a term of the request may stand for, and how much each counts.
    fn readings(&self, term: &str) -> Vec<(u32, f32)> {
        let own = self.vocabulary.get(term).copied();
        let akin =
            neighbours(term).iter().filter_map(|akin| self.vocabulary.get(akin.as_str()).copied());
        let akin = akin.map(|akin| match own {
            // A rare word must not lend its weight to a common one.
            Some(own) => {
                let rarity = self.postings.rarity(own) / self.postings.rarity(akin);
                (akin, AKIN * rarity.min(1.0))
            }
            None => (akin, AKIN_TO_UNKNOWN),
        });
        own.map(|own| (own, 1.0)).into_iter().chain(akin).collect()
    }
}

fn fields<'a>(tool: &ToolText<'a>) -> impl Iterator<Item = (usize, &'a str)> {
    let parameters =
        tool.parameters.iter().flat_map(|&(name, description)| [(3, name), (4, description)]);
    [(0, tool.name), (1, tool.title), (2, tool.description)].into_iter().chain(parameters)
}

/// The number of a word's stem. Catalogs repeat their words, so each is stemmed once.
fn term(
    word: String,
    stems: &mut HashMap<String, u32>,
    vocabulary: &mut HashMap<Box<str>, u32>,
) -> u32 {
    if let Some(&term) = stems.get(&word) {
        return term;
    }
    let next = vocabulary.len() as u32;
    let term = *vocabulary.entry(stem(&word).into_boxed_str()).or_insert(next);
    stems.insert(word, term);
    term
}
