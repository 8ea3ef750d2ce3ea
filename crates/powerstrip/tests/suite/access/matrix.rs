//! Two tenants on every route: the data of one is not visible to the other. A route without a case here fails the test.

mod approvals;
mod workflows;

use doors::{Needs, Route};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Response, send};

use crate::access::secrets::assert_only_own;
use crate::access::support::{Caller, LEGACY, Setup, call_message};

/// The victim, and callers who must not see her data.
struct Callers<'a> {
    ann: Caller<'a>,
    others: [(&'static str, Caller<'a>); 3],
}

impl<'a> Callers<'a> {
    fn of(setup: &'a Setup) -> Self {
        Self {
            ann: setup.caller(json!({"org": "acme", "sub": "ann"})),
            others: [
                ("another tenant", setup.caller(json!({"org": "globex", "sub": "ann"}))),
                ("a colleague", setup.caller(json!({"org": "acme", "sub": "amy"}))),
                (
                    "an agent of hers",
                    setup.caller(json!({"org": "acme", "sub": "ann", "agent": "bot"})),
                ),
            ],
        }
    }
}

#[tokio::test]
async fn no_route_shows_one_tenant_the_data_of_another() {
    let setup = Setup::open().await;
    let callers = Callers::of(&setup);
    for route in &setup.routes().await {
        match route.pattern {
            "/mcp" => sessions(&callers).await,
            "/mcp/tool/{*tool}" => recorded_answers(&callers).await,
            // Shared by all callers: it must look the same to everyone and contain no caller's data.
            "/mcp/discover" => assert_same_for_all(&callers, "/mcp/discover").await,
            "/agents/{agent}/{*door}" => agents(&setup, &callers).await,
            "/v1/calls" if route.methods == "POST" => batches(&callers).await,
            "/v1/calls" => recorded_calls(&setup, &callers).await,
            "/v1/calls/{trace}" | "/v1/overview" => {
                assert_scope_required(&callers, &[route.methods], route.pattern).await;
            }
            "/v1/runs" | "/v1/runs/{id}" | "/v1/runs/{id}/answers" => {
                runs(&setup, route.pattern).await;
            }
            "/v1/workflows" if route.methods == "POST" => workflows::steering(&setup).await,
            "/v1/workflows" => workflows::reading(&setup).await,
            "/v1/workflows/plan" => workflows::planning(&setup).await,
            // What another tenant finds is tested in `research/reports.rs`.
            "/v1/search" | "/v1/plan" | "/v1/research" => {
                let unable =
                    setup.caller(json!({"org": "acme", "sub": "ann", "scope": "tools:read"}));
                let answer =
                    send(unable.request(Method::POST, route.pattern).json(&json!({}))).await;
                assert_eq!(answer.status, 403, "{answer:?}");
            }
            // Covered by the cases above.
            pattern if pattern.starts_with("/v1/workflows/{id}") => {
                assert!(workflows::PATHS.contains(&pattern), "{pattern} is not in PATHS");
            }
            // Every caller has secrets of their own: what others store is tested in `secrets.rs`.
            "/v1/secrets" => assert_same_for_all(&callers, route.pattern).await,
            "/v1/secrets/{name}" => assert_only_own(&setup, route.methods).await,
            "/v1/servers"
            | "/v1/servers/{name}"
            | "/v1/servers/{name}/heartbeat"
            | "/v1/servers/{name}/logs" => {
                registration(&callers, route.methods, route.pattern).await;
            }
            "/v1/servers/{name}/restart"
            | "/v1/servers/{name}/enable"
            | "/v1/servers/{name}/disable" => switches(&setup, &callers, route.pattern).await,
            "/v1/files" => files(&setup, &callers).await,
            "/v1/files/uploads" => uploads(&setup).await,
            // Covered by the two cases above, with ids of another tenant.
            "/v1/files/{id}"
            | "/v1/files/{id}/content"
            | "/v1/files/{id}/text"
            | "/v1/files/{id}/link"
            | "/v1/files/uploads/{id}" => {}
            "/v1/approvals" | "/v1/approvals/rules" | "/v1/approvals/events" => {
                assert_scope_required(&callers, &[route.methods], route.pattern).await;
            }
            // One test covers both methods of the route.
            "/v1/approvals/{id}" if route.methods == "GET" => {
                approvals::decisions(&setup, &callers).await
            }
            "/v1/approvals/{id}" => {
                assert_scope_required(&callers, &["POST"], "/v1/approvals/x").await
            }
            "/v1/approvals/rules/{id}" => approvals::standing_rules(&setup, &callers).await,
            "/approve/{token}" => assert_same_for_all(&callers, "/approve/made.up").await,
            "/oauth/login" => assert_same_for_all(&callers, "/oauth/login?state=x").await,
            "/oauth/callback" => {
                assert_same_for_all(&callers, "/oauth/callback?state=x&code=y").await
            }
            "/oauth/client.json" => assert_same_for_all(&callers, route.pattern).await,
            "/mcp/prompt/{domain}/{name}/{major}" => {
                assert_same_for_all(&callers, "/mcp/prompt/a/b/1").await
            }
            "/mcp/schema/{*reference}" => {
                assert_same_for_all(&callers, "/mcp/schema/demo.echo@1/input").await
            }
            "/" => assert_same_for_all(&callers, "/").await,
            "/openapi.json" => assert_same_for_all(&callers, "/openapi.json").await,
            "/healthz" | "/readyz" => assert_same_for_all(&callers, route.pattern).await,
            "/.well-known/oauth-protected-resource" => {
                assert_same_for_all(&callers, route.pattern).await
            }
            "/.well-known/oauth-protected-resource/{*path}" => {
                assert_same_for_all(&callers, "/.well-known/oauth-protected-resource/mcp").await;
            }
            // Totals over all tenants: not visible to tenants.
            "/metrics" => metrics(&setup).await,
            "/dashboard/sign-in/callback" => {
                assert_same_for_all(&callers, "/dashboard/sign-in/callback?state=x&code=y").await;
                pages(&callers, route).await;
            }
            pattern if pattern.starts_with("/dashboard") => pages(&callers, route).await,
            unknown => panic!(
                "the matrix does not know {unknown}: say what a caller gets there with an id of another tenant"
            ),
        }
    }
}

