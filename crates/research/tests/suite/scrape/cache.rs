//! Pages are kept for an hour, revalidated afterwards, and shared only where everyone may see them.

use std::time::Duration;

use research::tools::{ScrapeMode, ScrapePage};

use crate::scrape::support::Lab;

const HOUR: Duration = Duration::from_secs(60 * 60);

#[tokio::test]
async fn a_page_is_kept_for_an_hour_by_url_and_mode() {
    let lab = Lab::start().await;
    let first = lab.scrape("/articles/1").await.unwrap();
    let requests = lab.hits("/articles/1");
    lab.clock.advance(HOUR - Duration::from_secs(1));
    let second = lab.scrape("/articles/1#fragment").await.unwrap();
    assert_eq!(first, second);
    // Another length is cut from the same page.
    let short = ScrapePage { max_length: 300, ..ScrapePage::new(lab.site.url("/articles/1")) };
    assert!(lab.scrape_as("acme", short).await.unwrap().truncated);
    assert_eq!(lab.hits("/articles/1"), requests);
    let preview =
        ScrapePage { mode: ScrapeMode::Preview, ..ScrapePage::new(lab.site.url("/articles/1")) };
    lab.scrape_as("acme", preview).await.unwrap();
    assert_eq!(lab.hits("/articles/1"), 2 * requests);
    lab.clock.advance(Duration::from_secs(2));
    lab.scrape("/articles/1").await.unwrap();
    assert_eq!(lab.hits("/articles/1"), 3 * requests);
}

#[tokio::test]
async fn an_old_page_is_revalidated() {
    let lab = Lab::start().await;
    let first = lab.scrape("/etag/").await.unwrap();
    assert_eq!(lab.hits("/etag/"), 1);
    lab.clock.advance(2 * HOUR);
    let again = lab.scrape("/etag/").await.unwrap();
    assert_eq!(again.content, first.content);
    let requests = lab.site.requests("/etag/");
    assert_eq!(requests.len(), 2, "one request that is answered without a body");
    assert_eq!(requests[1].header("if-none-match"), Some("\"version-1\""));
    assert!(requests[1].header("if-modified-since").is_some());
    assert_eq!(
        requests[1].header("accept"),
        requests[0].header("accept"),
        "the request that the page is from"
    );
    // It is fresh again.
    lab.clock.advance(HOUR / 2);
    lab.scrape("/etag/").await.unwrap();
    assert_eq!(lab.hits("/etag/"), 2);
}

#[tokio::test]
async fn pages_of_internal_hosts_are_kept_per_tenant() {
    let lab = Lab::start().await;
    // The site is on loopback, which a rule opens: it is not public.
    let page = || ScrapePage::new(lab.site.url("/articles/1"));
    lab.scrape_as("acme", page()).await.unwrap();
    let requests = lab.hits("/articles/1");
    lab.scrape_as("globex", page()).await.unwrap();
    assert_eq!(lab.hits("/articles/1"), 2 * requests);
    lab.scrape_as("acme", page()).await.unwrap();
    assert_eq!(lab.hits("/articles/1"), 2 * requests);
}

#[tokio::test]
async fn failures_are_not_kept() {
    let lab = Lab::start().await;
    for times in 1..=2 {
        lab.scrape("/status/500").await.unwrap_err();
        assert_eq!(lab.hits("/status/500"), times);
    }
}

#[tokio::test]
async fn equal_requests_at_one_time_are_one() {
    let lab = Lab::start().await;
    let (a, b, c) = tokio::join!(
        lab.scrape("/slow/200ms"),
        lab.scrape("/slow/200ms"),
        lab.scrape("/slow/200ms"),
    );
    assert_eq!(a.unwrap(), b.unwrap());
    assert!(c.is_ok());
    assert_eq!(lab.hits("/slow/200ms"), 1);
}
