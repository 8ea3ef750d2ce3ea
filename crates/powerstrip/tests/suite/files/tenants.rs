use serde_json::{Value, json};
use testkit::{Gateway, GuardedGateway, Response, mcp_request, send};

async fn setup() -> GuardedGateway {
    GuardedGateway::start(Gateway::with(), "").await
}

async fn ask(
    setup: &GuardedGateway,
    claims: &Value,
    method: &str,
    path: &str,
    body: &'static str,
) -> Response {
    let client = reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap();
    let request = client.request(method.parse().unwrap(), setup.gateway.url(path));
    let request = request.bearer_auth(setup.token(claims.clone()));
    send(request.header("upload-offset", "0").body(body)).await
}

#[tokio::test]
async fn files_of_one_tenant_are_invisible_to_another() {
    let setup = setup().await;
    let both = "files:read files:write";
    let ann = json!({"org": "acme", "sub": "ann", "scope": both});
    let eve = json!({"org": "evil", "sub": "ann", "scope": both});
    let kept = ask(&setup, &ann, "POST", "/v1/files?name=a.txt", "secret").await;
    assert_eq!(kept.status, 201, "{kept:?}");
    let id = kept.body["data"]["file_id"].as_str().unwrap().to_owned();
    let begun = ask(&setup, &ann, "POST", "/v1/files/uploads", "{\"size\": 5}").await;
    let upload = begun.body["data"]["upload_id"].as_str().unwrap().to_owned();
    for (method, path) in [
        ("GET", format!("/v1/files/{id}")),
        ("GET", format!("/v1/files/{id}/content")),
        ("GET", format!("/v1/files/{id}/text")),
        ("GET", format!("/v1/files/{id}/link")),
        ("DELETE", format!("/v1/files/{id}")),
        ("GET", format!("/v1/files/uploads/{upload}")),
        ("PATCH", format!("/v1/files/uploads/{upload}")),
        ("DELETE", format!("/v1/files/uploads/{upload}")),
    ] {
        let refused = ask(&setup, &eve, method, &path, "x").await;
        assert_eq!(refused.status, 404, "{method} {path}: {refused:?}");
        assert!(!refused.body.to_string().contains("acme"), "{refused:?}");
    }
    let others = ask(&setup, &eve, "GET", "/v1/files", "").await;
    assert_eq!(others.body["data"]["files"], json!([]));
    let hers = ask(&setup, &ann, "GET", &format!("/v1/files/{id}/content"), "").await;
    assert_eq!(hers.body, json!("secret"));

    // A link works without a token.
    let link = ask(&setup, &ann, "GET", &format!("/v1/files/{id}/link"), "").await;
    let link = link.body["data"]["url"].as_str().unwrap().to_owned();
    assert_eq!(reqwest::get(&link).await.unwrap().text().await.unwrap(), "secret");
    let bare = link.split('?').next().unwrap();
    assert_eq!(reqwest::get(bare).await.unwrap().status(), 401);
    assert_eq!(
        reqwest::get(link.replace("tenant=acme", "tenant=evil")).await.unwrap().status(),
        403
    );
}

#[tokio::test]
async fn a_read_scope_does_not_allow_writing() {
    let setup = setup().await;
    let reader = json!({"org": "acme", "sub": "ann", "scope": "files:read"});
    let caller = json!({"org": "acme", "sub": "ann", "scope": "tools:read tools:call"});
    assert_eq!(ask(&setup, &reader, "GET", "/v1/files", "").await.status, 200);
    for (who, method, path) in [
        (&reader, "POST", "/v1/files"),
        (&reader, "POST", "/v1/files/uploads"),
        (&reader, "DELETE", "/v1/files/x"),
        (&caller, "GET", "/v1/files"),
        (&caller, "GET", "/v1/files/x/content"),
        (&caller, "POST", "/v1/files"),
    ] {
        let refused = ask(&setup, who, method, path, "x").await;
        assert_eq!(refused.status, 403, "{method} {path}: {refused:?}");
    }
}

