//! Edits and roles that try to state what the source does not.

use super::super::{Edit, EditError, Facts, Goal, headline, tailor};
use super::edit;

const RESUME: &str = "Dario Yilmazer
dario.yilmazer@example.net
(512) 555-0138
Austin, TX

Summary
Data engineer with 5 years of experience in pipelines.

Experience
Data Engineer, Northbeam Systems  2019-01 – 2022-12
- Built batch pipelines in Python and SQL for the finance team
- Led a team of 3 people and cut costs by 20%
- Did not manage budgets
Junior Analyst, Acme Corp  2017-01 – 2018-12
- Wrote weekly reports

Education
BSc Computer Science, University of Texas, 2016

Skills
Python, SQL, Kafka

Languages
German (basic)
";

fn result(edits: &[Edit]) -> Result<super::Tailored, EditError> {
    tailor(RESUME, Goal { role: "Data Engineer", job: None, edits })
}

fn insert(before: &str, text: &str) -> Edit {
    let edit = edit(RESUME, before, text);
    Edit { end: edit.start, ..edit }
}

/// Splits an edit of a text into one for each of its parts.
fn spread(before: &str, parts: [&str; 2]) -> [Edit; 2] {
    let whole = edit(RESUME, before, "");
    let first = Edit { end: whole.start + 2, text: parts[0].to_owned(), ..whole };
    let second = Edit { start: whole.start + 2, end: whole.end, text: parts[1].to_owned() };
    [first, second]
}

#[test]
fn edits_that_join_to_a_new_fact_are_refused() {
    let reports = "Wrote weekly reports";
    for edits in [
        vec![insert("5 years", "20")],
        vec![insert("5 years", "5")],
        vec![insert(" people", "20")],
        vec![edit(RESUME, "20%", "0%")],
        vec![Edit { end: edit(RESUME, "20%", "").start + 1, ..edit(RESUME, "20%", "") }],
        vec![edit(RESUME, reports, "Used ru**s**t")],
        vec![edit(RESUME, reports, "used r*us*t")],
        vec![edit(RESUME, reports, "used <u>rust</u>")],
        vec![edit(RESUME, reports, "used ru<b>st</b>")],
        vec![edit(RESUME, reports, "used kubern\u{200b}etes")],
        vec![edit(RESUME, reports, "used kubern\u{ad}etes")],
        vec![edit(RESUME, reports, "used 3<!-- -->20 tools")],
        vec![edit(RESUME, reports, "used 3**20** tools")],
        vec![edit(RESUME, reports, "&#x47;oogle used it")],
        vec![edit(RESUME, reports, "used k&shy;ubernetes")],
        vec![edit(RESUME, reports, "used [ku](x)bernetes")],
        vec![edit(RESUME, reports, "led 三十 people")],
        vec![edit(RESUME, reports, "led тридцать people")],
        vec![edit(RESUME, reports, "led zweihundertfünfzig people")],
        vec![edit(RESUME, reports, "wrote tenfold reports")],
        vec![edit(RESUME, reports, "wrote 🔟 reports")],
        vec![edit(RESUME, reports, "schrieb zwanzigfach Berichte")],
        vec![edit(RESUME, reports, "worked for ｇｏｏｇｌｅ")],
        vec![edit(RESUME, reports, "Led for 20 years")],
        vec![edit(RESUME, reports, "Led a team of 20")],
        vec![edit(RESUME, reports, "was vice president")],
        vec![edit(RESUME, reports, "won the nobel prize")],
        vec![edit(RESUME, reports, "Wrote for Texas Corp")],
        vec![edit(RESUME, reports, "wrote to mario@example.net")],
        spread(reports, ["ru", "st"]).to_vec(),
        spread(reports, ["k", "ubernetes"]).to_vec(),
    ] {
        assert!(
            matches!(result(&edits), Err(EditError::NewFacts { .. })),
            "{edits:?}: {:?}",
            result(&edits)
        );
    }
}

#[test]
fn hidden_characters_of_an_edit_are_removed() {
    let edits = [edit(RESUME, "Wrote weekly reports", "Prepared\u{202e} week\u{200b}ly reports")];
    let tailored = result(&edits).expect("the same facts");
    assert!(super::shown(&tailored).contains("Prepared weekly reports"), "{tailored:#?}");
}

