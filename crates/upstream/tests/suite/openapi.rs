//! A service that an OpenAPI document describes, called as tools.

use std::path::{Path, PathBuf};

use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use operations::servers::ServerState;
use proto::Code;
use serde_json::{Value, json};
use server_entry::{Kind, Pin, ServerConfig};
use upstream::Timing;

use crate::support::{MANY, Setup, eventually, owned, quick};

/// Answers with the request that it received, or with the status that the path names.
async fn echo(request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body: Bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let header = |name: &str| parts.headers.get(name).map(|v| v.to_str().unwrap().to_owned());
    let path = parts.uri.path();
    if let Some(status) = path.strip_prefix("/v1/status/") {
        let status = StatusCode::from_u16(status.parse().unwrap()).unwrap();
        return (status, "the reason").into_response();
    }
    match path {
        "/v1/text" => return "plain words".into_response(),
        "/v1/nothing" => return StatusCode::NO_CONTENT.into_response(),
        "/v1/picture" => return ([("content-type", "image/png")], vec![0u8, 255]).into_response(),
        "/v1/lie" => return ([("content-type", "application/json")], "{oops").into_response(),
        "/v1/wrong" => return axum::Json(json!({"id": "seven"})).into_response(),
        "/v1/huge" => return "x".repeat(9 << 20).into_response(),
        _ => {}
    }
    axum::Json(json!({
        "method": parts.method.as_str(), "path": path, "query": parts.uri.query(),
        "key": header("x-api-key"), "trace": header("x-trace"), "cookie": header("cookie"),
        "type": header("content-type"), "body": String::from_utf8_lossy(&body),
    }))
    .into_response()
}

async fn service() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(echo)).await.unwrap() });
    url
}

fn get(path: &str) -> (String, Value) {
    (path.to_owned(), json!({"get": {"responses": {}}}))
}

