//! Fallback, fusion, circuit breakers, quotas and errors.

use std::time::Duration;

use proto::{Code, Failure};
use research::Lens;
use research::tools::{AcademicSearch, AcademicSource, ImageSearch, NewsSearch, WebSearch};
use search::settings::ProviderName;
use serde_json::{Value, json};
use testkit::web::{Behaviour, Canary, ProviderResult};

use crate::search::support::{Lab, key_of, provider};

#[tokio::test]
async fn the_next_provider_answers_when_one_fails() {
    let cases = [
        (Behaviour::Status(500), "HTTP 500"),
        (Behaviour::InvalidKey, "the key was refused"),
        (Behaviour::Limited(None), "rate limit"),
        (Behaviour::Html, "a web page instead of JSON"),
        (Behaviour::Body("{\"web\": ".to_owned()), "broken JSON"),
        (Behaviour::Cut, "the connection broke"),
        (Behaviour::Slow(Duration::from_secs(5)), "timed out"),
    ];
    for (behaviour, warning) in cases {
        let lab = Lab::with("brave,serper", |settings| {
            settings.timeouts.search = Duration::from_millis(300);
        })
        .await;
        lab.providers.set("brave", behaviour);
        let found = lab.search("solar").await.unwrap();
        assert_eq!(found.urls, ["https://serper.example.org/1", "https://serper.example.org/2"]);
        assert_eq!(found.result_count, 2);
        assert!(found.warnings[0].contains(warning), "{:?}", found.warnings);
        assert!(found.warnings[0].starts_with("brave"), "{:?}", found.warnings);
    }
}

#[tokio::test]
async fn every_provider_reads_its_own_shape() {
    for name in ["brave", "serper", "tavily", "exa", "searxng", "duckduckgo"] {
        let lab = Lab::start(name).await;
        let found = lab.search("solar").await.unwrap();
        assert_eq!(found.results.len(), 2, "{name}");
        let first = &found.results[0];
        assert_eq!(first.title, format!("Result 1 of {name}"));
        assert_eq!(first.url, format!("https://{name}.example.org/1"));
        assert_eq!(first.snippet, format!("What {name} says about page 1."));
        assert_eq!(first.display_link, format!("{name}.example.org"));
        lab.providers.set(name, Behaviour::Empty);
        let none = lab.search("nothing").await.unwrap();
        assert_eq!((none.urls.len(), none.result_count), (0, 0), "{name}");
        assert!(none.warnings.is_empty(), "{name}");
        for broken in [Behaviour::Html, Behaviour::Cut, Behaviour::Body("[]".to_owned())] {
            lab.providers.set(name, broken);
            let failure = lab.search("broken").await.unwrap_err();
            assert_eq!(failure.code, Code::Unavailable, "{name}");
            assert_eq!(failure.details.unwrap()["providers"][0]["provider"], name);
        }
    }
}

#[tokio::test]
async fn a_group_is_asked_at_once_and_fused() {
    let lab = Lab::start("brave+serper,exa").await;
    let page = |number: u32| ProviderResult::page("Page", &format!("https://x.org/{number}"), "");
    lab.providers.set("brave", Behaviour::Results(vec![page(1), page(2), page(3)]));
    lab.providers.set("serper", Behaviour::Results(vec![page(4), page(3)]));
    let found = lab.search("solar").await.unwrap();
    let order = [3, 1, 4, 2].map(|number| format!("https://x.org/{number}"));
    assert_eq!(found.urls, order);
    assert_eq!(lab.count("exa"), 0);
    lab.providers.set("brave", Behaviour::Status(500));
    let found = lab.search("other").await.unwrap();
    assert_eq!(found.urls.len(), 2);
    assert!(found.warnings[0].contains("brave failed"));
}

#[tokio::test]
async fn a_limit_is_respected_for_as_long_as_the_provider_says() {
    let lab = Lab::start("brave").await;
    lab.providers.set("brave", Behaviour::Limited(Some("7")));
    let limited = |failure: Failure| {
        assert_eq!(failure.code, Code::RateLimit);
        failure.details.unwrap()["retryAfterMs"].as_u64().unwrap()
    };
    assert_eq!(limited(lab.search("one").await.unwrap_err()), 7_000);
    lab.providers.set("brave", Behaviour::Empty);
    lab.advance(3);
    assert_eq!(limited(lab.search("two").await.unwrap_err()), 4_000);
    assert_eq!(lab.count("brave"), 1, "an open breaker sends nothing");
    lab.advance(4);
    lab.search("three").await.unwrap();
    lab.search("four").await.unwrap();
    assert_eq!(lab.count("brave"), 3);
}

