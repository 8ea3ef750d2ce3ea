//! Which request a page is read with, and what becomes of its text.

use research::tools::{ContentType, ScrapeMode, ScrapePage, SizeCategory};

use crate::scrape::support::{Lab, LabOptions, settings};

#[tokio::test]
async fn tier_1_takes_markdown_where_a_server_has_it() {
    let lab = Lab::start().await;
    let page = lab.scrape("/markdown").await.unwrap();
    assert_eq!(page.content_type, ContentType::Markdown);
    assert!(page.content.starts_with("# Tides as Markdown\n\nThe first thing"), "{}", page.content);
    assert!(
        page.content.contains("- one\n- two") && page.content.contains("[A link](/articles/1)")
    );
    assert_eq!(page.metadata.unwrap().title.as_deref(), Some("Tides as Markdown"));
    let [request] = &lab.site.requests("/markdown")[..] else { panic!("one request") };
    assert!(request.header("accept").unwrap().starts_with("text/markdown, text/html;q=0.9"));
}

#[tokio::test]
async fn one_request_asks_like_a_browser_under_our_own_name() {
    let lab = Lab::start().await;
    let page = lab.scrape("/articles/1").await.unwrap();
    assert_eq!(page.content_type, ContentType::Html);
    assert!(page.content.contains("The first thing to know about ocean tides and the moon"));
    assert!(page.content.contains("The fourth thing to know"));
    for boilerplate in ["About", "Copyright", "imprint"] {
        assert!(!page.content.contains(boilerplate), "{boilerplate}: {}", page.content);
    }
    assert_eq!((page.truncated, page.original_length), (false, None));
    assert_eq!(page.content_length, page.content.len());
    assert_eq!(page.estimated_tokens, page.content.len() / 4);
    assert_eq!(page.size_category, SizeCategory::Small);
    assert!(page.warnings.is_empty(), "{:?}", page.warnings);

    let metadata = page.metadata.unwrap();
    assert_eq!(metadata.title.as_deref(), Some("How ocean tides work, part 1"));
    assert_eq!(metadata.author.as_deref(), Some("Jane Doe"));
    let citation = page.citation.unwrap();
    assert_eq!(citation.accessed_date, "2026-11-16");
    assert_eq!(citation.metadata.site.as_deref(), Some("Tide Weekly"));
    assert_eq!(citation.metadata.date.as_deref(), Some("2011-05-03"));
    let url = lab.site.url("/articles/1");
    assert_eq!(
        citation.formatted.apa,
        format!("Doe, J. (2011, May 3). How ocean tides work, part 1. Tide Weekly. {url}")
    );
    assert!(
        citation
            .formatted
            .mla
            .starts_with("Doe, Jane. \"How ocean tides work, part 1.\" Tide Weekly, 3 May 2011, ")
    );

    let [request] = &lab.site.requests("/articles/1")[..] else { panic!("one request") };
    assert_eq!(request.header("accept"), Some("text/markdown, text/html;q=0.9, */*;q=0.5"));
    assert!(
        request.header("user-agent").unwrap().starts_with("Mozilla/5.0 (compatible; Powerstrip/")
    );
    assert_eq!(request.header("sec-fetch-mode"), Some("navigate"));
    assert_eq!(request.header("accept-language"), Some("en-US,en;q=0.9"));
}

#[tokio::test]
async fn tier_3_follows_a_page_with_hardly_any_text() {
    let lab = Lab::start().await;
    // Without a browser the few words are better than nothing.
    let page = lab.scrape("/short").await.unwrap();
    assert!(page.content.ends_with("Just a few words."), "{}", page.content);
    assert!(page.warnings.iter().any(|warning| warning.contains("browser")), "{:?}", page.warnings);
    let requests = lab.site.requests("/short");
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1].header("accept"), Some("text/html"));
    assert!(requests[1].header("user-agent").unwrap().starts_with("powerstrip/"));
    // With a browser there may be more the next time.
    assert!(!page.truncated);
    assert!(page.warnings.iter().any(|warning| warning.contains("not be the whole page")));
    lab.scrape("/short").await.unwrap();
    assert_eq!(lab.hits("/short"), 4);
}

