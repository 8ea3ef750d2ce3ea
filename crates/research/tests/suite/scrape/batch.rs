//! `search_and_scrape`: the results of a search, read, ranked and put together.

use std::sync::Mutex;

use proto::{Code, Failure};
use research::settings::Robots;
use research::tools::{SearchAndScrape, SearchAndScrapeOutput, SourceContent};
use research::{Call, Progress, Settings};
use search::settings::{ProviderName, ProviderSettings};
use serde_json::{Value, json};
use testkit::Service;
use testkit::web::{Canary, Site};
use tokio_util::sync::CancellationToken;

use crate::scrape::support::{Lab, LabOptions, settings};

const QUERY: &str = "how ocean tides work";

/// A scraper whose search provider finds these pages: host and path.
async fn lab(site: Site, mut settings: Settings, pages: &[(&str, &str)]) -> (Lab, Service) {
    let results: Vec<Value> = pages
        .iter()
        .map(|(host, path)| json!({"title": format!("Result {path}"), "url": site.url_at(host, path), "content": "A snippet"}))
        .collect();
    let search = Service::answering("/search", json!({"results": results})).await;
    let url = search.url("/");
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap();
    let provider =
        ProviderSettings { url: Some(url.parse().unwrap()), ..ProviderSettings::default() };
    settings.search.providers.insert(ProviderName::Searxng, provider);
    settings.search.routing = vec![vec![ProviderName::Searxng]];
    let options = LabOptions { settings, ports: vec![port], ..LabOptions::default() };
    (Lab::with_site(site, options).await, search)
}

async fn run(
    lab: &Lab,
    input: SearchAndScrape,
) -> (Result<SearchAndScrapeOutput, Failure>, Vec<Progress>) {
    let progress: Mutex<Vec<Progress>> = Mutex::default();
    let note = |step: Progress| progress.lock().unwrap().push(step);
    let cancel = CancellationToken::new();
    let call = Call { tenant: "acme", subject: "ann", progress: &note, cancel: &cancel };
    let output = lab.research.search_and_scrape(input, &call).await;
    (output, progress.into_inner().unwrap())
}

fn ten() -> SearchAndScrape {
    SearchAndScrape { num_results: 10, ..SearchAndScrape::new(QUERY) }
}

fn paths(output: &SearchAndScrapeOutput) -> Vec<&str> {
    let path = |url: &'_ str| {
        url.find('/').and_then(|_| url.match_indices('/').nth(2).map(|(at, _)| at)).unwrap()
    };
    output.sources.iter().map(|source| &source.url[path(&source.url)..]).collect()
}

#[tokio::test]
async fn sources_are_ranked_deduplicated_and_combined() {
    let pages = [
        ("copy.test", "/copies/1"),
        ("cakes.test", "/cakes"),
        ("tides.gov", "/articles/1"),
        ("near.test", "/near/1"),
        ("other.test", "/articles/15"),
        ("gone.test", "/status/404"),
    ];
    let (lab, _search) = lab(Site::start().await, Settings::default(), &pages).await;
    let (output, progress) = run(&lab, ten()).await;
    let output = output.unwrap();

    assert_eq!(
        (output.query.as_str(), output.summary.urls_searched, output.summary.urls_scraped),
        (QUERY, 6, 5)
    );
    let scores: Vec<_> =
        output.sources.iter().map(|source| source.scores.unwrap().overall).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    // The copy has nothing that its original lacks; the retelling keeps its own paragraph.
    let listed = paths(&output);
    assert!(!listed.contains(&"/copies/1") && listed.contains(&"/articles/1"), "{listed:?}");
    assert_eq!(output.summary.filtered, [lab.site.url_at("copy.test", "/copies/1")]);
    let retelling = output.sources.iter().find(|source| source.url.ends_with("/near/1")).unwrap();
    assert!(
        retelling.content.contains("adds a remark of its own")
            && !retelling.content.contains("The first thing"),
        "{}",
        retelling.content
    );
    assert_eq!(*listed.last().unwrap(), "/cakes");
    assert_eq!(
        output
            .combined_content
            .matches("The first thing to know about ocean tides and the moon")
            .count(),
        1
    );

    let first = &output.sources[0];
    assert!(output.combined_content.starts_with(&format!(
        "# [1] {}\n\nSource: {}\n\n",
        first.title.as_deref().unwrap(),
        first.url
    )));
    assert!(output.combined_content.contains("\n\n---\n\n"));
    let [failure] = &output.summary.failures[..] else { panic!("{:?}", output.summary.failures) };
    assert_eq!((failure.code, failure.url.ends_with("/status/404")), (Code::NotFound, true));
    let size = output.size_metadata;
    assert_eq!(
        (size.total_length, size.estimated_tokens),
        (output.combined_content.len(), output.combined_content.len() / 4)
    );
    assert!(!size.truncated);

    assert_eq!(progress.len(), 6);
    assert!(
        progress.iter().enumerate().all(|(at, step)| step.done == at + 1 && step.total == Some(6)),
        "{progress:?}"
    );
    assert!(
        progress
            .iter()
            .any(|step| step.message.starts_with("Could not read") && step.message.contains("404"))
    );
}

