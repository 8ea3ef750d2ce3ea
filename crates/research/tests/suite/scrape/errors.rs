//! Each error condition of `scrape_page`.

use std::time::Duration;

use proto::Code;
use research::settings::Robots;
use research::tools::ScrapePage;
use serde_json::json;

use crate::scrape::support::{Lab, LabOptions, settings};

#[tokio::test]
async fn statuses_have_one_code_each() {
    let lab = Lab::start().await;
    for (status, code) in [
        (404, Code::NotFound),
        (408, Code::Timeout),
        (410, Code::InvalidInput),
        (429, Code::RateLimit),
        (500, Code::Unavailable),
        (403, Code::InvalidInput),
    ] {
        let failure = lab.scrape(&format!("/status/{status}")).await.unwrap_err();
        assert_eq!(failure.code, code, "{status}");
        assert_eq!(failure.details.unwrap()["status"], status);
        let wait = (status == 429).then_some(Duration::from_secs(7));
        assert_eq!(failure.retry_after, wait);
    }
    let failure = lab.scrape("/files/missing.pdf").await.unwrap_err();
    assert_eq!(failure.code, Code::NotFound);
}

#[tokio::test]
async fn a_challenge_is_never_content() {
    let lab = Lab::start().await;
    for status in [200, 403, 429, 503] {
        let failure = lab.scrape(&format!("/challenge/{status}")).await.unwrap_err();
        assert_eq!((failure.code, failure.retryable), (Code::Unavailable, false), "{status}");
        let details = failure.details.unwrap();
        let tiers: Vec<_> =
            details["tiers"].as_array().unwrap().iter().map(|tier| tier["tier"].clone()).collect();
        assert_eq!(tiers, [json!(1), json!(2), json!(4)], "{details}");
        assert!(details["tiers"][1]["why"].as_str().unwrap().contains("challenge"), "{details}");
        if status != 200 {
            assert_eq!(details["status"], status);
        }
    }
}

#[tokio::test]
async fn a_challenge_goes_to_the_browser() {
    let settings = settings(&[("browser", 8_000)]);
    let options = LabOptions { settings, ..LabOptions::default() };
    let Some(lab) = Lab::with_browser(options).await else { return };
    let failure = lab.scrape("/challenge/403").await.unwrap_err();
    assert_eq!((failure.code, failure.retryable), (Code::Unavailable, false));
    let details = failure.details.unwrap();
    assert!(details["tiers"][2]["why"].as_str().unwrap().contains("challenge"), "{details}");
    // As a browser, by the browser; the third way would be shown the same.
    assert_eq!(
        lab.site.requests("/challenge/403").iter().filter(|r| r.target == "/challenge/403").count(),
        2
    );
    lab.browser.unwrap().close().await;
}

#[tokio::test]
async fn a_page_without_content_names_all_tiers() {
    let lab = Lab::start().await;
    let failure = lab.scrape("/broken/empty").await.unwrap_err();
    assert_eq!((failure.code, failure.retryable), (Code::Unavailable, false));
    let details = failure.details.unwrap();
    assert_eq!(details["tiers"].as_array().unwrap().len(), 4, "{details}");
}

