//! Signing in at an identity provider, and attacks by the provider or in between.

use std::collections::BTreeMap;

use reqwest::{StatusCode, Url};
use serde_json::{Value, json};
use testkit::{Gateway, Issuer, Signer, eventually};

use crate::dashboard::support::{Page, Person, assert_refused, encoded, gateway, session};

const CLIENT: &str = "sign_in: { client_id: board, client_secret: { env: BOARD_SECRET } }";
const SECRET: &str = "canary-secret";

struct Setup {
    gateway: Gateway,
    issuer: Issuer,
    signer: Signer,
}

/// A redirect to the provider.
struct PendingSignIn {
    to: BTreeMap<String, String>,
    /// The cookie that the browser brings back.
    cookie: String,
}

impl Setup {
    async fn open() -> Self {
        Self::with(CLIENT).await
    }

    async fn with(sign_in: &str) -> Self {
        let signer = Signer::ec("key-1");
        let issuer = Issuer::start(&[&signer]).await;
        let auth = format!(
            "auth:\n  issuer: {}\n  tenant_claim: org\n  agent_claim: agent\n  {sign_in}\n",
            issuer.url()
        );
        let builder = gateway().config(&auth).env("BOARD_SECRET", SECRET);
        Self { gateway: builder.env("POWERSTRIP_LOG", "debug").start().await, issuer, signer }
    }

    async fn start_sign_in(&self, next: &str) -> PendingSignIn {
        let browser = Person::new(&self.gateway);
        PendingSignIn::of(&browser.post("/dashboard/sign-in/start", &[("next", next)]).await)
    }

    fn access_token(&self, changes: Value) -> String {
        self.signer.token(&self.issuer.claims(&self.gateway.url(""), changes))
    }

    fn id_token(&self, pending: &PendingSignIn, changes: Value) -> String {
        let mut claims = self.issuer.claims("board", json!({"nonce": pending.to["nonce"]}));
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        self.signer.token(&claims)
    }

    /// Returns from the provider with a code for these tokens.
    async fn finish_sign_in(
        &self,
        pending: &PendingSignIn,
        access: &str,
        id_token: Option<&str>,
    ) -> Page {
        let code = format!("canary-code-{}", &pending.to["state"][..8]);
        let mut answer = json!({"access_token": access, "token_type": "Bearer", "expires_in": 600});
        if let Some(id_token) = id_token {
            answer["id_token"] = json!(id_token);
        }
        self.issuer.set_grant(&code, answer);
        self.callback(Some(&pending.cookie), &self.query(&pending.to["state"], &code)).await
    }

    fn query(&self, state: &str, code: &str) -> String {
        format!("state={state}&code={code}&iss={}", encoded(self.issuer.url()))
    }

    async fn callback(&self, cookie: Option<&str>, query: &str) -> Page {
        let mut browser = Person::new(&self.gateway);
        browser.cookie = cookie.map(str::to_owned);
        browser.get(&format!("/dashboard/sign-in/callback?{query}")).await
    }

    /// A complete sign-in; returns the user and the first page.
    async fn sign_in(&self, next: &str, answer: Value) -> (Person<'_>, Page) {
        let pending = self.start_sign_in(next).await;
        let mut granted = json!({
            "access_token": self.access_token(json!({})), "token_type": "Bearer", "expires_in": 600,
            "id_token": self.id_token(&pending, json!({})),
        });
        for (name, value) in answer.as_object().unwrap() {
            granted[name] = value.clone();
        }
        self.issuer.set_grant("canary-code", granted);
        let query = self.query(&pending.to["state"], "canary-code");
        let page = self.callback(Some(&pending.cookie), &query).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.text);
        let mut person = Person::new(&self.gateway);
        person.cookie =
            Some(session(&page).expect("a session").split(';').next().unwrap().to_owned());
        (person, page)
    }
}

