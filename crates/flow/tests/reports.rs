//! Whole reports from three small corpora: what a person would complain about must not happen.

#[path = "reports/corpus.rs"]
mod corpus;

use std::collections::HashSet;

use flow::compose::{Report, Style};
use flow::perspectives::{Request, plan};
use markup::Block;

use corpus::{CORPORA, Corpus};

/// The paragraphs of claims; the note on the method and lines about missing answers are no claims.
fn paragraphs(report: &Report) -> Vec<String> {
    let blocks = report.document.sections.iter().flat_map(|section| &section.blocks);
    blocks
        .filter_map(|block| match block {
            Block::Paragraph { text } => Some(text.clone()),
            _ => None,
        })
        .collect()
}

/// The sentences of the report with their citations.
fn sentences(report: &Report) -> Vec<String> {
    let mut sentences = Vec::new();
    for paragraph in paragraphs(report) {
        let mut rest = paragraph.as_str();
        while let Some(at) = rest.find("].") {
            let (sentence, after) = rest.split_at(at + 2);
            sentences.push(sentence.trim().to_owned());
            rest = after;
        }
        assert!(rest.trim().is_empty(), "text without a citation: {rest}");
    }
    sentences
}

#[test]
fn every_sentence_is_cited_and_written_once() {
    for name in CORPORA {
        let corpus = Corpus::read(name);
        let report = corpus.report(Style::Numeric);
        let sentences = sentences(&report);
        assert!(sentences.len() >= 12, "{name}: {} sentences", sentences.len());
        assert_eq!(sentences.len(), report.claims.supported);
        let different: HashSet<&String> = sentences.iter().collect();
        assert_eq!(different.len(), sentences.len(), "{name}: a sentence is repeated");
        for sentence in &sentences {
            let citation = sentence.rfind(" [").expect("a citation");
            let cited = sentence[citation..].trim_matches([' ', '[', ']', '.']);
            for number in cited.split("][") {
                let index: usize = number.parse().expect("a number");
                assert_eq!(report.bibliography[index - 1].index, index);
            }
            assert!(
                sentence.starts_with(|c: char| c.is_uppercase() || c.is_numeric()),
                "{sentence}"
            );
        }
    }
}

#[test]
fn quotes_are_verbatim_at_their_offsets() {
    for name in CORPORA {
        let corpus = Corpus::read(name);
        for note in corpus.notes() {
            let chunk = corpus.chunk(&note.chunk_id);
            let from_offset: String = chunk.text.chars().skip(note.offset).collect();
            assert!(from_offset.starts_with(&note.quote), "{note:?}");
            assert!(note.support >= 0.5, "{note:?}");
        }
    }
}

#[test]
fn orders_advertisements_and_other_topics_stay_out() {
    let unwelcome = [
        "hotfix",
        "boiler today",
        "developer mode",
        "previous instructions",
        "fastedge first",
        "salt is harmless",
        "medication,",
        "useless",
        "cookie",
        "newsletter",
        "sign up",
        "sign in",
        "click here",
        "all rights",
        "locomotive",
        "rack railway",
        "buy our",
        "comment below",
        "figure 3",
        "[12]",
        "lind et al",
        "in this article",
    ];
    for name in CORPORA {
        let text = paragraphs(&Corpus::read(name).report(Style::Numeric)).join("\n").to_lowercase();
        for words in unwelcome {
            assert!(!text.contains(words), "{name}: `{words}` in\n{text}");
        }
    }
}

#[test]
fn no_sentence_depends_on_the_one_before() {
    let starts = [
        "It also",
        "This ",
        "These ",
        "They ",
        "However",
        "But ",
        "And ",
        "For example",
        "Such ",
        "We ",
        "He ",
        "Its ",
        "Therefore",
        "In this",
    ];
    for name in CORPORA {
        for sentence in sentences(&Corpus::read(name).report(Style::Numeric)) {
            assert!(!starts.iter().any(|start| sentence.starts_with(start)), "{sentence}");
        }
    }
}

#[test]
fn sources_that_contradict_each_other_are_both_cited_and_marked() {
    let text = paragraphs(&Corpus::read("heat-pumps").report(Style::Numeric)).join("\n");
    let disputed: Vec<&str> =
        text.split_inclusive("].").filter(|s| s.contains("(disputed)")).collect();
    assert!(disputed.iter().any(|sentence| sentence.contains("28 percent")), "{text}");
    assert!(disputed.iter().any(|sentence| sentence.contains("6 percent")), "{text}");
    let text = paragraphs(&Corpus::read("home-blood-pressure").report(Style::Numeric)).join("\n");
    let disputed: Vec<&str> =
        text.split_inclusive("].").filter(|s| s.contains("(disputed)")).collect();
    assert!(disputed.iter().any(|sentence| sentence.contains("3.5 mmHg")), "{text}");
    assert!(disputed.iter().any(|sentence| sentence.contains("0.8 mmHg")), "{text}");
}

#[test]
fn two_kinds_of_one_thing_do_not_contradict_each_other() {
    let text = paragraphs(&Corpus::read("heat-pumps").report(Style::Numeric)).join("\n");
    for sentence in text.split_inclusive("].").filter(|s| s.contains("(disputed)")) {
        assert!(!sentence.contains("performance factor"), "{sentence}");
        assert!(!sentence.contains("euros"), "{sentence}");
    }
}

