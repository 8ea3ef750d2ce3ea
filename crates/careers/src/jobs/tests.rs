mod boards;

use proptest::prelude::*;

use super::{Contract, FindingKind, Job, Level, Pay, Period, Remote, Years, parse};

mod layouts;
mod other_texts;

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
        ("$105K–$125K + 15% bonus", pay(Some(105_000.0), Some(125_000.0), "USD", Period::Year)),
        ("₹12-18 LPA", pay(Some(1_200_000.0), Some(1_800_000.0), "INR", Period::Year)),
        ("55–65 TEUR", pay(Some(55_000.0), Some(65_000.0), "EUR", Period::Year)),
        (
            "Bruttomonatsgehalt zwischen 2.100 € und 2.500 €",
            pay(Some(2_100.0), Some(2_500.0), "EUR", Period::Month),
        ),
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
        "Dear all,\nour project manager Anna needed to thank everyone. Please pay your lunch fee of 12 €.",
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

#[test]
fn short_and_unusual_descriptions_are_jobs() {
    let retail = job(
        "Team Member - Part Time\nStore #12, Cedar Rapids, IA 52402\n$16.50/hour\n\nCome and join us! You need to be 16 or over.",
    );
    assert_eq!(retail.title.as_deref(), Some("Team Member"));
    assert_eq!((retail.location.as_deref(), retail.company), (Some("Cedar Rapids, IA"), None));
    let driver = job("Pizza driver needed. 12 €/h plus tips, evenings. Own car needed.");
    assert_eq!(driver.title.as_deref(), Some("Pizza driver"));
    assert_eq!(driver.pay, pay(Some(12.0), Some(12.0), "EUR", Period::Hour));
    let baker = job("Stellenanzeige: Bäcker (m/w/d) in Köln gesucht. Beginn um 3 Uhr.");
    assert_eq!((baker.title.as_deref(), baker.location.as_deref()), (Some("Bäcker"), Some("Köln")));
    let city = job(
        "Die Stadt Ravenfeld sucht zum nächstmöglichen Zeitpunkt eine\n\nLeitung des Sachgebiets Stadtgrün (w/m/d)\n\nDas bringen Sie \
         mit:\n• Abgeschlossenes Studium (Dipl.-Ing. FH, Bachelor) der Landschaftsarchitektur oder des Gartenbaus\n• Kenntnisse in AutoCAD\n\n\
         Wir bieten: mobiles Arbeiten an bis zu zwei Tagen in der Woche.",
    );
    assert_eq!(city.title.as_deref(), Some("Leitung des Sachgebiets Stadtgrün"));
    assert_eq!(
        (city.company.as_deref(), city.remote),
        (Some("Stadt Ravenfeld"), Some(Remote::Hybrid))
    );
    assert_eq!(
        city.must,
        ["Abgeschlossenes Studium der Landschaftsarchitektur oder des Gartenbaus", "AutoCAD"]
    );
}

#[test]
fn the_lines_below_a_title_name_company_and_place() {
    for (head, company, place) in [
        (
            "Backend Engineer (Payments)\nMonzo · London, United Kingdom (Hybrid)\n3 weeks ago · Over 200 applicants",
            Some("Monzo"),
            Some("London"),
        ),
        (
            "Research Associate (fixed-term, 24 months)\nUniversity of Ald, School of Biology, Plymouth",
            Some("University of Ald"),
            Some("Plymouth"),
        ),
        (
            "Product Designer\nAcme Corp - San Francisco, CA (Remote)",
            Some("Acme Corp"),
            Some("San Francisco, CA"),
        ),
        (
            "DATA ENTRY CLERK\nEarn up to $4,500 weekly. No experience needed, no interview!",
            None,
            None,
        ),
        (
            "Working Student – Data Science (f/m/d)\nKleinwort GmbH | Berlin | 16–20 h/week",
            Some("Kleinwort GmbH"),
            Some("Berlin"),
        ),
    ] {
        let job = job(&format!("{head}\n\nRequirements\n- Excel\n- SAP\n\nApply now."));
        assert_eq!((job.company.as_deref(), job.location.as_deref()), (company, place), "{head}");
    }
}

#[test]
fn ways_of_working_are_read() {
    for (line, expected) in [
        ("Remote job: No", Remote::Onsite),
        ("Télétravail : 3 jours par semaine", Remote::Hybrid),
        ("Location: 80% remote / 20% Zürich", Remote::Hybrid),
        ("Remote: yes", Remote::Remote),
    ] {
        let job = job(&format!("Position: Planner\nCompany: Northbeam\n{line}\nEssential: Excel"));
        assert_eq!(job.remote, Some(expected), "{line}");
    }
}

#[test]
fn names_in_brackets_and_after_years_are_kept() {
    let of = super::requirements::items;
    assert_eq!(of("Message queues (Kafka, NSQ or similar)"), ["Message queues", "Kafka"]);
    assert_eq!(of("7+ years SAP FI/CO"), ["SAP FI/CO"]);
    assert_eq!(
        of(
            "At least 5 years' experience of building services in Go, Java or another typed language"
        ),
        ["Go", "Java"]
    );
    let degree = "Bachelor's degree in Logistics, Business or Engineering";
    assert_eq!(of(degree), [degree]);
}

#[test]
fn a_kit_to_buy_is_a_fee() {
    let text = "We are hiring a Data Entry Clerk. To start you only need to buy a starter kit for $99. Apply now.";
    let kinds: Vec<FindingKind> = parse(text).findings.iter().map(|it| it.kind).collect();
    assert!(kinds.contains(&FindingKind::Fee), "{kinds:?}");
}

#[test]
fn long_hostile_texts_are_read() {
    // Each took quadratic time or worse: the first, at this length, hours.
    let repeated = |unit: &str| format!("Requirements: {}", unit.repeat(12_000 / unit.len()));
    for unit in ["Python or Java and ", "5+ years of ", "$5 ", "is hiring a "] {
        let parsed = parse(&repeated(unit));
        assert!(parsed.job.is_none_or(|job| job.must.len() < 100), "{unit}");
    }
}

#[test]
fn a_long_text_is_no_enumeration() {
    let of = |count: usize| super::requirements::items(&vec!["Python"; count].join(" or ")).len();
    assert_eq!((of(5), of(40), of(400)), (5, 40, 0));
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
