use proptest::prelude::*;

use super::dates::{self, Written};
use super::{Education, Gap, Month, Position, SectionKind, Timeline, markdown, profile, sections};

fn position(title: &str, company: &str, start: &str, end: &str) -> Position {
    let text = |text: &str| Some(text.to_owned());
    Position {
        title: text(title),
        company: text(company),
        start: text(start),
        end: text(end),
        ..Position::default()
    }
}

fn degree(degree: &str, institution: &str, end: &str) -> Education {
    Education {
        degree: Some(degree.to_owned()),
        institution: Some(institution.to_owned()),
        end: Some(end.to_owned()),
    }
}

/// The positions without their bullets.
fn positions(text: &str) -> Vec<Position> {
    let found = profile(text).experience.into_iter();
    found.map(|entry| Position { bullets: Vec::new(), ..entry }).collect()
}

#[test]
fn companies_above_titles_are_read() {
    let text = "CURRICULUM VITAE\n\nName: Greta Marchetti\nEmail: greta.marchetti@example.org\nPhone: +49 30 23125 077\nAddress: Lindenweg 4, 10115 \
        Berlin\n\nWORK EXPERIENCE\n\nNorthbeam Systems — Berlin\nProduct Manager | March 2019 - Present\n- Launched 3 products in 2020\n\nHollis Freight — \
        Hamburg\nBusiness Analyst | Sept. 2015 - Feb. 2019\n- Wrote 40 reports\n\nEDUCATION\nLarkhill Polytechnic, MSc Economics, 2013 - 2015\n\nSKILLS\n• \
        Roadmaps • SQL • Jira\n\nLANGUAGES\nGerman (native)\n";
    let read = profile(text);
    assert_eq!(read.contact.name.as_deref(), Some("Greta Marchetti"));
    assert_eq!(read.contact.phone.as_deref(), Some("+493023125077"));
    assert_eq!(read.contact.location.as_deref(), Some("Berlin"));
    assert_eq!(
        positions(text),
        [
            position("Product Manager", "Northbeam Systems", "2019-03", "present"),
            position("Business Analyst", "Hollis Freight", "2015-09", "2019-02")
        ]
    );
    assert_eq!(read.experience[0].bullets, ["Launched 3 products in 2020"]);
    assert_eq!(read.education, [degree("MSc Economics", "Larkhill Polytechnic", "2015")]);
    assert_eq!(read.skills, ["Roadmaps", "SQL", "Jira"]);
}

#[test]
fn german_dates_in_a_column_are_read() {
    let text = "Lebenslauf\n\nUlrich Gutmann\nMusterstraße 12 | 80331 München | +49 89 1234567 | ulrich.gutmann@example.com\n\nBerufserfahrung\n\n01/2020 – heute    \
        Leiter Einkauf\n                   Fennel Foods GmbH, München\n                   - Verhandlung mit 30 Lieferanten\n\nAusbildung\n\n10/2009 – 03/2014  Diplom \
        Betriebswirtschaft\n                   Hochschule Eichwald\n\nKenntnisse\n\nSAP, Excel\n";
    let read = profile(text);
    assert_eq!(
        (read.contact.name.as_deref(), read.contact.location.as_deref()),
        (Some("Ulrich Gutmann"), Some("München"))
    );
    assert_eq!(
        positions(text),
        [position("Leiter Einkauf", "Fennel Foods GmbH", "2020-01", "present")]
    );
    assert_eq!(
        read.education,
        [degree("Diplom Betriebswirtschaft", "Hochschule Eichwald", "2014-03")]
    );
    assert_eq!(read.skills, ["SAP", "Excel"]);
}

#[test]
fn french_sentences_with_dates_are_read() {
    let text = "JOAO IBARGUEN\nLyon | joao.ibarguen@example.com | +33 4 65 71 22 10\n\nPARCOURS PROFESSIONNEL\nDepuis septembre 2021 : Développeur Backend chez Perigee \
        Labs\n• Migration de 14 services\nDe mars 2017 à août 2021 : Développeur Junior chez Quarry Bank\n\nFORMATION\n2016 : Master Informatique, Université de \
        Valclair\n\nCOMPÉTENCES\nLangages : Python, Go\nOutils : Docker\n";
    assert_eq!(
        positions(text),
        [
            position("Développeur Backend", "Perigee Labs", "2021-09", "present"),
            position("Développeur Junior", "Quarry Bank", "2017-03", "2021-08")
        ]
    );
    assert_eq!(
        profile(text).education,
        [degree("Master Informatique", "Université de Valclair", "2016")]
    );
    assert_eq!(profile(text).skills, ["Python", "Go", "Docker"]);
}

