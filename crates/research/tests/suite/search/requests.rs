//! What each provider is sent.

use research::tools::{Freshness, ImageSearch, NewsSearch, TimeRange, WebSearch};
use search::providers::{ColorType, DominantColor, FileType, ImageSize, ImageType, Safe};

use crate::search::support::{Lab, key_of};

fn full() -> WebSearch {
    WebSearch {
        num_results: 7,
        time_range: Some(TimeRange::Week),
        safe: Safe::High,
        language: Some("DE".to_owned()),
        site: Some("https://www.Example.org/".to_owned()),
        exact_terms: Some("one \"two\"".to_owned()),
        exclude_terms: Some("three -four".to_owned()),
        country: Some("at".to_owned()),
        ..WebSearch::new("  solar cells ")
    }
}

async fn ask(provider: &str, input: WebSearch) -> testkit::web::ProviderRequest {
    let lab = Lab::start(provider).await;
    let output = lab.research.web_search(input, &lab.any()).await.unwrap();
    assert_eq!(output.query, "  solar cells ");
    lab.providers.last(provider)
}

/// The parameters of a request, by name.
macro_rules! assert_parameters {
    ($request:expr, $($name:literal: $value:expr),* $(,)?) => {
        $(assert_eq!($request.parameter($name).as_deref(), Some($value), $name);)*
    };
}

#[tokio::test]
async fn brave() {
    let request = ask("brave", full()).await;
    assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/res/v1/web/search"));
    assert_eq!(request.header("x-subscription-token"), Some(key_of("brave").as_str()));
    assert_parameters!(request,
        "q": "site:example.org solar cells \"one  two\" -three -four", "count": "7", "freshness": "pw",
        "safesearch": "strict", "search_lang": "de", "country": "AT", "text_decorations": "false");
}

#[tokio::test]
async fn serper() {
    let request = ask("serper", full()).await;
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/search"));
    assert_eq!(request.header("x-api-key"), Some(key_of("serper").as_str()));
    assert_parameters!(request,
        "q": "site:example.org solar cells \"one  two\" -three -four", "num": "7", "tbs": "qdr:w", "gl": "at", "hl": "de");
}

#[tokio::test]
async fn tavily() {
    let request = ask("tavily", full()).await;
    assert_eq!(
        request.header("authorization"),
        Some(format!("Bearer {}", key_of("tavily")).as_str())
    );
    assert_parameters!(request,
        "query": "solar cells \"one  two\"", "max_results": "20", "time_range": "week", "topic": "general",
        "include_domains": "[\"example.org\"]");
}

#[tokio::test]
async fn exa() {
    let request = ask("exa", full()).await;
    assert_eq!(request.header("x-api-key"), Some(key_of("exa").as_str()));
    assert_parameters!(request,
        "query": "solar cells", "numResults": "20", "startPublishedDate": "2024-11-07T10:00:00.000Z",
        "includeDomains": "[\"example.org\"]", "userLocation": "AT", "includeText": "[\"one  two\"]", "moderation": "true");
}

#[tokio::test]
async fn searxng() {
    let request = ask("searxng", full()).await;
    assert_eq!(request.path, "/search");
    assert_parameters!(request,
        "q": "site:example.org solar cells \"one  two\" -three -four", "format": "json", "categories": "general",
        "time_range": "week", "safesearch": "2", "language": "de-AT");
}

#[tokio::test]
async fn duckduckgo() {
    let request = ask("duckduckgo", full()).await;
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/html/"));
    assert_parameters!(request,
        "q": "site:example.org solar cells \"one  two\" -three -four", "df": "w", "kp": "1", "kl": "at-de");
}

#[tokio::test]
async fn google() {
    let request = ask("google", full()).await;
    assert_eq!(request.path, "/customsearch/v1");
    assert_parameters!(request,
        "key": key_of("google").as_str(), "cx": "engine-1", "q": "solar cells", "num": "7", "dateRestrict": "w1",
        "safe": "active", "lr": "lang_de", "gl": "at", "siteSearch": "example.org", "siteSearchFilter": "i",
        "exactTerms": "one  two", "excludeTerms": "three four");
}

#[tokio::test]
async fn defaults_send_no_filter() {
    let request = ask("brave", WebSearch::new("  solar cells ")).await;
    assert_parameters!(request, "q": "solar cells", "count": "5", "safesearch": "moderate");
    for name in ["freshness", "search_lang", "country"] {
        assert_eq!(request.parameter(name), None, "{name}");
    }
}

