mod attacks;

use proptest::prelude::*;

use super::{
    ChangeKind, Edit, EditError, FactKind, Facts, Goal, LineKind, Tailored, TailoredPart, tailor,
};
use crate::jobs::Job;
use crate::resumes::profile;

const RESUME: &str = "# Mara Lindqvist

Leeds, UK | mara@example.org | +44 113 496 0055

## Summary

Engineer for data platforms.

## Experience

Senior Engineer, Northbeam Systems (03/2018 – 05/2021)
- Answered questions of 12 customers
- Ran Kafka for 40 teams and cut costs by 15 %
- Organised the summer party

Engineer, Calder & Voss (06/2015 – 02/2018)
- Wrote reports
- Moved services to PostgreSQL

## Education

BSc Computing, Westfen College, 2015

## Skills

Excel, Kafka, Drawing, PostgreSQL

## Interests

- Chess
";

fn job() -> Job {
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Job { must: list(&["Kafka", "PostgreSQL", "Rust"]), nice: list(&["Excel"]), ..Job::default() }
}

fn tailored(source: &str, edits: &[Edit]) -> Result<Tailored, EditError> {
    let job = job();
    tailor(source, Goal { role: "Platform Engineer", job: Some(&job), edits })
}

fn parts(tailored: &Tailored) -> impl Iterator<Item = &TailoredPart> {
    tailored.sections.iter().flat_map(|section| &section.parts)
}

fn texts(tailored: &Tailored, kind: LineKind) -> Vec<&str> {
    parts(tailored).filter(|part| part.kind == kind).map(|part| part.text.as_str()).collect()
}

/// All that the result shows, but for the headline, which is the caller's.
fn shown(tailored: &Tailored) -> String {
    let mut lines: Vec<String> = tailored.name.iter().cloned().collect();
    lines.extend(tailored.contact.iter().cloned());
    for section in &tailored.sections {
        lines.extend(section.heading.iter().cloned());
        lines.extend(section.parts.iter().map(|part| format!("{} {}", part.text, part.dates)));
    }
    lines.join("\n")
}

fn edit(source: &str, before: &str, after: &str) -> Edit {
    let at = source.find(before).expect("a part of the source");
    let start = source[..at].chars().count();
    Edit { start, end: start + before.chars().count(), text: after.to_owned() }
}

#[test]
fn matching_lines_move_up() {
    let tailored = tailored(RESUME, &[]).expect("a résumé");
    assert_eq!(tailored.name.as_deref(), Some("Mara Lindqvist"));
    assert_eq!(tailored.headline.as_deref(), Some("Platform Engineer"));
    assert_eq!(tailored.contact, ["Leeds, UK", "mara@example.org", "+44 113 496 0055"]);
    assert_eq!(
        texts(&tailored, LineKind::Bullet),
        [
            "Ran Kafka for 40 teams and cut costs by 15 %",
            "Answered questions of 12 customers",
            "Organised the summer party",
            "Moved services to PostgreSQL",
            "Wrote reports",
            "Chess",
        ]
    );
    let dated: Vec<_> = parts(&tailored)
        .filter(|part| part.kind == LineKind::Dated)
        .map(|part| (part.text.as_str(), part.dates.as_str()))
        .collect();
    assert_eq!(
        dated,
        [
            ("Senior Engineer, Northbeam Systems", "03/2018 – 05/2021"),
            ("Engineer, Calder & Voss", "06/2015 – 02/2018"),
            ("BSc Computing, Westfen College", "2015"),
        ]
    );
    assert!(texts(&tailored, LineKind::Line).contains(&"Kafka, PostgreSQL, Excel, Drawing"));
}

#[test]
fn labels_of_contact_data_stay_with_their_values() {
    let source = "Lebenslauf\n\nPersönliche Daten\n\n| Name | Mara Lindqvist |\n|---|---|\n| Telefon | +49 30 23125 077 |\n\nMail\nmara@example.org\n\n\
        ## Kenntnisse\n\nExcel, Kafka\n\nMara Lindqvist\n";
    let tailored = tailored(source, &[]).expect("a résumé");
    assert_eq!(tailored.name.as_deref(), Some("Mara Lindqvist"));
    assert_eq!(tailored.contact, ["Telefon: +49 30 23125 077", "Mail: mara@example.org"]);
    assert_eq!(texts(&tailored, LineKind::Line), ["Kafka, Excel"]);
}

#[test]
fn changes_name_their_place_in_the_source() {
    let tailored = tailored(RESUME, &[]).expect("a résumé");
    let signs: Vec<char> = RESUME.chars().collect();
    assert!(tailored.changes.iter().filter(|change| change.kind == ChangeKind::Moved).count() >= 3);
    for change in &tailored.changes {
        let place: String = signs[change.start..change.end].iter().collect();
        assert!(place.contains(&change.before), "{place:?} is not {:?}", change.before);
    }
}

