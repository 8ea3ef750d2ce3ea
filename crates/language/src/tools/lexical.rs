//! BM25 over the fields of a tool.

use std::collections::{BTreeMap, HashMap};

use super::blend::Scores;
use super::query::Query;
use super::text::ToolText;
use crate::ranking::Bm25;
use crate::ranking::postings::Postings;
use crate::words::{is_stop_word, related_stems, stem, words};

/// The weight of a field's words, and how much the field's length reduces it.
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

/// The weight of a related word where tools use the requested word itself.
const RELATED: f32 = 0.3;
/// The weight of a related word where no tool uses the requested word.
const RELATED_TO_UNKNOWN: f32 = 0.8;

/// The word index.
#[derive(Debug)]
pub(super) struct Lexical {
    vocabulary: HashMap<Box<str>, u32>,
    postings: Postings,
    tools: usize,
}

/// How often each term occurs in each field of one tool.
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
                        // Stop words are indexed for requests of nothing else, and do not count for the length.
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
                    let Field { weight, length: b } = FIELDS[field];
                    let bm25 = Bm25 { b, ..Bm25::default() };
                    let norm = bm25.length_norm(length[field].into(), average[field].into());
                    weight / norm as f32
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

    /// The sum of the weights of the request's terms for each tool.
    pub(super) fn score(&self, query: &Query<'_>) -> Scores {
        let mut scores = Scores::zero(self.tools, query.clauses.len());
        let mut best = vec![0.0f32; self.tools];
        let mut touched: Vec<u32> = Vec::new();
        for (at, term) in query.terms.iter().enumerate() {
            for (term, share) in self.matches(term) {
                for entry in self.postings.of(term) {
                    let seen = &mut best[entry.text as usize];
                    if *seen == 0.0 {
                        touched.push(entry.text);
                    }
                    // Several words of one concept in a tool count once.
                    *seen = seen.max(entry.weight * share);
                }
            }
            let containing = query.clauses.iter().zip(&mut scores.clauses);
            let mut totals: Vec<&mut Vec<f32>> = containing
                .filter(|(clause, _)| clause.terms.contains(&at))
                .map(|(_, sum)| sum)
                .collect();
            totals.push(&mut scores.whole);
            for tool in touched.drain(..) {
                let tool = tool as usize;
                for sum in &mut totals {
                    sum[tool] += best[tool];
                }
                best[tool] = 0.0;
            }
        }
        scores
    }

    /// The catalog's terms that match a term of the request, with their weights.
    fn matches(&self, term: &str) -> Vec<(u32, f32)> {
        let own = self.vocabulary.get(term).copied();
        let related = related_stems(term)
            .iter()
            .filter_map(|related| self.vocabulary.get(related.as_str()).copied());
        let related = related.map(|related| match own {
            // A common word must not get the weight of a rare one.
            Some(own) => {
                let rarity = self.postings.rarity(own) / self.postings.rarity(related);
                (related, RELATED * rarity.min(1.0))
            }
            None => (related, RELATED_TO_UNKNOWN),
        });
        own.map(|own| (own, 1.0)).into_iter().chain(related).collect()
    }
}

fn fields<'a>(tool: &ToolText<'a>) -> impl Iterator<Item = (usize, &'a str)> {
    let parameters =
        tool.parameters.iter().flat_map(|&(name, description)| [(3, name), (4, description)]);
    [(0, tool.name), (1, tool.title), (2, tool.description)].into_iter().chain(parameters)
}

/// The number of a word's stem, cached because catalogs repeat their words.
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