#[tokio::test]
async fn calling_tools_alone_opens_no_files_of_others() {
    let pack = "id: take.text\nversion: 1.0.0\ndescription: Returns the text of a file.\n\
        inputSchema: { type: object, required: [text], properties: { text: { type: string } } }\n\
        outputSchema: { type: object }\nfile_strategy: plain_text_text\n\
        execution: { kind: cli, cmd: [printf, '{\"got\": \"%s\"}', '{{ input.text }}'] }\n";
    let gateway = Gateway::with().file("tools/take.tool.yaml", pack);
    let setup = GuardedGateway::start(gateway, "").await;
    let calls = "tools:read tools:call";
    let who = |subject: &str, more: &str| json!({"org": "acme", "sub": subject, "scope": format!("{calls} {more}")});
    let file = async |subject: &str| {
        let owner = who(subject, "files:write");
        let kept = ask(&setup, &owner, "POST", "/v1/files?name=a.txt", "hello").await;
        kept.body["data"]["file_id"].as_str().unwrap().to_owned()
    };
    let (anns, eves) = (file("ann").await, file("eve").await);
    let call = async |claims: &Value, tool: &str, input: Value| {
        let client = reqwest::Client::new().post(setup.gateway.url(&format!("/mcp/tool/{tool}")));
        let token = setup.token(claims.clone());
        send(client.bearer_auth(token).header("powerstrip-run", "r").json(&input)).await
    };
    let denied = |answer: &Response, scope: &str| {
        assert_eq!(answer.status, 403, "{answer:?}");
        let error = &answer.body["errors"][0];
        let expected = (json!("DENIED"), json!(scope));
        assert_eq!((error["code"].clone(), error["details"]["scope"].clone()), expected, "{error}");
    };
    let eve = who("eve", "");
    denied(&call(&eve, "take.text", json!({"file_id": anns})).await, "files:read");
    let own = call(&eve, "take.text", json!({"file_id": eves})).await;
    assert_eq!(own.body["data"]["got"], json!("hello"), "{own:?}");
    let reader = call(&who("eve", "files:read"), "take.text", json!({"file_id": anns})).await;
    assert_eq!(reader.status, 200, "{reader:?}");

    let store = "powerstrip:store_artifact";
    let copy = |id: &str| json!({"file_name": "b.txt", "content_ref_id": id});
    denied(&call(&eve, store, json!({"file_name": "b.txt", "content": "x"})).await, "files:write");
    denied(&call(&eve, store, copy(&eves)).await, "files:write");
    let writer = who("eve", "files:write");
    denied(&call(&writer, store, copy(&anns)).await, "files:read");
    assert_eq!(call(&writer, store, copy(&eves)).await.status, 200);
    let ended = json!({"summary": "done", "artifacts": [anns]});
    denied(&call(&writer, "powerstrip:complete_workflow", ended).await, "files:read");
}

#[tokio::test]
async fn over_mcp_files_of_one_tenant_are_invisible_to_another() {
    let setup = setup().await;
    let scope = "tools:read files:read files:write";
    let ann = json!({"org": "acme", "sub": "ann", "scope": scope});
    let eve = json!({"org": "evil", "sub": "ann", "scope": scope});
    let kept = ask(&setup, &ann, "POST", "/v1/files?name=a.txt", "secret").await;
    let id = kept.body["data"]["file_id"].as_str().unwrap().to_owned();
    let uri = format!("powerstrip://files/{id}");
    let mcp = async |who: &Value, method: &str, params: Value| {
        let post = reqwest::Client::new().post(setup.gateway.url("/mcp"));
        let post = post.bearer_auth(setup.token(who.clone()));
        mcp_request(post, method, params).send().await.unwrap().text().await.unwrap()
    };
    for (who, visible) in [(&ann, true), (&eve, false)] {
        let listed = mcp(who, "resources/list", json!({})).await;
        assert_eq!(listed.contains(&uri), visible, "{listed}");
        let read = mcp(who, "resources/read", json!({"uri": uri})).await;
        assert_eq!(read.contains("secret"), visible, "{read}");
        assert_eq!(read.contains("\"error\""), !visible, "{read}");
    }
}

#[tokio::test]
async fn read_result_reads_what_the_caller_may_read() {
    let setup = setup().await;
    let person = |org: &str, sub: &str, scope: &str| json!({"org": org, "sub": sub, "scope": format!("tools:read tools:call {scope}")});
    let ann = person("acme", "ann", "files:write");
    let kept = ask(&setup, &ann, "POST", "/v1/files?name=a.txt", "secret").await;
    let id = kept.body["data"]["file_id"].as_str().unwrap().to_owned();
    for (who, expected) in [
        (&ann, "OK"),
        (&person("acme", "bob", "files:read"), "OK"),
        (&person("acme", "bob", ""), "DENIED"),
        (&person("evil", "ann", "files:read"), "NOT_FOUND"),
    ] {
        let request = reqwest::Client::new()
            .post(setup.gateway.url("/mcp/tool/powerstrip:read_result"))
            .bearer_auth(setup.token(who.clone()))
            .json(&json!({"ref_id": id}));
        let answer = send(request).await.body;
        let code = answer["errors"][0]["code"].as_str().unwrap_or("OK");
        assert_eq!(code, expected, "{who}: {answer}");
        assert_eq!(answer["data"]["text"] == "secret", expected == "OK", "{answer}");
        assert!(expected == "OK" || !answer.to_string().contains("secret"), "{answer}");
    }
}
