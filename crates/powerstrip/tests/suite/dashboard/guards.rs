//! Sign-in, form protection and security headers of the dashboard.

use dashboard::ROUTES;
use doors::Needs;
use reqwest::StatusCode;
use serde_json::json;
use testkit::eventually;

use crate::dashboard::support::{Person, gateway};

#[tokio::test]
async fn only_the_admin_token_signs_in_and_guesses_are_limited() {
    let gateway = gateway().start().await;
    let visitor = Person::new(&gateway);
    let page = visitor.get("/dashboard/calls?tool=a%3Ab").await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    let to = page.header("location");
    assert_eq!(to, "/dashboard/sign-in?next=%2Fdashboard%2Fcalls%3Ftool%3Da%253Ab");
    assert!(visitor.get(to).await.text.contains("value=\"/dashboard/calls?tool=a%3Ab\""));
    let evil = visitor.get("/dashboard/sign-in?next=https://evil.example/").await;
    assert!(!evil.text.contains("evil.example"), "{}", evil.text);

    let person = Person::signed_in(&gateway).await;
    let cookie = person.cookie.clone().unwrap();
    let value = cookie.split_once('=').unwrap().1;
    assert_eq!(value.len(), 43, "256 bits: {cookie}");
    let again = visitor.sign_in(&gateway.admin_token()).await;
    let set = again.header("set-cookie");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.contains(value), "session ids are unique");

    for _ in 0..10 {
        let refused = visitor.sign_in("psa_wrong").await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
        assert!(refused.header("set-cookie").is_empty());
        assert!(!refused.text.contains("psa_wrong"));
    }
    let late = visitor.sign_in("psa_wrong").await;
    assert_eq!(late.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(late.header("retry-after").parse::<u64>().unwrap() <= 60);
    let operator = visitor.sign_in(&gateway.admin_token()).await;
    assert_eq!(operator.status, StatusCode::OK, "guesses do not lock out other users");
    assert_eq!(person.get("/dashboard").await.status, StatusCode::OK, "existing sessions continue");
}

#[tokio::test]
async fn a_session_ends_when_its_owner_signs_out() {
    let gateway = gateway().start().await;
    let person = Person::signed_in(&gateway).await;
    let csrf = person.csrf();
    let out = person.post("/dashboard/sign-out", &[("csrf", &csrf)]).await;
    assert_eq!(out.status, StatusCode::SEE_OTHER);
    let page = person.get("/dashboard").await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    let form = person.post("/dashboard/theme", &[("csrf", &csrf), ("theme", "dark")]).await;
    assert_eq!(form.status, StatusCode::UNAUTHORIZED);
}

/// Browsers send a host's cookies to all its ports, so any local server can receive ours: a cookie alone is not enough.
#[tokio::test]
async fn over_plain_http_a_cookie_alone_changes_nothing() {
    let gateway = gateway().start().await;
    let person = Person::signed_in(&gateway).await;
    let proof = person.csrf();
    assert_eq!(proof.len(), 43, "256 bits");
    for path in
        ["/dashboard", "/dashboard/tools/demo.echo", "/dashboard/files", "/dashboard/sign-in"]
    {
        let page = person.get(path).await;
        assert!(!page.text.contains(&proof), "{path} gives it away: {}", page.text);
    }
    let page = person.get("/dashboard/tools/demo.echo").await;
    assert!(page.text.contains("name=\"csrf\" value=\"\""), "{}", page.text);
    let again = person.get("/dashboard/sign-in?again=1").await;
    assert!(again.status == StatusCode::OK && !again.text.contains(&proof), "{}", again.text);
}

