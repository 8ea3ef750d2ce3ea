use proptest::prelude::*;

use super::{Candidate, Kind, Status, score};
use crate::jobs::{Job, Years};
use crate::resumes::Month;

const RESUME: &str = "# Dario Yilmazer\n\ndario.yilmazer@example.net\nLeeds, UK\n\n## Experience\n\nData Engineer, Northbeam Systems  2019-01 – 2022-12\n\
    - Built pipelines with Kafka and k8s\n- Planned a migration\n\n## Education\n\nBSc Computer Science, Westfen College 2018\n\n## Skills\n\nPython, SQL, Wound care\n";

fn today() -> Month {
    Month::new(2025, 6)
}

fn job() -> Job {
    Job {
        title: Some("Senior Data Engineer".to_owned()),
        must: ["Python", "Kubernetes", "Rust", "migration planning"].map(str::to_owned).to_vec(),
        nice: vec!["Kafka".to_owned()],
        years: Some(Years { min: Some(8), max: None }),
        ..Job::default()
    }
}

#[test]
fn requirements_are_met_by_names_synonyms_and_words() {
    let fit = score(&Candidate::of_document(RESUME, today()), &job()).unwrap();
    let statuses: Vec<Status> =
        fit.requirements.iter().map(|requirement| requirement.status).collect();
    assert_eq!(statuses, [Status::Met, Status::Met, Status::Missing, Status::Partial, Status::Met]);
    assert_eq!(fit.missing_must, ["Rust"]);
    assert_eq!(fit.requirements[4].kind, Kind::Nice);
    let evidence = &fit.requirements[1].evidence[0];
    let (start, end) = (evidence.start.unwrap(), evidence.end.unwrap());
    assert_eq!(RESUME.chars().skip(start).take(end - start).collect::<String>(), "k8s");
}

#[test]
fn the_score_is_the_sum_of_its_parts() {
    let fit = score(&Candidate::of_document(RESUME, today()), &job()).unwrap();
    // must 2.5 of 4, nice 1 of 1, 4 of 8 years, the same title.
    let expected = 55.0 * 2.5 / 4.0 + 15.0 + 15.0 * 0.5 + 15.0;
    assert!((fit.score - expected).abs() < 0.02, "{} {expected}", fit.score);
    assert_eq!(fit.years.found, 4.0);
}

#[test]
fn parts_that_a_job_does_not_state_are_left_out() {
    let job = Job { must: vec!["Python".to_owned()], ..Job::default() };
    let fit = score(&Candidate::of_document(RESUME, today()), &job).unwrap();
    assert_eq!((fit.score, fit.parts.len(), fit.parts[0].weight), (100.0, 1, 1.0));
    assert_eq!(score(&Candidate::default(), &Job::default()), None);
}

fn status_of(requirement: &str, lines: &[&str]) -> Status {
    let text = format!("# Dario Yilmazer\n\n## Summary\n\n{}\n", lines.join("\n\n"));
    let job = Job { must: vec![requirement.to_owned()], ..Job::default() };
    score(&Candidate::of_document(&text, today()), &job).unwrap().requirements[0].status
}

#[test]
fn the_kind_of_a_requirement_need_not_be_written() {
    let lines = ["- CCRN and ACLS, renewed in 2024", "- BSN, Westfen College", "- Ohio RN license"];
    for requirement in
        ["CCRN certification", "ACLS certification", "BSN degree", "Current Ohio RN licence"]
    {
        assert_eq!(status_of(requirement, &lines), Status::Met, "{requirement}");
    }
    assert_eq!(
        status_of("PMP certification", &["- A certification in first aid"]),
        Status::Missing
    );
}

#[test]
fn short_names_are_words_of_their_own_with_capitals() {
    for line in ["Trained nurses for the Epic go-live", "Go-live support", "ready to go"] {
        assert_eq!(status_of("Go", &[line]), Status::Missing, "{line}");
        assert_eq!(status_of("golang", &[line]), Status::Missing, "{line}");
    }
    for line in ["Wrote services in Go", "Golang services"] {
        assert_eq!(status_of("Go", &[line]), Status::Met, "{line}");
    }
    assert_eq!(status_of("R", &["Worked in r. and d."]), Status::Missing);
}

#[test]
fn a_common_word_is_no_part_of_a_named_requirement() {
    let lines = ["Assessed patients by the NIH Stroke Scale"];
    assert_eq!(status_of("PostgreSQL at scale", &lines), Status::Missing);
    assert_eq!(status_of("PostgreSQL at scale", &["Ran PostgreSQL"]), Status::Partial);
}

#[test]
fn denied_skills_are_no_evidence() {
    let line = "No experience with Python, SQL or Kafka; strong Rust";
    for (requirement, status) in
        [("Python", Status::Missing), ("Kafka", Status::Missing), ("Rust", Status::Met)]
    {
        assert_eq!(status_of(requirement, &[line]), status, "{requirement}");
    }
    assert_eq!(status_of("SQL", &["Keine Erfahrung mit SQL"]), Status::Missing);
}

proptest! {
    #[test]
    fn parts_add_up(must in proptest::collection::vec("[A-Za-z]{1,8}", 0..5), nice in proptest::collection::vec("[A-Za-z]{1,8}", 0..4), min in proptest::option::of(1_u32..20), months in 0_u32..300) {
        let job = Job { title: Some("Planner".to_owned()), must, nice, years: min.map(|min| Years { min: Some(min), max: None }), ..Job::default() };
        let candidate = Candidate { months, ..Candidate::of_document(RESUME, today()) };
        let fit = score(&candidate, &job).unwrap();
        let sum: f64 = fit.parts.iter().map(|part| part.contribution).sum();
        prop_assert!((sum - fit.score).abs() < 0.005, "{} {}", sum, fit.score);
        for part in &fit.parts {
            prop_assert!((part.contribution - 100.0 * part.weight * part.value).abs() < 0.01);
        }
        prop_assert!((0.0..=100.0).contains(&fit.score));
    }

    #[test]
    fn another_name_never_changes_the_score(first in "[A-Z][a-z]{2,9}|Python|Rust|Kafka", last in "[A-Z][a-z]{2,9}|Engineer|Sql") {
        let renamed = RESUME.replace("Dario Yilmazer", &format!("{first} {last}")).replace("dario.yilmazer", &format!("{}.{}", first.to_lowercase(), last.to_lowercase()));
        let fit = score(&Candidate::of_document(&renamed, today()), &job()).unwrap();
        let own = score(&Candidate::of_document(RESUME, today()), &job()).unwrap();
        prop_assert_eq!(fit.score, own.score);
    }
}