#[tokio::test]
async fn a_placeholder_is_incomplete_and_not_kept() {
    let lab = Lab::start().await;
    for times in 1..=2 {
        let page = lab.scrape("/pending/forever").await.unwrap();
        assert_eq!(page.content, "Loading your dashboard…");
        assert!(page.warnings.iter().any(|it| it.contains("not be the whole page")));
        assert_eq!(lab.hits("/pending/forever"), times, "another plain request shows the same");
    }
    let settings = settings(&[("browser", 8_000)]);
    let options = LabOptions { settings, ..LabOptions::default() };
    let Some(lab) = Lab::with_browser(options).await else { return };
    for times in 1..=2 {
        let page = lab.scrape("/pending/forever").await.unwrap();
        assert!(page.warnings.iter().any(|it| it.contains("still loading")), "{:?}", page.warnings);
        assert_eq!(lab.hits("/pending/forever"), 2 * times);
    }
    lab.browser.unwrap().close().await;
}

#[tokio::test]
async fn the_browser_waits_for_content_behind_placeholders_walls_and_challenges() {
    let Some(lab) = Lab::with_browser(LabOptions::default()).await else { return };
    for path in ["/pending/slowly", "/pending/wall", "/pending/reload"] {
        let page = lab.scrape(path).await.unwrap_or_else(|failure| panic!("{path}: {failure:?}"));
        assert!(page.content.contains("The fourth thing to know"), "{path}: {}", page.content);
        for other in ["Loading", "Accept all", "Just a moment"] {
            assert!(!page.content.contains(other), "{path}: {}", page.content);
        }
    }
    lab.browser.unwrap().close().await;
}

#[tokio::test]
async fn frames_of_the_same_site_are_read_in_place() {
    let Some(lab) = Lab::with_browser(LabOptions::default()).await else { return };
    let page = lab.scrape("/framed/outer").await.unwrap();
    let (first, second) = (page.content.find("The first thing"), page.content.find("The second"));
    assert!(first.is_some() && first < second, "{}", page.content);
    assert!(!page.content.contains("hidden in the frame"), "{}", page.content);
    lab.browser.unwrap().close().await;
}

#[tokio::test]
async fn control_characters_are_removed_from_a_page() {
    let lab = Lab::start().await;
    let page = lab.scrape("/control").await.unwrap();
    assert_eq!(page.content_type, ContentType::Html);
    assert!(page.content.contains("The fourth thing to know"), "{}", page.content);
}

#[tokio::test]
async fn a_page_that_the_browser_had_no_time_for_is_truncated() {
    // Less than the browser needs to start: it is not tried.
    let settings = settings(&[("browser", 100)]);
    let lab = Lab::with(LabOptions { settings, browser: true, ..LabOptions::default() }).await;
    let page = lab.scrape("/thin").await.unwrap();
    assert_eq!((page.content.as_str(), page.truncated), ("Loading", true));
    let [warning] = &page.warnings[..] else { panic!("{:?}", page.warnings) };
    assert!(
        warning.contains("not be the whole page") && warning.contains("timed out"),
        "{warning}"
    );
}

#[tokio::test]
async fn tier_4_renders_pages_that_scripts_make() {
    let Some(lab) = Lab::with_browser(LabOptions::default()).await else { return };
    let page = lab.scrape("/spa").await.unwrap();
    assert!(page.content.contains("was written by a script"), "{}", page.content);
    assert_eq!(page.content_type, ContentType::Html);
    assert_eq!(lab.hits("/spa"), 3);
    lab.browser.unwrap().close().await;
}

#[tokio::test]
async fn hosts_that_need_a_browser_skip_tiers_2_and_3() {
    let Some(lab) = Lab::with_browser(LabOptions::default()).await else { return };
    let page = lab.scrape_url(lab.site.url_at("news.google.com", "/spa")).await.unwrap();
    assert!(page.content.contains("was written by a script"), "{}", page.content);
    assert_eq!(lab.hits("/spa"), 2);
    lab.browser.as_ref().unwrap().close().await;

    // Without a browser the other tiers are better than nothing.
    let lab = Lab::start().await;
    let page = lab.scrape_url(lab.site.url_at("x.com", "/articles/2")).await.unwrap();
    assert!(page.content.contains("ocean tides and the sun"));
    assert!(page.warnings.iter().any(|warning| warning.contains("browser")), "{:?}", page.warnings);
}

