//! Publications: what each source is sent and says, fusion, years and failures.

use proto::Code;
use research::tools::{AcademicSearch, AcademicSource, SortBy};
use search::settings::ProviderName;
use testkit::web::{Behaviour, ProviderResult};

use crate::search::support::{Lab, key_of, provider};

const SOURCES: [&str; 5] = ["crossref", "arxiv", "pubmed", "semantic_scholar", "openalex"];

async fn lab() -> Lab {
    Lab::with("duckduckgo", |settings| {
        provider(settings, ProviderName::Openalex).key = Some(key_of("openalex").into());
    })
    .await
}

fn only(lab: &Lab, source: &str, results: Vec<ProviderResult>) {
    for name in SOURCES {
        lab.providers.set(name, Behaviour::Empty);
    }
    lab.providers.set(source, Behaviour::Results(results));
}

fn publication(title: &str, doi: Option<&str>, year: u16) -> ProviderResult {
    ProviderResult {
        title: title.to_owned(),
        url: "https://doi.org/x".to_owned(),
        snippet: "What we did and found.".to_owned(),
        authors: vec!["Jane Doe".to_owned()],
        doi: doi.map(str::to_owned),
        year: Some(year),
        ..ProviderResult::default()
    }
}

#[tokio::test]
async fn every_source_is_read() {
    for source in SOURCES {
        let lab = lab().await;
        let result = ProviderResult {
            pdf: Some("https://x.org/a.pdf".to_owned()),
            ..publication("A title with words", Some("10.5555/ABC"), 2021)
        };
        only(&lab, source, vec![result]);
        let found =
            lab.research.academic_search(AcademicSearch::new("solar"), &lab.any()).await.unwrap();
        let one = &found.publications[0];
        assert_eq!(one.title, "A title with words", "{source}");
        assert!(one.summary.ends_with("What we did and found."), "{source}: {}", one.summary);
        assert_eq!(one.authors, ["Jane Doe"], "{source}");
        assert_eq!((one.year, one.doi.as_deref()), (Some(2021), Some("10.5555/abc")), "{source}");
        assert!(one.pdf_url.is_some(), "{source}");
        assert_eq!(
            (one.source.as_str(), found.total_results, found.result_count),
            (source, 100, 1)
        );
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    }
}