impl PendingSignIn {
    fn of(page: &Page) -> Self {
        assert_eq!(page.status, StatusCode::OK, "{}", page.text);
        let to: Url = page.header("refresh").strip_prefix("0; url=").unwrap().parse().unwrap();
        let to = to.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned()));
        let cookie = page.header("set-cookie");
        assert!(cookie.contains("HttpOnly; SameSite=Lax; Max-Age=600"), "{cookie}");
        Self { to: to.collect(), cookie: cookie.split(';').next().unwrap().to_owned() }
    }
}

#[tokio::test]
async fn a_user_signs_in_at_the_provider_and_out_again() {
    let setup = Setup::open().await;
    let visitor = Person::new(&setup.gateway);
    let page = visitor.get("/dashboard/sign-in?next=/dashboard/catalog").await.text;
    let host = setup.issuer.url().strip_prefix("http://").unwrap();
    let (button, form) = (page.find(&format!("Sign in with {host}")), page.find("name=\"token\""));
    assert!(button.unwrap() < form.unwrap(), "the provider first, then the token");

    let pending = setup.start_sign_in("/dashboard/catalog?q=x").await;
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", "board"),
        ("code_challenge_method", "S256"),
        ("scope", "openid tools:call tools:read"),
        ("resource", &setup.gateway.url("")),
        ("redirect_uri", &setup.gateway.url("/dashboard/sign-in/callback")),
    ] {
        assert_eq!(pending.to[name], value, "{name}");
    }
    let (access, id) = (setup.access_token(json!({})), setup.id_token(&pending, json!({})));
    let page = setup.finish_sign_in(&pending, &access, Some(&id)).await;
    assert!(page.text.contains("data-next=\"/dashboard/catalog?q=x\""), "{}", page.text);
    let taken_back = format!("{}=; ", pending.cookie.split('=').next().unwrap());
    let cookies = page.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap());
    assert!(cookies.into_iter().any(|cookie| cookie.starts_with(&taken_back)));
    let asked = &setup.issuer.token_requests()[0];
    assert_eq!(asked["grant_type"], "authorization_code");
    assert_eq!(asked["resource"], setup.gateway.url(""));
    assert_eq!(asked["redirect_uri"], setup.gateway.url("/dashboard/sign-in/callback"));
    assert_eq!(asked["authorization"], "Basic Ym9hcmQ6Y2FuYXJ5LXNlY3JldA==");
    assert_eq!(testkit::s256(&asked["code_verifier"]), pending.to["code_challenge"]);

    let mut ann = Person::new(&setup.gateway);
    ann.cookie = Some(session(&page).unwrap().split(';').next().unwrap().to_owned());
    ann.proof = page.proof();
    let catalog = ann.get("/dashboard/catalog").await;
    assert_eq!(catalog.status, StatusCode::OK);
    assert!(
        catalog.text.contains("title=\"acme\""),
        "the page shows the user of the token: {}",
        catalog.text
    );
    assert_eq!(ann.get("/dashboard/approvals").await.status, StatusCode::FORBIDDEN);

    let csrf = ann.csrf();
    ann.post("/dashboard/sign-out", &[("csrf", &csrf)]).await;
    assert_eq!(ann.get("/dashboard/catalog").await.status, StatusCode::SEE_OTHER);
    let log = setup.gateway.log();
    assert!(log.contains("signed in to the dashboard"), "{log}");
    for secret in ["canary", &pending.to["state"], &pending.to["nonce"], &access, &id] {
        assert!(!log.contains(secret), "{secret} is in the log: {log}");
    }
}

