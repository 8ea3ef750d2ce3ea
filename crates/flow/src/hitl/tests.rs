use proptest::prelude::{Strategy, any, proptest};
use proptest::{collection, prop_assert, prop_assert_eq};

use super::adopt::adopt;
use super::asked::rejection;
use super::changes::{Change, ChangeOp, changes};
use super::markdown::{MAX_QUESTIONS, parse, publish, render};
use super::merge::{MergedQuestion, Origin, merge};
use super::merge_tool::{list, new_headings, take_over};
use super::regroup::{Headings, regroup};
use crate::outline::{Outline, OutlineQuestion, OutlineSection};

fn section(id: &str, heading: &str, questions: &[(&str, &str)]) -> OutlineSection {
    let question = |(id, text): &(&str, &str)| OutlineQuestion {
        id: (*id).to_owned(),
        text: (*text).to_owned(),
    };
    OutlineSection {
        id: id.to_owned(),
        heading: heading.to_owned(),
        questions: questions.iter().map(question).collect(),
    }
}

fn heat() -> Outline {
    Outline {
        title: "Urban heat islands".to_owned(),
        sections: vec![
            section(
                "s1",
                "History of the field",
                &[
                    ("q1", "Who first described urban heat islands?"),
                    ("q2", "How have measurements changed since 1950?"),
                ],
            ),
            section(
                "s2",
                "Who is affected",
                &[("q3", "Which neighbourhoods suffer most from night-time heat?")],
            ),
        ],
    }
}

const HEAT: &str = "\
# Urban heat islands

## History of the field

- Who first described urban heat islands?
- How have measurements changed since 1950?

## Who is affected

- Which neighbourhoods suffer most from night-time heat?
";

fn edited(text: &str) -> (Outline, Vec<(ChangeOp, String)>) {
    let before = heat();
    let after = adopt(&before, parse(text).unwrap());
    let found = changes(&before, &after);
    (after, found.into_iter().map(|Change { op, id }| (op, id)).collect())
}

fn op(op: ChangeOp, id: &str) -> (ChangeOp, String) {
    (op, id.to_owned())
}

#[test]
fn an_outline_is_markdown_and_comes_back_as_it_was() {
    assert_eq!(render(&heat()), HEAT);
    assert_eq!(edited(HEAT), (heat(), Vec::new()));
    let otherwise = HEAT.replace("- ", "1) ").replace("\n\n", "\r\n \r\n\r\n");
    let otherwise = format!("\u{feff}{}", otherwise.replace("changed since", "changed\n    since"));
    assert_eq!(edited(&otherwise), (heat(), Vec::new()), "only its form differs");
}

#[test]
fn edits_keep_the_ids_of_what_is_still_there() {
    let text = "\
# Heat islands in cities
## Who is affected by heat
* Which neighbourhoods suffer most from heat at night?
* Who first described urban heat islands?
## Costs
* What do cool roofs cost?
";
    let (after, found) = edited(text);
    let ids = |place: usize| {
        let questions = &after.sections[place].questions;
        questions.iter().map(|question| question.id.as_str()).collect::<Vec<_>>()
    };
    assert_eq!((after.sections[0].id.as_str(), ids(0)), ("s2", vec!["q3", "q1"]));
    let (new_section, new_question) = (after.sections[1].id.clone(), ids(1)[0].to_owned());
    assert!(new_section.starts_with("s-") && new_question.starts_with("q-"), "{after:?}");
    let expected = [
        op(ChangeOp::Renamed, "title"),
        op(ChangeOp::Renamed, "s2"),
        op(ChangeOp::Added, &new_section),
        op(ChangeOp::Removed, "s1"),
        op(ChangeOp::Renamed, "q3"),
        op(ChangeOp::Moved, "q1"),
        op(ChangeOp::Added, &new_question),
        op(ChangeOp::Removed, "q2"),
    ];
    assert_eq!(found, expected);
    assert_eq!(edited(text).0, after, "new ids depend on the text only");
}

#[test]
fn a_section_with_another_heading_is_known_by_its_questions() {
    let (after, found) = edited(&HEAT.replace("History of the field", "Background"));
    assert_eq!(after.sections[0].id, "s1");
    assert_eq!(found, [op(ChangeOp::Renamed, "s1")]);
    let swapped = "# Urban heat islands\n## Who is affected\n- Which neighbourhoods suffer most from night-time heat?\n\
                   ## History of the field\n- How have measurements changed since 1950?\n- Who first described urban heat islands?\n";
    let (_, found) = edited(swapped);
    assert_eq!(found.len(), 2, "as few as possible moved: {found:?}");
}

