//! Web, image and news search as a whole: filters, lenses, orders and inputs.

use proto::Code;
use research::Lens;
use research::tools::{Freshness, ImageSearch, NewsSearch, SortBy, WebSearch};
use search::providers::{ImageSize, ImageType, Safe};
use search::settings::ProviderName;
use serde_json::json;
use testkit::web::{Behaviour, ProviderResult};

use crate::search::support::{Lab, key_of, provider};

fn page(url: &str) -> ProviderResult {
    ProviderResult::page("A page", url, "About it.")
}

#[tokio::test]
async fn pages_are_listed_once() {
    let lab = Lab::start("brave").await;
    let urls = [
        "https://www.x.org/a?utm_source=news",
        "https://x.org/a#part",
        "javascript:alert(1)",
        "https://x.org/b",
        "not a url",
        "https://user:pw@x.org/c",
    ];
    lab.providers.set("brave", Behaviour::Results(urls.map(page).to_vec()));
    let found = lab.search("solar").await.unwrap();
    assert_eq!(found.urls, ["https://www.x.org/a?utm_source=news", "https://x.org/b"]);
}

#[tokio::test]
async fn text_of_providers_is_cleaned() {
    let lab = Lab::start("brave").await;
    let hidden = ProviderResult::page(
        "The <strong>sun</strong>\u{200b}",
        "https://x.org/",
        "a &amp; b\u{202e} &#x27;c&#x27;",
    );
    lab.providers.set("brave", Behaviour::Results(vec![hidden]));
    let found = lab.search("solar").await.unwrap();
    assert_eq!(found.results[0].title, "The sun");
    assert_eq!(found.results[0].snippet, "a & b 'c'");
}

#[tokio::test]
async fn filters_that_a_provider_lacks_are_applied_or_named() {
    let lab = Lab::start("tavily").await;
    let results = vec![
        page("https://x.org/1"),
        page("https://evil.org/"),
        ProviderResult::page("With unwanted words", "https://docs.x.org/2", ""),
    ];
    lab.providers.set("tavily", Behaviour::Results(results));
    let input = WebSearch {
        site: Some("x.org".to_owned()),
        exclude_terms: Some("unwanted".to_owned()),
        language: Some("de".to_owned()),
        safe: Safe::High,
        ..WebSearch::new("solar")
    };
    let found = lab.research.web_search(input, &lab.any()).await.unwrap();
    assert_eq!(found.urls, ["https://x.org/1"]);
    assert_eq!(found.warnings, ["tavily cannot filter by `safe`, `language`."]);
}

#[tokio::test]
async fn a_lens_limits_the_search_to_its_domains() {
    let lens = Lens {
        name: "energy".to_owned(),
        domains: (0..12).map(|number| format!("d{number}.org")).collect(),
        cx: None,
    };
    let lab = Lab::with("brave", |settings| settings.lenses = vec![lens.checked().unwrap()]).await;
    lab.providers.set(
        "brave",
        Behaviour::Results(vec![
            page("https://d1.org/"),
            page("https://www.d11.org/x"),
            page("https://other.org/"),
        ]),
    );
    let search = |site: Option<&str>, lens: &str| WebSearch {
        lens: Some(lens.to_owned()),
        site: site.map(str::to_owned),
        ..WebSearch::new("solar")
    };
    let found = lab.research.web_search(search(None, "Energy"), &lab.any()).await.unwrap();
    let mut urls = found.urls;
    urls.sort();
    assert_eq!(urls, ["https://d1.org/", "https://www.d11.org/x"]);
    let queries: Vec<_> = lab
        .providers
        .requests("brave")
        .iter()
        .map(|request| request.parameter("q").unwrap())
        .collect();
    let sites: Vec<_> = queries.iter().map(|query| query.matches("site:").count()).collect();
    assert_eq!((sites.iter().max(), sites.iter().sum::<usize>()), (Some(&10), 12), "{queries:?}");

    let one = lab.research.web_search(search(Some("d1.org"), "energy"), &lab.any()).await.unwrap();
    assert_eq!(one.urls, ["https://d1.org/"]);
    let none =
        lab.research.web_search(search(Some("other.org"), "energy"), &lab.any()).await.unwrap();
    assert_eq!((none.urls.len(), none.warnings.len()), (0, 1));
    let unknown = lab.research.web_search(search(None, "sport"), &lab.any()).await.unwrap_err();
    assert_eq!(unknown.code, Code::InvalidInput);
    assert!(unknown.message.contains("the lenses are energy"), "{}", unknown.message);
}