#[tokio::test]
async fn a_callback_counts_once_and_only_in_the_browser_that_began_it() {
    let setup = Setup::open().await;
    let (hers, evil) =
        (setup.start_sign_in("/dashboard").await, setup.start_sign_in("/dashboard").await);
    let access = setup.access_token(json!({}));
    let ready = |pending: &PendingSignIn| {
        let answer = json!({"access_token": access, "token_type": "Bearer", "id_token": setup.id_token(pending, json!({}))});
        setup.issuer.set_grant("code", answer);
        setup.query(&pending.to["state"], "code")
    };
    let query = ready(&hers);
    let browser = setup.callback(None, &query).await;
    assert_refused(&browser, 400, "another browser", "no cookie");
    let browser = setup.callback(Some(&evil.cookie), &query).await;
    assert_refused(&browser, 400, "another browser", "the cookie of another sign-in");
    let (name, _) = hers.cookie.split_once('=').unwrap();
    let (_, key) = evil.cookie.split_once('=').unwrap();
    let browser = setup.callback(Some(&format!("{name}={key}")), &query).await;
    assert_refused(&browser, 400, "another browser", "a cookie under its name");
    let twice = setup.callback(Some(&hers.cookie), &format!("{query}&code=other")).await;
    assert_refused(&twice, 400, "cannot be read", "two codes");
    let made_up = setup.callback(Some(&hers.cookie), &setup.query("made-up", "code")).await;
    assert_refused(&made_up, 400, "not known", "an unknown state");
    let none = setup.callback(Some(&hers.cookie), "").await;
    assert_refused(&none, 400, "not known", "nothing at all");
    assert!(setup.issuer.token_requests().is_empty(), "no code was used for any of them");

    let page = setup.callback(Some(&hers.cookie), &query).await;
    assert!(session(&page).is_some(), "hers is still there: {}", page.text);
    let again = setup.callback(Some(&hers.cookie), &ready(&hers)).await;
    assert_refused(&again, 400, "used already", "the same answer again");
    assert_eq!(setup.issuer.token_requests().len(), 1);
}

#[tokio::test]
async fn mismatched_provider_answers_are_refused() {
    let setup = Setup::open().await;
    let iss = encoded(setup.issuer.url());
    for (why, more, status, part) in [
        (
            "another issuer",
            "code=x&iss=https%3A%2F%2Fevil.example".to_owned(),
            403,
            "another identity provider",
        ),
        (
            "no `iss`, although the metadata announces it",
            "code=x".to_owned(),
            403,
            "another identity provider",
        ),
        (
            "a refusal of another issuer",
            "error=access_denied".to_owned(),
            403,
            "another identity provider",
        ),
        ("a refusal", format!("error=access_denied&iss={iss}"), 403, "refused this sign-in"),
        ("an unknown scope", format!("error=invalid_scope&iss={iss}"), 403, "(invalid_scope)"),
        ("no code", format!("iss={iss}"), 400, "without a code"),
        ("an unknown code", format!("code=wrong&iss={iss}"), 502, "gave no token"),
    ] {
        let pending = setup.start_sign_in("/dashboard").await;
        let query = format!("state={}&{more}", pending.to["state"]);
        assert_refused(&setup.callback(Some(&pending.cookie), &query).await, status, part, why);
    }
    let pending = setup.start_sign_in("/dashboard").await;
    let evil = encoded("<script>alert(1)</script>");
    let query =
        format!("state={}&error={evil}&error_description={evil}&iss={iss}", pending.to["state"]);
    let page = setup.callback(Some(&pending.cookie), &query).await;
    assert_refused(&page, 403, "an unknown error code", "words that are no code");
    assert!(!page.text.contains("alert(1)"), "{}", page.text);
}

#[tokio::test]
async fn id_tokens_are_bound_to_client_and_sign_in() {
    let setup = Setup::open().await;
    let good = setup.access_token(json!({}));
    let earlier = setup.start_sign_in("/dashboard").await;
    for (why, changes) in [
        ("of another sign-in", json!({"nonce": earlier.to["nonce"]})),
        ("without a nonce", json!({"nonce": null})),
        ("for another client", json!({"aud": "other"})),
        ("given to another client", json!({"aud": ["board", "other"], "azp": "other"})),
        ("of another issuer", json!({"iss": "https://evil.example"})),
        ("of the past", json!({"exp": 1_000_000_000})),
    ] {
        let pending = setup.start_sign_in("/dashboard").await;
        let id = setup.id_token(&pending, changes);
        let page = setup.finish_sign_in(&pending, &good, Some(&id)).await;
        assert_refused(&page, 403, "not for this sign-in", why);
    }
    let pending = setup.start_sign_in("/dashboard").await;
    let forged = Signer::ec("key-1")
        .token(&setup.issuer.claims("board", json!({"nonce": pending.to["nonce"]})));
    let page = setup.finish_sign_in(&pending, &good, Some(&forged)).await;
    assert_refused(&page, 403, "not for this sign-in", "signed with another key");
    let pending = setup.start_sign_in("/dashboard").await;
    let page = setup.finish_sign_in(&pending, &good, None).await;
    assert_refused(&page, 403, "not for this sign-in", "none at all");
}