#[tokio::test]
async fn a_short_limit_is_waited_for() {
    for retry_after in [None, Some("1")] {
        let lab = Lab::start("brave,serper").await;
        let turns = vec![Behaviour::Limited(retry_after), Behaviour::Empty];
        lab.providers.set("brave", Behaviour::InTurn(turns));
        let found = lab.search("solar").await.unwrap();
        assert_eq!((found.result_count, found.warnings), (0, Vec::new()));
        assert_eq!((lab.count("brave"), lab.count("serper")), (2, 0));
    }
    let lab = Lab::start("brave").await;
    lab.providers.set("brave", Behaviour::Limited(None));
    lab.search("one").await.unwrap_err();
    lab.search("two").await.unwrap_err();
    assert_eq!(lab.count("brave"), 2, "a limit that stays opens the breaker");
}

#[tokio::test]
async fn five_failures_in_a_row_open_the_breaker() {
    let lab = Lab::start("brave").await;
    lab.providers.set("brave", Behaviour::Status(503));
    for attempt in 0..8 {
        let failure = lab.search(&format!("query {attempt}")).await.unwrap_err();
        assert_eq!(failure.code, Code::Unavailable);
    }
    assert_eq!(lab.count("brave"), 5);
    lab.advance(30);
    lab.search("probe").await.unwrap_err();
    assert_eq!(lab.count("brave"), 6);
    lab.advance(59);
    lab.search("still open").await.unwrap_err();
    assert_eq!(lab.count("brave"), 6);
    lab.advance(1);
    lab.providers.set("brave", Behaviour::Empty);
    lab.search("probe again").await.unwrap();
    lab.search("closed").await.unwrap();
    assert_eq!(lab.count("brave"), 8);
}

#[tokio::test]
async fn refused_searches_do_not_open_the_breaker() {
    let lab = Lab::start("brave").await;
    lab.providers.set("brave", Behaviour::Status(422));
    for attempt in 0..7 {
        let failure = lab.search(&format!("query {attempt}")).await.unwrap_err();
        assert!(failure.message.contains("refused the search (HTTP 422)"), "{}", failure.message);
        assert!(failure.message.ends_with("Change or remove filters."), "{}", failure.message);
        assert!(!failure.retryable, "the same search would be refused again");
    }
    assert_eq!(lab.count("brave"), 7);
    let lab = Lab::start("brave,serper").await;
    lab.providers.set("brave", Behaviour::Status(422));
    lab.providers.set("serper", Behaviour::Status(500));
    assert!(lab.search("solar").await.unwrap_err().retryable);
}

#[tokio::test]
async fn duckduckgo_limits_with_a_puzzle() {
    let lab = Lab::start("duckduckgo").await;
    lab.providers.set("duckduckgo", Behaviour::Limited(None));
    let failure = lab.search("solar").await.unwrap_err();
    assert_eq!(failure.code, Code::RateLimit);
    assert_eq!(failure.retry_after, Some(Duration::from_secs(30)));
    assert!(failure.message.contains("asks for a person"), "{}", failure.message);
}

#[tokio::test]
async fn engines_of_searxng_that_do_not_answer_are_named() {
    let lab = Lab::start("searxng,brave").await;
    let silent = json!([["google", "CAPTCHA"], ["qwant", "timeout"]]);
    let body = |results: Value| json!({"results": results, "unresponsive_engines": silent});
    lab.providers.set("searxng", Behaviour::Body(body(json!([])).to_string()));
    for attempt in 0..6 {
        let found = lab.search(&format!("query {attempt}")).await.unwrap();
        assert_eq!(found.urls[0], "https://brave.example.org/1");
        assert!(found.warnings[0].starts_with("searxng failed: "), "{:?}", found.warnings);
        if attempt == 0 {
            assert!(found.warnings[0].contains("google (CAPTCHA)"), "{:?}", found.warnings);
        }
    }
    assert_eq!(lab.count("searxng"), 5, "no results from any engine count as a failure");
    lab.advance(30);
    let page = json!({"title": "A page", "url": "https://x.org/", "content": "About it."});
    lab.providers.set("searxng", Behaviour::Body(body(json!([page])).to_string()));
    let found = lab.search("solar").await.unwrap();
    assert_eq!(found.urls, ["https://x.org/"]);
    let warning = "Some engines of searxng did not answer: google (CAPTCHA), qwant (timeout).";
    assert_eq!(found.warnings, [warning]);
}

