use serde_json::{from_value, json};

use super::*;

fn candidate(url: &str, title: &str, text: &str) -> Candidate {
    shortened(url, title, text, text.len())
}

fn shortened(url: &str, title: &str, text: &str, most: usize) -> Candidate {
    let page = json!({
        "url": url, "content_type": "html", "title": title, "text": text, "length": text.len(), "incomplete": false,
        "warnings": [], "read_unix_ms": 0,
    });
    Candidate::new(url, title, from_value(page).unwrap(), most)
}

const TIDES: &str = "The tides of the ocean follow the moon and the sun, which pull at the water of the earth every \
    single day.";

#[test]
fn sources_are_ranked_filtered_and_deduplicated() {
    let sources = vec![
        candidate(
            "https://cakes.test/",
            "Cakes",
            "A cake needs flour, eggs, butter and a hot oven.",
        ),
        candidate("https://copy.test/", "Tides", TIDES),
        candidate(
            "https://nasa.gov/",
            "Ocean tides",
            &format!("# Ocean tides\n\n{TIDES}\n\nMore about ocean tides."),
        ),
    ];
    let mut input = SearchAndScrape::new("ocean tides");
    input.filter_by_query = true;
    let mut warnings = Vec::new();
    let ranked = rank(sources.clone(), &input, 20_000, &mut warnings);
    let urls: Vec<_> = ranked.sources.iter().map(|source| source.url.as_str()).collect();
    assert_eq!(urls, ["https://nasa.gov/"]);
    assert_eq!(ranked.filtered, ["https://cakes.test/", "https://copy.test/"]);
    assert_eq!(warnings.len(), 1, "{warnings:?}");

    let plain = SearchAndScrape { deduplicate: false, ..SearchAndScrape::new("ocean tides") };
    let ranked = rank(sources, &plain, 20_000, &mut warnings);
    assert_eq!((ranked.sources.len(), ranked.filtered.len()), (3, 0));
    let scores: Vec<_> = ranked.sources.iter().map(|source| source.scores.overall).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
}

#[test]
fn a_text_is_scored_before_it_is_cut() {
    let text = format!("{}\n\nAt its end it is about ocean tides.", "A long preface. ".repeat(100));
    let (whole, cut) = (
        candidate("https://a.test/", "Essay", &text),
        shortened("https://a.test/", "Essay", &text, 200),
    );
    assert!(cut.text.len() <= 200 && cut.truncated && !whole.truncated);
    let input = SearchAndScrape::new("ocean tides");
    let scores = |source| rank(vec![source], &input, 20_000, &mut Vec::new()).sources[0].scores;
    assert_eq!(scores(whole), scores(cut));
}