#[tokio::test]
async fn the_access_token_is_validated_like_any_other() {
    let setup = Setup::open().await;
    for (why, changes, part) in [
        ("for another gateway", json!({"aud": "https://other.example"}), "has another audience"),
        ("for the client, like an ID token", json!({"aud": "board"}), "has another audience"),
        ("of an agent", json!({"agent": "assistant"}), "Agents cannot sign in"),
        ("without a tenant", json!({"org": null}), "claim `org`"),
        ("of the past", json!({"exp": 1_000_000_000}), "has expired"),
        ("without scopes", json!({"scope": "email profile"}), "has no access"),
    ] {
        let pending = setup.start_sign_in("/dashboard").await;
        let id = setup.id_token(&pending, json!({}));
        let page = setup.finish_sign_in(&pending, &setup.access_token(changes), Some(&id)).await;
        assert_refused(&page, 403, part, why);
    }
}

#[tokio::test]
async fn a_token_is_renewed_once_and_the_session_ends_if_renewal_fails() {
    let setup = Setup::open().await;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    // Expired, but within the leeway for clocks: signing in takes a while.
    let short = setup.access_token(json!({"exp": now - 8}));
    let first =
        json!({"access_token": short, "expires_in": 1, "refresh_token": "canary-refresh-1"});
    let next = json!({
        "access_token": setup.access_token(json!({"jti": "second"})), "token_type": "Bearer", "expires_in": 10,
        "refresh_token": "canary-refresh-2",
    });
    setup.issuer.set_grant("canary-refresh-1", next);
    let (ann, _) = setup.sign_in("/dashboard", first).await;
    let renewals = || setup.issuer.token_requests().len() - 1;
    eventually("the token is renewed", || async {
        let pages = ["/dashboard", "/dashboard/catalog", "/dashboard/calls", "/dashboard/prompts"];
        let (a, b, c, d) = tokio::join!(
            ann.get(pages[0]),
            ann.get(pages[1]),
            ann.get(pages[2]),
            ann.get(pages[3])
        );
        for page in [a, b, c, d] {
            assert_eq!(page.status, StatusCode::OK, "the session continues: {}", page.text);
        }
        (renewals() > 0).then_some(())
    })
    .await;
    assert_eq!(renewals(), 1, "one renewal for all waiting requests");
    let asked = &setup.issuer.token_requests()[1];
    assert_eq!(asked["grant_type"], "refresh_token");
    assert_eq!(asked["refresh_token"], "canary-refresh-1");
    assert_eq!(asked["resource"], setup.gateway.url(""));

    // While the provider is down, the current token is used until it expires.
    setup.issuer.set_down(true);
    eventually("it cannot be renewed", || async {
        assert_eq!(ann.get("/dashboard").await.status, StatusCode::OK);
        (renewals() > 1).then_some(())
    })
    .await;
    setup.issuer.set_down(false);

    // The provider refuses the second refresh token, which ends the session at once.
    eventually("the session ends", || async {
        let page = ann.get("/dashboard/catalog").await;
        page.header("location").starts_with("/dashboard/sign-in").then_some(())
    })
    .await;
    assert_eq!(setup.issuer.token_requests().last().unwrap()["refresh_token"], "canary-refresh-2");
    let asked = setup.issuer.token_requests().len();
    assert_eq!(ann.get("/dashboard").await.status, StatusCode::SEE_OTHER);
    assert_eq!(setup.issuer.token_requests().len(), asked, "ended sessions are not renewed");
    assert!(!setup.gateway.log().contains("canary"), "{}", setup.gateway.log());
}