/// Tokens open no page: users sign in with a browser, and until then see only the sign-in page.
async fn pages(callers: &Callers<'_>, route: &Route) {
    let path = route.pattern.replace("{*tool}", "demo.echo").replace(['{', '}'], "");
    let everyone = callers.others.iter().map(|(who, caller)| (*who, caller));
    for (who, caller) in everyone.chain([("she", &callers.ann)]) {
        for method in route.methods.split(", ") {
            let answer = send(caller.request(method.parse().unwrap(), &path)).await;
            let text = answer.body.to_string();
            match (route.needs, method) {
                (Needs::Session, "GET") => {
                    let led_to = answer.headers["location"].to_str().unwrap();
                    assert_eq!(answer.status, 303, "{path} for {who}: {text}");
                    assert!(led_to.starts_with("/dashboard/sign-in"), "{path}: {led_to}");
                }
                (Needs::Session, _) => assert_eq!(answer.status, 401, "{method} {path} for {who}"),
                (_, "POST") => {
                    assert_eq!(answer.status, 403, "{path} for {who}: no page of ours sent it")
                }
                _ => assert!(matches!(answer.status, 200 | 404), "{path} for {who}: {answer:?}"),
            }
            assert!(!text.contains("acme"), "{path}: {text}");
        }
    }
}

/// Sessions and their event streams can be used only by their owner.
async fn sessions(callers: &Callers<'_>) {
    for version in LEGACY {
        let session = callers.ann.session(version).await;
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        for (who, other) in &callers.others {
            let missing = |answer: &Response, asked: &str| {
                assert_eq!(answer.status, 404, "{who}, {version}, {asked}: {answer:?}");
                let text = answer.body.to_string();
                assert!(!text.contains("ann") && !text.contains("acme"), "{text}");
            };
            for message in [&list, &call_message("demo.echo"), &answer] {
                missing(&other.legacy(version, &session, message).await, &message.to_string());
            }
            for (method, event) in
                [(Method::GET, ""), (Method::GET, "0"), (Method::DELETE, ""), (Method::POST, "")]
            {
                let mut request = other
                    .request(method.clone(), "/mcp")
                    .header("accept", "application/json, text/event-stream")
                    .header("mcp-session-id", &session)
                    .header("mcp-protocol-version", version);
                if !event.is_empty() {
                    request = request.header("last-event-id", event);
                }
                missing(&send(request).await, &format!("{method} {event}"));
            }
        }
        let still = callers.ann.legacy(version, &session, &list).await;
        assert!(still.body["result"]["tools"].is_array(), "hers goes on: {still:?}");
        let farewell =
            callers.ann.request(Method::DELETE, "/mcp").header("mcp-session-id", &session);
        assert!(send(farewell).await.status < 300);
        assert_eq!(callers.ann.legacy(version, &session, &list).await.status, 404, "gone is gone");
    }
}