#[test]
fn the_least_relevant_lines_are_dropped_first_and_positions_never() {
    let mut tailored = tailored(RESUME, &[]).expect("a résumé");
    let mut ordered: Vec<_> =
        parts(&tailored).filter_map(|part| Some((part.drop_order?, part.text.clone()))).collect();
    ordered.sort();
    let ordered: Vec<_> = ordered.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(ordered[..3], ["Chess", "Wrote reports", "Organised the summer party"]);
    tailored.drop_below(ordered.len());
    assert_eq!(texts(&tailored, LineKind::Dated).len(), 3);
    assert_eq!(texts(&tailored, LineKind::Bullet), Vec::<&str>::new());
    let dropped = tailored.changes.iter().filter(|change| change.kind == ChangeKind::Dropped);
    assert_eq!(dropped.count(), ordered.len());
    assert!(
        !tailored.sections.iter().any(|section| section.heading.as_deref() == Some("Interests"))
    );
}

#[test]
fn requirements_are_matched_by_what_is_left() {
    let job = job();
    let goal = Goal { role: "Engineer", job: Some(&job), edits: &[] };
    let (matched, missing) = tailor(RESUME, goal).expect("a résumé").matched(goal);
    assert_eq!(matched, ["Kafka", "PostgreSQL", "Excel"]);
    assert_eq!(missing, ["Rust"]);
}

#[test]
fn rewordings_without_new_facts_are_kept() {
    for (before, after) in [
        (
            "Ran Kafka for 40 teams and cut costs by 15 %",
            "Operated Kafka for 40 teams, reducing costs by 15%",
        ),
        ("Wrote reports", "Prepared clear reports for customers of Calder & Voss"),
        ("Organised the summer party", ""),
    ] {
        let tailored = tailored(RESUME, &[edit(RESUME, before, after)]).expect(after);
        assert!(shown(&tailored).contains(after), "{after}");
        let edited = tailored.changes.iter().find(|change| change.kind == ChangeKind::Edited);
        assert_eq!(edited.map(|change| change.before.as_str()), Some(before));
    }
}

#[test]
fn rewordings_with_new_facts_are_refused() {
    for (after, kind, new) in [
        ("Ran Kafka for 80 teams", FactKind::Number, "80"),
        ("Ran Kafka for 40 teams and cut costs by 40%", FactKind::Number, "40%"),
        ("Ran Kafka for forty teams", FactKind::Number, "forty"),
        ("Doubled the speed", FactKind::Number, "Doubled"),
        ("Ran it since 2009", FactKind::Number, "2009"),
        ("Ran Kafka in March", FactKind::Name, "March"),
        ("Ran Kafka at Initech", FactKind::Name, "Initech"),
        ("Initech hired me", FactKind::Name, "Initech"),
        ("Worked with Ada Lovelace", FactKind::Name, "Ada"),
        ("Ran kubernetes for 40 teams", FactKind::Skill, "kubernetes"),
        ("Ran Kafka on AWS", FactKind::Name, "AWS"),
    ] {
        let refused = tailored(RESUME, &[edit(RESUME, "Wrote reports", after)]);
        let Err(EditError::NewFacts { index: 0, facts }) = refused else { panic!("{after}") };
        assert!(
            facts.iter().any(|fact| fact.kind == kind && fact.text == new),
            "{after}: {facts:?}"
        );
    }
}

#[test]
fn edits_outside_of_the_source_or_over_each_other_are_refused() {
    let length = RESUME.chars().count();
    let at = |start, end| Edit { start, end, text: String::new() };
    assert_eq!(tailored(RESUME, &[at(3, 2)]), Err(EditError::Range { index: 0, length }));
    assert_eq!(tailored(RESUME, &[at(0, length + 1)]), Err(EditError::Range { index: 0, length }));
    assert_eq!(tailored(RESUME, &[at(5, 9), at(0, 6)]), Err(EditError::Overlap { index: 0 }));
}

#[test]
fn a_headline_states_no_employer_or_number_of_its_own() {
    let facts = Facts::of(RESUME);
    for (role, shown) in [
        ("Platform Engineer", true),
        ("Engineer at Northbeam Systems", true),
        ("Engineer at Initech", false),
        ("Engineer since 1999", false),
        ("!!", false),
    ] {
        assert_eq!(super::headline(role, &facts).is_some(), shown, "{role}");
    }
}

#[test]
fn numbers_are_compared_in_one_form() {
    let facts = Facts::of("Sold 1,200 units for € 3.5m on 12.03.2018 (B2B), 20 % more");
    assert_eq!(facts.new_in("1200 units, 1.200 units, €3.5m, 2018, B2B, 20%"), []);
    for text in ["12,00", "35", "3.5k", "C2C", "1,20"] {
        assert_ne!(facts.new_in(text), [], "{text}");
    }
}