#[test]
fn names_titles_employers_and_dates_stay_as_they_are() {
    for (before, after) in [
        ("Acme Corp", "google"),
        ("Acme Corp", "University of Texas"),
        ("Acme Corp", "Northbeam Systems"),
        ("Junior Analyst", "chief engineer"),
        ("Junior Analyst", "lead analyst"),
        ("Junior Analyst", "Data Engineer"),
        ("Junior ", ""),
        ("2019-01", "2016"),
        ("2018-12", "2022-12"),
        ("2018-12", "present"),
        ("2022-12", "Present"),
        ("BSc", "MSc"),
        ("BSc ", ""),
        ("BSc ", "master "),
        ("Dario Yil", "Texas Yil"),
        ("Dario", "dr. Dario"),
        ("dario.y", "mario.y"),
        ("555", "512"),
        ("Austin", "berlin"),
        ("Python, SQL, Kafka", "budgeting, leadership, negotiation"),
        ("- Wrote weekly reports", "chief engineer"),
        ("- Did not manage budgets\nJunior Analyst, Acme Corp", "Acme Corp"),
    ] {
        let edits = [edit(RESUME, before, after)];
        assert!(result(&edits).is_err(), "{before} -> {after}: {:#?}", result(&edits));
    }
}

#[test]
fn words_that_deny_or_limit_stay() {
    for (before, after) in [("not ", ""), (" (basic)", ""), ("Did not manage", "Managed")] {
        let refused = result(&[edit(RESUME, before, after)]);
        assert!(
            matches!(refused, Err(EditError::Denial { index: 0, .. })),
            "{before}: {refused:?}"
        );
    }
    for (before, after) in [("- Did not manage budgets\n", ""), ("Did not manage", "Never managed")]
    {
        let edits = [edit(RESUME, before, after)];
        assert!(result(&edits).is_ok(), "{before}: {:?}", result(&edits));
    }
}

#[test]
fn entries_may_be_shortened_dropped_and_moved() {
    let first = "Data Engineer, Northbeam Systems  2019-01 – 2022-12";
    for (before, after) in [
        (", Acme Corp", ""),
        ("Junior Analyst, Acme Corp", "Acme Corp, Junior Analyst"),
        ("Junior Analyst, Acme Corp", "Junior Analyst at Acme Corp"),
        ("Junior Analyst, Acme Corp  2017-01 – 2018-12\n- Wrote weekly reports\n", ""),
        ("(512) 555-0138\n", ""),
        ("Python, SQL, Kafka", "Kafka and Python"),
        ("2017-01 – 2018-12", "01/2017 – 12/2018"),
        ("Led a team of 3 people and cut costs by 20%", "Cut costs by 20 percent with 3 people"),
        ("Built batch pipelines", "**Built** reliable pipelines"),
        (
            "Data engineer with 5 years of experience in pipelines.",
            "Engineer with 5 years of pipelines.",
        ),
    ] {
        let edits = [edit(RESUME, before, after)];
        assert!(result(&edits).is_ok(), "{before}: {:?}", result(&edits));
    }
    let end = format!("- Wrote weekly reports\n{first}\n");
    let moved =
        [edit(RESUME, &format!("{first}\n"), ""), edit(RESUME, "- Wrote weekly reports\n", &end)];
    assert!(result(&moved).is_ok(), "{:?}", result(&moved));
}

#[test]
fn a_headline_is_a_plain_job_title() {
    let facts = Facts::of(RESUME);
    for role in [
        "Vice President, Google",
        "Senior Staff Engineer (ex-McKinsey)",
        "Engineer formerly at meta and apple",
        "Chief Executive Officer at google",
        "PhD physicist, nobel prize winner",
        "PhD physicist",
        "nobel laureate",
        "ex-google cto",
        "MSc Engineer",
        "ten years engineer",
        "Engineer - Google",
        "../../etc/passwd",
        "{{ content }}",
    ] {
        assert_eq!(headline(role, &facts), None, "{role}");
    }
    for role in [
        "Vice President",
        "C++/C# Developer",
        "Sr. .NET Engineer",
        "Chef de projet",
        "Head of R&D",
        "Data Engineer, Northbeam Systems",
        "BSc Computer Science",
    ] {
        assert_eq!(headline(role, &facts).as_deref(), Some(role));
    }
    assert_eq!(headline("\u{202e}Data\u{200b} Engineer", &facts).as_deref(), Some("Data Engineer"));
}
