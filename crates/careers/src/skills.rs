//! Finds skills in the text of a job or a résumé: what one does ("automate processes") and what one knows ("Java").
//!
//! A linear-chain conditional random field labels the words of each sentence. Its features are term lists, word classes
//! and the words around; its weights are learned by `examples/train_skills.rs`.

pub mod features;
pub mod hasher;
mod lexicon;
pub mod model;
mod synonyms;
pub mod tokens;

use features::Sentence;
use model::{Label, Model};
use tokens::Token;

pub use lexicon::{Lexicon, TermKind};
pub use synonyms::synonyms;

/// Only this many words of one sentence are labelled together.
const MAX_SENTENCE_TOKENS: usize = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpanKind {
    /// What one does.
    Skill,
    /// What one knows.
    Knowledge,
}

/// A skill in a text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkillSpan {
    pub kind: SpanKind,
    pub start: usize,
    pub end: usize,
}

/// The skills of a text, in order, none within another of its kind.
pub fn skill_spans(text: &str) -> Vec<SkillSpan> {
    let model = Model::shipped();
    let mut spans = Vec::new();
    for sentence in tokens::sentences(text) {
        for part in sentence.chunks(MAX_SENTENCE_TOKENS) {
            let sentence = Sentence::new(text, part.to_vec());
            let labels = model.label(&sentence.features(), &sentence.breaks());
            collect(&sentence.tokens, &labels, &mut spans);
        }
    }
    spans
}

/// The terms of the lists in a text, whatever its language: for texts that the model was not trained on.
pub fn listed_terms(text: &str) -> Vec<SkillSpan> {
    let mut spans = Vec::new();
    for sentence in tokens::sentences(text) {
        for part in sentence.chunks(MAX_SENTENCE_TOKENS) {
            let sentence = Sentence::new(text, part.to_vec());
            spans.extend(sentence.listed().map(|(start, end, kind)| {
                let kind = match kind {
                    TermKind::Trait => SpanKind::Skill,
                    TermKind::Knowledge | TermKind::Esco => SpanKind::Knowledge,
                };
                SkillSpan { kind, start, end }
            }));
        }
    }
    spans
}

/// Joins labelled words into spans.
fn collect(tokens: &[Token], labels: &[Label], spans: &mut Vec<SkillSpan>) {
    let mut open: Option<SkillSpan> = None;
    for (token, label) in tokens.iter().zip(labels) {
        let (kind, begins) = match label {
            Label::Outside => {
                spans.extend(open.take());
                continue;
            }
            Label::BeginSkill => (SpanKind::Skill, true),
            Label::InSkill => (SpanKind::Skill, false),
            Label::BeginKnowledge => (SpanKind::Knowledge, true),
            Label::InKnowledge => (SpanKind::Knowledge, false),
        };
        match &mut open {
            Some(span) if !begins && span.kind == kind => span.end = token.end,
            _ => {
                spans.extend(open.take());
                open = Some(SkillSpan { kind, start: token.start, end: token.end });
            }
        }
    }
    spans.extend(open);
}

#[cfg(test)]
mod tests;