#[test]
fn a_place_after_the_company_leaves_the_title_to_the_next_line() {
    let text = "Veda Szabados\nDenver, CO · 303-555-0112 · veda.szabados@example.com\n\nExperience\nAster Robotics, Denver, CO (2019–Present)\nSenior Platform \
        Engineer\n* Cut costs by 20 % in 2021\nCopperleaf Studio, Austin, TX (2015–2019)\nData Engineer\n* Built pipelines\n\nSkills\nKubernetes (expert), Python and SQL\n";
    assert_eq!(
        positions(text),
        [
            position("Senior Platform Engineer", "Aster Robotics", "2019", "present"),
            position("Data Engineer", "Copperleaf Studio", "2015", "2019")
        ]
    );
    assert_eq!(profile(text).contact.phone.as_deref(), Some("+13035550112"));
    assert_eq!(profile(text).skills, ["Kubernetes", "Python", "SQL"]);
}

#[test]
fn dates_are_read_as_written() {
    for (written, expected) in [
        ("Mar 2018", "2018-03"),
        ("März 2018", "2018-03"),
        ("1. März 2018", "2018-03"),
        ("août 2019", "2019-08"),
        ("enero de 2020", "2020-01"),
        ("Dec '18", "2018-12"),
        ("03/2018", "2018-03"),
        ("2018-03", "2018-03"),
        ("15.03.2018", "2018-03"),
        ("2018", "2018"),
        ("Summer 2018", "2018"),
        ("jui '18", "2018"),
        ("Q3 2018", "2018-07"),
        ("1st May 2018", "2018-05"),
        ("May 1, 2018", "2018-05"),
        ("03/15/2018", "2018-03"),
        ("fev/2018", "2018-02"),
        ("janv. 2018", "2018-01"),
        ("Out 2018", "2018-10"),
        ("maggio 2018", "2018-05"),
        ("Frühjahr 2018", "2018"),
    ] {
        let found = dates::single(written).map(|period| period.to.text());
        assert_eq!(found.as_deref(), Some(expected), "{written}");
    }
    assert_eq!(dates::date("13/2018"), None);
    // A month, and a gap before a degree: neither begins a period.
    assert_eq!(dates::period("2012-11"), None);
    assert_eq!(dates::period("2016  –  MSc Computing"), None);
    for (written, from, to) in [
        ("seit 05/2020", "2020-05", "present"),
        ("May 2019 to date", "2019-05", "present"),
        ("2015–2019", "2015", "2019"),
        ("2015–19", "2015", "2019"),
        ("2012-14", "2012", "2014"),
        ("Q3 2016 – Q4 2018", "2016-07", "2018-12"),
        ("2018–   Professor", "2018", "present"),
        ("(2018 –)", "2018", "present"),
        ("since 2019", "2019", "present"),
        ("From March 2019", "2019-03", "present"),
        ("01.05.2018 – to date", "2018-05", "present"),
        ("jan/2021 até o momento", "2021-01", "present"),
        ("gennaio 2019 – oggi", "2019-01", "present"),
    ] {
        let period = dates::period(written).unwrap();
        assert_eq!(
            (period.from.map(Written::text).as_deref(), period.to.text().as_str()),
            (Some(from), to),
            "{written}"
        );
    }
}

#[test]
fn the_timeline_counts_overlaps_once() {
    let jobs = [
        position("A", "B", "2020-01", "2020-12"),
        position("C", "D", "2020-07", "2021-06"),
        position("E", "F", "2022-01", "present"),
    ];
    let timeline = Timeline::of(&jobs, Month::new(2022, 6));
    assert_eq!(timeline.months, 18 + 6);
    assert_eq!(
        timeline.gaps,
        [Gap { from: "2021-07".to_owned(), to: "2021-12".to_owned(), months: 6 }]
    );
}

