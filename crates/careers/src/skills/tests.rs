use proptest::prelude::*;

use super::model::{LABELS, Label, Model};
use super::tokens::tokens;
use super::{Lexicon, SkillSpan, SpanKind, TermKind, listed_terms, skill_spans, synonyms};

fn texts(text: &str, kind: SpanKind) -> Vec<&str> {
    let spans = skill_spans(text);
    spans.iter().filter(|span| span.kind == kind).map(|span| &text[span.start..span.end]).collect()
}

#[test]
fn knowledge_is_found_in_enumerations() {
    let text = "You have experience with Java, Spring Boot and PostgreSQL.";
    assert_eq!(texts(text, SpanKind::Knowledge), ["Java", "Spring Boot", "PostgreSQL"]);
}

#[test]
fn a_comma_ends_knowledge() {
    let spans = texts("Knowledge of Python, SQL", SpanKind::Knowledge);
    assert_eq!(spans, ["Python", "SQL"]);
}

#[test]
fn verb_phrases_are_skills() {
    let text = "You will design and maintain data pipelines for our customers.";
    let skills = texts(text, SpanKind::Skill);
    assert!(
        skills.iter().any(|skill| skill.starts_with("design and maintain data pipelines")),
        "{skills:?}"
    );
}

#[test]
fn sentences_without_skills_have_none() {
    assert_eq!(skill_spans("Our office is near the main station."), []);
}

#[test]
fn lists_are_read_in_any_language() {
    let text = "Sie beherrschen Kubernetes und maschinelles Lernen mit Python.";
    let spans: Vec<&str> =
        listed_terms(text).iter().map(|span| &text[span.start..span.end]).collect();
    assert_eq!(spans, ["Kubernetes", "Python"]);
}

#[test]
fn the_lexicon_knows_forms_of_verbs() {
    let lexicon = Lexicon::shipped();
    for gerund in ["managing", "planning", "developing", "using"] {
        assert!(lexicon.is_gerund(gerund), "{gerund}");
    }
    assert!(!lexicon.is_gerund("ing") && !lexicon.is_gerund("python"));
    assert_eq!(lexicon.kind("health and safety"), Some(TermKind::Knowledge));
    assert_eq!(lexicon.kind("teamwork"), Some(TermKind::Trait));
    let words: Vec<String> = ["machine", "learning", "models"].map(str::to_owned).to_vec();
    assert_eq!(lexicon.longest(&words), Some((2, TermKind::Knowledge)));
}

#[test]
fn skills_have_other_names() {
    assert_eq!(synonyms("Kubernetes"), ["k8s"]);
    assert!(synonyms("beekeeping").is_empty());
}

#[test]
fn signs_are_split_off_words() {
    let text = "(C++, .NET) and C#.";
    let words: Vec<&str> =
        tokens(text, 0).iter().map(|token| &text[token.start..token.end]).collect();
    assert_eq!(words, ["(", "C++", ".NET", ")", "and", "C#", "."]);
    let commas: Vec<bool> = tokens(text, 0).iter().map(|token| token.after_comma).collect();
    assert_eq!(commas, [false, false, true, false, false, false, false]);
}

#[test]
fn weights_survive_writing_and_reading() {
    let mut model = Model::default();
    model.transitions[0][1] = 0.5;
    model.features.insert(7, [1.0, -1.0, 0.0, 2.0, 0.25]);
    let read = Model::read(&model.write());
    assert_eq!(read.transitions[0][1], 0.5);
    assert_eq!(read.features[&7], [1.0, -1.0, 0.0, 2.0, 0.25]);
    assert_eq!(read.features.len(), 1);
    assert_eq!(Model::read(b"short").features.len(), 0);
}

#[test]
fn no_span_continues_what_has_not_begun() {
    let mut model = Model::default();
    // A feature that asks for the inside of knowledge from the first word on.
    model.features.insert(1, [0.0, 0.0, 0.0, 0.0, 9.0]);
    let labels = model.label(&[vec![1], vec![1]], &[false, false]);
    assert_eq!(labels, [Label::BeginKnowledge, Label::InKnowledge]);
    assert_eq!(LABELS, Label::ALL.len());
}

proptest! {
    #[test]
    fn spans_lie_within_the_text_in_order(text in "(?s)\\PC{0,200}|([a-zA-Z,.;()\n -]{0,300})") {
        let mut end = 0;
        for SkillSpan { start, end: stop, .. } in skill_spans(&text) {
            prop_assert!(start >= end && start < stop && stop <= text.len());
            prop_assert!(text.is_char_boundary(start) && text.is_char_boundary(stop));
            end = stop;
        }
    }
}