/// A pet shop that uses the rare features of OpenAPI.
fn petstore(base: &str) -> Value {
    let mut paths = json!({
        "/pets/{id}": {
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "get": {
                "operationId": "getPet", "summary": "Get a pet", "description": "Finds one pet.",
                "parameters": [
                    {"name": "id", "in": "query", "schema": {"type": "string"}},
                    {"name": "tags", "in": "query", "explode": false,
                     "schema": {"type": "array", "items": {"type": "string"}}},
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                    {"name": "X-Api-Key", "in": "header", "required": true, "schema": {"type": "string"}},
                    {"name": "session", "in": "cookie", "schema": {"type": "string"}}],
                "responses": {}},
            "delete": {"operationId": "delete pet!", "responses": {"204": {"description": "Gone."}}}},
        "/pets": {
            "post": {"operationId": "addPet", "requestBody": {"required": true, "content": {
                "multipart/form-data": {"schema": {}},
                "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}},
                "responses": {}},
            "put": {"operationId": "form", "requestBody": {"content": {
                "application/x-www-form-urlencoded": {"schema": {"type": "object"}}}}, "responses": {}}},
        "/wrong": {"get": {"operationId": "wrong", "responses": {"200": {"content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}}}},
        "/status/{code}": {"get": {"operationId": "status", "responses": {},
            "parameters": [{"name": "code", "in": "path", "required": true, "schema": {"type": "integer"}}]}},
    });
    for path in ["/text", "/nothing", "/picture", "/lie", "/huge"] {
        let (path, item) = get(path);
        paths[path] = item;
    }
    json!({
        "openapi": "3.0.3", "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": "http://{host}", "variables": {"host": {"default": base.trim_start_matches("http://")}}}],
        "paths": paths,
        "components": {
            "parameters": {"Id": {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}},
            "schemas": {"Pet": {"type": "object", "required": ["id", "name"], "properties": {
                "id": {"type": "integer", "readOnly": true},
                "name": {"type": "string", "nullable": true},
                "age": {"type": "number", "minimum": 0, "exclusiveMinimum": true},
                "parent": {"$ref": "#/components/schemas/Pet"}}}},
        },
    })
}

fn described(document: &Path) -> ServerConfig {
    ServerConfig {
        kind: Kind::Openapi,
        document: Some(document.to_str().unwrap().to_owned()),
        headers: [("X-Api-Key".to_owned(), "s3cret".to_owned())].into(),
        ..ServerConfig::default()
    }
}

fn written(document: &Value) -> (PathBuf, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("petstore.json");
    std::fs::write(&file, document.to_string()).unwrap();
    (file, folder)
}

async fn shop(document: &Value) -> (Setup, tempfile::TempDir) {
    let (file, folder) = written(document);
    (Setup::with(vec![("pets", described(&file))]).await, folder)
}

async fn data_of(setup: &Setup, tool: &str, input: Value) -> Value {
    (*setup.call(tool, input).await.unwrap().data).clone()
}

#[tokio::test]
async fn operations_are_tools_and_inputs_go_where_the_document_says() {
    let (setup, _folder) = shop(&petstore(&service().await)).await;
    setup.wait_for_tool("pets:getPet").await;
    let snapshot = setup.catalog.snapshot();
    let entry = snapshot.resolve("pets:getPet").unwrap();
    let descriptor = &entry.descriptor;
    assert_eq!(descriptor.description, "Finds one pet.\n\nGET /pets/{id}");
    assert_eq!(descriptor.annotations.read_only_hint, Some(true));
    let properties = descriptor.input_schema["properties"].as_object().unwrap();
    let names: Vec<_> = properties.keys().map(String::as_str).collect();
    assert_eq!(names.len(), 5, "the operator's key is not a caller's to give: {names:?}");
    let delete = snapshot.resolve("pets:delete_pet").unwrap();
    assert_eq!(delete.descriptor.annotations.destructive_hint, Some(true));
    let put = snapshot.resolve("pets:form").unwrap();
    assert_eq!(put.descriptor.annotations.idempotent_hint, Some(true));

    let input = json!({"id": "by query", "id_path": "7/8?", "tags": ["a", "b,c"],
        "X-Trace": "t", "session": "x y"});
    let echoed = data_of(&setup, "pets:getPet", input).await;
    assert_eq!(echoed["path"], json!("/v1/pets/7%2F8%3F"));
    assert_eq!(echoed["query"], json!("id=by%20query&tags=a,b%2Cc"));
    // The key arrives, and is removed from the answer.
    assert_eq!((&echoed["key"], &echoed["trace"]), (&json!("****"), &json!("t")));
    assert_eq!(echoed["cookie"], json!("session=x%20y"));
    for value in ["..", "7/../8"] {
        let refused = setup.call("pets:getPet", json!({"id_path": value})).await.unwrap_err();
        assert_eq!(refused.code, Code::InvalidInput, "{value}");
    }

    let echoed = data_of(&setup, "pets:addPet", json!({"body": {"name": null}})).await;
    assert_eq!(
        (&echoed["type"], &echoed["body"]),
        (&json!("application/json"), &json!("{\"name\":null}"))
    );
    let echoed = data_of(&setup, "pets:form", json!({"body": {"a": "1 &2", "b": [1, 2]}})).await;
    assert_eq!(echoed["body"], json!("a=1%20%262&b=1&b=2"));
}

#[tokio::test]
async fn schemas_keep_their_meaning_even_where_they_contain_themselves() {
    let (setup, _folder) = shop(&petstore(&service().await)).await;
    setup.wait_for_tool("pets:addPet").await;
    let snapshot = setup.catalog.snapshot();
    let add = snapshot.resolve("pets:addPet").unwrap();
    let body = |pet: Value| add.input.violations(&json!({"body": pet})).is_empty();
    assert!(body(
        json!({"name": null, "age": 0.5, "parent": {"name": "p", "parent": {"name": "g"}}})
    ));
    assert!(!body(json!({"age": 1})), "a name is required; the id, which only comes back, is not");
    assert!(!body(json!({"name": "n", "age": 0})), "more than zero");
    assert!(!body(json!({"name": "n", "parent": {"name": 5}})), "a parent is a pet");
    let wrong = snapshot.resolve("pets:wrong").unwrap();
    let output = wrong.output.as_ref().unwrap();
    assert!(!output.violations(&json!({"id": "seven", "name": "n"})).is_empty());
    assert!(output.violations(&json!({"id": 7, "name": "n"})).is_empty());
}

#[tokio::test]
async fn answers_of_every_kind_are_distinguished() {
    let (setup, _folder) = shop(&petstore(&service().await)).await;
    setup.wait_for_tool("pets:get_text").await;
    assert_eq!(data_of(&setup, "pets:get_text", json!({})).await, json!("plain words"));
    assert_eq!(data_of(&setup, "pets:get_nothing", json!({})).await, Value::Null);
    for (tool, code) in [
        ("pets:get_picture", Code::Unsupported),
        ("pets:get_lie", Code::Internal),
        ("pets:get_huge", Code::Internal),
    ] {
        assert_eq!(setup.call(tool, json!({})).await.unwrap_err().code, code, "{tool}");
    }
    for (status, code) in [
        (404, Code::NotFound),
        (408, Code::Timeout),
        (429, Code::RateLimit),
        (401, Code::Unavailable),
        (400, Code::InvalidInput),
        (503, Code::Unavailable),
    ] {
        let failure = setup.call("pets:status", json!({"code": status})).await.unwrap_err();
        assert_eq!(failure.code, code, "{status}");
        assert!(failure.message.contains("the reason"), "{}", failure.message);
        assert!(!failure.message.contains("127.0.0.1"), "{}", failure.message);
    }
}

#[tokio::test]
async fn a_changed_document_is_read_again_and_a_broken_one_changes_nothing() {
    let (setup, folder) = shop(&petstore(&service().await)).await;
    setup.wait_for_tool("pets:getPet").await;
    let file = folder.path().join("petstore.json");
    std::fs::write(&file, "{ this is not JSON").unwrap();
    // A read during the write finds an empty file, which is reported first.
    eventually("the fault is reported", || {
        let echoed = setup.status("pets").last_error;
        echoed.is_some_and(|echoed| echoed.contains("petstore.json") && echoed.contains("not JSON"))
    })
    .await;
    assert!(setup.call("pets:get_text", json!({})).await.is_ok());

    let mut other = petstore(&service().await);
    let found = other["paths"]["/text"].take();
    other["paths"].as_object_mut().unwrap().remove("/text");
    other["paths"]["/nothing/more"] = found;
    std::fs::write(&file, other.to_string()).unwrap();
    setup.wait_for_tool("pets:get_nothing_more").await;
    assert!(setup.catalog.snapshot().resolve("pets:get_text").is_err());
    assert!(setup.catalog.snapshot().quarantined().is_empty(), "the file is the operator's own");
}

#[tokio::test]
async fn yaml_and_a_document_on_the_network_work_alike() {
    let base = service().await;
    let yaml = format!(
        "openapi: 3.1.0\ninfo: {{title: Pets}}\nservers:\n  - url: {base}\npaths:\n  /pets:\n    get:\n      operationId: list\n      responses:\n        200:\n          content:\n            application/json:\n              schema: {{type: [object, 'null']}}\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pets.yaml");
    std::fs::write(&file, &yaml).unwrap();
    let host = async |document: String| {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/openapi", listener.local_addr().unwrap());
        let router = Router::new().fallback(async move || document);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        url
    };
    let far = host(yaml).await;
    let at = |document: &str, base: Option<&str>| ServerConfig {
        document: Some(document.to_owned()),
        base_url: base.map(str::to_owned),
        pin: Pin::Strict,
        ..described(Path::new("x"))
    };
    let setup = Setup::with(vec![
        ("near", described(&file)),
        ("far", at(&far, Some(&base))),
        ("evil", at(&far, None)),
    ])
    .await;
    setup.wait_for_tool("near:list").await;
    assert_eq!(data_of(&setup, "near:list", json!({})).await["path"], json!("/v1/pets"));
    // A document from the network is pinned, and this one was not approved.
    eventually("it waits", || setup.catalog.snapshot().waiting("far:list").is_some()).await;
    // A document must not choose the host that receives the operator's credentials.
    setup.wait_for_state("evil", ServerState::Down).await;
    let why = setup.status("evil").last_error.unwrap();
    assert!(why.contains("another host"), "{why}");
}

#[tokio::test]
async fn hostile_documents_are_refused_with_the_position() {
    let base = service().await;
    let folder = tempfile::tempdir().unwrap();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut document = petstore(&base);
        change(&mut document);
        document.to_string()
    };
    let bomb: String = std::iter::once("a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned())
        .chain((1..12).map(|n| {
            let before = format!("*a{},", n - 1).repeat(9);
            format!("a{n}: &a{n} [{before}]\n")
        }))
        .collect();
    let unusable = [
        ("swagger", json!({"swagger": "2.0"}).to_string(), "Swagger 2"),
        ("future", with(&|d| d["openapi"] = json!("4.0.0")), "#/openapi"),
        ("none", "{}".to_owned(), "#/openapi"),
        ("bytes", "\u{feff}- a\n- b\n".to_owned(), "#/openapi"),
        ("bomb", bomb, "YAML"),
        ("deep", "[".repeat(100_000), "YAML"),
        ("paths", with(&|d| d["paths"] = json!([])), "#/paths"),
        ("host", with(&|d| d["servers"] = json!([{"url": "/v1"}])), "base_url"),
        ("variable", with(&|d| d["servers"] = json!([{"url": "http://{x}/"}])), "variable"),
    ];
    let mut servers = Vec::new();
    for (name, text, _) in &unusable {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        servers.push((*name, described(&file)));
    }
    let setup = Setup::with(servers).await;
    for (name, _, expected) in &unusable {
        setup.wait_for_state(name, ServerState::Down).await;
        let why = setup.status(name).last_error.unwrap();
        assert!(why.contains(expected) && why.len() < 2_000, "{name}: {why}");
    }
}

#[tokio::test]
async fn a_bad_operation_is_left_out_and_the_rest_stays() {
    let mut document = petstore(&service().await);
    let bad = json!({
        "/remote": {"get": {"requestBody": {"$ref": "http://127.0.0.1:1/x.json#/a"}}},
        "/file": {"get": {"requestBody": {"content": {"application/json":
            {"schema": {"$ref": "file:///etc/passwd"}}}}}},
        "/circle": {"get": {"parameters": [{"$ref": "#/components/parameters/Round"}]}},
        "/nowhere": {"get": {"parameters": [{"$ref": "#/components/parameters/No"}]}},
        "/with space": {"get": {}},
        "/q?x=1": {"get": {}},
        "/open/{x}": {"get": {}},
        "/host": {"get": {"parameters": [{"name": "Host", "in": "header"}]}},
        "/crlf": {"get": {"parameters": [{"name": "A\r\nB", "in": "header"}]}},
        "/upload": {"post": {"requestBody": {"required": true, "content": {"multipart/form-data": {}}}}},
        "/elsewhere": {"get": {"servers": [{"url": "http://169.254.169.254"}]}},
    });
    let count = bad.as_object().unwrap().len();
    for (path, item) in bad.as_object().unwrap() {
        document["paths"][path] = item.clone();
    }
    document["components"]["parameters"]["Round"] =
        json!({"$ref": "#/components/parameters/Round"});
    let mut wide = json!({"type": "object", "properties": {}});
    for n in 0..30_000 {
        wide["properties"][format!("p{n}")] = json!({"type": "string"});
    }
    document["components"]["schemas"]["Wide"] = wide;
    document["paths"]["/wide"] = json!({"post": {"requestBody": {"content": {"application/json":
        {"schema": {"$ref": "#/components/schemas/Wide"}}}}}});
    let (setup, _folder) = shop(&document).await;
    setup.wait_for_tool("pets:getPet").await;
    eventually("the faults are reported", || setup.status("pets").faults.len() == count + 1).await;
    let faults = setup.status("pets").faults;
    let why = |tool: &str| &faults.iter().find(|fault| fault.tool == tool).unwrap().reason;
    assert!(
        why("get_remote").contains("#/paths/~1remote/get")
            && why("get_remote").contains("leads out")
    );
    assert!(why("get_circle").contains("form a circle"), "{}", why("get_circle"));
    assert!(why("post_wide").contains("too large"), "{}", why("post_wide"));
    assert!(setup.call("pets:get_text", json!({})).await.is_ok());
}

#[tokio::test]
async fn ten_thousand_operations_are_offered() {
    let mut document = petstore(&service().await);
    for n in 0..10_000 {
        document["paths"][format!("/many/{n}")] = json!({"post": {"requestBody": {"content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}}});
    }
    let (file, _folder) = written(&document);
    let timing = Timing { list: MANY, ..quick() };
    let setup = Setup::timed(vec![("pets", described(&file))], timing, Default::default()).await;
    setup.wait_for_tool_within("pets:post_many_42", MANY).await;
    assert_eq!(setup.tools().len(), 10_000);
}

#[test]
fn a_config_that_makes_no_sense_names_its_key() {
    let openapi = || described(Path::new("x.json"));
    for (key, config) in [
        ("document", ServerConfig { document: None, ..openapi() }),
        ("document", ServerConfig { kind: Kind::Mcp, ..openapi() }),
        ("command", ServerConfig { command: Some("x".into()), ..openapi() }),
        ("url", ServerConfig { url: Some("http://x".into()), ..openapi() }),
        ("base_url", ServerConfig { base_url: Some("ftp://x".into()), ..openapi() }),
        ("document", ServerConfig { document: Some("http://".into()), ..openapi() }),
    ] {
        assert_eq!(config.check("pets").unwrap_err().key, key);
    }
    assert!(owned(vec![("pets", openapi())])[0].1.check("pets").is_ok());
}