#[tokio::test]
async fn a_lens_keeps_what_answered_when_a_part_of_it_fails() {
    let lens = Lens {
        name: "energy".to_owned(),
        domains: (0..12).map(|number| format!("d{number}.org")).collect(),
        cx: None,
    };
    let lab = Lab::with("brave", |settings| settings.lenses = vec![lens]).await;
    let answers = Behaviour::Results(vec![page("https://d1.org/")]);
    let search =
        |query: &str| WebSearch { lens: Some("energy".to_owned()), ..WebSearch::new(query) };
    lab.providers.set("brave", Behaviour::InTurn(vec![answers, Behaviour::Status(500)]));
    let found = lab.research.web_search(search("solar"), &lab.any()).await.unwrap();
    assert_eq!(found.urls, ["https://d1.org/"]);
    assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
    let warning = &found.warnings[0];
    assert!(warning.starts_with("d10.org, d11.org could not be searched: "), "{warning}");
    assert!(warning.contains("HTTP 500"), "{warning}");
    let failure = lab.research.web_search(search("wind"), &lab.any()).await.unwrap_err();
    assert_eq!(failure.code, Code::Unavailable);
    assert_eq!(lab.count("brave"), 4, "every part was asked");
}

#[tokio::test]
async fn long_domains_leave_room_for_the_query() {
    let lens = Lens {
        name: "long".to_owned(),
        domains: (0..10).map(|number| format!("{}{number}.org", "department".repeat(5))).collect(),
        cx: None,
    };
    let lab = Lab::with("brave", |settings| settings.lenses = vec![lens]).await;
    let input = WebSearch { lens: Some("long".to_owned()), ..WebSearch::new("solar cells") };
    let found = lab.research.web_search(input, &lab.any()).await.unwrap();
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    let queries = lab.providers.requests("brave");
    let queries: Vec<_> = queries.iter().map(|request| request.parameter("q").unwrap()).collect();
    assert!(queries.iter().all(|query| query.ends_with(" solar cells")), "{queries:?}");
    assert_eq!(queries.iter().map(|query| query.matches("site:").count()).sum::<usize>(), 10);
}

#[tokio::test]
async fn a_lens_with_an_engine_asks_google_directly() {
    let lens = || {
        vec![Lens { name: "g".to_owned(), domains: Vec::new(), cx: Some("engine-7".to_owned()) }]
    };
    let input = || WebSearch { lens: Some("g".to_owned()), ..WebSearch::new("solar") };
    let lab = Lab::with("brave", |settings| {
        settings.lenses = lens();
        provider(settings, ProviderName::Google).key = Some(key_of("google").into());
    })
    .await;
    lab.providers.set("google", Behaviour::Results(vec![page("https://x.org/1")]));
    let found = lab.research.web_search(input(), &lab.any()).await.unwrap();
    assert_eq!(found.urls, ["https://x.org/1"]);
    assert_eq!(lab.providers.last("google").parameter("cx").as_deref(), Some("engine-7"));
    assert_eq!(lab.count("brave"), 0);

    let lab = Lab::with("brave", |settings| settings.lenses = lens()).await;
    let failure = lab.research.web_search(input(), &lab.any()).await.unwrap_err();
    assert_eq!(failure.code, Code::Unsupported);
    assert!(failure.message.contains("GOOGLE_CUSTOM_SEARCH_API_KEY"), "{}", failure.message);
}

#[tokio::test]
async fn image_filters_are_applied_to_results() {
    let lab = Lab::start("brave").await;
    let image = |name: &str, width: u32| ProviderResult {
        image: Some((format!("https://x.org/{name}"), width, 100)),
        ..page("https://x.org/page")
    };
    lab.providers.set(
        "brave",
        Behaviour::Results(vec![
            image("a.png", 2_000),
            image("b.png", 200),
            image("c.jpeg", 3_000),
        ]),
    );
    let input = ImageSearch {
        size: Some(ImageSize::Large),
        kind: Some(ImageType::Photo),
        file_type: Some(search::providers::FileType::Jpg),
        ..ImageSearch::new("solar")
    };
    let found = lab.research.image_search(input, &lab.any()).await.unwrap();
    let links: Vec<_> = found.images.iter().map(|image| image.link.as_str()).collect();
    assert_eq!(links, ["https://x.org/c.jpeg"]);
    assert_eq!(found.warnings, ["brave cannot filter by `type`."]);
    let all = lab.research.image_search(ImageSearch::new("solar"), &lab.any()).await.unwrap();
    assert_eq!(all.result_count, 3, "one page may show several images");
    assert_eq!(all.images[0].display_link, "x.org");
}

#[tokio::test]
async fn every_image_provider_reads_its_own_shape() {
    for name in ["brave", "serper", "searxng"] {
        let lab = Lab::start(name).await;
        let found = lab.research.image_search(ImageSearch::new("solar"), &lab.any()).await.unwrap();
        let image = &found.images[0];
        assert_eq!(image.link, format!("https://{name}.example.org/1.png"));
        assert_eq!((image.width, image.height), (Some(640), Some(480)), "{name}");
        assert!(
            image.thumbnail_link.as_ref().unwrap().starts_with("https://thumbnails.example.org/"),
            "{name}"
        );
        assert_eq!(
            image.context_link.as_deref(),
            Some(format!("https://{name}.example.org/1").as_str())
        );
    }
}