#[tokio::test]
async fn a_quota_moves_on_to_the_next_provider() {
    let lab = Lab::with("brave,serper", |settings| {
        provider(settings, ProviderName::Brave).quota = Some("1/1d".parse().unwrap());
    })
    .await;
    lab.search("one").await.unwrap();
    let found = lab.search("two").await.unwrap();
    assert_eq!(found.urls[0], "https://serper.example.org/1");
    assert!(found.warnings[0].contains("quota"), "{:?}", found.warnings);
    assert_eq!(lab.count("brave"), 1);
    lab.advance(86_400);
    lab.search("three").await.unwrap();
    assert_eq!(lab.count("brave"), 2);
}

#[tokio::test]
async fn quotas_and_breakers_outlive_new_settings() {
    let mut lab = Lab::with("brave,serper", |settings| {
        provider(settings, ProviderName::Brave).quota = Some("1/1d".parse().unwrap());
    })
    .await;
    lab.search("one").await.unwrap();
    lab.providers.set("serper", Behaviour::Limited(Some("600")));
    lab.search("two").await.unwrap_err();
    lab.reload(|settings| settings.timeouts.search = Duration::from_secs(5)).await;
    lab.search("three").await.unwrap_err();
    assert_eq!((lab.count("brave"), lab.count("serper")), (1, 1));
    lab.reload(|settings| {
        provider(settings, ProviderName::Brave).quota = Some("2/1d".parse().unwrap());
        provider(settings, ProviderName::Serper).key = Some("another".into());
    })
    .await;
    lab.search("four").await.unwrap();
    lab.search("five").await.unwrap();
    lab.search("six").await.unwrap_err();
    assert_eq!((lab.count("brave"), lab.count("serper")), (3, 2), "another quota, another key");
}

#[tokio::test]
async fn quotas_of_sources_of_publications_outlive_new_settings() {
    let mut lab = Lab::with("duckduckgo", |settings| {
        provider(settings, ProviderName::Arxiv).quota = Some("1/1d".parse().unwrap());
    })
    .await;
    let input = |query: &str| AcademicSearch {
        source: AcademicSource::Arxiv,
        ..AcademicSearch::new(query)
    };
    lab.research.academic_search(input("one"), &lab.any()).await.unwrap();
    lab.reload(|settings| settings.timeouts.search = Duration::from_secs(5)).await;
    lab.research.academic_search(input("two"), &lab.any()).await.unwrap_err();
    assert_eq!(lab.count("arxiv"), 1);
}

#[tokio::test]
async fn engines_of_lenses_share_the_quota_of_google() {
    let lens = |number: u8| Lens {
        name: format!("lens {number}"),
        domains: Vec::new(),
        cx: Some(format!("engine-{number}")),
    };
    let lab = Lab::with("google", |settings| {
        settings.lenses = vec![lens(1), lens(2)];
        provider(settings, ProviderName::Google).quota = Some("2/1d".parse().unwrap());
    })
    .await;
    let input = |lens: &str| WebSearch { lens: Some(lens.to_owned()), ..WebSearch::new("solar") };
    lab.research.web_search(input("lens 1"), &lab.any()).await.unwrap();
    lab.search("wind").await.unwrap();
    let failure = lab.research.web_search(input("lens 2"), &lab.any()).await.unwrap_err();
    assert_eq!(failure.code, Code::RateLimit);
    assert_eq!(lab.count("google"), 2);
}