#[tokio::test]
async fn years_and_keys_are_sent() {
    let lab = lab().await;
    let input = AcademicSearch {
        year_from: Some(2019),
        year_to: Some(2021),
        sort_by: SortBy::Date,
        ..AcademicSearch::new("solar \"thin film\"")
    };
    lab.research.academic_search(input, &lab.any()).await.unwrap();
    let parameter = |source: &str, name: &str| lab.providers.requests(source)[0].parameter(name);
    assert_eq!(
        parameter("crossref", "filter").as_deref(),
        Some("from-pub-date:2019,until-pub-date:2021")
    );
    assert_eq!(
        parameter("crossref", "query.bibliographic").as_deref(),
        Some("solar \"thin film\"")
    );
    assert_eq!(
        parameter("arxiv", "search_query").as_deref(),
        Some("all:solar AND all:\"thin film\" AND submittedDate:[201901010000 TO 202112312359]")
    );
    assert_eq!(parameter("arxiv", "sortBy").as_deref(), Some("submittedDate"));
    for (name, value) in [
        ("mindate", "2019"),
        ("maxdate", "2021"),
        ("datetype", "pdat"),
        ("sort", "pub_date"),
        ("db", "pubmed"),
    ] {
        assert_eq!(parameter("pubmed", name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(lab.providers.requests("pubmed")[1].parameter("id").as_deref(), Some("1,2"));
    assert_eq!(parameter("semantic_scholar", "year").as_deref(), Some("2019-2021"));
    assert_eq!(
        parameter("openalex", "filter").as_deref(),
        Some("from_publication_date:2019-01-01,to_publication_date:2021-12-31")
    );
    assert_eq!(parameter("openalex", "api_key"), Some(key_of("openalex")));
}

#[tokio::test]
async fn openalex_is_asked_with_a_key_only() {
    let lab = Lab::start("duckduckgo").await;
    lab.research.academic_search(AcademicSearch::new("solar"), &lab.any()).await.unwrap();
    assert_eq!((lab.count("openalex"), lab.count("crossref"), lab.count("duckduckgo")), (0, 1, 0));
}

#[tokio::test]
async fn one_source_is_asked_by_its_api() {
    for (source, asked, prefix, domain) in [
        (AcademicSource::Arxiv, "arxiv", None, None),
        (AcademicSource::Pubmed, "pubmed", None, None),
        (
            AcademicSource::Ieee,
            "crossref",
            Some("prefix:10.1109"),
            Some("site:ieeexplore.ieee.org"),
        ),
        (AcademicSource::Nature, "crossref", Some("prefix:10.1038"), Some("site:nature.com")),
        (
            AcademicSource::Springer,
            "crossref",
            Some("prefix:10.1007"),
            Some("site:link.springer.com"),
        ),
    ] {
        let lab = Lab::start("brave").await;
        let input = AcademicSearch { source, ..AcademicSearch::new("solar") };
        lab.research.academic_search(input, &lab.any()).await.unwrap();
        for other in SOURCES.iter().filter(|name| **name != asked) {
            assert_eq!(lab.count(other), 0, "{source:?} asks {other}");
        }
        assert_eq!(lab.providers.requests(asked)[0].parameter("filter").as_deref(), prefix);
        let query =
            lab.providers.requests("brave").first().and_then(|request| request.parameter("q"));
        assert_eq!(query, domain.map(|domain| format!("{domain} solar")));
    }
}

#[tokio::test]
async fn sources_are_fused_and_deduplicated() {
    let lab = Lab::start("brave").await;
    for name in SOURCES {
        lab.providers.set(name, Behaviour::Empty);
    }
    lab.providers.set(
        "crossref",
        Behaviour::Results(vec![
            publication("First of all the titles", Some("10.5555/1"), 2019),
            publication("Second of all the titles", Some("10.5555/2"), 2020),
        ]),
    );
    let with_pdf = ProviderResult {
        pdf: Some("https://x.org/2.pdf".to_owned()),
        ..publication("Second Of All The Titles!", None, 2020)
    };
    lab.providers.set("semantic_scholar", Behaviour::Results(vec![with_pdf]));
    lab.providers.set(
        "brave",
        Behaviour::Results(vec![
            ProviderResult::page("Elsewhere on the web", "https://arxiv.org/abs/2101.00001", "s")
                .dated("2021-01-02"),
        ]),
    );
    let search = |input: AcademicSearch| async {
        lab.research.academic_search(input, &lab.any()).await.unwrap()
    };
    let found = search(AcademicSearch::new("solar")).await;
    let titles: Vec<_> = found.publications.iter().map(|one| one.title.as_str()).collect();
    assert_eq!(
        titles,
        ["Second of all the titles", "First of all the titles", "Elsewhere on the web"]
    );
    assert_eq!(found.publications[0].pdf_url.as_deref(), Some("https://x.org/2.pdf"));
    let queries: usize = lab
        .providers
        .requests("brave")
        .iter()
        .map(|request| request.parameter("q").unwrap().matches("site:").count())
        .sum();
    assert_eq!(queries, 17, "the web search covers all domains");

    let newest =
        search(AcademicSearch { sort_by: SortBy::Date, ..AcademicSearch::new("solar") }).await;
    assert_eq!(newest.publications[0].year, Some(2021));
    let pdfs = search(AcademicSearch { pdf_only: true, ..AcademicSearch::new("solar") }).await;
    assert_eq!(pdfs.result_count, 2);
    assert_eq!(pdfs.publications[1].pdf_url.as_deref(), Some("https://arxiv.org/pdf/2101.00001"));
    let years = search(AcademicSearch {
        year_from: Some(2020),
        year_to: Some(2020),
        ..AcademicSearch::new("solar")
    })
    .await;
    assert_eq!(years.result_count, 1);
}

#[tokio::test]
async fn a_failing_source_is_named_and_all_failing_ones_are_an_error() {
    let lab = Lab::start("duckduckgo").await;
    lab.providers.set("arxiv", Behaviour::Html);
    let found =
        lab.research.academic_search(AcademicSearch::new("solar"), &lab.any()).await.unwrap();
    assert_eq!(found.warnings.len(), 1);
    assert!(found.warnings[0].starts_with("arxiv did not answer"), "{:?}", found.warnings);
    for name in SOURCES {
        lab.providers.set(name, Behaviour::Status(500));
    }
    let failure =
        lab.research.academic_search(AcademicSearch::new("wind"), &lab.any()).await.unwrap_err();
    assert_eq!(failure.code, Code::Unavailable);
    assert_eq!(failure.details.unwrap()["providers"].as_array().unwrap().len(), 4);
    let lab = Lab::start("duckduckgo").await;
    for name in SOURCES {
        lab.providers.set(name, Behaviour::Limited(Some("9")));
    }
    let failure =
        lab.research.academic_search(AcademicSearch::new("wind"), &lab.any()).await.unwrap_err();
    assert_eq!(
        (failure.code, failure.details.unwrap()["retryAfterMs"].as_u64()),
        (Code::RateLimit, Some(9_000))
    );
}

#[tokio::test]
async fn results_of_the_web_are_recognized_as_publications_of_an_api() {
    let lab = Lab::start("brave").await;
    only(&lab, "arxiv", vec![publication("Attention Is All You Need", None, 2017)]);
    let page = |title: &str, url: &str| ProviderResult::page(title, url, "s");
    let results = vec![
        page(
            "[1706.03762] Attention Is All You Need - arXiv",
            "https://arxiv.org/pdf/1706.03762v7",
        ),
        page("Attention is all you need | IEEE Xplore", "https://ieeexplore.ieee.org/document/1"),
        page("Solar cells of the world | Nature", "https://www.nature.com/articles/s41586-021-1"),
    ];
    lab.providers.set("brave", Behaviour::Results(results));
    let found =
        lab.research.academic_search(AcademicSearch::new("solar"), &lab.any()).await.unwrap();
    let found: Vec<_> =
        found.publications.iter().map(|one| (one.title.as_str(), one.doi.as_deref())).collect();
    assert_eq!(
        found,
        [
            ("Attention Is All You Need", Some("10.48550/arxiv.2001.00000")),
            ("Solar cells of the world", Some("10.1038/s41586-021-1")),
        ]
    );
    let preprint = r#"{"data": [{"title": "T", "url": "https://x.org/", "externalIds": {"ArXiv": "1706.03762"}}]}"#;
    only(&lab, "semantic_scholar", Vec::new());
    lab.providers.set("semantic_scholar", Behaviour::Body(preprint.to_owned()));
    let found = lab.research.academic_search(AcademicSearch::new("T"), &lab.any()).await.unwrap();
    let of_both = found.publications.iter().find(|one| one.title == "T").unwrap();
    assert_eq!(of_both.doi.as_deref(), Some("10.48550/arxiv.1706.03762"));
    assert_eq!(of_both.pdf_url.as_deref(), Some("https://arxiv.org/pdf/1706.03762v7"));
    let input = AcademicSearch { source: AcademicSource::Nature, ..AcademicSearch::new("wind") };
    let found = lab.research.academic_search(input, &lab.any()).await.unwrap();
    assert_eq!(found.publications[0].title, "Solar cells of the world");
}

#[tokio::test]
async fn the_web_search_warns_and_its_silence_hides_no_failure() {
    let lab = Lab::start("brave,serper").await;
    lab.providers.set("brave", Behaviour::Status(500));
    let call = lab.any();
    let search = |text| lab.research.academic_search(AcademicSearch::new(text), &call);
    let found = search("solar").await.unwrap();
    assert!(found.warnings[0].starts_with("brave failed"), "{:?}", found.warnings);
    lab.providers.set("serper", Behaviour::Empty);
    for name in SOURCES {
        lab.providers.set(name, Behaviour::Status(500));
    }
    assert_eq!(search("wind").await.unwrap_err().code, Code::Unavailable);
}

#[tokio::test]
async fn years_in_the_wrong_order_are_refused() {
    let lab = Lab::start("duckduckgo").await;
    for (from, to) in [(2021, 2020), (1899, 2020), (2000, 2031)] {
        let input = AcademicSearch {
            year_from: Some(from),
            year_to: Some(to),
            ..AcademicSearch::new("solar")
        };
        let failure = lab.research.academic_search(input, &lab.any()).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput);
    }
    assert_eq!(lab.count("crossref"), 0);
}
