//! Reads résumés of many layouts, each a file with the fields that it should give behind a line `===`.

use std::fs;
use std::path::{Path, PathBuf};

use careers::resumes::{Profile, profile};

fn samples() -> Vec<(PathBuf, String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resumes");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder of samples")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let sample = fs::read_to_string(&path).expect("a readable sample");
        let (text, expected) = sample.split_once("===\n").expect("a line `===`");
        (path, text.to_owned(), expected.to_owned())
    };
    paths.into_iter().map(read).collect()
}

/// A profile as the lines of a sample, without bullets.
fn lines(profile: &Profile) -> Vec<String> {
    let row = |label: &str, fields: &[&Option<String>]| {
        let fields: Vec<&str> = fields.iter().map(|field| field.as_deref().unwrap_or("")).collect();
        format!("{label}: {}", fields.join(" | ")).trim_end().to_owned()
    };
    let contact = &profile.contact;
    let mut lines = Vec::new();
    for (label, field) in [
        ("name", &contact.name),
        ("email", &contact.email),
        ("phone", &contact.phone),
        ("location", &contact.location),
    ] {
        lines.extend(field.is_some().then(|| row(label, &[field])));
    }
    if !contact.links.is_empty() {
        lines.push(format!("links: {}", contact.links.join("; ")));
    }
    lines.extend(
        profile
            .experience
            .iter()
            .map(|entry| row("job", &[&entry.title, &entry.company, &entry.start, &entry.end])),
    );
    lines.extend(
        profile
            .education
            .iter()
            .map(|entry| row("edu", &[&entry.degree, &entry.institution, &entry.end])),
    );
    lines.push(format!("skills: {}", profile.skills.join("; ")));
    lines
}

#[test]
fn layouts_are_read() {
    let samples = samples();
    assert!(samples.len() >= 25, "{} samples", samples.len());
    for (path, text, expected) in samples {
        let mut found = lines(&profile(&text));
        // Skills are tested only where the expected profile lists them.
        if !expected.contains("skills: ") {
            found.retain(|line| !line.starts_with("skills: "));
        }
        assert_eq!(found, expected.lines().collect::<Vec<_>>(), "{}", path.display());
    }
}
