//! Notes on a question: the sentences of chunks that answer it best, each with its verbatim quote.

mod candidates;
pub mod definition;
pub mod facts;
mod injection;
pub mod intent;
mod note;
mod plain;
mod promotion;
pub mod quantity;
mod readable;
mod statement;
pub mod stems;
pub mod text;
mod verb;

use std::collections::{BTreeMap, HashMap, HashSet};

use language::prose::Language;
use language::ranking::Bm25;
use language::similarity::support;
use language::words::words;

use self::candidates::{Candidate, candidates};
use self::definition::definition;
use self::facts::{Facts, conflict};
pub use self::injection::is_injection;
use self::intent::{
    Intent, asked_stems, content_stems, content_words, language_of, stem_in, topic_stems,
};
pub use self::note::{Chunk, Note};
use self::promotion::is_advertisement;
use self::stems::{Stems, Vocabulary};

/// The most notes on one question.
pub const MAX_NOTES: usize = 8;

/// The best sentences that are compared with each other.
const COMPARED: usize = 200;

/// How much the kind of the answer counts against the words that it shares with the question.
const KIND: f64 = 0.9;

/// How much an early place in the chunk counts.
const EARLY: f64 = 0.08;

/// How much the rank of the chunk counts.
const CHUNK: f64 = 0.12;

/// By how much the score of a sentence is lowered that says something about the topic, but not what is asked.
const GENERAL: f64 = 0.4;

/// A sentence with less than this share of the best score answers another question.
const LEAST: f64 = 0.4;

/// The fewest stems of a sentence that names nothing of the topic.
const SHORT: usize = 8;

/// The fewest stems of such a sentence within a chunk that names all of the topic.
const SHORTER: usize = 5;

/// By how much each note of a source lowers the score of its further sentences.
const SAME_SOURCE: f64 = 0.88;

/// By how much the score of a sentence of an advertisement is lowered.
const ADVERTISED: f64 = 0.4;

/// By how much the score of a sentence in another language is lowered.
const FOREIGN: f64 = 0.35;

/// Nouns after `The` at the beginning of a sentence that refer to something named before.
const UNNAMED: [&str; 34] = [
    "answer",
    "authors",
    "campaign",
    "city",
    "data",
    "difference",
    "effect",
    "figure",
    "institute",
    "method",
    "numbers",
    "problem",
    "project",
    "reason",
    "report",
    "researchers",
    "result",
    "results",
    "scheme",
    "study",
    "survey",
    "team",
    "theory",
    "trial",
    "antworten",
    "autoren",
    "befragten",
    "ergebnisse",
    "forscher",
    "messung",
    "methode",
    "studie",
    "umfrage",
    "untersuchung",
];

/// The share of the topic's words that a chunk must have.
const TOPIC: f64 = 0.6;

/// By how much the share of a chunk is lowered that has some words of the topic, but no two that belong together.
const SCATTERED: f64 = 0.6;

/// The notes that answer a question, best first.
pub fn summarize(question: &str, chunks: &[Chunk]) -> Vec<Note> {
    let language = language_of(question, chunks.iter().map(|chunk| chunk.text.as_str()));
    let candidates = candidates(chunks, language);
    let asked = ParsedQuestion::new(question, language);
    let mut scored = score(&asked, chunks, &candidates);
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.truncate(COMPARED);
    let notes = choose(&candidates, &scored, language);
    let note = |index: usize| {
        let general = !asked.is_answered_by(&candidates[index]);
        Note { general, ..note(question, &candidates[index]) }
    };
    notes.into_iter().map(note).collect()
}

/// How long the common beginning of two words is if they belong together, as `Lastenrad` and `Lastenräder` do.
const SAME_START: usize = 5;

