use reqwest::Method;
use serde_json::json;
use store::{AuditFilter, Database};
use testkit::{Service, send};

use crate::access::support::Setup;

const CLAIMED: [(&str, &str); 8] = [
    ("x-tenant-id", "globex"),
    ("x-org-id", "globex"),
    ("x-user", "admin"),
    ("x-forwarded-user", "admin"),
    ("x-forwarded-host", "evil.example"),
    ("x-forwarded-for", "127.0.0.1"),
    ("forwarded", "for=127.0.0.1;host=evil.example"),
    ("x-agent", "boss"),
];

#[tokio::test]
async fn the_token_alone_determines_the_caller() {
    let setup = Setup::open().await;
    for (tenant, subject) in [("acme", "ann"), ("globex", "gus"), ("acme", "amy")] {
        let token = setup.token(json!({"org": tenant, "sub": subject, "agent": "researcher"}));
        let caller = crate::access::support::Caller::new(&setup.gateway, Some(token));
        let mut request = caller.request(Method::POST, "/mcp/tool/demo.echo");
        for (name, value) in CLAIMED {
            request = request.header(name, value);
        }
        assert_eq!(send(request.json(&json!({"message": "x"}))).await.status, 200);
    }
    // Headers alone identify no caller.
    let mut request = setup.anonymous().request(Method::POST, "/mcp/tool/demo.echo");
    for (name, value) in CLAIMED {
        request = request.header(name, value);
    }
    assert_eq!(send(request.json(&json!({"message": "x"}))).await.status, 401);

    let data = setup.gateway.folder().join(".powerstrip");
    let database = Database::open(&data).await.unwrap();
    let rows = async |tenant: Option<&str>| {
        let filter = AuditFilter { tenant: tenant.map(str::to_owned), ..AuditFilter::default() };
        let rows = database.audit_rows(filter).await.unwrap();
        let mut callers: Vec<_> = rows
            .into_iter()
            .map(|row| row.caller)
            .map(|who| {
                (who.tenant.to_string(), who.subject.clone(), who.agent.clone().unwrap_or_default())
            })
            .collect();
        callers.sort();
        callers
    };
    let row = |tenant: &str, subject: &str| {
        (tenant.to_owned(), subject.to_owned(), "researcher".to_owned())
    };
    let all = testkit::eventually("three rows are written", || async {
        let all = rows(None).await;
        (all.len() == 3).then_some(all)
    })
    .await;
    assert_eq!(all, [row("acme", "amy"), row("acme", "ann"), row("globex", "gus")]);
    assert_eq!(rows(Some("globex")).await, [row("globex", "gus")]);
    assert_eq!(rows(Some("acme")).await.len(), 2);
    assert!(rows(Some("")).await.is_empty());
}

#[tokio::test]
async fn tokens_are_not_forwarded_or_logged() {
    let service = Service::start().await;
    let pack = format!(
        "id: far.echo\nversion: 1.0.0\ndescription: Passes the message on to a service over HTTP.\n\
         inputSchema: {{ type: object }}\noutputSchema: {{ type: object }}\ncaps: {{ network: [http] }}\n\
         execution: {{ kind: http, url: '{}', method: POST }}\n",
        service.url("/echo")
    );
    let setup = Setup::with("egress: { allow: [127.0.0.1] }\n", |gateway| {
        gateway
            .file("tools/far.tool.yaml", &pack)
            .env("POWERSTRIP_LOG", "info,auth=trace,doors=trace,egress=trace")
    })
    .await;
    let token = setup.token(json!({}));
    let caller = crate::access::support::Caller::new(&setup.gateway, Some(token.clone()));
    let answer = caller.call("far.echo", &json!({"message": "x"})).await;
    assert_eq!(answer.body["data"]["echo"], "x", "{answer:?}");
    assert_eq!(
        answer.body["data"]["authorization"],
        json!(null),
        "the caller's token is not forwarded"
    );
    let secret = token.rsplit('.').next().unwrap().to_owned();
    let forged = format!("{}x", &token[..token.len() - 4]);
    let refused = crate::access::support::Caller::new(&setup.gateway, Some(forged))
        .get("/mcp/discover")
        .await;
    assert_eq!(refused.status, 401);
    assert!(
        !setup.gateway.log().contains(&secret[..secret.len() - 8]),
        "not even in the trace log"
    );
}

#[tokio::test]
async fn rate_limits_are_counted_per_caller() {
    let setup = Setup::with("limits: { rate: { tool: 1/1h } }\n", |gateway| gateway).await;
    let call =
        async |changes| setup.caller(changes).call("demo.echo", &json!({"message": "x"})).await;
    assert_eq!(call(json!({})).await.status, 200);
    assert_eq!(call(json!({})).await.status, 429);
    assert_eq!(
        call(json!({"org": "globex"})).await.status,
        200,
        "her namesake elsewhere is another"
    );
    assert_eq!(call(json!({"sub": "amy"})).await.status, 200);
    assert_eq!(call(json!({"sub": "amy"})).await.status, 429);
}
