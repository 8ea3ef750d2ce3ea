//! With an identity provider, users see their tenant as far and as long as their token allows.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use testkit::{Gateway, GuardedGateway, eventually};

use crate::dashboard::support::{Person, gateway};

async fn setup() -> GuardedGateway {
    GuardedGateway::start(gateway(), "").await
}

async fn person(setup: &GuardedGateway, claims: Value) -> Person<'_> {
    Person::with(&setup.gateway, &setup.token(claims)).await
}

const ALL: &str = "tools:read tools:call files:read files:write approvals:read approvals:decide";

#[tokio::test]
async fn each_user_sees_only_their_tenant() {
    let setup = setup().await;
    let ann = person(&setup, json!({"org": "acme", "sub": "ann", "scope": ALL})).await;
    let bob = person(&setup, json!({"org": "globex", "sub": "bob", "scope": ALL})).await;
    let operator = Person::with(&setup.gateway, &setup.gateway.admin_token()).await;

    // A trial call of hers, and one that waits for approval.
    let csrf = ann.csrf();
    let echo = [("csrf", csrf.as_str()), ("do", "run"), ("v/message", "hers")];
    let tried = ann.post("/dashboard/tools/demo.echo", &echo).await.header("location").to_owned();
    let trace = tried.rsplit('/').next().unwrap().to_owned();
    let mail = [("csrf", csrf.as_str()), ("do", "run"), ("v/to", "x@example.com")];
    assert_eq!(ann.post("/dashboard/tools/mail.send", &mail).await.status, StatusCode::SEE_OTHER);
    let approval = eventually("it waits", || async {
        let page = ann.get("/dashboard/approvals").await.text;
        let (_, approval) = page.split_once("data-approval=\"")?;
        Some(format!("/dashboard/approvals/{}", approval.split('"').next()?))
    })
    .await;
    let call = format!("/dashboard/calls/{trace}");
    eventually("her call is in the trail", || async {
        (ann.get(&call).await.status == StatusCode::OK).then_some(())
    })
    .await;

    for place in [&call, &approval, &tried] {
        assert_eq!(bob.get(place).await.status, StatusCode::NOT_FOUND, "{place}");
    }
    let decision = bob.csrf();
    let yes = [("csrf", decision.as_str()), ("decision", "approve")];
    assert_eq!(bob.post(&approval, &yes).await.status, StatusCode::NOT_FOUND);
    for list in ["/dashboard", "/dashboard/calls", "/dashboard/approvals", "/dashboard/files"] {
        let page = bob.get(list).await;
        assert_eq!(page.status, StatusCode::OK, "{list}");
        assert!(!page.text.contains("ann") && !page.text.contains("acme"), "{list}: {}", page.text);
    }
    let own = [("csrf", csrf.as_str()), ("decision", "approve")];
    let refused = ann.post(&approval, &own).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "users cannot approve their own calls");
    assert_eq!(
        operator.get(&approval).await.status,
        StatusCode::OK,
        "the operator sees all tenants"
    );
    assert_eq!(bob.get("/dashboard/settings").await.status, StatusCode::FORBIDDEN);
    assert_eq!(operator.get("/dashboard/settings").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_session_has_the_scopes_and_lifetime_of_its_token() {
    let setup = setup().await;
    let looker = person(&setup, json!({"org": "acme", "sub": "lou", "scope": "tools:read"})).await;
    let csrf = looker.csrf();
    let run = [("csrf", csrf.as_str()), ("do", "run"), ("v/message", "x")];
    assert_eq!(looker.post("/dashboard/tools/demo.echo", &run).await.status, StatusCode::FORBIDDEN);
    for place in ["/dashboard/approvals", "/dashboard/files", "/dashboard/settings"] {
        assert_eq!(looker.get(place).await.status, StatusCode::FORBIDDEN, "{place}");
    }
    assert_eq!(looker.get("/dashboard/catalog").await.status, StatusCode::OK);

    let visitor = Person::new(&setup.gateway);
    for (why, claims) in [
        ("an agent", json!({"org": "acme", "sub": "ann", "agent": "assistant"})),
        ("a token of the past", json!({"exp": 1_000_000_000})),
        ("a token for another gateway", json!({"aud": "https://other.example"})),
    ] {
        let refused = visitor.sign_in(&setup.token(claims)).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{why}");
    }
}

/// Runs a command with the gateway's config; returns its output.
async fn command(gateway: &Gateway, arguments: &[&str]) -> String {
    gateway.run(arguments).await.ok().trim().to_owned()
}

/// The next event of a stream; keep-alives are skipped.
async fn next_event(stream: &mut reqwest::Response) -> String {
    loop {
        let chunk = stream.chunk().await.unwrap().expect("it goes on");
        let text = String::from_utf8_lossy(&chunk).into_owned();
        if !text.starts_with(':') {
            return text;
        }
    }
}

#[tokio::test]
async fn wrong_tokens_delay_only_their_account_and_address() {
    let gateway = gateway().config("auth: {}\n").start().await;
    let key = async |name: &str| {
        command(&gateway, &["keys", "add", name, "--tenant", "acme", "--scope", "tools:read"]).await
    };
    let (ann, bob) = (key("ann").await, key("bob").await);
    let visitor = Person::new(&gateway);
    let of_ann = format!("{}_x", ann.rsplit_once('_').unwrap().0);
    for wrong in ["nonsense", &of_ann] {
        for _ in 0..10 {
            let refused = visitor.sign_in(wrong).await;
            assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{wrong}");
        }
        let late = visitor.sign_in(wrong).await;
        assert_eq!(late.status, StatusCode::TOO_MANY_REQUESTS, "{wrong}");
        assert!(late.header("retry-after").parse::<u64>().unwrap() <= 60);
    }
    assert_eq!(visitor.sign_in(&bob).await.status, StatusCode::OK, "another account");
    let late = visitor.sign_in(&ann).await;
    assert_eq!(late.status, StatusCode::TOO_MANY_REQUESTS, "this account from this address");
    let elsewhere = Person::from(&gateway, [127, 0, 0, 2].into());
    assert_eq!(elsewhere.sign_in(&ann).await.status, StatusCode::OK, "another address");
}

#[tokio::test]
async fn sessions_and_streams_end_when_their_key_is_revoked() {
    let gateway = gateway().config("auth: {}\n").start().await;
    let key = async |name: &str, tenant: &str| {
        let scopes = ["--scope", "approvals:read", "--scope", "tools:call"];
        let named = ["keys", "add", name, "--tenant", tenant];
        command(&gateway, &[&named[..], &scopes[..]].concat()).await
    };
    let (ann, bob) = (key("ann", "acme").await, key("bob", "globex").await);
    let person = Person::with(&gateway, &ann).await;
    let other = Person::with(&gateway, &bob).await;
    let open = |path: &str, header: &'static str, value: String| {
        reqwest::Client::new().get(gateway.url(path)).header(header, value).send()
    };
    let cookie = |person: &Person<'_>| person.cookie.clone().unwrap();
    let hers =
        open("/v1/approvals/events", "authorization", format!("Bearer {ann}")).await.unwrap();
    let live = open("/dashboard/live", "cookie", cookie(&person)).await.unwrap();
    let mut foreign = open("/dashboard/live", "cookie", cookie(&other)).await.unwrap();
    assert_eq!((hers.status(), live.status()), (StatusCode::OK, StatusCode::OK));

    // Streams contain only events of the user's tenant.
    let call = reqwest::Client::new().post(gateway.url("/mcp/tool/mail.send")).bearer_auth(&ann);
    let call = tokio::spawn(call.json(&json!({"to": "x@example.com"})).send());
    let mut live = live;
    let event = next_event(&mut live).await;
    assert!(event.contains("data: approvals"), "{event:?}");
    let silent = tokio::time::timeout(Duration::from_millis(300), next_event(&mut foreign)).await;
    assert!(silent.is_err(), "another tenant's call: {silent:?}");

    command(&gateway, &["keys", "revoke", "ann"]).await;
    assert_eq!(person.get("/dashboard").await.status, StatusCode::SEE_OTHER, "signed out");
    let ends = async {
        let text = hers.text().await.unwrap();
        while live.chunk().await.unwrap().is_some() {}
        text
    };
    let text = tokio::time::timeout(Duration::from_secs(25), ends).await.expect("streams end");
    assert!(text.contains("event: created") && !text.contains("globex"), "{text}");
    assert_eq!(other.get("/dashboard").await.status, StatusCode::OK, "other keys stay valid");
    call.abort();
}