#[tokio::test]
async fn a_renewed_token_of_another_user_ends_the_session() {
    let setup = Setup::open().await;
    // A token that is due at once: its first use renews it.
    let granted = |claims: Value, refresh: &str| {
        let access = setup.access_token(claims);
        json!({"access_token": access, "token_type": "Bearer", "expires_in": 0, "refresh_token": refresh})
    };
    setup.issuer.set_grant("one", granted(json!({}), "two"));
    setup.issuer.set_grant("two", granted(json!({"jti": "later"}), "three"));
    setup.issuer.set_grant("three", granted(json!({"sub": "eve"}), "four"));
    let (ann, _) = setup.sign_in("/dashboard", granted(json!({}), "one")).await;
    assert_eq!(ann.get("/dashboard/catalog").await.status, StatusCode::OK, "another token of hers");
    assert_eq!(ann.get("/dashboard/catalog").await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn sign_in_starts_only_from_our_pages_with_a_valid_callback() {
    let setup = Setup::open().await;
    let person = Person::new(&setup.gateway);
    for origin in [None, Some("null"), Some("https://evil.example")] {
        let page = person.post_from("/dashboard/sign-in/start", origin, &[]).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{origin:?}: {}", page.text);
        assert!(page.header("set-cookie").is_empty() && page.header("refresh").is_empty());
    }
    assert_eq!(person.get("/dashboard/sign-in/start").await.status, StatusCode::METHOD_NOT_ALLOWED);
    let next = person.post("/dashboard/sign-in/start", &[("next", "https://evil.example/")]).await;
    let pending = PendingSignIn::of(&next);
    let (access, id) = (setup.access_token(json!({})), setup.id_token(&pending, json!({})));
    let page = setup.finish_sign_in(&pending, &access, Some(&id)).await;
    assert!(page.text.contains("data-next=\"/dashboard\""), "led elsewhere: {}", page.text);

    // At another name of this machine the browser would not send the cookie.
    let port = setup.gateway.url("").rsplit(':').next().unwrap().to_owned();
    let client = reqwest::Client::new().post(setup.gateway.url("/dashboard/sign-in/start"));
    let by_name = client.header("host", format!("localhost:{port}"));
    let by_name = by_name.header("origin", format!("http://localhost:{port}"));
    let page =
        by_name.header("content-type", "application/x-www-form-urlencoded").send().await.unwrap();
    assert_eq!(page.status(), StatusCode::BAD_REQUEST);
    let text = page.text().await.unwrap();
    assert!(text.contains(&setup.gateway.url("/dashboard/sign-in")), "{text}");
}

#[tokio::test]
async fn mismatched_metadata_stops_sign_in() {
    for (why, patch) in [
        ("of another issuer", json!({"issuer": "https://evil.example"})),
        ("without PKCE", json!({"code_challenge_methods_supported": ["plain"]})),
        ("to a script", json!({"authorization_endpoint": "javascript:alert(1)"})),
        ("to nowhere", json!({"authorization_endpoint": null})),
    ] {
        let setup = Setup::open().await;
        let url = setup.issuer.url();
        let mut metadata = json!({
            "issuer": url, "jwks_uri": format!("{url}/keys"), "authorization_endpoint": format!("{url}/authorize"),
            "token_endpoint": format!("{url}/token"), "code_challenge_methods_supported": ["S256"],
        });
        for (name, value) in patch.as_object().unwrap() {
            metadata[name] = value.clone();
        }
        setup.issuer.set_metadata(metadata);
        let page = Person::new(&setup.gateway).post("/dashboard/sign-in/start", &[]).await;
        assert_refused(&page, 502, "cannot be used for signing in", why);
        let token = setup.access_token(json!({}));
        if why != "of another issuer" {
            Person::with(&setup.gateway, &token).await;
        }
    }
    let setup = Setup::open().await;
    setup.issuer.set_down(true);
    let page = Person::new(&setup.gateway).post("/dashboard/sign-in/start", &[]).await;
    assert_refused(&page, 502, "cannot be used for signing in", "while it is down");
}

#[tokio::test]
async fn minimal_provider_metadata_is_enough() {
    let setup = Setup::open().await;
    let url = setup.issuer.url();
    // It supports PKCE without saying so, takes secrets in the form, and omits `iss` in its answers.
    setup.issuer.set_metadata(json!({
        "issuer": url, "jwks_uri": format!("{url}/keys"), "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"), "token_endpoint_auth_methods_supported": ["client_secret_post"],
    }));
    let pending = setup.start_sign_in("/dashboard").await;
    assert_eq!(pending.to["code_challenge_method"], "S256");
    let (access, id) = (setup.access_token(json!({})), setup.id_token(&pending, json!({})));
    let answer = json!({"access_token": access, "token_type": "bearer", "id_token": id});
    setup.issuer.set_grant("code", answer);
    let query = format!("state={}&code=code", pending.to["state"]);
    let page = setup.callback(Some(&pending.cookie), &query).await;
    assert!(session(&page).is_some(), "{}", page.text);
    let asked = &setup.issuer.token_requests()[0];
    assert_eq!((&*asked["client_id"], &*asked["client_secret"]), ("board", SECRET));
    assert!(!asked.contains_key("authorization"));
}

#[tokio::test]
async fn cookies_are_secure_behind_https() {
    let setup = Setup::with(&format!("{CLIENT}\npublic_url: https://strip.example")).await;
    let origin = Some("https://strip.example");
    let page = Person::new(&setup.gateway).post_from("/dashboard/sign-in/start", origin, &[]).await;
    let pending = PendingSignIn::of(&page);
    assert!(pending.cookie.starts_with("__Host-powerstrip-sign-in-"), "{}", pending.cookie);
    assert!(
        page.header("set-cookie").ends_with("; Secure")
            && page.header("set-cookie").contains("; Path=/;")
    );
    assert_eq!(pending.to["redirect_uri"], "https://strip.example/dashboard/sign-in/callback");
    assert_eq!(pending.to["resource"], "https://strip.example");
    let access = setup.access_token(json!({"aud": "https://strip.example"}));
    let id = setup.id_token(&pending, json!({}));
    let page = setup.finish_sign_in(&pending, &access, Some(&id)).await;
    assert!(session(&page).unwrap().starts_with("__Host-powerstrip="), "{}", page.text);
}

#[tokio::test]
async fn a_public_client_sends_only_its_id_and_configured_scopes() {
    let setup = Setup::with("sign_in: { client_id: board, scopes: [a, b], resource: false }").await;
    let pending = setup.start_sign_in("/dashboard").await;
    assert_eq!(pending.to["scope"], "a b");
    assert!(!pending.to.contains_key("resource"));
    // Without `openid` there is only the access token.
    let page = setup.finish_sign_in(&pending, &setup.access_token(json!({})), None).await;
    assert!(session(&page).is_some(), "{}", page.text);
    let asked = &setup.issuer.token_requests()[0];
    assert_eq!(asked["client_id"], "board");
    assert!(!asked.contains_key("authorization") && !asked.contains_key("client_secret"));
    assert!(!asked.contains_key("resource"));
}

#[tokio::test]
async fn without_sign_in_config_there_is_no_redirect() {
    let setup = Setup::with("api_keys: true").await;
    let person = Person::new(&setup.gateway);
    assert!(!person.get("/dashboard/sign-in").await.text.contains("Sign in with"));
    let page = person.post("/dashboard/sign-in/start", &[]).await;
    assert_eq!(page.status, StatusCode::NOT_FOUND, "{}", page.text);
    let page = person.get("/dashboard/sign-in/callback?state=x&code=y").await;
    assert_eq!(page.status, StatusCode::NOT_FOUND, "{}", page.text);
}