#[test]
fn a_bad_outline_is_refused_with_its_line() {
    let long = format!("# T\n## S\n- {}\n", "x".repeat(501));
    let many = format!(
        "# T\n## S\n{}",
        (0..=MAX_QUESTIONS).map(|n| format!("- q{n}\n")).collect::<String>()
    );
    for (text, line, reason) in [
        ("", 1, "title"),
        ("\n\n", 2, "title"),
        ("# T\n", 1, "section"),
        ("# T\n## S\n", 2, "an outline has a question"),
        ("# T\n- q\n", 2, "belongs to a section"),
        ("## S\n- q\n", 1, "the title comes first"),
        ("# T\n## S\nfree text\n", 3, "neither a heading nor a question"),
        ("# T\n## S\n- q\nmore of it\n", 4, "neither"),
        ("# T\n# U\n", 2, "a title already"),
        ("# T\n### S\n", 2, "one or two"),
        ("# T\n##S\n", 2, "a space"),
        ("# T\n## \u{200b}\n", 2, "empty"),
        ("# T\n## S\n-\n", 3, "empty"),
        ("# T\n## S\n- Why?\n## S2\n- why?\n", 5, "line 3 has the same question"),
        ("# T\n## S\n- Why?\n## s\n", 4, "line 2 has the same heading"),
        (&long, 3, "501 characters"),
        (&many, MAX_QUESTIONS + 3, "at most 120"),
    ] {
        let fault = parse(text).expect_err(text);
        assert_eq!(fault.line, line, "{text:?}: {fault}");
        assert!(fault.reason.contains(reason), "{text:?}: {fault}");
        assert_eq!(fault.to_string(), format!("line {line}: {}", fault.reason));
    }
}

#[test]
fn a_rejection_has_its_reason() {
    assert_eq!(rejection(" Reject: too broad\nand too long "), Some("too broad\nand too long"));
    assert_eq!(rejection("rejected"), Some(""));
    for outline in [HEAT, "# Reject: a title\n", "rejection: no"] {
        assert_eq!(rejection(outline), None, "{outline}");
    }
}

fn question(id: &str, text: &str, perspective: &str) -> MergedQuestion {
    MergedQuestion {
        id: id.to_owned(),
        text: text.to_owned(),
        perspective: perspective.to_owned(),
        origin: Origin::Planner,
        merged_from: Vec::new(),
    }
}

#[test]
fn equal_questions_merge_into_the_older_id() {
    let questions = vec![
        question("q1", "Who first described urban heat islands?", "history"),
        question("q2", "What do cool roofs cost?", "costs"),
        question("q3", "Who first described  urban heat islands?", "evidence"),
        question("q4", "who first described urban heat islands?", "history"),
    ];
    let merged = merge(questions.clone());
    let ids: Vec<_> = merged.iter().map(|merged| merged.id.as_str()).collect();
    assert_eq!(ids, ["q1", "q2"]);
    assert_eq!(merged[0].merged_from, ["q3", "q4"]);
    assert_eq!(merge(merged.clone()), merged, "merging again changes nothing");
}

#[test]
fn a_person_completes_the_list_of_questions() {
    let questions = vec![
        question("q1", "Who first described urban heat islands?", "history"),
        question("q2", "What do cool roofs cost?", "costs"),
        question("q3", "Where do people die of heat?", ""),
    ];
    let shown = list(&questions);
    assert_eq!(
        take_over(&questions, &shown, adopt(&shown, parse(&render(&shown)).unwrap())),
        questions
    );
    let text = "# Questions\n## costs\n- What do cool roofs cost?\n- Who pays for street trees?\n\
                ## history\n- Who was the first to describe urban heat islands?\n## Health\n- Where do people die of heat?\n";
    let edited = take_over(&questions, &shown, adopt(&shown, parse(text).unwrap()));
    let found: Vec<_> = edited
        .iter()
        .map(|one| (one.perspective.as_str(), one.origin, one.text.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("history", Origin::Planner, "Who was the first to describe urban heat islands?"),
            ("costs", Origin::Planner, "What do cool roofs cost?"),
            ("", Origin::Planner, "Where do people die of heat?"),
            ("costs", Origin::Person, "Who pays for street trees?"),
        ]
    );
    assert_eq!(edited[0].id, "q1");
}

#[test]
fn a_person_sees_the_names_of_perspectives() {
    let questions = vec![
        question("q1", "Who first described urban heat islands?", "p-history"),
        question("q2", "Who is liable for heat?", "p-legal-risk"),
        question("q3", "Where do people die of heat?", ""),
        question("q4", "What do cool roofs cost?", "history"),
        question("q5", "How warm are nights?", "p-questions"),
    ];
    let shown = list(&questions);
    let text = render(&shown);
    let headings: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(headings, ["History", "Legal risk", "Questions", "history 2", "p-questions"]);
    assert_eq!(take_over(&questions, &shown, adopt(&shown, parse(&text).unwrap())), questions);
    let more = text.replace("## Legal risk\n", "## Legal risk\n- Which laws name heat?\n");
    let edited = take_over(&questions, &shown, adopt(&shown, parse(&more).unwrap()));
    assert_eq!(edited[5].perspective, "p-legal-risk", "{edited:?}");
    let outline = Outline {
        title: "Heat".to_owned(),
        sections: vec![section("s1", "Legal risk", &[("q2", "Who is liable for heat?")])],
    };
    let grouped = regroup(outline, &edited, &Headings::new());
    assert_eq!(grouped.sections[0].questions.len(), 2, "{grouped:?}");
}

