//! Descriptions in tables, as labels above their values, with roles that no list has, and in other words.

use super::{job, pay};
use crate::jobs::{Level, Period, Remote, Years, parse};

#[test]
fn a_table_with_a_row_of_names_is_read() {
    let job = job(
        "| Job title | Employer | City | Workplace type | Salary range | Experience | Must-haves | Nice-to-haves |\n\
         |---|:---:|---|---|---|---|---|---|\n\
         | Senior Planner | Northbeam | Leeds | hybrid | £40k-£45k per year | 3 to 5 years | Excel, SAP, Power BI | VBA; SQL |\n",
    );
    assert_eq!(job.title.as_deref(), Some("Senior Planner"));
    assert_eq!(
        (job.location.as_deref(), job.company.as_deref()),
        (Some("Leeds"), Some("Northbeam"))
    );
    assert_eq!((job.level, job.remote), (Some(Level::Senior), Some(Remote::Hybrid)));
    assert_eq!(job.years, Some(Years { min: Some(3), max: Some(5) }));
    assert_eq!(job.pay, pay(Some(40_000.0), Some(45_000.0), "GBP", Period::Year));
    assert_eq!(
        (job.must, job.nice),
        (vec!["Excel".into(), "SAP".into(), "Power BI".into()], vec!["VBA".into(), "SQL".into()])
    );
}

#[test]
fn columns_between_tabs_are_read() {
    let job =
        job("Position\tCompany\tLocation\tSalary\nPlanner\tNorthbeam\tLeeds\t£40,000 per year\n");
    assert_eq!((job.title.as_deref(), job.location.as_deref()), (Some("Planner"), Some("Leeds")));
    assert_eq!(job.pay, pay(Some(40_000.0), Some(40_000.0), "GBP", Period::Year));
}

#[test]
fn a_table_of_keys_and_values_is_read() {
    let job = job(
        "| | |\n|---|---|\n| **Role** | Planner |\n| Reference | 4471 |\n| City | Leeds |\n| Remote | hybrid, 2 days at home |\n\
         | Required | Excel; SAP |\n| Preferred | VBA<br>SQL |\n",
    );
    assert_eq!((job.title.as_deref(), job.location.as_deref()), (Some("Planner"), Some("Leeds")));
    assert_eq!(job.remote, Some(Remote::Hybrid));
    assert_eq!(
        (job.must, job.nice),
        (vec!["Excel".into(), "SAP".into()], vec!["VBA".into(), "SQL".into()])
    );
}

#[test]
fn a_table_of_something_else_is_kept_as_text() {
    let text = "Planner\nNorthbeam, Leeds\n\nRequirements\n- Excel\n\n| Shift | Start |\n|---|---|\n| early | 6:00 |\n| late | 14:00 |\n";
    let job = job(text);
    assert_eq!((job.title.as_deref(), job.must), (Some("Planner"), vec!["Excel".to_owned()]));
}

#[test]
fn labels_above_their_values_are_read() {
    let job = job(
        "Vacancy\nPlanner\n\nClient\nNorthbeam\n\nCity\nLeeds\n\nRemote\nhybrid (2 days in the office)\n\nRate\n£300 per day\n\n\
         Key skills\nExcel; SAP\n\nNice-to-haves\nVBA; SQL\n",
    );
    assert_eq!(
        (job.company.as_deref(), job.location.as_deref()),
        (Some("Northbeam"), Some("Leeds"))
    );
    assert_eq!(job.remote, Some(Remote::Hybrid));
    assert_eq!(job.pay, pay(Some(300.0), Some(300.0), "GBP", Period::Day));
    assert_eq!(
        (job.must, job.nice),
        (vec!["Excel".into(), "SAP".into()], vec!["VBA".into(), "SQL".into()])
    );
}

#[test]
fn one_heading_is_no_label() {
    let job = job(
        "Planner\nNorthbeam, Leeds\n\nRole\nSupport the depot in daily work\n\nRequirements\n- Excel\n",
    );
    assert_eq!(job.title.as_deref(), Some("Planner"));
}

#[test]
fn a_role_that_no_list_has_is_read_in_a_listing() {
    for head in ["Glaciologist", "# Glaciologist", "GLACIOLOGIST II", "Glaciologist (m/w/d)"] {
        let job = job(&format!(
            "{head}\nNorthbeam · Leeds · remote (UK time zones)\n\nThe role\n- Measure ice with partners\n\nRequirements\n- 3 years of experience\n\
             - R\n\nNice to have\n- GIS\n"
        ));
        let title = job.title.as_deref().map(str::to_lowercase);
        assert!(
            title.is_some_and(|title| title.starts_with("glaciologist")),
            "{head}: {:?}",
            job.title
        );
        assert_eq!(
            (job.company.as_deref(), job.location.as_deref()),
            (Some("Northbeam"), Some("Leeds")),
            "{head}"
        );
        assert_eq!((job.remote, job.must), (Some(Remote::Remote), vec!["R".to_owned()]), "{head}");
    }
}