#[tokio::test]
async fn a_busy_server_is_asked_again_when_it_says_so() {
    let lab = Lab::start().await;
    let failure = lab.scrape("/retry/60").await.unwrap_err();
    assert_eq!(failure.code, Code::Unavailable);
    assert_eq!(failure.retry_after, Some(Duration::from_secs(60)));
    assert_eq!(lab.hits("/retry/60"), 1);
    let started = std::time::Instant::now();
    let failure = lab.scrape("/retry/1").await.unwrap_err();
    assert_eq!(failure.retry_after, Some(Duration::from_secs(1)));
    assert_eq!(lab.hits("/retry/1"), 2);
    assert!(started.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_page_that_never_answers_times_out() {
    let settings = settings(&[("markdown", 200), ("html", 300)]);
    let lab = Lab::with(LabOptions { settings, ..LabOptions::default() }).await;
    let failure = lab.scrape("/slow/headers").await.unwrap_err();
    assert_eq!((failure.code, failure.retryable), (Code::Timeout, true));
    assert_eq!(failure.details.unwrap()["tiers"].as_array().unwrap().len(), 1);
    assert_eq!(lab.hits("/slow/headers"), 1);
}

#[tokio::test]
async fn the_total_time_ends_all_tiers() {
    let settings = settings(&[("total", 400)]);
    let lab = Lab::with(LabOptions { settings, ..LabOptions::default() }).await;
    let started = std::time::Instant::now();
    let failure = lab.scrape("/slow/headers").await.unwrap_err();
    assert_eq!(failure.code, Code::Timeout);
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_page_that_stops_in_the_middle_gives_what_it_sent() {
    let settings = settings(&[("html", 500), ("markdown", 300)]);
    let lab = Lab::with(LabOptions { settings, ..LabOptions::default() }).await;
    let page = lab.scrape("/slow/body").await.unwrap();
    assert!(page.truncated && page.original_length == Some(page.content_length));
    assert!(page.content.contains("The first thing") && !page.content.contains("The fourth thing"));
    assert!(page.warnings.iter().any(|warning| warning.contains("in time")), "{:?}", page.warnings);
    let page = lab.scrape("/broken/cut").await.unwrap();
    assert!(page.truncated && page.content.contains("The first thing"));
    assert!(
        page.warnings.iter().any(|warning| warning.contains("broke off")),
        "{:?}",
        page.warnings
    );
    // An incomplete page is not cached.
    let before = lab.hits("/broken/cut");
    lab.scrape("/broken/cut").await.unwrap();
    assert!(lab.hits("/broken/cut") > before);
}

#[tokio::test]
async fn bad_input_is_refused_without_a_request() {
    let lab = Lab::start().await;
    for url in [
        "",
        "not a url",
        "ftp://example.com/",
        "file:///etc/passwd",
        "http://user:pass@example.com/",
        "javascript:alert(1)",
    ] {
        let failure = lab.scrape_url(url).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput, "{url}");
    }
    let none = ScrapePage { max_length: 0, ..ScrapePage::new(lab.site.url("/articles/1")) };
    assert_eq!(lab.scrape_as("acme", none).await.unwrap_err().code, Code::InvalidInput);
    assert_eq!(lab.hits("/"), 0);
}

#[tokio::test]
async fn too_many_redirects_and_unknown_hosts_are_unavailable() {
    let lab = Lab::start().await;
    let failure = lab.scrape("/redirect/loop").await.unwrap_err();
    assert_eq!((failure.code, failure.retryable), (Code::Unavailable, false));
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let lab = Lab::with(LabOptions { ports: vec![port], ..LabOptions::default() }).await;
    let failure = lab.scrape_url(format!("http://127.0.0.1:{port}/")).await.unwrap_err();
    assert_eq!((failure.code, failure.retryable), (Code::Unavailable, true));
}

#[tokio::test]
async fn robots_are_asked_only_where_the_operator_says_so() {
    let lab = Lab::start().await;
    assert!(lab.scrape("/forbidden/1").await.is_ok());
    assert_eq!(lab.hits("/robots.txt"), 0);
    let mut settings = settings(&[]);
    settings.robots = Robots::Always;
    let lab = Lab::with(LabOptions { settings, ..LabOptions::default() }).await;
    let failure = lab.scrape("/forbidden/1").await.unwrap_err();
    assert_eq!(failure.code, Code::Denied);
    assert!(failure.message.contains("robots.txt"), "{}", failure.message);
    assert_eq!(lab.scrape("/articles/1?secret=1").await.unwrap_err().code, Code::Denied);
    assert_eq!(lab.hits("/forbidden/"), 0);
    assert!(lab.scrape("/articles/1").await.is_ok());
    assert_eq!(lab.hits("/robots.txt"), 1, "the rules of a host are kept");

    // A host that cannot be reached forbids nothing.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let mut settings = crate::scrape::support::settings(&[]);
    settings.robots = Robots::Always;
    let lab = Lab::with(LabOptions { settings, ports: vec![port], ..LabOptions::default() }).await;
    let failure = lab.scrape_url(format!("http://127.0.0.1:{port}/")).await.unwrap_err();
    assert_eq!((failure.code, failure.retryable), (Code::Unavailable, true));
    assert!(!failure.message.contains("robots"), "{}", failure.message);
}
