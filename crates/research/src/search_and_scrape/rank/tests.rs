use super::*;

fn candidate(url: &str, title: &str, text: &str) -> Candidate {
    Candidate {
        url: url.to_owned(),
        title: Some(title.to_owned()),
        text: text.to_owned(),
        content_type: ContentType::Html,
        scores: QualityScores::default(),
        truncated: false,
        author: None,
        date: None,
    }
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