/// Recorded answers are replayed only to their own caller, even for equal idempotency keys.
async fn recorded_answers(callers: &Callers<'_>) {
    let roll = async |caller: &Caller<'_>| {
        let request = caller.request(Method::POST, "/mcp/tool/dice.roll");
        let answer = send(request.header("idempotency-key", "same").json(&json!({}))).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body["data"]["id"].clone()
    };
    let hers = roll(&callers.ann).await;
    assert!(hers.is_string());
    assert_eq!(roll(&callers.ann).await, hers);
    let mut seen = vec![hers];
    for (who, other) in &callers.others {
        let answer = roll(other).await;
        assert!(!seen.contains(&answer), "{who} received the answer of another caller");
        seen.push(answer);
    }
}

/// A run name of one caller is another run for other callers, and a run id is usable only by its owner.
async fn batches(callers: &Callers<'_>) {
    let batch = async |caller: &Caller<'_>, run: &str| {
        let calls = json!({"run_id": run, "calls": [
            {"tool": "demo.echo", "arguments": {"message": "x"}},
            {"tool": "powerstrip:complete_workflow", "arguments": {"summary": "done"}},
        ]});
        let answer = send(caller.request(Method::POST, "/v1/calls").json(&calls)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body["answers"][0].clone()
    };
    assert_eq!(batch(&callers.ann, "same").await["ok"], json!(true));
    assert_eq!(batch(&callers.ann, "same").await["errors"][0]["code"], json!("DENIED"));
    for (who, other) in &callers.others {
        assert_eq!(batch(other, "same").await["ok"], json!(true), "{who} has a run of their own");
    }
    let own = json!({"calls": [{"tool": "demo.echo", "arguments": {"message": "x"}}]});
    let own = send(callers.ann.request(Method::POST, "/v1/calls").json(&own)).await;
    let id = own.body["run_id"].as_str().unwrap();
    for (who, other) in &callers.others {
        let refused = batch(other, id).await;
        assert_eq!(refused["errors"][0]["code"], json!("NOT_FOUND"), "{who}: {refused}");
    }
}

/// Runs are visible and answerable within their tenant, with the right scope.
async fn runs(setup: &Setup, pattern: &str) {
    let caller =
        |org: &str, scope: &str| setup.caller(json!({"org": org, "sub": "ann", "scope": scope}));
    let ann = caller("acme", "tools:read tools:call runs:read");
    // A short timeout: the gateway answers `waiting` after nine tenths of it, which leaves a busy machine the rest.
    let within = |tool: &str, input: Value| {
        let request = ann.request(Method::POST, &format!("/mcp/tool/{tool}")).json(&input);
        let request = request.header("powerstrip-run", pattern);
        send(request.header("powerstrip-timeout-ms", "3000"))
    };
    for message in ["a", "b"] {
        within("demo.echo", json!({"message": message})).await;
    }
    let question = json!({"slot_type": "confirm", "slot_id": "ok", "prompt_key": "Go on?"});
    let asked = within("powerstrip:request_user_input", question).await;
    assert_eq!(asked.body["data"]["status"], json!("waiting"), "{asked:?}");
    let listed = ann.get("/v1/runs?state=waiting").await.body;
    let run = listed["runs"].as_array().unwrap().iter().find(|run| run["name"] == json!(pattern));
    let id = run.unwrap()["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/runs/{id}");

    let outsider = caller("globex", "tools:read tools:call runs:read runs:answer");
    let others = outsider.get("/v1/runs").await.body;
    assert!(others["runs"].is_array() && !others.to_string().contains(&id), "{others}");
    assert_eq!(outsider.get(&path).await.status, 404);
    let unable = caller("acme", "tools:read tools:call");
    assert_eq!(unable.get("/v1/runs").await.status, 403);
    assert_eq!(unable.get(&path).await.status, 403);
    let answer = async |caller: &Caller<'_>| {
        let answers = format!("{path}/answers");
        let request = caller.request(Method::POST, &answers);
        send(request.json(&json!({"slot_id": "ok", "value": true}))).await.status
    };
    assert_eq!(answer(&outsider).await, 404);
    assert_eq!(answer(&ann).await, 403, "reading runs does not allow answering");
    let every = "tools:read tools:call runs:read runs:answer";
    let agent = setup.caller(json!({"org": "acme", "sub": "amy", "agent": "bot", "scope": every}));
    assert_eq!(answer(&agent).await, 403, "agents cannot answer, whatever their scopes");
    let amy = setup.caller(json!({"org": "acme", "sub": "amy", "scope": every}));
    assert_eq!(answer(&amy).await, 200);
    assert_eq!(ann.get(&path).await.body["questions"][0]["answered_by"], json!("amy"));
}

