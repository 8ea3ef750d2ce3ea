use proptest::prelude::*;

use super::{Contract, FindingKind, Job, Level, Pay, Period, Remote, Years, parse};

fn job(text: &str) -> Job {
    parse(text).job.unwrap_or_else(|| panic!("no job: {text}"))
}

fn pay(min: Option<f64>, max: Option<f64>, currency: &str, period: Period) -> Option<Pay> {
    Some(Pay { min, max, currency: Some(currency.to_owned()), period: Some(period) })
}

#[test]
fn a_list_with_markdown_is_read() {
    let job = job(
        "# Senior Data Engineer (m/f/d) – Hamburg\n\n**Aster Robotics** builds robots. We are in business for 15 years.\n\n\
         ## Your responsibilities\n* Build data pipelines\n\n## Your profile\n* At least 5 years of experience as a data engineer\n\
         * Solid knowledge of Python and SQL\n* Experience with Airflow, dbt and Kafka\n\n## Nice to have\n* Experience with \
         Terraform\n\n## What we offer\n* €70,000 – €85,000 per year\n* Hybrid: two days a week from home\n",
    );
    assert_eq!(job.title.as_deref(), Some("Senior Data Engineer"));
    assert_eq!(job.level, Some(Level::Senior));
    assert_eq!(job.must, ["Python", "SQL", "Airflow", "dbt", "Kafka"]);
    assert_eq!(job.nice, ["Terraform"]);
    assert_eq!(job.years, Some(Years { min: Some(5), max: None }));
    assert_eq!(job.pay, pay(Some(70_000.0), Some(85_000.0), "EUR", Period::Year));
    assert_eq!((job.location.as_deref(), job.remote), (Some("Hamburg"), Some(Remote::Hybrid)));
    assert_eq!(job.responsibilities, ["Build data pipelines"]);
}

#[test]
fn german_prose_is_read() {
    let job = job(
        "Die Lumenfield GmbH sucht einen Softwareentwickler (m/w/d) in Stuttgart. Sie bringen mindestens fünf Jahre Erfahrung und \
         fundierte Kenntnisse in Java, Spring und PostgreSQL mit. Kenntnisse in Kubernetes und Kafka sind von Vorteil. Das Gehalt \
         liegt zwischen 60.000 und 75.000 Euro im Jahr. Die unbefristete Stelle ist vollständig remote.",
    );
    assert_eq!(job.title.as_deref(), Some("Softwareentwickler"));
    assert_eq!(job.must, ["Java", "Spring", "PostgreSQL"]);
    assert_eq!(job.nice, ["Kubernetes", "Kafka"]);
    assert_eq!(job.years, Some(Years { min: Some(5), max: None }));
    assert_eq!(job.pay, pay(Some(60_000.0), Some(75_000.0), "EUR", Period::Year));
    assert_eq!((job.location.as_deref(), job.remote), (Some("Stuttgart"), Some(Remote::Remote)));
    assert_eq!(job.contract, Some(Contract::Permanent));
}

#[test]
fn french_and_spanish_are_read() {
    let french = job(
        "Nous recherchons un Contrôleur de gestion à Lyon (CDI). Vous maîtrisez Excel, SAP et Power BI et avez au moins trois ans \
         d'expérience. Idéalement, vous connaissez aussi IFRS et SQL. Salaire : 45k€ à 52k€. Poste sur site.",
    );
    assert_eq!(french.title.as_deref(), Some("Contrôleur de gestion"));
    assert_eq!(
        (french.must, french.nice),
        (vec!["Excel".into(), "SAP".into(), "Power BI".into()], vec!["IFRS".into(), "SQL".into()])
    );
    assert_eq!(french.pay, pay(Some(45_000.0), Some(52_000.0), "EUR", Period::Year));
    let spanish = job(
        "Oferta de empleo: Enfermera\nEmpresa: Clínica Azahar\nUbicación: Valencia\nModalidad: presencial\nSalario: desde 1.900 € al \
         mes\nExperiencia: mínimo 2 años\nImprescindible: Triage, Wound care\nDeseable: Safeguarding\n",
    );
    assert_eq!(spanish.company.as_deref(), Some("Clínica Azahar"));
    assert_eq!(spanish.pay, pay(Some(1_900.0), None, "EUR", Period::Month));
    assert_eq!(spanish.years, Some(Years { min: Some(2), max: None }));
    assert_eq!(
        (spanish.must, spanish.remote),
        (vec!["Triage".into(), "Wound care".into()], Some(Remote::Onsite))
    );
}