#[tokio::test]
async fn forms_of_other_pages_are_refused() {
    let gateway = gateway().start().await;
    let person = Person::signed_in(&gateway).await;
    let (csrf, own) = (person.csrf(), gateway.url(""));
    let other = Person::signed_in(&gateway).await.csrf();
    let run = |token: String, origin: Option<String>| {
        let person = &person;
        async move {
            let fields = [("csrf", token.as_str()), ("do", "run"), ("v/message", "forged")];
            person.post_from("/dashboard/tools/demo.echo", origin.as_deref(), &fields).await.status
        }
    };
    for (why, token, origin) in [
        ("no token", String::new(), Some(own.clone())),
        ("the token of another session", other, Some(own.clone())),
        ("another site", csrf.clone(), Some("https://evil.example".to_owned())),
        ("another port", csrf.clone(), Some("http://127.0.0.1:1".to_owned())),
        ("an opaque origin", csrf.clone(), Some("null".to_owned())),
        ("no origin", csrf.clone(), None),
    ] {
        assert_eq!(run(token, origin).await, StatusCode::FORBIDDEN, "{why}");
    }
    assert_eq!(run(csrf, Some(own)).await, StatusCode::SEE_OTHER, "their own form is accepted");
    let rows = eventually("the call that ran is in the trail", || async {
        let page = person.get("/dashboard/calls?tool=demo.echo").await.text;
        Some(page.matches("<tr><td>").count()).filter(|rows| *rows > 0)
    });
    assert_eq!(rows.await, 1, "and no other");
    let signed_out = Person::new(&gateway);
    let admin = gateway.admin_token();
    let foreign = signed_out.post_from("/dashboard/sign-in", None, &[("token", &admin)]).await;
    assert_eq!(foreign.status, StatusCode::FORBIDDEN, "another page cannot sign a user in");
}