#[tokio::test]
async fn invalid_keys_are_answered_with_instructions() {
    for name in ["brave", "serper", "tavily", "exa", "google"] {
        let lab = Lab::start(name).await;
        lab.providers.set(name, Behaviour::InvalidKey);
        let failure = lab.search("solar").await.unwrap_err();
        assert_eq!(failure.code, Code::Unsupported, "{name}: {}", failure.message);
        assert!(failure.message.contains("_KEY"), "{}", failure.message);
        assert!(failure.message.contains("https://"), "{}", failure.message);
    }
}

#[tokio::test]
async fn missing_keys_are_answered_with_instructions() {
    let lab = Lab::with("brave,searxng", |settings| {
        provider(settings, ProviderName::Brave).key = None;
        provider(settings, ProviderName::Searxng).url = None;
    })
    .await;
    let failure = lab.search("solar").await.unwrap_err();
    assert_eq!(failure.code, Code::Unsupported);
    for part in ["BRAVE_API_KEY", "SEARXNG_URL", "https://api-dashboard.search.brave.com"] {
        assert!(failure.message.contains(part), "{}", failure.message);
    }
    let lab = Lab::start("duckduckgo").await;
    let failure =
        lab.research.image_search(ImageSearch::new("solar"), &lab.any()).await.unwrap_err();
    assert_eq!(failure.code, Code::Unsupported);
    assert!(failure.message.contains("BRAVE_API_KEY") && failure.message.contains("image search"));
}

#[tokio::test]
async fn a_provider_of_the_routing_without_a_key_is_named() {
    let lab = Lab::with("brave,serper", |settings| {
        provider(settings, ProviderName::Brave).key = None;
    })
    .await;
    let is_named = |text: &str| text.contains("brave is in the routing but not set up. Get a key");
    let found = lab.search("solar").await.unwrap();
    assert_eq!(found.urls[0], "https://serper.example.org/1");
    assert!(matches!(&found.warnings[..], [one] if is_named(one)), "{:?}", found.warnings);
    for behaviour in [Behaviour::Status(500), Behaviour::Limited(Some("7"))] {
        lab.providers.set("serper", behaviour);
        let failure = lab.search("wind").await.unwrap_err();
        assert!(is_named(&failure.message), "{}", failure.message);
    }
}

#[tokio::test]
async fn the_default_order_is_providers_with_a_key_then_duckduckgo() {
    let lab = Lab::with("", |settings| {
        provider(settings, ProviderName::Exa).key = Some(key_of("exa").into());
        provider(settings, ProviderName::Google).key = Some(key_of("google").into());
    })
    .await;
    lab.providers.set("exa", Behaviour::Status(500));
    let found = lab.search("solar").await.unwrap();
    assert_eq!(found.urls[0], "https://duckduckgo.example.org/1");
    assert_eq!((lab.count("exa"), lab.count("google")), (1, 0), "Google is never a default");
}

#[tokio::test]
async fn keys_are_in_no_answer() {
    let names = ["brave", "serper", "tavily", "exa", "google"];
    for behaviour in [
        Behaviour::InvalidKey,
        Behaviour::Status(500),
        Behaviour::Limited(Some("5")),
        Behaviour::Html,
        Behaviour::Cut,
        Behaviour::Empty,
    ] {
        let lab = Lab::start("brave,serper,tavily,exa,google").await;
        for name in names {
            lab.providers.set(name, behaviour.clone());
        }
        let web = format!("{:?}", lab.search("solar").await);
        let news =
            format!("{:?}", lab.research.news_search(NewsSearch::new("solar"), &lab.any()).await);
        assert!(!web.contains("canary-") && !news.contains("canary-"), "{web} {news}");
    }
}

#[tokio::test]
async fn providers_cannot_redirect_to_other_addresses() {
    let canary = Canary::start().await;
    let lab = Lab::start("searxng,brave").await;
    lab.providers.set(
        "searxng",
        Behaviour::Redirect(format!("http://127.0.0.1:{}/search?format=json", canary.port())),
    );
    let found = lab.search("solar").await.unwrap();
    assert_eq!(found.urls[0], "https://brave.example.org/1");
    assert!(found.warnings[0].starts_with("searxng failed: refused"), "{:?}", found.warnings);
    assert_eq!(canary.connections(), 0);
}
