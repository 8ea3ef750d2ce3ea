//! No tier and no redirect reaches a host that is not public.

use egress::http::Refusal;
use proto::Code;
use research::settings::Robots;
use testkit::web::{Canary, forbidden_hosts};

use crate::scrape::support::{Lab, LabOptions, Names, settings};

fn is_refusal(failure: &proto::Failure) -> bool {
    failure.code == Code::InvalidInput && !failure.retryable
}

#[tokio::test]
async fn no_spelling_of_a_private_address_is_dialled() {
    let lab = match Lab::with_browser(LabOptions::default()).await {
        Some(lab) => lab,
        None => Lab::start().await,
    };
    let canary = Canary::start().await;
    for host in forbidden_hosts() {
        // A web page, a document, a page that needs a browser, a page that robots.txt may forbid.
        for path in ["/", "/file.pdf", "/spa"] {
            let failure =
                lab.scrape_url(format!("http://{host}:{}{path}", canary.port())).await.unwrap_err();
            assert!(is_refusal(&failure), "{host}: {failure:?}");
        }
    }
    assert_eq!(canary.connections(), 0);
    if let Some(browser) = lab.browser {
        browser.close().await;
    }
}

/// A page with hardly any text goes to the browser, where its script tries to reach the canary.
#[tokio::test]
async fn no_script_in_the_browser_reaches_a_private_address() {
    let Some(lab) = Lab::with_browser(LabOptions::default()).await else { return };
    let canary = Canary::start().await;
    for host in ["127.0.0.1", "0x7f000001", "[::ffff:127.0.0.1]", "internal.test", "localhost"] {
        let page = lab.scrape(&format!("/lure?to=http://{host}:{}/", canary.port())).await;
        let content = page.map(|page| page.content).unwrap_or_default();
        assert!(!content.contains("CANARY"), "{host}: {content}");
    }
    assert!(lab.hits("/lure") > 3, "the browser has been there");
    assert_eq!(canary.connections(), 0);
    lab.browser.unwrap().close().await;
}

#[tokio::test]
async fn no_redirect_leads_to_a_private_address() {
    let (lab, canary) = (Lab::start().await, Canary::start().await);
    for host in forbidden_hosts() {
        for status in [301, 302, 303, 307, 308] {
            let to = format!("http://{host}:{}/", canary.port());
            let failure = lab.scrape(&format!("/redirect/{status}?to={to}")).await.unwrap_err();
            assert!(is_refusal(&failure), "{host}: {failure:?}");
        }
    }
    for to in ["file:///etc/passwd", "ftp://127.0.0.1/", "data:text/html,x", "javascript:1"] {
        let failure = lab.scrape(&format!("/redirect/302?to={to}")).await.unwrap_err();
        assert!(is_refusal(&failure), "{to}: {failure:?}");
    }
    // Through a document's address and through a second hop of our own.
    let to = format!("http://127.0.0.1:{}/file.pdf", canary.port());
    let hop = lab.site.url(&format!("/redirect/302?to={to}"));
    let failure = lab.scrape(&format!("/redirect/302?to={hop}")).await.unwrap_err();
    assert!(is_refusal(&failure), "{failure:?}");
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn names_that_resolve_to_private_addresses_are_refused() {
    let canary = Canary::start().await;
    // The first lookup is public, as in an attack by rebinding; the connection must go to what was checked.
    let names = Names::default()
        .script("metadata.test", &["169.254.169.254"])
        .script("mapped.test", &["::ffff:127.0.0.1"])
        .script("nat64.test", &["64:ff9b::7f00:1"]);
    let lab = Lab::with(LabOptions { names, ..LabOptions::default() }).await;
    for host in ["localhost", "internal.test", "metadata.test", "mapped.test", "nat64.test"] {
        let failure =
            lab.scrape_url(format!("http://{host}:{}/", canary.port())).await.unwrap_err();
        assert!(is_refusal(&failure), "{host}: {failure:?}");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn a_name_that_changes_between_requests_is_checked_each_time() {
    let canary = Canary::start().await;
    // The documentation network is not dialled either; a tier later the name is at loopback.
    let names = Names::default().script("rebind.test", &["203.0.113.7", "127.0.0.1"]);
    let settings = settings(&[("markdown", 300), ("html", 300)]);
    let lab = Lab::with(LabOptions { names, settings, ..LabOptions::default() }).await;
    for _ in 0..3 {
        let failure =
            lab.scrape_url(format!("http://rebind.test:{}/", canary.port())).await.unwrap_err();
        assert!(is_refusal(&failure), "{failure:?}");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn robots_of_a_private_host_are_not_asked_either() {
    let canary = Canary::start().await;
    let mut settings = settings(&[]);
    settings.robots = Robots::Always;
    let lab = Lab::with(LabOptions { settings, ..LabOptions::default() }).await;
    for host in ["127.0.0.1", "internal.test"] {
        let failure =
            lab.scrape_url(format!("http://{host}:{}/", canary.port())).await.unwrap_err();
        assert!(is_refusal(&failure), "{failure:?}");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn a_refusal_says_what_to_do() {
    let lab = Lab::start().await;
    let failure = lab.scrape_url("http://10.0.0.1/").await.unwrap_err();
    assert!(failure.message.contains("egress.allow"), "{}", failure.message);
    let userinfo = lab.scrape_url("http://a:b@example.com/").await.unwrap_err();
    assert!(userinfo.message.contains(&Refusal::Userinfo.to_string()), "{}", userinfo.message);
}