async fn assert_same_for_all(callers: &Callers<'_>, path: &str) {
    // Discovery and envelopes contain the time or a trace id.
    let normalize = |answer: Response| {
        let mut body = answer.body;
        if let Some(body) = body.as_object_mut() {
            body.remove("meta");
            // A second may pass between two answers.
            body.get_mut("health").and_then(|health| health.as_object_mut()?.remove("uptimeSec"));
        }
        (answer.status, body)
    };
    let hers = normalize(callers.ann.get(path).await);
    let text = hers.1.to_string();
    assert!(!text.contains("acme") && !text.contains("\"ann\""), "{path}: {text}");
    // An agent sees its own endpoints.
    let agents_differ = matches!(path, "/mcp/discover" | "/openapi.json");
    for (who, other) in &callers.others[..if agents_differ { 2 } else { 3 }] {
        assert_eq!(normalize(other.get(path).await), hers, "{path} for {who}");
    }
}

/// An agent's endpoint exists for callers that may act as that agent, with no more than their own scopes.
async fn agents(setup: &Setup, callers: &Callers<'_>) {
    let bot = &callers.others[2].1;
    assert_eq!(bot.get("/agents/bot/mcp/discover").await.status, 200);
    assert_eq!(
        bot.get("/agents/researcher/mcp/discover").await.status,
        404,
        "the caller is another agent"
    );
    let session = callers.ann.session(LEGACY[0]).await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let request = callers.ann.request(Method::POST, "/agents/bot/mcp").json(&list);
    let request = request.header("accept", "application/json, text/event-stream");
    let crossed = send(request.header("mcp-session-id", &session)).await;
    assert_eq!(crossed.status, 404, "a session of another door: {crossed:?}");
    let reader = setup.caller(json!({"org": "acme", "sub": "ann", "scope": "tools:read"}));
    let call = reader.request(Method::POST, "/agents/bot/mcp/tool/demo.echo");
    let refused = send(call.json(&json!({"message": "x"}))).await;
    assert_eq!(refused.status, 403, "who may only look may not call: {refused:?}");
}

const FILE_SCOPES: &str = "files:read files:write";

/// Files belong to their tenant: no route shows them to another one.
async fn files(setup: &Setup, callers: &Callers<'_>) {
    let ann = setup.caller(json!({"org": "acme", "sub": "ann", "scope": FILE_SCOPES}));
    let eve = setup.caller(json!({"org": "globex", "sub": "ann", "scope": FILE_SCOPES}));
    let kept = send(ann.request(Method::POST, "/v1/files?name=a.txt").body("hers")).await;
    assert_eq!(kept.status, 201, "{kept:?}");
    let place = format!("/v1/files/{}", kept.body["data"]["file_id"].as_str().unwrap());
    for below in ["", "/content", "/text", "/link"] {
        let path = format!("{place}{below}");
        assert_eq!(ann.get(&path).await.status, 200, "{path}");
        let refused = eve.get(&path).await;
        assert_eq!(refused.status, 404, "{path}: {refused:?}");
        assert!(!refused.body.to_string().contains("acme"), "{refused:?}");
        // Scopes for tools do not cover files.
        assert_eq!(callers.ann.get(&path).await.status, 403, "{path}");
    }
    assert_eq!(eve.get("/v1/files").await.body["data"]["files"], json!([]));
    assert_eq!(send(eve.request(Method::DELETE, &place)).await.status, 404);
    assert_eq!(send(ann.request(Method::DELETE, &place)).await.status, 200);
}

/// An upload belongs to its owner, also within one tenant.
async fn uploads(setup: &Setup) {
    let ann = setup.caller(json!({"org": "acme", "sub": "ann", "scope": FILE_SCOPES}));
    let begun = ann.request(Method::POST, "/v1/files/uploads").json(&json!({"size": 4}));
    let begun = send(begun).await;
    let path = format!("/v1/files/uploads/{}", begun.body["data"]["upload_id"].as_str().unwrap());
    for other in [json!({"org": "globex", "sub": "ann"}), json!({"org": "acme", "sub": "amy"})] {
        let mut claims = other.clone();
        claims["scope"] = json!(FILE_SCOPES);
        let caller = setup.caller(claims);
        for method in [Method::GET, Method::PATCH, Method::DELETE] {
            let request = caller.request(method.clone(), &path).header("upload-offset", "0");
            let refused = send(request.body("evil")).await;
            assert_eq!(refused.status, 404, "{method} by {other}: {refused:?}");
        }
    }
    assert_eq!(ann.get(&path).await.body["data"]["offset"], 0, "no foreign bytes were stored");
}