#[test]
fn sections_of_a_person_stay_sections() {
    let questions = vec![
        question("q1", "Who first described urban heat islands?", "p-history"),
        question("q2", "What do cool roofs cost?", "p-history"),
        question("q3", "How is heat measured?", "p-methods"),
    ];
    let outline = Outline {
        title: "Heat".to_owned(),
        sections: vec![
            section(
                "p-history",
                "History and origins",
                &[("q1", questions[0].text.as_str()), ("q2", questions[1].text.as_str())],
            ),
            section("p-methods", "Methods and measurement", &[("q3", questions[2].text.as_str())]),
        ],
    };
    let shown = list(&questions);
    let text = "# Questions\n\n## History\n- Who first described urban heat islands?\n\n\
                ## How heat is measured\n- How is heat measured?\n\n\
                ## Money Matters\n- What do cool roofs cost?\n- Who pays for street trees?\n";
    let adopted = adopt(&shown, parse(text).unwrap());
    let headings = new_headings(&shown, &adopted);
    let grouped = regroup(outline, &take_over(&questions, &shown, adopted), &headings);
    let read: Vec<(&str, usize)> =
        grouped.sections.iter().map(|one| (one.heading.as_str(), one.questions.len())).collect();
    assert_eq!(
        read,
        [("History and origins", 1), ("How heat is measured", 1), ("Money Matters", 2)]
    );
}

#[test]
fn an_outline_runs_nothing_and_links_nowhere() {
    let outline = Outline {
        title: "Evil <script>alert(1)</script> #".to_owned(),
        sections: vec![section(
            "s1",
            "[a](javascript:alert(1)) and `code` #",
            &[
                ("q1", "[b]: javascript:alert(1)"),
                ("q2", "# *Why* <img src=x onerror=alert(1)> &lt;b&gt;?"),
                ("q3", "1. C:\\temp \\[x\\](y)"),
                ("q4", "![c](https://example.com/pixel.png) <https://example.com>"),
            ],
        )],
    };
    let text = publish(&outline);
    assert!(text.starts_with("# Evil \\<script>alert(1)\\</script> \\#\n"), "{text}");
    let html = markup::to_html_body(&markup::from_markdown(&text));
    for mark in ["<script", "<a ", "<img", "<code", "<em", "<h3", "<ol"] {
        assert!(!html.contains(mark), "{mark}: {html}");
    }
}

fn outlines() -> impl Strategy<Value = Outline> {
    let words = "[a-zA-Z#*0-9é漢-]{1,8}( [a-zA-Z#*0-9é漢.-]{1,8}){0,4}";
    let questions = collection::vec(words, 1..4);
    (words, collection::vec((words, questions), 1..5)).prop_map(|(title, sections)| {
        let mut number = 0;
        let mut outline = Outline { title, sections: Vec::new() };
        for (place, (heading, questions)) in sections.into_iter().enumerate() {
            let questions = questions.into_iter().map(|text| {
                number += 1;
                // Equal questions are refused; a number makes them differ.
                OutlineQuestion { id: format!("q{number}"), text: format!("{text} {number}") }
            });
            outline.sections.push(OutlineSection {
                id: format!("s{place}"),
                heading: format!("{heading} {place}"),
                questions: questions.collect(),
            });
        }
        outline
    })
}

proptest! {
    #[test]
    fn a_rendered_outline_is_read_back_unchanged(outline in outlines()) {
        let draft = parse(&render(&outline)).unwrap();
        let again = adopt(&outline, draft);
        prop_assert_eq!(changes(&outline, &again), Vec::new());
        prop_assert_eq!(again, outline);
    }

    #[test]
    fn ids_stay_unique_and_changes_name_only_known_parts(before in outlines(), after in outlines()) {
        let adopted = adopt(&before, parse(&render(&after)).unwrap());
        let mut ids: Vec<_> = adopted
            .sections
            .iter()
            .flat_map(|section| section.questions.iter().map(|question| question.id.clone()))
            .collect();
        let count = ids.len();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ids.len(), count);
        for change in changes(&before, &adopted) {
            let known = |outline: &Outline| {
                change.id == "title" || outline.sections.iter().any(|section| {
                    section.id == change.id
                        || section.questions.iter().any(|question| question.id == change.id)
                })
            };
            prop_assert!(known(&before) || known(&adopted), "{change:?}");
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        if let Err(fault) = parse(&text) {
            prop_assert!(fault.line >= 1 && fault.line <= text.lines().count().max(1));
        }
    }

    #[test]
    fn any_lines_are_read_or_refused(text in "([#*+0-9 .)-]{0,4}[a-c ]{0,3}\n){0,12}") {
        if let Ok(draft) = parse(&text) {
            let before = Outline::default();
            let outline = adopt(&before, draft.clone());
            prop_assert_eq!(parse(&render(&outline)).unwrap(), draft);
        }
    }
}
