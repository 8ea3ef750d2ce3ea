use super::*;

const TODAY: i64 = 20_773;

fn source<'a>(url: &'a str, title: &'a str, text: &'a str) -> Scored<'a> {
    Scored { url, title: Some(title), text, author: None, date: None }
}

#[test]
fn a_page_about_the_query_is_more_relevant_than_one_that_mentions_a_word() {
    let about = source(
        "https://a.test/",
        "How ocean tides work",
        "The tides of the ocean follow the moon. Ocean tides rise twice a day.",
    );
    let other =
        source("https://b.test/", "Cake recipes", "A cake needs flour. Work quickly and bake it.");
    let (about, other) = (
        relevance("how do ocean tides work", &about),
        relevance("how do ocean tides work", &other),
    );
    assert!(about > 0.8, "{about}");
    assert!(other < LEAST_RELEVANCE, "{other}");
    let none = source("https://b.test/", "Cake", "A cake needs flour.");
    assert!(relevance("ocean tides", &none).abs() < f64::EPSILON);
    // Words that all queries have do not decide, unless there are no others.
    assert!(
        relevance("to be or not to be", &source("https://c.test/", "", "to be or not to be")) > 0.6
    );
}

#[test]
fn freshness_halves_each_year() {
    let on = |text: &str| freshness(Date::parse_iso(text), Aging::on(TODAY));
    assert!((on("2026-11-16") - 1.0).abs() < 1e-9);
    assert!((on("2025-11-16") - 0.5).abs() < 1e-9);
    assert!((on("2024-11-16") - 0.25).abs() < 0.01);
    assert!((on("2030-01-01") - 1.0).abs() < 1e-9, "a date in the future is new");
    assert!((freshness(None, Aging::on(TODAY)) - 0.5).abs() < 1e-9);
    let news = freshness(Date::parse_iso("2026-10-17"), Aging::of_news(TODAY));
    assert!((news - 0.5).abs() < 1e-9, "{news}");
}

#[test]
fn authority_goes_by_the_host() {
    let of = |url: &str| authority(&source(url, "", ""));
    for (better, worse) in [
        ("https://www.nasa.gov/x", "https://example.org/x"),
        ("https://cs.ox.ac.uk/x", "https://example.com/x"),
        ("https://en.wikipedia.org/x", "https://notwikipedia.org/x"),
        ("https://example.org/", "https://example.com/"),
        ("https://example.com/", "https://someone.medium.com/"),
        ("https://example.com/", "http://example.com/"),
    ] {
        assert!(of(better) > of(worse), "{better} {worse}");
    }
    assert!(!is_institution("gov") && !is_institution("ac.uk") && is_institution("mit.edu"));
}

#[test]
fn prose_is_better_than_a_list_of_links() {
    let sentences: Vec<String> = (0..60)
        .map(|n| format!("Sentence number {n} explains aspect {} of the topic.", n * 7))
        .collect();
    let article = format!("# Topic\n\n{}", sentences.join(" "));
    let links = "[Home](https://a.test/home) ".repeat(60);
    assert!(content_quality(&article) > 0.8, "{}", content_quality(&article));
    assert!(content_quality(&links) < 0.4, "{}", content_quality(&links));
    assert!(content_quality("").abs() < f64::EPSILON);
}

#[test]
fn the_overall_score_is_the_weighted_mean() {
    let mut scored = source("https://a.test/", "Tides", "Tides rise. Tides fall.");
    scored.date = Date::parse_iso("2026-11-16");
    let scores = score("tides", &scored, Aging::on(TODAY));
    let expected = 0.35 * scores.relevance
        + 0.20 * scores.freshness
        + 0.25 * scores.authority
        + 0.20 * scores.content_quality;
    assert!((scores.overall - expected).abs() < 0.002, "{scores:?}");
    for score in [scores.overall, scores.relevance, scores.authority, scores.content_quality] {
        assert!((0.0..=1.0).contains(&score));
    }
}