/// The chunks that name the topic. None do if it has several words and no chunk has two of them: `computed` alone is not about
/// quantum computing.
pub fn about_topic(chunks: Vec<Chunk>, topic: &str) -> Vec<Chunk> {
    let language = language_of(topic, chunks.iter().map(|chunk| chunk.text.as_str()));
    let about = topic_stems(topic, language);
    let named: Vec<usize> =
        chunks.iter().map(|chunk| named_words(&chunk.text, &about, language)).collect();
    let most = named.iter().copied().max().unwrap_or_default();
    if about.is_empty() || most < about.len().min(2) {
        return if about.is_empty() { chunks } else { Vec::new() };
    }
    let kept = chunks.into_iter().zip(named).filter(|(_, named)| *named > 0);
    kept.map(|(chunk, _)| chunk).collect()
}

/// How many words of the topic a text has, in any form, also within a longer word.
fn named_words(text: &str, about: &[String], language: Language) -> usize {
    let words: HashSet<String> = words(text).into_iter().collect();
    let start = |word: &str| word.chars().take(SAME_START).collect::<String>();
    let belongs = |word: &str, stem: &str| {
        let long = stem.chars().nth(SAME_START - 1).is_some();
        stem_in(word, language) == stem
            || (long && (start(word) == start(stem) || word.contains(stem)))
    };
    about.iter().filter(|stem| words.iter().any(|word| belongs(word, stem))).count()
}

/// A question, its intent and its words.
struct ParsedQuestion {
    intent: Intent,
    language: Option<Language>,
    stems: Vec<String>,
    about: Vec<String>,
}

impl ParsedQuestion {
    fn new(question: &str, language: Language) -> Self {
        Self {
            intent: Intent::of(question, language),
            language: Language::detect(question),
            stems: asked_stems(question, language),
            about: topic_stems(question, language),
        }
    }

    fn names_topic(&self, candidate: &Candidate<'_>) -> bool {
        self.about.iter().all(|stem| candidate.stems.contains(stem))
    }

    /// Whether a sentence gives the kind of answer that is asked for.
    fn is_answered_by(&self, candidate: &Candidate<'_>) -> bool {
        let names_topic = self.names_topic(candidate);
        self.intent.is_answer(&candidate.text, &candidate.stems, names_topic)
    }
}

/// The score of each candidate that is about the question's topic and gives the kind of answer that is asked for.
fn score(
    asked: &ParsedQuestion,
    chunks: &[Chunk],
    candidates: &[Candidate<'_>],
) -> Vec<(usize, f64)> {
    let ParsedQuestion { intent, about, .. } = asked;
    let words = Words::count(&asked.stems, candidates);
    let on_topic = on_topic(about, chunks, intent.language());
    let advertised: HashSet<&str> = chunks
        .iter()
        .filter(|chunk| is_advertisement(&chunk.text))
        .map(|chunk| chunk.id.as_str())
        .collect();
    let rank: HashMap<&str, f64> = chunks
        .iter()
        .enumerate()
        .map(|(at, chunk)| (chunk.id.as_str(), 1.0 - at as f64 / chunks.len() as f64))
        .collect();
    let most = candidates
        .iter()
        .map(|candidate| words.weight(candidate))
        .fold(f64::MIN_POSITIVE, f64::max);
    candidates
        .iter()
        .enumerate()
        .filter_map(|(index, candidate)| {
            let chunk = on_topic.get(candidate.chunk.id.as_str())?;
            let shares = candidate.stems.iter().filter(|stem| about.contains(stem)).count();
            let names_topic = asked.names_topic(candidate);
            let general = !asked.is_answered_by(candidate);
            let advertised = advertised.contains(candidate.chunk.id.as_str());
            if general && (advertised || !names_topic) {
                return None;
            }
            let kind = intent.fit(&candidate.text, &candidate.stems);
            // A sentence that names nothing of the topic must at least look like an answer.
            let (least, words_of_its_own) =
                if *chunk < 1.0 { (0.6, SHORT) } else { (0.3, SHORTER) };
            if shares == 0 && (kind < least || candidate.stems.len() < words_of_its_own) {
                return None;
            }
            let score = words.weight(candidate) / most
                + KIND * kind
                + EARLY / (1.0 + candidate.position as f64 / 3.0)
                + CHUNK * rank.get(candidate.chunk.id.as_str()).copied().unwrap_or_default();
            let foreign = asked.language.is_some() && is_foreign(&candidate.text, asked.language);
            let language = if foreign { FOREIGN } else { 1.0 };
            let defines = || definition(&candidate.text, about, intent.language()).is_some();
            let general = if general && !defines() { GENERAL } else { 1.0 };
            let advertised = if advertised { ADVERTISED } else { 1.0 };
            Some((index, score * shape(&candidate.text) * language * general * advertised * chunk))
        })
        .collect()
}

/// The chunks that have enough of the topic's words: by id, their share of what the best chunk has.
fn on_topic<'a>(
    about: &[String],
    chunks: &'a [Chunk],
    language: Language,
) -> HashMap<&'a str, f64> {
    let shares = |chunk: &Chunk| {
        let stems: HashSet<String> = content_stems(&chunk.text, language).into_iter().collect();
        about.iter().filter(|stem| stems.contains(*stem)).count() as f64
    };
    let shared: Vec<f64> = chunks.iter().map(shares).collect();
    // Long questions have words that no chunk has: the best chunk is the measure.
    let best = shared.iter().copied().fold(1.0, f64::max);
    let least = (best * TOPIC).max(1.0);
    let chosen = chunks.iter().zip(shared).filter(|(_, shared)| *shared >= least);
    chosen
        .map(|(chunk, shared)| {
            let scattered = shared < best && !has_pair(&chunk.text, about, language);
            let factor = if scattered { SCATTERED } else { 1.0 };
            (chunk.id.as_str(), shared / best * factor)
        })
        .collect()
}

