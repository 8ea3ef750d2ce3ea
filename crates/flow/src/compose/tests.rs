use language::prose::Language;
use markup::Block;
use proptest::prelude::{any, proptest};

use super::*;
use crate::outline::{Outline, OutlineQuestion, OutlineSection};
use crate::perspectives::question_id;
use crate::source::Source;
use notes::Note;
use notes::facts::{Conflict, Facts, conflict};
use notes::stems::Vocabulary;

fn outline(sections: &[(&str, &[&str])]) -> Outline {
    let sections = sections.iter().map(|(heading, questions)| OutlineSection {
        id: (*heading).to_owned(),
        heading: (*heading).to_owned(),
        questions: questions
            .iter()
            .map(|text| OutlineQuestion { id: question_id(text), text: (*text).to_owned() })
            .collect(),
    });
    Outline { title: "Heat pumps".to_owned(), sections: sections.collect() }
}

fn note(question: &str, source: &str, text: &str) -> Note {
    Note {
        text: text.to_owned(),
        chunk_id: format!("{source}-0"),
        quote: text.to_owned(),
        offset: 0,
        support: 1.0,
        question: Some(question.to_owned()),
        source: Some(source.to_owned()),
        general: false,
    }
}

fn sources() -> Vec<Source> {
    let source = |id: &str, host: &str, author: &str, title: &str| Source {
        id: id.to_owned(),
        url: Some(format!("https://{host}/page")),
        title: Some(title.to_owned()),
        author: Some(author.to_owned()),
        site: Some("Site".to_owned()),
        published_at: Some("2024-05-03".to_owned()),
        ..Source::default()
    };
    vec![
        source("a", "www.one.example", "Jane Doe", "How heat pumps work"),
        source("b", "news.one.example", "John Roe and Ann Lee", "Bills"),
        source("c", "two.example", "Jane Doe", "Noise of heat pumps"),
        source("d", "doi.org", "", "A study"),
    ]
}

fn write(outline: &Outline, notes: &[Note], style: Style) -> Report {
    compose(Request { outline, notes, sources: &sources(), style, accessed: Some("2026-11-16") })
}

