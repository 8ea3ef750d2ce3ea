use proptest::prelude::{any, proptest};
use serde::Deserialize;

use super::{MAX_REFERENCE, parse};

/// A published work as style guides and libraries cite it, and its parts. Parts that are null are not compared, except for
/// `year`, `doi` and `url`.
#[derive(Deserialize)]
struct Published {
    text: String,
    authors: Option<Vec<String>>,
    year: Option<String>,
    title: Option<String>,
    container: Option<String>,
    doi: Option<String>,
    url: Option<String>,
}

#[test]
fn published_references_are_parsed() {
    let rows: Vec<Published> = include_str!("published.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(rows.len() >= 60);
    let mut faults = Vec::new();
    for row in &rows {
        let found = parse(&row.text);
        let parsed = &found.parsed;
        let mut check = |part: &str, right: bool| {
            if !right {
                faults.push(format!("{part} of {}: {parsed:?}", row.text));
            }
        };
        check("authors", row.authors.as_ref().is_none_or(|authors| *authors == parsed.authors));
        check("year", row.year == parsed.year);
        check("title", row.title.is_none() || row.title == parsed.title);
        check("container", row.container.is_none() || row.container == parsed.container);
        check("doi", row.doi == parsed.doi);
        check("url", row.url == parsed.url);
        check("status", found.problems.is_empty());
    }
    assert!(faults.is_empty(), "{} faults: {faults:#?}", faults.len());
}

#[test]
fn missing_and_malformed_parts_are_named() {
    for (text, problem) in [
        ("Doe, J. Title of a work. *Journal of Heat, 3*(1), 1–9.", "has no year"),
        ("Doe, J. (2020). *Journal of Heat, 3*(1), 1–9.", "has no title"),
        ("Doe, J. (2020). https://doi.org/10.1234/abc", "has no title"),
        ("Doe, J. (2020). Title of a work. *Journal, 3*, 1–9. https://doi.org/10.12/abc", "DOI"),
        ("Doe, J. (2020). Title of a work. *Journal, 3*, 1–9. doi:10.1234", "DOI"),
        ("Doe, J. (2020). Title of a work. htp://example.org/page", "address"),
        ("Doe, J. (2020). Title of a work. https://example", "address"),
        ("(2020). Title of a work. *Journal, 3*, 1–9.", "has no author"),
        ("Doe, J. (2020. Title of a work. *Journal, 3*(2), 1–9.", "parentheses"),
        ("Doe, J. (20x0). Title of a work. *Journal, 3*(2), 1–9.", "has no year"),
    ] {
        let problems = parse(text).problems;
        assert!(problems.iter().any(|found| found.contains(problem)), "{text}: {problems:?}");
    }
}

#[test]
fn long_references_are_malformed() {
    let long = format!("Doe, J. (2020). {}.", "word ".repeat(13_000));
    assert!(long.len() > MAX_REFERENCE && !parse(&long).problems.is_empty());
}

proptest! {
    #[test]
    fn any_text_is_parsed(text in any::<String>()) {
        parse(&text);
    }

    #[test]
    fn text_like_a_reference_is_parsed(
        text in "([A-Z][a-zé]{1,6}|, |\\. |\\(|\\)|\"|“|”|'|\\*|_|2020|n\\.d\\.| & |et al\\.|https?://|doi:|10\\.1|/|\\[|\\]|<|>|&amp;|王|\u{200b}| ){0,40}"
    ) {
        parse(&text);
    }
}