/// Whether a text has two words of the topic next to each other, as the topic has them: `heat island`.
fn has_pair(text: &str, about: &[String], language: Language) -> bool {
    let stems = content_words(text, language);
    stems.windows(2).any(|pair| about.windows(2).any(|own| pair == own))
}

/// BM25 over sentences.
struct Words {
    /// How rare each stem of the question is.
    rarity: BTreeMap<String, f64>,
    average: f64,
}

impl Words {
    fn count(question: &[String], candidates: &[Candidate<'_>]) -> Self {
        let mut holders: BTreeMap<String, u64> =
            question.iter().map(|stem| (stem.clone(), 0)).collect();
        let mut length = 0;
        for candidate in candidates {
            length += candidate.stems.len();
            for stem in &candidate.stems {
                if let Some(count) = holders.get_mut(stem) {
                    *count += 1;
                }
            }
        }
        let all = candidates.len() as u64;
        let rarity = |count| Bm25::default().idf(all, count);
        Self {
            rarity: holders.into_iter().map(|(stem, count)| (stem, rarity(count))).collect(),
            average: length as f64 / candidates.len().max(1) as f64,
        }
    }

    fn weight(&self, candidate: &Candidate<'_>) -> f64 {
        let length = candidate.stems.len() as f64;
        let once = Bm25::default().weight(1.0, length, self.average);
        candidate
            .stems
            .iter()
            .filter_map(|stem| self.rarity.get(stem))
            .map(|rare| rare * once)
            .sum()
    }
}

/// Whether a sentence is certainly in another language than the question.
fn is_foreign(text: &str, asked: Option<Language>) -> bool {
    text.split_whitespace().nth(5).is_some()
        && Language::detect(text).is_some_and(|language| Some(language) != asked)
}

/// Lowers the score of sentences that read badly in a report.
fn shape(text: &str) -> f64 {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let mut factor = 1.0;
    if words.iter().any(|word| ["you", "your", "yours"].contains(word)) {
        factor *= 0.6;
    }
    if words.iter().any(|word| ["we", "our", "us"].contains(word)) {
        factor *= 0.7;
    }
    if words.iter().any(|word| ["i", "my", "me"].contains(word)) {
        factor *= 0.5;
    }
    // `Without such support`, but not `cities such as Basel`.
    if words.windows(2).any(|pair| pair[0] == "such" && pair[1] != "as") {
        factor *= 0.5;
    }
    // `The study found …`: which one only the citation says.
    let definite = words.first().is_some_and(|word| ["the", "der", "die", "das"].contains(word));
    if definite && words.get(1).is_some_and(|word| UNNAMED.contains(word)) {
        // Of a study that the text has named before; `the study of 362 cases` names it.
        let named = words.get(2).is_some_and(|word| ["of", "by", "on", "from"].contains(word));
        factor *= if named { 0.6 } else { 0.25 };
    }
    if words.iter().any(|word| ["this", "these", "those", "here", "above"].contains(word)) {
        factor *= 0.75;
    }
    match words.len() {
        0..8 => factor * 0.5,
        8..36 => factor,
        36..46 => factor * 0.85,
        _ => factor * 0.65,
    }
}

/// The best candidates without near duplicates, spread over sources.
fn choose(candidates: &[Candidate<'_>], scored: &[(usize, f64)], language: Language) -> Vec<usize> {
    let mut vocabulary = Vocabulary::new(language);
    let stems: Vec<Stems> =
        scored.iter().map(|(index, _)| vocabulary.number(&candidates[*index].stems)).collect();
    let facts: Vec<Facts> = scored
        .iter()
        .map(|(index, _)| Facts::read(&candidates[*index].text, &mut vocabulary))
        .collect();
    let least = scored.first().map_or(0.0, |(_, best)| best * LEAST);
    let mut uses: HashMap<&str, i32> = HashMap::new();
    let mut likeness = vec![0.0_f64; scored.len()];
    let mut open: Vec<usize> = (0..scored.len()).collect();
    let mut chosen = Vec::new();
    while chosen.len() < MAX_NOTES {
        let value = |at: usize| {
            let (index, score) = scored[at];
            let used = uses.get(source(&candidates[index])).copied().unwrap_or_default();
            score * SAME_SOURCE.powi(used) * (1.0 - 0.5 * likeness[at])
        };
        let best =
            open.iter().copied().max_by(|a, b| value(*a).total_cmp(&value(*b)).then(b.cmp(a)));
        let Some(best) = best.filter(|best| value(*best) >= least) else { break };
        let index = scored[best].0;
        chosen.push(index);
        *uses.entry(source(&candidates[index])).or_default() += 1;
        let repeats = |at: usize| stems[at].repeats(&stems[best]) && facts[at].fit(&facts[best]);
        // An equal statement of another source supports it and is cited with it.
        let own = &candidates[index].chunk.source;
        let is_other = |at: usize| {
            let source = &candidates[scored[at].0].chunk.source;
            own.is_some() && source.is_some() && source != own
        };
        let other = open.iter().copied().find(|at| *at != best && repeats(*at) && is_other(*at));
        chosen.extend(other.map(|at| scored[at].0));
        // A statement that another source contradicts is noted with the contradiction.
        let denied = |at: usize| conflict(&facts[at], &facts[best]).is_some();
        let against = open.iter().copied().find(|at| *at != best && is_other(*at) && denied(*at));
        chosen.extend(against.map(|at| scored[at].0));
        open.retain(|at| *at != best && Some(*at) != against && !repeats(*at));
        for at in &open {
            likeness[*at] = likeness[*at].max(stems[*at].likeness(&stems[best]));
        }
    }
    chosen
}

fn source<'a>(candidate: &Candidate<'a>) -> &'a str {
    candidate.chunk.source.as_deref().unwrap_or(&candidate.chunk.id)
}

fn note(question: &str, candidate: &Candidate<'_>) -> Note {
    Note {
        text: candidate.text.clone(),
        chunk_id: candidate.chunk.id.clone(),
        quote: candidate.quote.to_owned(),
        offset: candidate.chunk.text[..candidate.start].chars().count(),
        support: support(&candidate.text, candidate.quote),
        question: Some(question.to_owned()),
        source: candidate.chunk.source.clone(),
        general: false,
    }
}

#[cfg(test)]
mod tests;
