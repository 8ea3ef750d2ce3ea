//! A login is bound to the browser that showed the consent page.

use serde_json::Value;
use testkit::{Browser, Gateway, ProtectedServer, eventually};

use crate::oauth::support::{command, gateway};

struct Setup {
    protected: ProtectedServer,
    gateway: Gateway,
    link: String,
}

impl Setup {
    async fn open() -> Self {
        let protected = ProtectedServer::start().await;
        let (url, issuer) = (&protected.url, &protected.issuer);
        let config =
            format!("servers:\n  crm: {{ url: '{url}', auth: {{ issuer: '{issuer}' }} }}\n");
        let gateway = gateway(&config).await;
        let link = link(&gateway).await;
        Self { protected, gateway, link }
    }

    /// Whether no account was used.
    async fn is_logged_out(&self) -> bool {
        let asked = command(&self.gateway, &["login", "crm"]).await;
        self.protected.requests().is_empty() && asked["login"].is_string()
    }
}

async fn link(gateway: &Gateway) -> String {
    let asked = || async { command(gateway, &["login", "crm"]).await["login"].take() };
    eventually("a link", || async {
        match asked().await {
            Value::String(link) => Some(link),
            _ => None,
        }
    })
    .await
}

#[tokio::test]
async fn a_login_link_opens_our_page_that_names_server_and_user() {
    let setup = Setup::open().await;
    let page = Browser::default().load(&setup.link).await;
    assert_eq!(page.status, 200, "{page:?}");
    for part in ["<strong>crm</strong>", "<strong>local</strong>", &setup.protected.issuer] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    assert!(!page.text.contains("<script") && !page.text.contains("style"), "{}", page.text);
    let header = |name: &str| page.headers[name].to_str().expect("text").to_owned();
    let policy = header("content-security-policy");
    for rule in ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"] {
        assert!(policy.contains(rule), "{policy}");
    }
    assert_eq!(header("cache-control"), "no-store");
    // Without a referrer a browser sends `Origin: null`, and its form would be refused.
    assert_eq!(header("referrer-policy"), "same-origin");
    let cookie = header("set-cookie");
    for part in ["; HttpOnly", "; SameSite=Lax", "; Path=/oauth", "; Max-Age=600"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "over http it would be lost: {cookie}");
}

/// The attack: a user starts a login and sends the authorization server's link to a victim, who may have agreed there
/// before.
#[tokio::test]
async fn a_login_ends_only_in_the_browser_that_began_it() {
    let setup = Setup::open().await;
    let away = Browser::default().confirm(&setup.link).await;
    let page = Browser::default().open(&format!("{away}&login_hint=victim")).await;
    assert_eq!(page.status, 400, "{page:?}");
    assert!(page.text.contains("another browser"), "{page:?}");
    // A victim with another pending login sends that login's cookie.
    let mut victim = Browser::default();
    victim.confirm(&link(&setup.gateway).await).await;
    let page = victim.open(&format!("{away}&login_hint=victim")).await;
    assert_eq!(page.status, 400, "{page:?}");
    assert!(setup.is_logged_out().await);
}

#[tokio::test]
async fn a_login_cannot_skip_the_consent_page() {
    let setup = Setup::open().await;
    let (_, query) = setup.link.split_once('?').expect("a state");
    // A form of another page without a cookie, and one with a cookie but without the page's token.
    let mut browser = Browser::default();
    let page = browser.load(&setup.link).await;
    let blank = Browser::default().submit(&page).await;
    assert_eq!(blank.status, 400, "{blank:?}");
    let cookie = page.headers["set-cookie"].to_str().expect("text").split(';').next();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let client = client.build().expect("a client");
    for body in [query.to_owned(), format!("{query}&check=x"), "check=x".to_owned()] {
        let request = client.post(setup.gateway.url("/oauth/login")).body(body.clone());
        let answer = request.header("cookie", cookie.expect("a pair")).send().await;
        assert_eq!(answer.expect("an answer").status().as_u16(), 400, "{body}");
    }
    let foreign = client.post(setup.gateway.url("/oauth/login")).body(page.form());
    let foreign = foreign.header("cookie", cookie.expect("a pair"));
    let answer = foreign.header("origin", "https://evil.example").send().await;
    assert_eq!(answer.expect("an answer").status().as_u16(), 403);
    let long = client.post(setup.gateway.url("/oauth/login")).body("x".repeat(5_000)).send().await;
    assert_eq!(long.expect("an answer").status().as_u16(), 400);

    assert_eq!(browser.submit(&page).await.status, 303);
    // After one browser has continued, no other can; the same browser can, in another tab.
    let mut other = Browser::default();
    let late = other.load(&setup.link).await;
    let late = other.submit(&late).await;
    assert_eq!(late.status, 400, "{late:?}");
    assert!(late.text.contains("another browser"), "{late:?}");
    assert_eq!(browser.log_in(&setup.link).await.status, 200);
    assert_eq!(command(&setup.gateway, &["login", "crm"]).await["login"], Value::Null);
}