#[test]
fn a_role_that_no_list_has_is_read_in_a_sentence() {
    let job = job(
        "Northbeam seeks a Junior School Glaciologist for its Tromsø office. You should have two to four years of experience and a good \
         command of Python and SQL. Docker would be nice to have.",
    );
    assert_eq!(
        (job.title.as_deref(), job.level),
        (Some("Junior School Glaciologist"), Some(Level::Junior))
    );
    assert_eq!(job.location.as_deref(), Some("Tromsø"));
    assert_eq!(
        (job.must, job.nice),
        (vec!["Python".into(), "SQL".into()], vec!["Docker".to_owned()])
    );
}

#[test]
fn a_known_role_in_a_sentence_counts_more_than_the_first_line() {
    let job = job(
        "# Northbeam\nWe are looking for a Data Engineer in Leeds.\n\nRequirements\n- SQL\n\nNice to have\n- Rust\n",
    );
    assert_eq!(job.title.as_deref(), Some("Data Engineer"));
}

#[test]
fn a_search_without_requirements_is_no_job() {
    for text in [
        "Wir suchen eine Wohnung in Köln, gerne mit Balkon. Bis zu 900 € im Monat.",
        "Northbeam is looking for a Site in Leeds. The lease is £40,000 per year, parking would be nice.",
        "# Lemon Cake\n\nWhat you need\n- flour\n- eggs\n\nOptional\n- poppy seeds\n\nBake for 40 minutes.",
    ] {
        assert_eq!(parse(text).job, None, "{text}");
    }
}

#[test]
fn a_place_before_the_title_is_no_part_of_it() {
    for (text, title, place) in [
        (
            "Wir suchen für unseren Standort Basel einen Buchhalter (vor Ort).",
            "Buchhalter",
            "Basel",
        ),
        ("Wir suchen ab sofort in Graz eine Ingenieurin.", "Ingenieurin", "Graz"),
        ("Nous recherchons pour notre agence de Nantes un Comptable.", "Comptable", "Nantes"),
    ] {
        let job = job(&format!("{text} Java, SQL und Python erforderlich. Anglais requis."));
        assert_eq!(
            (job.title.as_deref(), job.location.as_deref()),
            (Some(title), Some(place)),
            "{text}"
        );
    }
}

#[test]
fn lists_between_slashes_are_read() {
    let job = job(
        "Position: Planner\nCompany: Northbeam\nRequirements: Route planning / SAP / CI/CD\nOptional: Excel / VBA",
    );
    assert_eq!(job.must, ["Route planning", "SAP", "CI/CD"]);
    assert_eq!(job.nice, ["Excel", "VBA"]);
}

#[test]
fn ways_of_working_between_separators_are_read() {
    for (line, expected) in [
        ("Leeds, remote (EU time zones)", Remote::Remote),
        ("Leeds · remote · full-time", Remote::Remote),
        ("Leeds | office and home", Remote::Hybrid),
        ("Leeds | Büro oder Homeoffice", Remote::Hybrid),
    ] {
        let job = job(&format!("Planner\nNorthbeam\n{line}\n\nRequirements\n- Excel\n"));
        assert_eq!(
            (job.location.as_deref(), job.remote),
            (Some("Leeds"), Some(expected)),
            "{line}"
        );
    }
}

#[test]
fn headings_are_read_by_their_form() {
    for (must, nice) in [
        ("Das bringst du mit", "Das wäre schön"),
        ("Vous maîtrisez", "Serait apprécié"),
        ("Dominas", "Estaría bien, no imprescindible"),
        ("You know", "Not essential, but welcome"),
    ] {
        let job = job(&format!(
            "Planner\nNorthbeam, Leeds\n\n{must}\n- Excel\n- SAP\n\n{nice}\n- Jira\n- VBA\n"
        ));
        assert_eq!(
            (job.must, job.nice),
            (vec!["Excel".into(), "SAP".into()], vec!["Jira".into(), "VBA".into()]),
            "{must}"
        );
    }
}

#[test]
fn phrases_of_what_is_welcome_are_no_part_of_the_items() {
    for text in [
        "We would love it if you also know Excel and Power BI.",
        "Excel and Power BI would be nice to have.",
        "Wünschenswert sind Excel und Power BI.",
    ] {
        let job = job(&format!(
            "Northbeam is hiring a Planner in Leeds. You have experience in SAP and SQL. {text}"
        ));
        assert_eq!(job.nice, ["Excel", "Power BI"], "{text}");
        assert_eq!(job.must, ["SAP", "SQL"], "{text}");
    }
}

#[test]
fn a_longer_key_is_known_by_a_word_and_its_value() {
    let job = job(
        "Position: Planner\nCompany: Northbeam\nGross pay offered: £40,000 per year\nYour future location: Leeds\nUsual office mode: hybrid\n\
         Office dog: yes\nRequired: Excel",
    );
    assert_eq!(job.pay, pay(Some(40_000.0), Some(40_000.0), "GBP", Period::Year));
    assert_eq!((job.location.as_deref(), job.remote), (Some("Leeds"), Some(Remote::Hybrid)));
}