#[tokio::test]
async fn long_queries_are_shortened_and_keep_their_site() {
    let words = "photovoltaics ".repeat(35);
    let input = || WebSearch { site: Some("example.org".to_owned()), ..WebSearch::new(&*words) };
    let lab = Lab::start("brave").await;
    let found = lab.research.web_search(input(), &lab.any()).await.unwrap();
    let sent = lab.providers.last("brave").parameter("q").unwrap();
    assert!(sent.starts_with("site:example.org photovoltaics "), "{sent}");
    assert!(sent.ends_with("photovoltaics") && sent.len() <= 400, "{sent}");
    assert_eq!(found.warnings, ["The query is too long for brave: its end was left out."]);

    let short = WebSearch::new("a ".repeat(60));
    lab.research.web_search(short, &lab.any()).await.unwrap();
    let sent = lab.providers.last("brave").parameter("q").unwrap();
    assert_eq!(sent.split(' ').count(), 50);

    let lab = Lab::start("tavily").await;
    let found = lab.research.web_search(input(), &lab.any()).await.unwrap();
    let request = lab.providers.last("tavily");
    assert!(request.parameter("query").unwrap().len() <= 400);
    assert_parameters!(request, "include_domains": "[\"example.org\"]");
    assert_eq!(found.warnings, ["The query is too long for tavily: its end was left out."]);
}

#[tokio::test]
async fn brave_is_sent_countries_and_languages_that_it_knows() {
    let lab = Lab::start("brave").await;
    let search = |language: &str, country: &str| WebSearch {
        language: Some(language.to_owned()),
        country: Some(country.to_owned()),
        ..WebSearch::new("solar")
    };
    for (language, country, sent) in
        [("ja", "JP", ("jp", "JP")), ("pt", "BR", ("pt-br", "BR")), ("el", "GR", ("el", "GR"))]
    {
        let found = lab.research.web_search(search(language, country), &lab.any()).await.unwrap();
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        assert_parameters!(lab.providers.last("brave"), "search_lang": sent.0, "country": sent.1);
    }
    let found = lab.research.web_search(search("sw", "KE"), &lab.any()).await.unwrap();
    assert_eq!(found.warnings, ["brave cannot filter by `language`, `country`."]);
    let request = lab.providers.last("brave");
    assert_eq!((request.parameter("search_lang"), request.parameter("country")), (None, None));
}

#[tokio::test]
async fn images() {
    let lab = Lab::start("google,brave").await;
    let input = ImageSearch {
        size: Some(ImageSize::XXLarge),
        kind: Some(ImageType::Photo),
        color_type: Some(ColorType::Trans),
        dominant_color: Some(DominantColor::Teal),
        file_type: Some(FileType::Png),
        safe: Safe::Off,
        ..ImageSearch::new("solar")
    };
    let found = lab.research.image_search(input, &lab.any()).await.unwrap();
    assert_parameters!(lab.providers.last("google"),
        "searchType": "image", "imgSize": "xxlarge", "imgType": "photo", "imgColorType": "trans",
        "imgDominantColor": "teal", "fileType": "png", "safe": "off");
    let image = &found.images[0];
    assert_eq!(image.link, "https://google.example.org/1.png");
    assert_eq!(image.context_link.as_deref(), Some("https://google.example.org/1"));
    assert_eq!(
        (image.width, image.height, image.file_size.as_deref()),
        (Some(640), Some(480), Some("120 KB"))
    );
    assert_eq!(found.warnings, Vec::<String>::new());

    let lab = Lab::start("brave").await;
    lab.research.image_search(ImageSearch::new("solar"), &lab.any()).await.unwrap();
    let request = lab.providers.last("brave");
    assert_eq!(request.path, "/res/v1/images/search");
    assert_parameters!(request, "safesearch": "strict");
}

#[tokio::test]
async fn news() {
    let input = || NewsSearch {
        freshness: Freshness::Hour,
        news_source: Some("example.org".to_owned()),
        ..NewsSearch::new("solar")
    };
    let lab = Lab::start("serper").await;
    lab.research.news_search(input(), &lab.any()).await.unwrap();
    let request = lab.providers.last("serper");
    assert_eq!(request.path, "/news");
    assert_parameters!(request, "q": "site:example.org solar", "tbs": "qdr:h");

    let lab = Lab::start("exa").await;
    lab.research.news_search(input(), &lab.any()).await.unwrap();
    assert_parameters!(lab.providers.last("exa"),
        "category": "news", "startPublishedDate": "2024-11-14T09:00:00.000Z");

    let lab = Lab::start("tavily").await;
    lab.research.news_search(input(), &lab.any()).await.unwrap();
    assert_parameters!(lab.providers.last("tavily"), "topic": "news", "time_range": "day");
}
