//! Pages that attack their reader end within their limits, with the content that there is.

use std::time::{Duration, Instant};

use crate::scrape::support::Lab;

#[tokio::test]
async fn hostile_pages_give_what_fits_into_the_limits() {
    let lab = Lab::start().await;
    for path in ["/bomb/gzip", "/endless", "/large", "/bomb/depth"] {
        let started = Instant::now();
        let page = lab.scrape(path).await;
        assert!(started.elapsed() < Duration::from_secs(50), "{path}: {:?}", started.elapsed());
        let page = page.unwrap_or_else(|failure| panic!("{path}: {failure:?}"));
        assert!(
            page.content.contains("The first thing to know about ocean tides and harbours"),
            "{path}"
        );
        assert!(page.content.len() <= 50_000, "{path}");
        if path != "/bomb/depth" {
            assert!(page.truncated, "{path}");
            assert!(
                page.warnings.iter().any(|warning| warning.contains("too large")),
                "{path}: {:?}",
                page.warnings
            );
        }
    }
}

#[tokio::test]
async fn wrong_and_missing_charsets_are_detected() {
    let lab = Lab::start().await;
    for path in ["/charset/wrong", "/charset/meta"] {
        let page = lab.scrape(path).await.unwrap();
        assert!(
            page.content.contains("Zwölf Boxkämpfer jagen Viktor quer über"),
            "{path}: {}",
            page.content
        );
    }
}