#[tokio::test]
async fn every_page_has_security_headers_and_requires_a_session() {
    let gateway = gateway().start().await;
    let person = Person::signed_in(&gateway).await;
    let visitor = Person::new(&gateway);
    let mut bearer = Person::new(&gateway);
    bearer.cookie = Some("powerstrip-1=x; a=b".to_owned());
    for route in ROUTES {
        let path = route
            .pattern
            .replace("{*tool}", "demo.echo")
            .replace("{domain}/{name}/{major}", "support/greeting/1")
            .replace("{name}", "none")
            .replace("{id}", "none")
            .replace("{trace}", "none");
        if route.needs == Needs::Session {
            for caller in [&visitor, &bearer] {
                if route.methods.contains("GET") {
                    let page = caller.get(&path).await;
                    assert_eq!(page.status, StatusCode::SEE_OTHER, "{path}");
                    assert!(page.header("location").starts_with("/dashboard/sign-in"), "{path}");
                }
                if route.methods.contains("POST") {
                    let page = caller.post(&path, &[("csrf", "x")]).await;
                    assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{path}");
                }
            }
        }
        if !route.methods.contains("GET") || path == "/dashboard/live" {
            continue;
        }
        let page = person.get(&path).await;
        let policy = page.header("content-security-policy");
        for part in
            ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]
        {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(page.header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(page.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(page.header("cross-origin-opener-policy"), "same-origin", "{path}");
        assert_eq!(page.header("cross-origin-resource-policy"), "same-origin", "{path}");
        assert_eq!(page.header("cache-control"), "no-store", "{path}");
        for inline in ["<style", " style=", "<script>", "onclick", "javascript:"] {
            assert!(!page.text.contains(inline), "{path} holds {inline}");
        }
    }
    let home = person.get("/dashboard").await.text;
    let (_, style) = home.split_once("rel=\"stylesheet\" href=\"").unwrap();
    let style = visitor.get(style.split('"').next().unwrap()).await;
    assert_eq!(style.status, StatusCode::OK, "the sign-in page has its colours");
    assert!(style.header("cache-control").contains("immutable"));
    assert_eq!(style.header("content-type"), "text/css; charset=utf-8");
}

#[tokio::test]
async fn a_trial_call_belongs_to_the_session_that_made_it() {
    let gateway = gateway().start().await;
    let (ann, bob) = (Person::signed_in(&gateway).await, Person::signed_in(&gateway).await);
    let csrf = ann.csrf();
    let fields = [("csrf", csrf.as_str()), ("do", "run"), ("v/message", "own <b>text</b>")];
    let sent = ann.post("/dashboard/tools/demo.echo", &fields).await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.text);
    let place = sent.header("location").to_owned();
    let page = ann.get(&place).await;
    assert!(page.text.contains("own &lt;b&gt;text&lt;/b&gt;"), "{}", page.text);
    assert_eq!(bob.get(&place).await.status, StatusCode::NOT_FOUND);
    let trace = place.rsplit('/').next().unwrap();
    eventually("the audit trail lists it with its door", || async {
        let page = bob.get(&format!("/dashboard/calls/{trace}")).await.text;
        page.contains("<dd>dashboard</dd>").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_file_is_stored_only_for_the_session_that_sends_it() {
    let gateway = gateway().start().await;
    let person = Person::signed_in(&gateway).await;
    let csrf = person.csrf();
    for (why, token, status) in [
        ("no token before the file", None, StatusCode::FORBIDDEN),
        ("a wrong token", Some("x"), StatusCode::FORBIDDEN),
        ("their own", Some(csrf.as_str()), StatusCode::SEE_OTHER),
    ] {
        let sent = person.upload("/dashboard/files", token, "a.txt", "secret words").await;
        assert_eq!(sent.status, status, "{why}: {}", sent.text);
    }
    let list = person.get("/dashboard/files").await.text;
    assert_eq!(list.matches("a.txt").count(), 1, "one of three was stored: {list}");
}

#[tokio::test]
async fn the_trail_is_filtered_and_paged() {
    let gateway = gateway().start().await;
    for number in 0..60 {
        assert_eq!(
            gateway.call("demo.echo", &json!({"message": number.to_string()})).await.status,
            200
        );
    }
    gateway.call("demo.echo", &json!({"wrong": true})).await;
    let person = Person::signed_in(&gateway).await;
    let rows = |page: &str| page.matches("<tr><td>").count();
    eventually("all calls are in the trail", || async {
        let wrong = person.get("/dashboard/calls?outcome=INVALID_INPUT").await.text;
        (rows(&wrong) == 1).then_some(())
    })
    .await;
    let first = person.get("/dashboard/calls").await.text;
    assert_eq!(rows(&first), 50);
    let (_, next) = first.split_once("rel=\"next\" href=\"").expect("a second page");
    let next = next.split('"').next().unwrap().replace("&amp;", "&");
    assert_eq!(rows(&person.get(&next).await.text), 11, "and no row twice");
    assert_eq!(rows(&person.get("/dashboard/calls?caller=unknown").await.text), 0);
    assert_eq!(rows(&person.get("/dashboard/calls?to=2020-01-01").await.text), 0);
    assert_eq!(rows(&person.get("/dashboard/calls?after=rubbish&from=x").await.text), 50);
}

#[tokio::test]
async fn requests_for_another_host_name_are_refused() {
    let gateway = gateway().start().await;
    let person = Person::signed_in(&gateway).await;
    for host in ["evil.example", "localhost.evil.example", "10.0.0.1"] {
        for path in ["/dashboard", "/dashboard/sign-in", "/dashboard/live", "/dashboard/approvals"]
        {
            let request = reqwest::Client::new().get(gateway.url(path)).header("host", host);
            let request = request.header("cookie", person.cookie.as_deref().unwrap());
            let page = request.send().await.unwrap();
            assert_eq!(page.status(), StatusCode::FORBIDDEN, "{host}{path}");
        }
    }
}

#[tokio::test]
async fn pages_of_other_origins_cannot_call_tools() {
    let gateway = gateway().start().await;
    let send = |path: &'static str,
                origin: Option<String>,
                kind: Option<&'static str>,
                body: &'static str| {
        let mut request = reqwest::Client::new().post(gateway.url(path)).body(body);
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        async move { request.send().await.unwrap().status() }
    };
    let multipart = "multipart/form-data; boundary=e";
    let file = "--e\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nx\r\n--e--\r\n";
    let call = r#"{"message": "x"}"#;
    let echo = "/mcp/tool/demo.echo";
    for foreign in ["http://localhost:1", "http://127.0.0.1:1", "https://localhost"] {
        for (path, kind, body) in [
            (echo, Some("text/plain"), call),
            (echo, Some("Text/Plain;charset=utf-8"), call),
            (echo, Some("application/x-www-form-urlencoded"), call),
            (echo, None, call),
            ("/v1/calls", Some("text/plain"), r#"{"calls": []}"#),
            ("/agents/assistant/mcp/tool/demo.echo", Some("text/plain"), call),
            ("/v1/files", Some(multipart), file),
        ] {
            let status = send(path, Some(foreign.to_owned()), kind, body).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{foreign} {path} {kind:?}");
        }
    }
    let own = Some(gateway.url(""));
    for (path, origin, kind, body) in [
        (echo, Some("http://localhost:1".to_owned()), Some("application/json"), call),
        (echo, own.clone(), Some("text/plain"), call),
        (echo, None, None, call),
        ("/v1/files", own, Some(multipart), file),
        ("/v1/files", None, Some(multipart), file),
    ] {
        let status = send(path, origin.clone(), kind, body).await;
        assert!(status.is_success(), "{origin:?} {path} {kind:?}: {status}");
    }
}

#[tokio::test]
async fn many_calls_of_one_caller_do_not_hide_those_of_others() {
    let gateway = gateway().start().await;
    let mut calls = tokio::task::JoinSet::new();
    let call = |path: &str, to: String| {
        let request = reqwest::Client::new().post(gateway.url(path)).json(&json!({"to": to}));
        async move { request.send().await.unwrap().status() }
    };
    for n in 0..120 {
        calls.spawn(call("/agents/assistant/mcp/tool/mail.send", format!("{n}@example.com")));
    }
    for _ in 0..20 {
        let refused = calls.join_next().await.unwrap().unwrap();
        assert_eq!(refused, StatusCode::TOO_MANY_REQUESTS);
    }
    calls.spawn(call("/mcp/tool/mail.send", "other-user@example.com".to_owned()));
    let person = Person::signed_in(&gateway).await;
    let later = eventually("it is listed", || async {
        let first = person.get("/dashboard/approvals").await.text;
        assert!(!first.contains("other-user"), "the page holds the oldest");
        let (_, later) = first.split_once("id=\"later\" href=\"")?;
        let later = format!("/dashboard/approvals{}", later.split('"').next()?);
        let later = person.get(&later).await.text;
        later.contains("other-user").then_some(later)
    });
    assert_eq!(
        later.await.matches("data-approval").count(),
        1,
        "only that call is on the later page"
    );
}

#[tokio::test]
async fn link_tokens_stay_out_of_logs_and_traces() {
    let gateway = gateway().env("POWERSTRIP_LOG", "info,doors=trace").start().await;
    for path in ["/approve/canary", "/approve/canary/", "/approve/canary?x=1", "/approve/a/canary"]
    {
        let _ = reqwest::get(gateway.url(path)).await.unwrap();
        let _ = reqwest::Client::new().put(gateway.url(path)).send().await.unwrap();
    }
    let _ = reqwest::get(gateway.url("/healthz")).await.unwrap();
    eventually("requests are logged", || async {
        gateway.log().contains("/healthz").then_some(())
    })
    .await;
    let log = gateway.log();
    let leaks: Vec<_> = log.lines().filter(|line| line.contains("canary")).collect();
    assert!(leaks.is_empty() && log.contains("/approve/{token}"), "{leaks:?}");
}