#[test]
fn sections_have_their_headings() {
    let text = "Jane Roe\n\nProfil\nText.\n\n## Kenntnisse\n- SAP\n";
    let found: Vec<_> =
        sections(text).into_iter().map(|section| (section.kind, section.heading)).collect();
    let heading = |text: &str| Some(text.to_owned());
    assert_eq!(
        found,
        [
            (SectionKind::Contact, None),
            (SectionKind::Summary, heading("Profil")),
            (SectionKind::Skills, heading("Kenntnisse"))
        ]
    );
}

#[test]
fn markdown_of_lines_says_the_same() {
    let text = "Jane Roe\njane.roe@example.com\n\nExperience\nPlanner, Northbeam Systems (2019 - 2020)\n• Planned\n\nSkills\n• SAP\n• Lean\n";
    assert_eq!(profile(&markdown(text)), profile(text));
    assert!(markdown(text).starts_with("# Jane Roe\n"), "{}", markdown(text));
}

#[test]
fn brackets_before_dates_stay_closed() {
    let text = "# Ada Marlow\n\n## Experience\n\nEngineer, Acme (remote) | 2019 – 2021\n- Built pipelines\n\nAnalyst, Hollis Labs [contract] (2016 – 2018)\n- Wrote reports\n\n\
        ## Education\n\nBSc Computing, University of Leeds (UK), 2016\n";
    let profile = profile(text);
    let companies: Vec<_> = profile.experience.iter().map(|job| job.company.as_deref()).collect();
    assert_eq!(companies, [Some("Acme (remote)"), Some("Hollis Labs [contract]")]);
    assert_eq!(profile.education[0].institution.as_deref(), Some("University of Leeds (UK)"));
}

proptest! {
    #[test]
    fn any_text_is_read(text in "(?s)\\PC{0,300}|([A-Za-z0-9 ,.:@/–-]{0,40}\n){0,12}") {
        let read = profile(&text);
        for entry in read.experience {
            prop_assert!(entry.end.is_some());
        }
        let count = text.chars().count();
        for section in sections(&text) {
            prop_assert!(section.start <= section.end && section.end <= count);
        }
    }

    #[test]
    fn dates_in_any_order_of_positions_come_back(years in proptest::collection::btree_set(1990_u16..2024, 2..5)) {
        let years: Vec<u16> = years.into_iter().collect();
        let entries: Vec<String> = years.windows(2).map(|pair| format!("Planner, Northbeam Systems ({} – {})\n- Planned", pair[0], pair[1])).collect();
        let text = format!("Jane Roe\njane@example.com\n\nExperience\n{}\n", entries.join("\n"));
        let found: Vec<_> = positions(&text).into_iter().map(|entry| (entry.start.unwrap(), entry.end.unwrap())).collect();
        let expected: Vec<_> = years.windows(2).map(|pair| (pair[0].to_string(), pair[1].to_string())).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn contact_data_between_ornaments_is_read() {
    let read = profile(
        "Priya Raghunathan\npriya.r@example.edu ❖ 617-555-0166 ❖ Cambridge, MA ❖ github.com/priya-r\n\nEDUCATION\nHarrow \
         Institute of Technology                         Cambridge, MA\nB.S. in Computer Science; GPA: 4.8/5.0       Expected May \
         2027\nRelevant Coursework: Algorithms\n",
    );
    assert_eq!(read.contact.location.as_deref(), Some("Cambridge, MA"));
    assert_eq!(
        read.education,
        [degree("B.S. in Computer Science", "Harrow Institute of Technology", "2027-05")]
    );
}

#[test]
fn a_heading_in_the_line_of_the_name_is_no_place() {
    let read = profile(
        "PERSONAL INFORMATION\tKatie Holm\n\t32 Reading Road, Birmingham B26 3QJ, United Kingdom\n\tkatie.holm@example.org\n\n\
         WORK EXPERIENCE\n2002-08 – Present\tIndependent consultant\n",
    );
    assert_eq!(read.contact.location.as_deref(), Some("Birmingham, United Kingdom"));
}