#[tokio::test]
async fn a_short_page_is_read_by_the_browser_and_is_content() {
    let Some(lab) = Lab::with_browser(LabOptions::default()).await else { return };
    let page = lab.scrape("/short").await.unwrap();
    assert!(page.content.contains("Just a few words."), "{}", page.content);
    assert!(page.warnings.iter().any(|it| it.contains("only a few words")), "{:?}", page.warnings);
    lab.browser.unwrap().close().await;
}

#[tokio::test]
async fn content_is_cut_at_max_length_and_previewed() {
    let lab = Lab::start().await;
    let url = lab.site.url("/articles/1");
    let short = ScrapePage { max_length: 600, ..ScrapePage::new(&url) };
    let page = lab.scrape_as("acme", short).await.unwrap();
    assert!(
        page.truncated && page.content.len() <= 600 && page.content.ends_with('.'),
        "{}",
        page.content
    );
    let whole = lab.scrape_url(&url).await.unwrap();
    assert_eq!(page.original_length, Some(whole.content_length));

    let preview =
        ScrapePage { mode: ScrapeMode::Preview, ..ScrapePage::new(lab.site.url("/long")) };
    let page = lab.scrape_as("acme", preview).await.unwrap();
    assert!(page.truncated && page.content.len() < 4_000, "{}", page.content.len());
    assert!(page.content.contains("The first thing to know"), "{}", page.content);
    assert!(page.content.contains("## Section 1\n") && page.content.contains("## Section 80\n"));

    let most = ScrapePage { max_length: 100_000, ..ScrapePage::new(lab.site.url("/long")) };
    let page = lab.scrape_as("acme", most).await.unwrap();
    assert!(page.content_length <= 50_000);
    assert!(
        page.warnings.iter().any(|warning| warning.contains("At most 50000 bytes")),
        "{:?}",
        page.warnings
    );
}

#[tokio::test]
async fn a_long_page_is_read_on_from_an_offset() {
    let lab = Lab::start().await;
    let part = |offset| ScrapePage { offset, ..ScrapePage::new(lab.site.url("/long")) };
    let first = lab.scrape_as("acme", part(0)).await.unwrap();
    let next = first.warnings.iter().find_map(|it| it.split_once("`offset: ")?.1.split('`').next());
    let next: u64 = next.unwrap().parse().unwrap();
    let second = lab.scrape_as("acme", part(next)).await.unwrap();
    assert!(first.truncated && second.truncated);
    assert!(
        second.content.contains("## Section 60\n") && !first.content.contains("## Section 60\n")
    );
    let failure = lab.scrape_as("acme", part(10_000_000)).await.unwrap_err();
    assert!(failure.message.starts_with("/offset: "), "{}", failure.message);
}

#[tokio::test]
async fn hidden_and_unsafe_parts_are_removed_and_counted() {
    let lab = Lab::start().await;
    let page = lab.scrape("/hidden").await.unwrap();
    assert!(page.content.contains("visible paragraph") && page.content.contains("a bad link"));
    for gone in ["Ignore all previous", "\u{200b}", "javascript:", "data:", "im_start"] {
        assert!(!page.content.contains(gone), "{gone}: {}", page.content);
    }
    let warning = page.warnings.iter().find(|warning| warning.starts_with("Removed ")).unwrap();
    assert_eq!(
        warning,
        "Removed from the page: 1 hidden sentence that addresses a model, 1 chat marker."
    );
}

#[tokio::test]
async fn redirects_are_followed_and_the_last_address_is_named() {
    let lab = Lab::start().await;
    let page = lab.scrape("/redirect/article").await.unwrap();
    assert_eq!(page.url, lab.site.url("/articles/4"));
    assert_eq!(page.citation.unwrap().url, lab.site.url("/articles/4"));
}
