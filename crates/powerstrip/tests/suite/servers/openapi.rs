//! A service with an OpenAPI document, called through every door.

use axum::Router;
use axum::response::Redirect;
use serde_json::json;
use testkit::{Door, Gateway, Service, eventually};
use tokio::net::TcpListener;

use crate::servers::support::{command, wait_until_listed};

fn document(base: &str) -> String {
    format!(
        "openapi: 3.1.0\ninfo: {{ title: Echo, version: '1' }}\nservers: [{{ url: '{base}' }}]\npaths:\n  \
         /echo:\n    post:\n      operationId: echo\n      description: Returns its input.\n      \
         requestBody:\n        required: true\n        content:\n          application/json:\n            \
         schema: {{ type: object, required: [message], properties: {{ message: {{ type: string }} }} }}\n      \
         responses: {{ 200: {{ description: It. }} }}\n"
    )
}

/// The services of others do not always do what their documents say.
#[tokio::test]
async fn a_write_with_another_answer_than_described_is_no_failure() {
    let service = Service::start().await;
    let content = "content: { application/json: { schema: { type: object, required: [id] } } }";
    let strict = document(&service.url("")).replace("It.", &format!("It., {content}"));
    let read = format!(
        "{strict}  /read:\n    get:\n      operationId: read\n      \
         responses: {{ 200: {{ description: It., {content} }} }}\n"
    );
    let gateway = Gateway::with()
        .config("servers:\n  svc: { kind: openapi, document: ./echo.yaml }")
        .file("echo.yaml", &read)
        .start()
        .await;
    wait_until_listed(&gateway, "svc__echo").await;
    let written = gateway.call("svc:echo", &json!({"body": {"message": "hi"}})).await.body;
    assert_eq!((&written["ok"], &written["data"]["echo"]), (&json!(true), &json!("hi")));
    let warning = written["meta"]["warnings"][0].as_str().unwrap_or_default();
    assert!(warning.contains("carried out") && warning.contains("output schema"), "{written}");
    let read = gateway.call("svc:read", &json!({})).await.body;
    assert_eq!(read["errors"][0]["code"], json!("INTERNAL"), "a read has no effect: {read}");
}

#[tokio::test]
async fn every_door_reaches_an_openapi_service() {
    let service = Service::start().await;
    let config = "servers:\n  svc: { kind: openapi, document: ./echo.yaml, headers: { Authorization: { file: ./token } } }";
    let gateway = Gateway::with()
        .config(config)
        .file("echo.yaml", &document(&service.url("")))
        .file("token", "Bearer s3cret\n")
        .start()
        .await;
    wait_until_listed(&gateway, "svc__echo").await;
    for door in Door::ALL {
        let mcp = matches!(door, Door::McpHttp | Door::McpStdio);
        let tool = if mcp { "svc__echo" } else { "svc:echo" };
        let answer = door.call(&gateway, tool, &json!({"body": {"message": "hi"}})).await;
        assert_eq!(answer["data"]["echo"], json!("hi"), "{door:?}: {answer}");
        assert_eq!(
            answer["data"]["authorization"],
            json!("****"),
            "the secret reaches the service and is not returned"
        );
    }
    let wrong = gateway.call("svc:echo", &json!({"body": {}})).await.body;
    assert_eq!(wrong["errors"][0]["code"], json!("INVALID_INPUT"), "{wrong}");
    let servers = command(&gateway, &["servers"]).await;
    assert_eq!(
        (&servers[0]["transport"], &servers[0]["state"]),
        (&json!("openapi"), &json!("ready"))
    );

    gateway.write("echo.yaml", &document(&service.url("")).replace("Returns", "Repeats"));
    eventually("the change is served: the file is the operator's own", || async {
        let discovery = gateway.get("/mcp/discover").await.body.to_string();
        discovery.contains("Repeats its").then_some(())
    })
    .await;
}

/// The service itself is named by its document; only `egress.allow` opens what it redirects to.
#[tokio::test]
async fn a_reload_changes_what_redirects_may_reach() {
    let target = Service::start().await;
    let redirect = Redirect::temporary(&target.url("/echo"));
    let router = Router::new().fallback(async move || redirect);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let config = |allow: &str| {
        format!(
            "egress: {{ allow: [{allow}] }}\nservers:\n  svc: {{ kind: openapi, document: ./echo.yaml }}\n"
        )
    };
    let gateway = Gateway::with()
        .config(&config("127.0.0.1"))
        .file("echo.yaml", &document(&base))
        .start()
        .await;
    wait_until_listed(&gateway, "svc__echo").await;
    let call = async || gateway.call("svc:echo", &json!({"body": {"message": "hi"}})).await.body;
    let reached = call().await;
    assert_eq!(reached["data"]["echo"], json!("hi"), "{reached}");
    for (allow, message) in [("", "must not reach"), ("127.0.0.1", "")] {
        gateway.write("powerstrip.yaml", &format!("listen: 127.0.0.1:0\n{}", config(allow)));
        eventually("the new rules hold", || async {
            let answer = call().await;
            let said = answer["errors"][0]["message"].as_str().unwrap_or_default();
            (answer["ok"] == json!(message.is_empty()) && said.contains(message)).then_some(())
        })
        .await;
    }
}