#[test]
fn pay_is_read_as_written() {
    for (written, expected) in [
        ("$95,000 - $120,000 per year", pay(Some(95_000.0), Some(120_000.0), "USD", Period::Year)),
        ("CHF 110'000 – 125'000 p.a.", pay(Some(110_000.0), Some(125_000.0), "CHF", Period::Year)),
        ("£12.50 per hour", pay(Some(12.5), Some(12.5), "GBP", Period::Hour)),
        ("up to £28,000 a year", pay(None, Some(28_000.0), "GBP", Period::Year)),
        ("ab 3.200 € im Monat", pay(Some(3_200.0), None, "EUR", Period::Month)),
        ("45–60k €", pay(Some(45_000.0), Some(60_000.0), "EUR", Period::Year)),
        ("£450 to £500 a day", pay(Some(450.0), Some(500.0), "GBP", Period::Day)),
        ("32 000 à 38 000 € par an", pay(Some(32_000.0), Some(38_000.0), "EUR", Period::Year)),
        ("competitive", None),
    ] {
        let job = job(&format!(
            "Position: Planner\nCompany: Northbeam\nSalary: {written}\nRequirements: Excel"
        ));
        assert_eq!(job.pay, expected, "{written}");
    }
}

#[test]
fn money_that_is_no_pay_is_not_taken_for_it() {
    let text = "Northbeam is hiring a Data Analyst in Leeds. We raised $20 million and manage a budget of £50,000. You bring knowledge of SQL.";
    assert_eq!(job(text).pay, None);
}

#[test]
fn years_of_a_company_are_no_experience() {
    let text = "Northbeam is hiring a Data Analyst in Leeds. We were founded 20 years ago. You bring knowledge of SQL.";
    assert_eq!(job(text).years, None);
    let text = "Northbeam is hiring a Data Analyst in Leeds. You bring three to five years of experience and knowledge of SQL.";
    assert_eq!(job(text).years, Some(Years { min: Some(3), max: Some(5) }));
}

#[test]
fn a_level_needs_a_word_for_it() {
    for (title, level) in [
        ("Staff Nurse", None),
        ("Staff Engineer", Some(Level::Lead)),
        ("Finance Manager", None),
        ("Mid-level Developer", Some(Level::Mid)),
        ("Graduate Planner", Some(Level::Junior)),
    ] {
        assert_eq!(
            job(&format!("Position: {title}\nLocation: Leeds\nEssential: Excel; SAP")).level,
            level,
            "{title}"
        );
    }
}

#[test]
fn other_texts_are_no_jobs() {
    for text in [
        "The river Elm flooded the old town of Brackley on Monday after three days of heavy rain.",
        "Chop the onions, fry them in butter for five minutes and add the rice. Serve with salad.",
        "Jane Roe\njane@example.com\n\nExperience\nSoftware Engineer, Northbeam 2018 – 2022\nDeveloper, Hollis 2015 – 2018\n\nEducation\nBSc \
         Computer Science, 2012 – 2015\n\nSkills\nPython, Rust",
        "Dear colleague, the project manager asked me to send you the plan. Best regards",
    ] {
        let parsed = parse(text);
        assert_eq!((parsed.job, parsed.findings), (None, vec![]), "{text}");
    }
}

#[test]
fn dubious_offers_are_reported() {
    let text = "We are hiring a Data Entry Clerk, unpaid for the first month. Send a registration fee of 50 € and write us on WhatsApp to apply.";
    let findings = parse(text).findings;
    let kinds: Vec<FindingKind> = findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::Unpaid, FindingKind::Fee, FindingKind::PrivateMessenger]);
    let fee: String =
        text.chars().skip(findings[1].start).take(findings[1].end - findings[1].start).collect();
    assert_eq!(fee, "registration fee");
    let kinds: Vec<FindingKind> = parse("Position: Planner\nLocation: Leeds\nEssential: Excel")
        .findings
        .iter()
        .map(|finding| finding.kind)
        .collect();
    assert_eq!(kinds, [FindingKind::NoPay]);
}

#[test]
fn phrases_with_and_stay_whole() {
    let job = job(
        "Northbeam is hiring a Shift Supervisor in Leeds. You bring solid knowledge of Health and safety, Lean and Inventory control.",
    );
    assert_eq!(job.must, ["Health and safety", "Lean", "Inventory control"]);
}

proptest! {
    #[test]
    fn any_text_is_read(text in "(?s)\\PC{0,300}") {
        parse(&text);
    }

    #[test]
    fn items_of_a_list_come_back(terms in proptest::sample::subsequence(vec!["Rust", "SAP EWM", "Wound care", "CI/CD", "C++", "Six Sigma", "Power BI"], 1..6)) {
        let text = format!("Planner\nNorthbeam, Leeds\n\nRequirements\n- {}\n\nNice to have\n- Excel\n", terms.join("\n- "));
        let job = job(&text);
        prop_assert_eq!(job.must, terms);
        prop_assert_eq!(job.nice, vec!["Excel"]);
    }
}
