//! Sentences by a language model. One stays only if the quotes behind the claims that it names support it.

use std::collections::BTreeSet;
use std::mem;

use language::similarity::support;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::claims::{Claim, LEAST_SUPPORT, finish};
use super::{Draft, Method};
use crate::writer::{fitting, line};
use notes::facts::Facts;
use notes::stems::Vocabulary;

/// The prompt that asks for a section.
pub(super) const PROMPT: &str = "write";

/// The most notes that a model is shown, and sentences that it writes, of one section.
const MAX_NOTES: usize = 100;
const MAX_SENTENCES: usize = 20;
const MAX_LEAD: usize = 4;
const MAX_TEXT: usize = 800;

/// What a model answers.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(super) struct Answer {
    sentences: Vec<Sentence>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Sentence {
    text: String,
    /// The ids of notes.
    notes: Vec<String>,
}

/// A part of the report that a model is asked to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Section(usize),
    /// Written last, from the sentences of the sections.
    Lead,
}

impl Draft<'_> {
    /// The sections that claims were found for.
    pub(super) fn parts(&self) -> Vec<Part> {
        let sections = 0..self.request.outline.sections.len();
        sections.map(Part::Section).filter(|part| !self.shown(*part).is_empty()).collect()
    }

    /// What the prompt is given to write a part.
    pub(super) fn arguments(&self, part: Part) -> Value {
        let outline = self.request.outline;
        let (heading, sentences) = match part {
            Part::Section(section) => (outline.sections[section].heading.as_str(), MAX_SENTENCES),
            Part::Lead => (self.phrases.lead, MAX_LEAD),
        };
        let questions: Vec<&str> = self
            .asked
            .iter()
            .filter(|asked| part == Part::Section(asked.section))
            .map(|asked| asked.text)
            .collect();
        let notes: Vec<Value> = self
            .shown(part)
            .iter()
            .map(|index| json!({"id": id(*index), "text": self.collected.claims[*index].text}))
            .collect();
        json!({
            "title": outline.title,
            "heading": heading,
            "questions": questions,
            "notes": notes,
            "max_sentences": sentences,
        })
    }

    /// The claims that a model writes a part from.
    fn shown(&self, part: Part) -> Vec<usize> {
        let claims = &self.collected.claims;
        let chosen: Vec<usize> = match part {
            Part::Section(section) => {
                let within = |claim: &Claim| {
                    claim.questions.iter().any(|at| self.asked[*at].section == section)
                };
                (0..claims.len()).filter(|index| within(&claims[*index])).collect()
            }
            Part::Lead => self.arranged.questions.iter().flatten().copied().collect(),
        };
        let most = &chosen[..chosen.len().min(MAX_NOTES)];
        let fit = fitting(most.iter().map(|index| claims[*index].text.as_str()));
        most[..fit].to_vec()
    }

    /// Puts the sentences of a model in the place of a part; false if none of them is supported.
    pub(super) fn write(&mut self, part: Part, answer: &Answer) -> bool {
        let shown: BTreeSet<usize> = self.shown(part).into_iter().collect();
        let most = if part == Part::Lead { MAX_LEAD } else { MAX_SENTENCES };
        let (mut written, mut dropped) = (Vec::new(), 0);
        let empty = Vocabulary::new(self.collected.vocabulary.language());
        let mut vocabulary = mem::replace(&mut self.collected.vocabulary, empty);
        for sentence in answer.sentences.iter().take(most) {
            match self.claim(sentence, &shown, &mut vocabulary) {
                Some(claim) => written.push(claim),
                None => dropped += 1,
            }
        }
        self.collected.vocabulary = vocabulary;
        self.collected.dropped += dropped;
        if written.is_empty() {
            return false;
        }
        self.method = Method::Model;
        let first = self.collected.claims.len();
        let places: Vec<usize> = (first..first + written.len()).collect();
        self.collected.claims.extend(written);
        match part {
            Part::Lead => self.arranged.lead = places,
            Part::Section(section) => {
                let own = (0..self.asked.len()).filter(|at| self.asked[*at].section == section);
                let own: Vec<usize> = own.collect();
                for question in &own {
                    self.arranged.questions[*question].clear();
                }
                if let Some(question) = own.first() {
                    self.arranged.questions[*question] = places;
                }
            }
        }
        true
    }

    /// A sentence as a claim with the sources and quotes of the claims that it was written from.
    fn claim(
        &self,
        sentence: &Sentence,
        shown: &BTreeSet<usize>,
        vocabulary: &mut Vocabulary,
    ) -> Option<Claim> {
        let text = line(&sentence.text, MAX_TEXT)?;
        let claims = &self.collected.claims;
        let named = shown.iter().filter(|index| sentence.notes.contains(&id(**index)));
        let named: Vec<&Claim> = named.map(|index| &claims[*index]).collect();
        let mut seen = BTreeSet::new();
        let all = named.iter().flat_map(|claim| claim.sources.iter().copied());
        let sources: Vec<usize> = all.filter(|source| seen.insert(*source)).collect();
        let quotes: Vec<String> = named.iter().flat_map(|claim| claim.quotes.clone()).collect();
        if sources.is_empty() || support(&text, &quotes.join("\n\n")) < LEAST_SUPPORT {
            return None;
        }
        let questions: BTreeSet<usize> =
            named.iter().flat_map(|claim| claim.questions.iter().copied()).collect();
        Some(Claim {
            stems: vocabulary.read(&text),
            facts: Facts::read(&text, vocabulary),
            text: finish(&text),
            sources,
            quotes,
            answers: questions.clone(),
            questions,
            disputes: BTreeSet::new(),
            general: false,
        })
    }
}

fn id(index: usize) -> String {
    format!("n{}", index + 1)
}
