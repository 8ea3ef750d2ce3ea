//! Descriptions in the manner of job boards, with what boards add to them.

use super::{job, pay};
use crate::jobs::{Contract, FindingKind, Period, Remote, Years, parse, parse_given};

#[test]
fn a_page_of_a_board_with_ratings_and_shifts_is_read() {
    let job = job(
        "Warehouse Associate - Night Shift\nHarbor Freight Logistics LLC\n3.1 out of 5 stars\n\
         Savannah, GA 31408\n$19.50 - $22.75 an hour - Full-time\n\nFull job description\nWe are hiring!\n\n\
         Qualifications:\n- 1 year of warehouse experience required\n- Forklift certification preferred\n",
    );
    assert_eq!(job.title.as_deref(), Some("Warehouse Associate"));
    assert_eq!(job.company.as_deref(), Some("Harbor Freight Logistics LLC"));
    assert_eq!(job.location.as_deref(), Some("Savannah, GA"));
    assert_eq!(job.pay, pay(Some(19.5), Some(22.75), "USD", Period::Hour));
    assert!(job.responsibilities.is_empty(), "{:?}", job.responsibilities);
}

#[test]
fn a_line_of_parts_between_bars_is_a_head() {
    let job = job(
        "Tessellate Bio | Staff Machine Learning Engineer, Bioinformatics Engineer | Boston, MA or REMOTE (US) | Full-time | \
         $180k–$230k + equity | https://tessellate.example\n\nWe use language models to design enzymes.\n\nYou should be \
         comfortable with Python. Nice to have: CUDA, structural biology.\n",
    );
    assert_eq!(job.title.as_deref(), Some("Staff Machine Learning Engineer"));
    assert_eq!(job.company.as_deref(), Some("Tessellate Bio"));
    assert_eq!(job.location.as_deref(), Some("Boston"));
    assert_eq!(job.contract, Some(Contract::FullTime));
    assert_eq!(job.nice, ["CUDA", "structural biology"]);
}

#[test]
fn an_offer_that_asks_for_a_fee_is_found_without_a_head() {
    let parsed = parse(
        "🔥 WORK FROM HOME!! EARN $500-$800 DAILY 🔥\nNo experience needed! Data entry clerk, flexible hours, anyone can do \
         it.\nTraining kit is a one time refundable fee of $49.99.\nMessage our manager on WhatsApp +1 555 010 7788.",
    );
    let job = parsed.job.unwrap();
    assert_eq!(job.title.as_deref(), Some("Data entry clerk"));
    assert_eq!(job.remote, Some(Remote::Remote));
    let kinds: Vec<FindingKind> = parsed.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::Fee, FindingKind::PrivateMessenger]);
}

#[test]
fn texts_that_only_mention_roles_are_no_jobs() {
    let texts = [
        "Chipmaker to cut 1,200 jobs in Oregon\nThe company will close its plant by June. Engineers with more than ten years of \
         experience will be offered a move. Salaries average $96,000 a year, according to the union.",
        "Julia Brandt\nData Analyst, Hamburg\njulia.brandt@example.com\n\nExperience\nData Analyst, Otto Group, 2019 – present\n- 5 years of SQL\n\
         Education\nM.Sc. Statistics, 2018\nSkills: SQL, R",
        "Bright flat to rent in Leeds. £1,250 per month. Required: one month's deposit and references. Full time concierge. \
         Contact Homefinders Ltd to apply for a viewing.",
    ];
    for text in texts {
        assert_eq!(parse(text).job, None, "{text}");
    }
}

#[test]
fn a_german_sentence_with_a_day_before_the_title_is_read() {
    let job = job(
        "Für unsere Praxis in Freiburg suchen wir zum 1. September eine Medizinische Fachangestellte (m/w/d) in Teilzeit (20–25 \
         Stunden). Erfahrung in der Dermatologie ist von Vorteil. Wir zahlen ab 2.900 € im Monat.",
    );
    assert_eq!(job.title.as_deref(), Some("Medizinische Fachangestellte"));
    assert_eq!(job.location.as_deref(), Some("Freiburg"));
    assert_eq!(job.contract, Some(Contract::PartTime));
    assert_eq!(job.pay, pay(Some(2900.0), None, "EUR", Period::Month));
}