#[test]
fn layouts_with_dates_in_lines_of_their_own_keep_their_positions() {
    let before = "## Experience\n\nFinance Manager\nIronbridge Insurance\nJune 2022 – present\n- Closed books\n\nAccountant\nCalder & Voss\n2019 – 2021\n- Paid wages\n";
    let after = "## Experience\n\n06/2022 – present\nFinance Manager\nIronbridge Insurance\n- Closed books\n\n2019 – 2021\nAccountant\nCalder & Voss\n- Paid wages\n";
    for source in [before, after] {
        let tailored = tailored(source, &[]).expect("a résumé");
        let dated: Vec<_> = parts(&tailored).filter(|part| part.kind == LineKind::Dated).collect();
        assert_eq!(dated.len(), 2, "{tailored:#?}");
        assert!(dated.iter().all(|part| !part.text.is_empty()), "{tailored:#?}");
        for name in ["Finance Manager", "Ironbridge Insurance", "Accountant", "Calder & Voss"] {
            assert!(shown(&tailored).contains(name), "{name}: {tailored:#?}");
        }
    }
}

/// A made-up résumé in one of several layouts.
#[test]
fn each_position_takes_its_name_from_the_line_before_its_dates() {
    let source = "Ada Marlow\n\n## Experience\n\n### Engineer, Northbeam\n\n2019 – present\n\n- Built pipelines\n\n\
        ### Junior Developer, Hollis Labs\n\n2016 – 2019\n\n- Wrote importers\n";
    let tailored = tailored(source, &[]).expect("no edits");
    let dated = parts(&tailored).filter(|part| !part.dates.is_empty());
    let dated: Vec<_> = dated.map(|part| (part.text.as_str(), part.dates.as_str())).collect();
    let expected = [
        ("Engineer, Northbeam", "2019 – present"),
        ("Junior Developer, Hollis Labs", "2016 – 2019"),
    ];
    assert_eq!(dated, expected);
}

fn resume() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["Mara Lindqvist", "José Núñez", "Anke von Berg"]);
    let company = prop::sample::select(vec!["Northbeam GmbH", "Calder & Voss", "Ärzte Labs"]);
    let title = prop::sample::select(vec!["Engineer", "Nurse", "Buchhalter", "Chef de projet"]);
    let dates =
        prop::sample::select(vec!["03/2018 – 05/2021", "2015 - 2017", "Jan 2020 – present"]);
    // Without marks of emphasis, which reading removes.
    let bullet = "[A-Za-zäöüéß0-9%,.&|\\[\\]() -]{0,60}";
    let entry = (title, company, dates, prop::collection::vec(bullet, 0..5), 0..3_u8);
    let entries = prop::collection::vec(entry, 0..4);
    let skills =
        prop::collection::vec(prop::sample::select(vec!["Kafka", "SQL", "Excel", "C++"]), 0..6);
    (name, entries, skills, any::<bool>()).prop_map(|(name, entries, skills, headed)| {
        let mut text = format!("# {name}\n\nLeeds | m@example.org\n\n");
        if headed {
            text.push_str("## Experience\n\n");
        }
        for (title, company, dates, bullets, layout) in entries {
            text.push_str(&match layout {
                0 => format!("{title}, {company} ({dates})\n"),
                1 => format!("{dates}\n{title}\n{company}\n"),
                _ => format!("{title}\n{company}\n{dates}\n"),
            });
            bullets.iter().for_each(|bullet| text.push_str(&format!("- {bullet}\n")));
            text.push('\n');
        }
        text.push_str(&format!("## Skills\n\n{}\n", skills.join(", ")));
        text
    })
}

proptest! {
    /// Whatever is left out, the result states nothing that the source does not, and keeps all dates of positions.
    #[test]
    fn nothing_is_invented(source in resume(), share in 0.0..1.0_f64) {
        let mut tailored = tailored(&source, &[]).expect("no edits");
        let all = parts(&tailored).filter(|part| part.drop_order.is_some()).count();
        tailored.drop_below((all as f64 * share) as usize);
        prop_assert_eq!(Facts::of(&source).new_in(&shown(&tailored)), []);
        let words: std::collections::HashSet<&str> = source.split(|c: char| !c.is_alphanumeric()).collect();
        for word in shown(&tailored).split(|c: char| !c.is_alphanumeric()) {
            prop_assert!(words.contains(word), "{word}");
        }
        let positions = profile(&source).experience.len();
        let dated = parts(&tailored).filter(|part| part.kind == LineKind::Dated).count();
        prop_assert!(dated >= positions, "{dated} of {positions}: {tailored:#?}");
    }

    /// Spans lie within the source, and without a limit no line is lost.
    #[test]
    fn every_word_stays(source in resume()) {
        let tailored = tailored(&source, &[]).expect("no edits");
        let length = source.chars().count();
        prop_assert!(parts(&tailored).all(|part| part.start <= part.end && part.end <= length));
        let shown = shown(&tailored);
        let kept = |text: &str| -> Vec<String> {
            let mut words: Vec<String> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect();
            words.sort();
            words
        };
        prop_assert_eq!(kept(&shown), kept(&source));
    }

    #[test]
    fn no_text_or_edit_ends_the_program(source in "\\PC{0,200}", start in 0..250_usize, end in 0..250_usize, text in "\\PC{0,40}") {
        let _ = tailored(&source, &[Edit { start, end, text }]);
    }
}