#[tokio::test]
async fn news_have_dates_and_can_be_sorted_by_them() {
    let lab = Lab::start("serper").await;
    lab.providers.set(
        "serper",
        Behaviour::Results(vec![
            page("https://x.org/undated"),
            page("https://x.org/old").dated("Nov 8, 2024"),
            page("https://x.org/new").dated("2 hours ago"),
        ]),
    );
    let newest = NewsSearch { sort_by: SortBy::Date, num_results: 2, ..NewsSearch::new("solar") };
    let found = lab.research.news_search(newest, &lab.any()).await.unwrap();
    let articles: Vec<_> = found
        .articles
        .iter()
        .map(|article| (article.url.as_str(), article.published_at.as_deref()))
        .collect();
    assert_eq!(
        articles,
        [
            ("https://x.org/new", Some("2024-11-14T08:00:00.000Z")),
            ("https://x.org/old", Some("2024-11-08T00:00:00.000Z")),
        ]
    );
    assert_eq!(found.articles[0].source, "The Publisher");
    let relevant = lab.research.news_search(NewsSearch::new("solar"), &lab.any()).await.unwrap();
    assert_eq!(relevant.articles[0].url, "https://x.org/undated");
    assert_eq!(relevant.articles[0].published_at, None);
}

#[tokio::test]
async fn old_news_are_dropped_where_the_provider_cannot() {
    let lab = Lab::start("brave").await;
    lab.providers.set(
        "brave",
        Behaviour::Results(vec![
            page("https://x.org/old").dated("2024-11-14T07:00:00"),
            page("https://x.org/new").dated("2024-11-14T09:30:00"),
        ]),
    );
    let input = NewsSearch { freshness: Freshness::Hour, ..NewsSearch::new("solar") };
    let found = lab.research.news_search(input, &lab.any()).await.unwrap();
    assert_eq!(
        found.articles.iter().map(|article| article.url.as_str()).collect::<Vec<_>>(),
        ["https://x.org/new"]
    );
}

#[tokio::test]
async fn without_a_news_endpoint_the_web_is_searched_with_a_date_limit() {
    let lab = Lab::start("duckduckgo").await;
    let found = lab.research.news_search(NewsSearch::new("solar"), &lab.any()).await.unwrap();
    assert_eq!(found.result_count, 2);
    assert_eq!(found.articles[0].source, "duckduckgo.example.org");
    assert!(
        found.warnings[0].starts_with("No provider with a news endpoint"),
        "{:?}",
        found.warnings
    );
    assert_eq!(lab.providers.last("duckduckgo").parameter("df").as_deref(), Some("w"));
    let lab = Lab::start("brave,duckduckgo").await;
    lab.providers.set("brave", Behaviour::Status(500));
    let found = lab.research.news_search(NewsSearch::new("solar"), &lab.any()).await.unwrap();
    assert!(found.warnings[0].contains("web results with a date limit"), "{:?}", found.warnings);
}

#[tokio::test]
async fn bad_input_is_refused_before_anything_is_sent() {
    let lab = Lab::start("brave").await;
    let base = || WebSearch::new("solar");
    let inputs = [
        (WebSearch::new("  "), "/query"),
        (WebSearch::new("x".repeat(501)), "/query"),
        (WebSearch { num_results: 0, ..base() }, "/num_results"),
        (WebSearch { num_results: 11, ..base() }, "/num_results"),
        (WebSearch { site: Some("a b".to_owned()), ..base() }, "/site"),
        (WebSearch { language: Some("english".to_owned()), ..base() }, "/language"),
        (WebSearch { country: Some("D1".to_owned()), ..base() }, "/country"),
        (WebSearch { lens: Some("x".to_owned()), ..base() }, "/lens"),
    ];
    for (input, field) in inputs {
        let failure = lab.research.web_search(input, &lab.any()).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput);
        assert!(failure.message.starts_with(field), "{}", failure.message);
    }
    assert_eq!(lab.count("brave"), 0);
}

#[tokio::test]
async fn tools_are_called_by_name_with_json() {
    let lab = Lab::start("brave").await;
    let input = json!({"query": "solar", "time_range": "day"});
    let output = lab.research.call("web_search", input, &lab.any()).await.unwrap();
    assert_eq!(output["resultCount"], 2);
    assert_eq!(output["results"][0]["displayLink"], "brave.example.org");
    assert_eq!(output.get("warnings"), None);
    for (tool, input) in
        [("web_search", json!({})), ("web_search", json!({"query": "x", "page": 1}))]
    {
        assert_eq!(
            lab.research.call(tool, input, &lab.any()).await.unwrap_err().code,
            Code::InvalidInput
        );
    }
    assert_eq!(
        lab.research.call("dance", json!({}), &lab.any()).await.unwrap_err().code,
        Code::NotFound
    );
}