fn text(report: &Report) -> String {
    let blocks = report.document.sections.iter().flat_map(|section| &section.blocks);
    let lines = blocks.map(|block| match block {
        Block::Paragraph { text } | Block::Quote { text } => text.clone(),
        Block::List { items } => {
            items.iter().map(|item| format!("- {}", item.text)).collect::<Vec<_>>().join("\n")
        }
        other => format!("{other:?}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

const COST: &str = "What do heat pumps cost?";
const NOISE: &str = "How loud are heat pumps?";

#[test]
fn sentences_end_with_their_citations() {
    let outline = outline(&[("Costs", &[COST])]);
    let notes = [
        note(COST, "b", "Heat pumps cost more than boilers"),
        note(COST, "a", "Grants pay up to half of the *price* of a heat pump [sic]."),
    ];
    let report = write(&outline, &notes, Style::Numeric);
    let text = text(&report);
    assert!(text.contains("Heat pumps cost more than boilers ["), "{text}");
    assert!(text.contains("the \\*price\\* of a heat pump \\[sic\\] ["), "{text}");
    assert_eq!(report.claims, ClaimCounts { total: 2, supported: 2, dropped: 0 });
    let numbers: Vec<usize> = report.bibliography.iter().map(|entry| entry.index).collect();
    assert_eq!(numbers, [1, 2]);
    assert!(report.bibliography.iter().any(|entry| entry.text.contains("Bills")));
    assert_eq!(report.bibliography[0].accessed.as_deref(), Some("2026-11-16"));
    assert_eq!(report.document.references.len(), 2);
    let used: Vec<bool> = report.sources.iter().map(|source| source.used).collect();
    assert_eq!(used, [true, true, false, false]);
}

#[test]
fn styles_have_their_markers() {
    let outline = outline(&[("Costs", &[COST])]);
    let notes = [
        note(COST, "b", "Heat pumps cost more than boilers."),
        note(COST, "a", "Grants pay up to half of the price of a heat pump."),
        note(COST, "c", "Installers in towns ask for higher wages."),
        note(COST, "d", "Drilling makes ground-source systems expensive."),
    ];
    let apa = write(&outline, &notes, Style::Apa);
    let read = text(&apa);
    assert!(read.contains("boilers (Roe & Lee, 2024)."), "{read}");
    // Two works of Doe in one year.
    assert!(read.contains("(Doe, 2024, “How heat pumps work”)."), "{read}");
    assert!(read.contains("(“A study”, 2024)."), "{read}");
    assert!(
        apa.bibliography.is_sorted_by_key(|entry| entry.text.to_lowercase()),
        "{:?}",
        apa.bibliography
    );
    let mla = text(&write(&outline, &notes, Style::Mla));
    assert!(mla.contains("boilers (Roe and Lee)."), "{mla}");
}

#[test]
fn unsupported_claims_are_dropped_and_counted() {
    let outline = outline(&[("Costs", &[COST])]);
    let mut invented = note(COST, "a", "Heat pumps cost nothing in Norway.");
    invented.quote = "The weather was fine on Tuesday.".to_owned();
    let weak = Note { support: 0.2, ..note(COST, "a", "Heat pumps are cheap to run.") };
    let unknown = note(COST, "z", "Heat pumps are sold by plumbers.");
    let report = write(&outline, &[invented, weak, unknown], Style::Numeric);
    assert_eq!(report.claims, ClaimCounts { total: 2, supported: 0, dropped: 2 });
    assert!(report.bibliography.is_empty());
    assert!(text(&report).contains("No source that was read answers: What do heat pumps cost?"));
    assert_eq!(report.warnings.len(), 2, "{:?}", report.warnings);
}

#[test]
fn equal_statements_are_written_once_with_all_sources() {
    let outline = outline(&[("Costs", &[COST]), ("Noise", &[NOISE])]);
    let notes = [
        note(COST, "a", "Heat pumps cost more than boilers in most European countries."),
        note(NOISE, "c", "In most European countries heat pumps cost more than boilers."),
        note(NOISE, "b", "Heat pumps cost more than boilers in most European countries."),
    ];
    let report = write(&outline, &notes, Style::Numeric);
    let text = text(&report);
    assert_eq!(text.matches("boilers").count(), 1, "{text}");
    assert!(text.contains("[1][2][3]."), "{text}");
    // `a` and `b` are of one domain, `c` is of another.
    let corroborated: Vec<usize> = report.sources.iter().map(|one| one.corroborated).collect();
    assert_eq!(corroborated, [1, 1, 1, 0]);
    assert!(!text.contains("No source"), "{text}");
}

#[test]
fn contradictions_are_marked_and_stay_together() {
    let outline = outline(&[("Costs", &[COST]), ("Noise", &[NOISE])]);
    let notes = [
        note(COST, "a", "Heat pumps cut heating bills by 30 percent."),
        note(COST, "a", "Heat pumps need an electrician and a plumber."),
        note(NOISE, "c", "Heat pumps cut heating bills by only 5 percent."),
        note(NOISE, "c", "Heat pumps are as loud as a refrigerator."),
    ];
    let text = text(&write(&outline, &notes, Style::Numeric));
    let both = "by 30 percent (disputed) [1]. Heat pumps cut heating bills by only 5 percent (disputed) [2].";
    assert!(text.contains(both), "{text}");
}

#[test]
fn general_notes_lead_and_answer_no_question() {
    let outline = outline(&[("Costs", &[COST]), ("Noise", &[NOISE])]);
    let general = Note { general: true, ..note(NOISE, "c", "Heat pumps warm many old houses.") };
    let notes = [general, note(COST, "a", "Heat pumps cost 12,000 euros on average.")];
    let report = write(&outline, &notes, Style::Numeric);
    let lead = format!("{:?}", report.document.sections[0].blocks);
    assert!(lead.contains("warm many old houses"), "{lead}");
    let read = text(&report);
    assert!(read.contains(&format!("No source that was read answers: {NOISE}")), "{read}");
}

#[test]
fn an_answer_to_one_question_is_none_to_others_that_it_was_noted_for() {
    let outline = outline(&[("Costs", &[COST]), ("Noise", &[NOISE])]);
    let text_of_both = "Heat pumps cost 12,000 euros on average.";
    let general = Note { general: true, ..note(NOISE, "a", text_of_both) };
    let report = write(&outline, &[note(COST, "a", text_of_both), general], Style::Numeric);
    let read = text(&report);
    assert!(read.contains(&format!("No source that was read answers: {NOISE}")), "{read}");
}

#[test]
fn a_source_that_reports_both_sides_has_both_marked() {
    let outline = outline(&[("Costs", &[COST])]);
    let one = "Heat pumps cut the heating bills of old houses, a maker claims.";
    let other = "Heat pumps do not cut the heating bills of old houses, according to the ministry.";
    let notes = [note(COST, "a", one), note(COST, "a", other)];
    let read = text(&write(&outline, &notes, Style::Numeric));
    assert_eq!(read.matches("(disputed)").count(), 2, "{read}");
    let plain = [
        note(COST, "a", "Heat pumps cut the heating bills of old houses."),
        note(COST, "a", "Heat pumps do not cut the heating bills of old houses."),
    ];
    let read = text(&write(&outline, &plain, Style::Numeric));
    assert!(!read.contains("(disputed)"), "its own words are not reported claims: {read}");
}

#[test]
fn a_file_is_cited_without_its_folders() {
    let sources = [Source { id: "/home/ann/notes/pumps.txt".to_owned(), ..Source::default() }];
    let notes = [note(COST, &sources[0].id, "Heat pumps cost 12,000 euros on average.")];
    let outline = outline(&[("Costs", &[COST])]);
    for style in [Style::Numeric, Style::Apa, Style::Mla] {
        let report = compose(Request {
            outline: &outline,
            notes: &notes,
            sources: &sources,
            style,
            accessed: None,
        });
        let written = format!("{:?}", report.document);
        assert!(written.contains("pumps.txt") && !written.contains("/home"), "{written}");
    }
}

#[test]
fn conflicts_need_one_subject() {
    let check = |a: &str, b: &str| {
        let mut vocabulary = Vocabulary::new(Language::ENGLISH);
        let (a, b) = (Facts::read(a, &mut vocabulary), Facts::read(b, &mut vocabulary));
        conflict(&a, &b)
    };
    let numbers = [
        (
            "In a survey of 2,000 adults, 22 percent knew passkeys.",
            "In a survey of 2,000 adults, 57 percent knew passkeys.",
        ),
        (
            "The median cost of reef repair is about 400,000 US dollars per hectare.",
            "The median cost of reef repair is about 150,000 US dollars per hectare, according to an inventory.",
        ),
        (
            "Heat pumps cut bills by 30 percent.",
            "A survey found that heat pumps cut bills by only 6 percent.",
        ),
        (
            "The heat pump was invented by Rittinger in 1856.",
            "The heat pump was invented by Rittinger in 1840.",
        ),
        (
            "Statins reduce the risk of stroke by 20 percent.",
            "Statins lowered the risk of stroke by 5 percent in a later trial.",
        ),
    ];
    for (a, b) in numbers {
        assert_eq!(check(a, b), Some(Conflict::Numbers), "{a} {b}");
    }
    let fine = [
        (
            "Air-source heat pumps reach a factor of 3.",
            "Ground-source heat pumps reach a factor of 4.",
        ),
        ("Heat pumps cut bills by 30 percent.", "Heat pumps cut bills by 28 percent."),
        ("Heat pumps cut bills by up to 30 percent.", "Heat pumps cut bills by 6 percent."),
        (
            "In 2010 heat pumps had a market share of 5 percent.",
            "In 2020 heat pumps had a market share of 25 percent.",
        ),
        (
            "Heat pumps cut bills by 30 percent in Norway.",
            "Heat pumps cut bills by 6 percent in Poland.",
        ),
        ("Heat pumps cut bills by 2 to 8 percent.", "Heat pumps cut bills by 6 percent."),
        ("Heat pumps are loud.", "Boilers are not loud."),
    ];
    for (a, b) in fine {
        assert_eq!(check(a, b), None, "{a} {b}");
    }
    assert_eq!(
        check("Coffee raises blood pressure in adults.", "Coffee lowers blood pressure in adults."),
        Some(Conflict::Direction)
    );
    assert_eq!(
        check(
            "Vitamin C prevents common colds in healthy adults.",
            "Vitamin C does not prevent common colds in healthy adults."
        ),
        Some(Conflict::Negation)
    );
}

#[test]
fn an_edited_outline_decides() {
    let mut edited = outline(&[("Noise", &[NOISE])]);
    edited.sections[0].questions[0].text = "Are they loud?".to_owned();
    let notes = [
        note(COST, "a", "Heat pumps cost more than boilers."),
        note(NOISE, "c", "Heat pumps are as loud as a refrigerator."),
    ];
    let report = write(&edited, &notes, Style::Numeric);
    let text = text(&report);
    assert!(text.contains("refrigerator [1]") && !text.contains("boilers"), "{text}");
    assert_eq!(report.claims.total, 1);
    let free = Note { question: None, ..notes[1].clone() };
    assert!(write(&outline(&[("Noise", &[NOISE])]), &[free], Style::Numeric).claims.supported == 1);
}

#[test]
fn an_empty_report_is_honest() {
    let report = write(&outline(&[("Costs", &[COST, NOISE])]), &[], Style::Numeric);
    assert_eq!(report.claims, ClaimCounts::default());
    assert!(text(&report).contains("- What do heat pumps cost?\n- How loud are heat pumps?"));
    assert!(!report.warnings.is_empty());
    let report = write(&Outline::default(), &[note(COST, "a", "Heat pumps are loud.")], Style::Apa);
    assert_eq!(report.claims.supported, 0);
}

#[test]
fn paragraphs_have_three_to_five_sentences() {
    use super::arrange::paragraphs;
    let sizes = |lists: &[&[usize]]| -> Vec<usize> {
        paragraphs(lists, |_, _| false).iter().map(Vec::len).collect()
    };
    assert_eq!(sizes(&[&[1, 2, 3], &[4, 5, 6]]), [3, 3]);
    assert_eq!(sizes(&[&[1], &[2, 3], &[4]]), [4]);
    assert_eq!(sizes(&[&[1, 2, 3, 4, 5, 6, 7]]), [4, 3]);
    assert_eq!(sizes(&[&[], &[]]), Vec::<usize>::new());
    assert_eq!(sizes(&[&[1, 2], &[3, 4, 5, 6, 7]]), [2, 5]);
    let together = paragraphs(&[&[1, 2, 3, 4, 5, 6, 7]], |a, b| (a, b) == (4, 5));
    assert_eq!(together, [vec![1, 2, 3, 4, 5], vec![6, 7]], "what belongs together is not cut");
}

#[test]
fn thousands_of_notes_take_little_time() {
    let outline = outline(&[("Costs", &[COST]), ("Noise", &[NOISE])]);
    let notes: Vec<Note> = (0..10_000)
        .map(|at| {
            note(
                [COST, NOISE][at % 2],
                ["a", "b", "c"][at % 3],
                &format!("Heat pump {at} costs {at} euros in town {at}."),
            )
        })
        .collect();
    let report = write(&outline, &notes, Style::Numeric);
    assert!(
        report.warnings.iter().any(|warning| warning.contains("beyond the first")),
        "{:?}",
        report.warnings
    );
}

proptest! {
    #[test]
    fn any_notes_make_a_report(texts in proptest::collection::vec(any::<String>(), 0..12), style in 0..3usize) {
        let outline = outline(&[("Costs", &[COST]), ("Noise", &[NOISE])]);
        let notes: Vec<Note> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| note([COST, NOISE][at % 2], ["a", "b", "c", "d"][at % 4], text))
            .collect();
        let style = [Style::Numeric, Style::Apa, Style::Mla][style];
        let report = write(&outline, &notes, style);
        assert_eq!(report.claims.total, report.claims.supported + report.claims.dropped);
        assert_eq!(report.bibliography.len(), report.sources.iter().filter(|source| source.used).count());
        assert_eq!(write(&outline, &notes, style), report);
    }
}