/// Calls, their messages and their statistics are visible within their tenant, with the right scope, and never to agents.
async fn recorded_calls(setup: &Setup, callers: &Callers<'_>) {
    let refused = callers.ann.call("demo.echo", &json!({"message": 7})).await;
    let trace = refused.body["meta"]["traceId"].as_str().unwrap().to_owned();
    let reads = |org: &str, more: Value| {
        let mut claims = json!({"org": org, "sub": "ann", "scope": "audit:read"});
        claims.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        setup.caller(claims)
    };
    let (ann, outsider) = (reads("acme", json!({})), reads("globex", json!({})));
    let path = format!("/v1/calls/{trace}");
    let shown = testkit::eventually("the call is recorded", || async {
        Some(ann.get(&path).await).filter(|answer| answer.status == 200)
    })
    .await;
    let call = &shown.body["calls"][0];
    assert_eq!((&call["code"], &call["tenant"]), (&json!("INVALID_INPUT"), &json!("acme")));
    assert!(call["message"].is_string() && call["arguments"].is_null(), "{call}");
    assert_eq!(outsider.get(&path).await.status, 404, "calls of another tenant do not exist");
    for query in ["", "?limit=500", "?order=recorded", "?text=echo", "?code=failed"] {
        let listed = outsider.get(&format!("/v1/calls{query}")).await;
        let text = listed.body.to_string();
        assert!(!text.contains(&trace) && !text.contains("acme"), "{query}: {text}");
    }
    let idle = reads("initech", json!({}));
    assert_eq!(idle.get("/v1/overview").await.body["calls"], json!(0), "it has made no calls");
    assert!(ann.get("/v1/overview").await.body["errors"].as_u64().unwrap() > 0);
    let agent = reads("acme", json!({"agent": "bot"}));
    for path in ["/v1/calls", "/v1/overview", &path] {
        assert_eq!(callers.ann.get(path).await.status, 403, "{path} without the scope");
        assert_eq!(agent.get(path).await.status, 403, "{path} as an agent");
    }
}

/// Only the admin token switches servers: no scope of a caller's token does.
async fn switches(setup: &Setup, callers: &Callers<'_>, pattern: &str) {
    registration(callers, "POST", pattern).await;
    let path = pattern.replace("{name}", "no-such-server");
    let claims =
        json!({"org": "acme", "sub": "ann", "scope": "admin metrics:read servers:register"});
    let refused = send(setup.caller(claims).request(Method::POST, &path).json(&json!({}))).await;
    assert_eq!(refused.status, 403, "{path}: {refused:?}");
    let admin = Caller::new(&setup.gateway, Some(setup.gateway.admin_token()));
    let missing = send(admin.request(Method::POST, &path).json(&json!({}))).await;
    assert_eq!(missing.status, 404, "{path}: {missing:?}");
}

/// Callers' tokens cannot register, renew or end a server.
async fn registration(callers: &Callers<'_>, methods: &str, pattern: &str) {
    let path = pattern.replace("{name}", "crm");
    for method in methods.split(", ") {
        for (who, caller) in
            callers.others.iter().map(|(who, caller)| (*who, caller)).chain([("she", &callers.ann)])
        {
            let request = caller.request(method.parse().unwrap(), &path).json(&json!({}));
            let refused = send(request).await;
            assert!(matches!(refused.status, 401 | 403), "{method} {path} by {who}: {refused:?}");
        }
    }
}

async fn metrics(setup: &Setup) {
    let refused = setup.caller(json!({})).get("/metrics").await;
    assert_eq!(refused.status, 403);
    let scraper = setup.caller(json!({"scope": "metrics:read", "org": "ops"}));
    let metrics = scraper.get("/metrics").await;
    let Value::String(text) = metrics.body else { panic!("metrics are text: {metrics:?}") };
    for name in ["acme", "globex", "ann", "amy"] {
        assert!(!text.contains(&format!("\"{name}\"")), "{name} is in the metrics");
    }
}

/// Without the scope, callers neither see pending approvals nor decide.
async fn assert_scope_required(callers: &Callers<'_>, methods: &[&str], path: &str) {
    for method in methods {
        let all = callers.others.iter().map(|(_, other)| other).chain([&callers.ann]);
        for caller in all {
            let request = caller.request(method.parse().unwrap(), path);
            let refused = send(request.json(&json!({"decision": "approve"}))).await;
            assert_eq!(refused.status, 403, "{method} {path}: {refused:?}");
        }
    }
}