#[tokio::test]
async fn the_whole_site_is_read_within_its_limits() {
    let pages = Site::pages();
    assert_eq!(pages.len(), 50);
    let mut outcomes = std::collections::BTreeMap::new();
    for ten_pages in pages.chunks(10) {
        let list: Vec<(&str, &str)> =
            ten_pages.iter().map(|page| ("site.test", page.path.as_str())).collect();
        let limits = settings(&[("markdown", 1_000), ("html", 10_000), ("total", 100_000)]);
        let (lab, _search) = lab(Site::start().await, limits, &list).await;
        let (output, progress) = run(&lab, ten()).await;
        let output = output.unwrap();
        assert_eq!(progress.len(), 10);
        assert_eq!(output.summary.urls_searched, 10);
        assert_eq!(output.summary.urls_scraped + output.summary.failures.len(), 10);
        let scores: Vec<_> =
            output.sources.iter().map(|source| source.scores.unwrap().overall).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        for source in &output.sources {
            assert!(source.title.is_some(), "{}", source.url);
            assert!(!source.content.contains("Verify you are human"), "{}", source.url);
        }
        // The copies are on other hosts in life; here at most two pages of the site are read at one time.
        assert!(lab.site.most_at_once("site.test") <= 2);
        for page in ten_pages {
            let failure =
                output.summary.failures.iter().find(|failure| failure.url.ends_with(&page.path));
            outcomes.insert(page.path.clone(), failure.map(|failure| failure.code));
        }
    }
    for (path, code) in [
        ("/articles/7", None),
        ("/near/2", None),
        ("/slow/headers", Some(Code::Timeout)),
        ("/slow/body", None),
        ("/slow/200ms", None),
        ("/broken/cut", None),
        ("/broken/empty", Some(Code::Unavailable)),
        ("/status/404", Some(Code::NotFound)),
        ("/status/408", Some(Code::Timeout)),
        ("/status/410", Some(Code::InvalidInput)),
        ("/status/429", Some(Code::RateLimit)),
        ("/status/500", Some(Code::Unavailable)),
        ("/challenge/200", Some(Code::Unavailable)),
        ("/challenge/403", Some(Code::Unavailable)),
        ("/redirect/article", None),
        ("/redirect/loop", Some(Code::Unavailable)),
        ("/files/article.pdf", None),
        ("/files/data.json", None),
        ("/bomb/gzip", None),
        ("/endless", None),
        ("/large", None),
    ] {
        assert_eq!(outcomes[path], code, "{path}");
    }
}

#[tokio::test]
async fn five_pages_are_read_at_once_and_two_of_one_host() {
    let slow: Vec<String> =
        (1..=9).map(|number| format!("/slow/{}ms", "1".repeat(number))).collect();
    let hosts =
        ["a.test", "a.test", "a.test", "a.test", "b.test", "c.test", "d.test", "e.test", "f.test"];
    let pages: Vec<(&str, &str)> =
        hosts.iter().copied().zip(slow.iter().map(String::as_str)).collect();
    let settings = Settings { robots: Robots::Off, ..Settings::default() };
    let (lab, _search) = lab(Site::start().await, settings, &pages).await;
    let (output, _) = run(&lab, ten()).await;
    assert_eq!(output.unwrap().summary.urls_scraped, 9);
    assert_eq!(lab.site.most_at_once("a.test"), 2);
    assert_eq!(lab.site.most_at_once(""), 5);
}

#[tokio::test]
async fn dead_pages_do_not_delay_what_is_read() {
    let pages = [
        ("a.test", "/articles/1"),
        ("b.test", "/slow/headers"),
        ("c.test", "/articles/2"),
        ("d.test", "/slow/headers"),
        ("e.test", "/articles/3"),
    ];
    let (lab, _search) = lab(Site::start().await, Settings::default(), &pages).await;
    let started = std::time::Instant::now();
    let (output, _) = run(&lab, ten()).await;
    let output = output.unwrap();
    assert!(started.elapsed() < std::time::Duration::from_secs(12), "{:?}", started.elapsed());
    assert_eq!((output.summary.urls_scraped, output.summary.failures.len()), (3, 2));
    assert!(output.summary.failures.iter().all(|failure| failure.code == Code::Timeout));
}