#[test]
fn sections_answer_their_own_questions() {
    let report = Corpus::read("heat-pumps").report(Style::Numeric);
    let section = |heading: &str| {
        let section = report.document.sections.iter().find(|section| section.heading == heading);
        format!("{:?}", section.expect("a section").blocks)
    };
    assert!(section("History and origins").contains("1856"));
    assert!(section("Equity and people affected").contains("income"));
    let methods = section("Methods and measurement");
    assert!(methods.contains("meters"), "{methods}");
}

/// The sentences under a heading, or the lines that say that there are none.
fn section(report: &Report, heading: &str) -> String {
    let section = report.document.sections.iter().find(|section| section.heading == heading);
    let blocks = &section.unwrap_or_else(|| panic!("no section {heading}")).blocks;
    let lines = blocks.iter().map(|block| match block {
        Block::Paragraph { text } | Block::Quote { text } => text.clone(),
        other => format!("{other:?}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn each_sentence_fits_its_section() {
    let report = Corpus::read("passkeys").report(Style::Numeric);
    let history = section(&report, "History and origins");
    assert!(history.contains("2012") && history.contains("2019"), "{history}");
    for sentence in history.split_inclusive("].") {
        assert!(sentence.contains("20") || sentence.contains("1961"), "no event: {sentence}");
    }
    // Events come in the order of their years.
    assert!(history.find("2012") < history.find("2019"), "{history}");
    let equity = section(&report, "Equity and people affected");
    assert!(equity.contains("poor households"), "{equity}");
    assert!(!history.contains("No source"), "{history}");
}

#[test]
fn a_section_without_fitting_sentences_says_so() {
    let mut corpus = Corpus::empty("passkeys");
    for text in ["A passkey is a credential that replaces a password.", "Passkeys resist phishing."]
    {
        corpus.add(&format!("title: t\n\n{text} Websites store the public key of each passkey."));
    }
    let report = corpus.report(Style::Numeric);
    let history = section(&report, "History and origins");
    assert!(history.starts_with("No source that was read answers:"), "{history}");
}

#[test]
fn a_report_begins_with_a_definition_and_has_no_open_pronouns() {
    let report = Corpus::read("passkeys").report(Style::Numeric);
    let lead = section(&report, "In brief");
    assert!(lead.starts_with("A passkey is a cryptographic credential"), "{lead}");
    let text = paragraphs(&report).join("\n");
    for part in ["introduced them", "Half of them", "In 2014 it", "the same shop", "The survey was"]
    {
        assert!(!text.contains(part), "`{part}` in\n{text}");
    }
}

#[test]
fn short_claims_contradict_each_other_too() {
    let text = paragraphs(&Corpus::read("passkeys").report(Style::Numeric)).join("\n");
    for share in ["22 percent", "57 percent"] {
        let disputed =
            |sentence: &&str| sentence.contains(share) && sentence.contains("(disputed)");
        assert!(text.split_inclusive("].").any(|sentence| disputed(&sentence)), "{share}:\n{text}");
    }
}

#[test]
fn german_documents_give_a_german_report() {
    let report = Corpus::read("balkonkraftwerke").report(Style::Numeric);
    assert!(report.claims.supported >= 10, "{:?}", report.claims);
    let lead = section(&report, "Kurz gefasst");
    assert!(lead.starts_with("Ein Balkonkraftwerk ist eine kleine Solaranlage"), "{lead}");
    let history = section(&report, "Geschichte und Anfänge");
    assert!(history.contains("2003") && history.contains("2019"), "{history}");
    assert!(!history.contains("galten sie") && !history.contains("Brandgefahr"), "{history}");
    assert!(section(&report, "Methoden und Messung").contains("simuliert"));
    let text = paragraphs(&report).join("\n");
    for price in ["300 bis 700 Euro", "1.500 Euro"] {
        let disputed = |sentence: &str| sentence.contains(price) && sentence.contains("umstritten");
        assert!(text.split_inclusive("].").any(disputed), "{price}:\n{text}");
    }
    assert!(!text.contains("Tomaten"), "{text}");
}

#[test]
fn equal_input_gives_equal_bytes() {
    for style in [Style::Numeric, Style::Apa, Style::Mla] {
        let one = Corpus::read("http-caching").report(style);
        let two = Corpus::read("http-caching").report(style);
        assert_eq!(one, two);
    }
}

#[test]
fn keywords_of_the_documents_are_asked_about() {
    let corpus = Corpus::read("http-caching");
    let chunks = corpus.search("HTTP caching", 40);
    let request =
        |chunks| Request { topic: "HTTP caching", perspectives: &[], per_perspective: 3, chunks };
    let with = plan(request(&chunks));
    let without = plan(request(&[]));
    assert_eq!(with.questions.len(), without.questions.len());
    let new: Vec<&str> = with
        .questions
        .iter()
        .filter(|question| !without.questions.contains(question))
        .map(|question| question.text.as_str())
        .collect();
    assert!(!new.is_empty() && new.len() <= 4, "{new:#?}");
}