#[test]
fn amounts_with_their_periods_and_extras_are_read() {
    let of = |text: &str| {
        job(&format!("Accountant\nCompany: Severn Housing\n{text}\n\nRequirements:\n- Excel\n")).pay
    };
    let yearly = |min, max, currency| pay(min, max, currency, Period::Year);
    assert_eq!(of("€85K/yr - €110K/yr · Hybrid"), yearly(Some(85_000.0), Some(110_000.0), "EUR"));
    assert_eq!(
        of("Salary: c. £72k + car allowance"),
        yearly(Some(72_000.0), Some(72_000.0), "GBP")
    );
    assert_eq!(of("Salary: £72k+"), yearly(Some(72_000.0), None, "GBP"));
    assert_eq!(
        of("Pay: $24 per hour to $31 per hour"),
        pay(Some(24.0), Some(31.0), "USD", Period::Hour)
    );
    assert_eq!(of("We have 10,000+ customers"), None);
}

#[test]
fn lists_without_bullets_keep_items_that_look_like_headings() {
    let job = job(
        "Job Title: Head of Finance\nLocation: Bristol\n\nPerson specification\nEssential\nQualified accountant\n\
         At least 8 years' post-qualification experience\nExperience of group consolidation\nStrong Excel skills\nDesirable\n\
         Experience of Dynamics 365\n",
    );
    assert_eq!(job.must, ["Qualified accountant", "group consolidation", "Excel"]);
    assert_eq!(job.nice, ["Dynamics 365"]);
    assert_eq!(job.years, Some(Years { min: Some(8), max: None }));
}

#[test]
fn degrees_and_languages_stay_whole() {
    let intern = job(
        "# Marketing Intern\n\n**Company:** Brightwater Foods, Inc.\n\n## What you'll be doing\n1. Draft calendars\n\
         \n## Minimum qualifications\n- Currently pursuing a Bachelor's degree in Marketing, Business or a related field\n",
    );
    assert_eq!(
        intern.must,
        ["Currently pursuing a Bachelor's degree in Marketing, Business or a related field"]
    );
    assert_eq!(intern.responsibilities, ["Draft calendars"]);
    let lecturer = job(
        "University of Wexmouth – Department of Linguistics\nLecturer in Computational Linguistics\n\
         Location: Wexmouth\nSalary: £45,163 to £55,755 per annum\n\nApplicants must hold a PhD in linguistics, computer science \
         or a related discipline and have a record of publication commensurate with career stage.\n",
    );
    assert_eq!(lecturer.title.as_deref(), Some("Lecturer in Computational Linguistics"));
    assert_eq!(
        lecturer.must,
        ["hold a PhD in linguistics, computer science or a related discipline"]
    );
    let german = job(
        "Elektroniker (m/w/d)\n\nDas bringst du mit:\n- Gute Deutschkenntnisse in Wort und Schrift\n",
    );
    assert_eq!(german.must, ["Deutsch"]);
}

#[test]
fn spanish_preferences_and_places_after_remote_are_read() {
    let spanish = job(
        "Enfermero/a de Urgencias\nClínica Santa Olalla\nSevilla\nSalario: 28.000€ - 32.000€ bruto/año\n\
         Requisitos mínimos\n- Colegiación vigente\nRequisitos deseados\n- Nivel de inglés B2\n",
    );
    assert_eq!((spanish.must, spanish.nice.len()), (vec!["Colegiación vigente".to_owned()], 1));
    let designer = job(
        "Product Designer\nRemote - Canada\nApply\n\nAbout Fernleaf\nFernleaf makes gardening software.\n\n\
         You might be a fit if you have:\nExperience with Figma\n",
    );
    assert_eq!(designer.company.as_deref(), Some("Fernleaf"));
    assert_eq!(designer.location.as_deref(), Some("Canada"));
    assert_eq!((designer.remote, designer.must), (Some(Remote::Remote), vec!["Figma".to_owned()]));
}

#[test]
fn a_list_of_requirements_is_a_job_if_the_caller_says_so() {
    let text = "Essential: Python; Rust\nDesirable: Kafka";
    assert_eq!(parse(text).job, None);
    let job = parse_given(text).unwrap();
    assert_eq!((job.must, job.nice), (vec!["Python".into(), "Rust".into()], vec!["Kafka".into()]));
    assert_eq!(parse_given("The rain came."), None);
}