#[tokio::test]
async fn sources_have_ids_citations_and_texts_where_they_are_asked_for() {
    let pages = [("a.test", "/articles/1"), ("b.test", "/articles/2"), ("c.test", "/status/429")];
    let (lab, _search) = lab(Site::start().await, Settings::default(), &pages).await;
    let (output, _) = run(&lab, ten()).await;
    let both = output.unwrap();
    let ids: Vec<_> = both.sources.iter().map(|source| source.id.as_str()).collect();
    assert_eq!(ids, ["[1]", "[2]"]);
    for source in &both.sources {
        let heading = format!(
            "# {} {}\n\nSource: {}",
            source.id,
            source.title.as_deref().unwrap(),
            source.url
        );
        assert!(both.combined_content.contains(&heading), "{}", both.combined_content);
        assert_eq!(source.author.as_deref(), Some("Jane Doe"));
        assert!(source.date.is_some());
        assert!(source.citation.as_deref().unwrap().starts_with("Doe, J. (201"));
        assert!(!source.content.is_empty());
    }
    assert_eq!(both.summary.failures[0].retry_after_ms, Some(7_000));
    let of = |content| SearchAndScrape { content, ..ten() };
    let (combined, _) = run(&lab, of(SourceContent::Combined)).await;
    let combined = combined.unwrap();
    assert_eq!(combined.combined_content, both.combined_content);
    assert!(combined.sources.iter().all(|source| source.content.is_empty()));
    let (sources, _) = run(&lab, of(SourceContent::Sources)).await;
    let sources = sources.unwrap();
    assert_eq!((sources.combined_content.as_str(), sources.sources), ("", both.sources));
}

#[tokio::test]
async fn robots_are_respected_unless_they_are_off() {
    let pages = [("a.test", "/forbidden/1"), ("a.test", "/articles/2")];
    let (respectful, _search) = lab(Site::start().await, Settings::default(), &pages).await;
    let (output, _) = run(&respectful, ten()).await;
    let output = output.unwrap();
    assert_eq!(paths(&output), ["/articles/2"]);
    assert_eq!(output.summary.failures[0].code, Code::Denied);
    assert_eq!(respectful.hits("/forbidden/"), 0);

    let settings = Settings { robots: Robots::Off, ..Settings::default() };
    let (other, _search) = lab(Site::start().await, settings, &pages).await;
    let (output, _) = run(&other, ten()).await;
    assert_eq!(output.unwrap().summary.urls_scraped, 2);
    assert_eq!(other.hits("/robots.txt"), 0);
}

#[tokio::test]
async fn options_limit_filter_and_hide() {
    let pages = [("a.test", "/articles/1"), ("b.test", "/articles/2"), ("c.test", "/cakes")];
    let (lab, _search) = lab(Site::start().await, Settings::default(), &pages).await;
    let input = SearchAndScrape {
        include_sources: false,
        filter_by_query: true,
        max_length_per_source: 500,
        total_max_length: 900,
        ..ten()
    };
    let (output, _) = run(&lab, input).await;
    let output = output.unwrap();
    assert_eq!(output.sources.len(), 2);
    assert!(output.sources.iter().all(|source| source.content.is_empty()));
    assert_eq!(output.summary.filtered, [lab.site.url_at("c.test", "/cakes")]);
    assert!(output.combined_content.len() <= 900 && output.size_metadata.truncated);

    let input =
        SearchAndScrape { max_length_per_source: 200_000, total_max_length: 900_000, ..ten() };
    let (output, _) = run(&lab, input).await;
    let warnings = output.unwrap().warnings;
    assert_eq!(
        warnings.iter().filter(|warning| warning.contains("at most")).count(),
        2,
        "{warnings:?}"
    );

    let (output, _) = run(&lab, SearchAndScrape { total_max_length: 0, ..ten() }).await;
    assert_eq!(output.unwrap_err().code, Code::InvalidInput);
}

#[tokio::test]
async fn a_search_without_results_is_a_success() {
    let (lab, _search) = lab(Site::start().await, Settings::default(), &[]).await;
    let (output, progress) = run(&lab, ten()).await;
    let output = output.unwrap();
    assert!(output.sources.is_empty() && output.combined_content.is_empty() && progress.is_empty());
    assert_eq!(output.summary.urls_searched, 0);
}

#[tokio::test]
async fn results_at_private_addresses_are_failures_and_not_dialled() {
    let (site, canary) = (Site::start().await, Canary::start().await);
    let results = json!({"results": [
        {"title": "Private", "url": format!("http://127.0.0.1:{}/", canary.port()), "content": ""},
        {"title": "Metadata", "url": "http://169.254.169.254/latest/", "content": ""},
    ]});
    let search = Service::answering("/search", results).await;
    let port = search.url("").rsplit(':').next().unwrap().parse().unwrap();
    let mut settings = Settings::default();
    let provider = ProviderSettings {
        url: Some(search.url("/").parse().unwrap()),
        ..ProviderSettings::default()
    };
    settings.search.providers.insert(ProviderName::Searxng, provider);
    settings.search.routing = vec![vec![ProviderName::Searxng]];
    let lab =
        Lab::with_site(site, LabOptions { settings, ports: vec![port], ..LabOptions::default() })
            .await;
    let (output, _) = run(&lab, ten()).await;
    let output = output.unwrap();
    assert_eq!(output.summary.failures.len(), 2);
    assert!(output.summary.failures.iter().all(|failure| failure.code == Code::InvalidInput));
    assert_eq!(canary.connections(), 0);
}
