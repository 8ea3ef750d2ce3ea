//! Refused calls with files, and their messages.

use serde_json::{Value, json};
use testkit::{Gateway, GuardedGateway, eventually, send};

use crate::documents::support::{Setup, documents_server, pdf, picture};

#[tokio::test]
async fn callers_name_files_and_cannot_inline_them() {
    let setup = Setup::open().await;
    let id = setup.put("a.pdf", pdf(10)).await;
    for server in ["near", "far"] {
        let tool = |name: &str| format!("{server}:{name}");
        for input in [
            json!({"file_id": id, "file_data": "aGVsbG8="}),
            json!({"file_id": id, "file_type": "text/plain"}),
            json!({"file_data": "aGVsbG8=", "file_type": "text/plain"}),
            json!({}),
            json!({"file_id": 7}),
            json!({"file_id": [id]}),
            json!({"file_id": id, "source_ref_id": id}),
        ] {
            let (code, said) = setup.refusal(&tool("take_bytes"), input.clone()).await;
            assert_eq!(code, "INVALID_INPUT", "{input}: {said}");
        }
        let both = json!({"file_id": id, "file_data": "aGVsbG8="});
        let (_, said) = setup.refusal(&tool("take_bytes"), both).await;
        assert!(said.contains("`file_data` is filled in from `file_id`: leave it out"), "{said}");
        let (code, _) = setup.refusal(&tool("take_text"), json!({"text": "inline"})).await;
        assert_eq!(code, "INVALID_INPUT");
        for list in [json!([]), json!([id, 7]), json!(vec![&id; 33])] {
            let (code, _) = setup.refusal(&tool("take_list"), json!({"file_ids": list})).await;
            assert_eq!(code, "INVALID_INPUT", "{list}");
        }
        let (code, said) = setup.refusal(&tool("take_image"), json!({"file_id": id})).await;
        assert_eq!(code, "INVALID_INPUT", "{said}");
        assert!(said.contains("is no image but application/pdf"), "{said}");
        let noise = setup.put("x.bin", vec![0xff, 0xd0, 0, 1, 2]).await;
        let (code, said) = setup.refusal(&tool("take_text"), json!({"file_id": noise})).await;
        assert_eq!(code, "INVALID_INPUT", "{said}");
    }
}

#[tokio::test]
async fn missing_files_are_reported_as_not_found() {
    let setup = Setup::open().await;
    let gone = setup.put("a.pdf", pdf(10)).await;
    let path = setup.gateway.url(&format!("/v1/files/{gone}"));
    assert!(reqwest::Client::new().delete(path).send().await.unwrap().status().is_success());
    for server in ["near", "far"] {
        for id in [
            gone.as_str(),
            "file_00000000000000000000000000000000",
            "ref_00000000000000000000000000000000",
            "cv.pdf",
            "../../etc/passwd",
        ] {
            for (tool, argument) in [
                ("take_bytes", "file_id"),
                ("take_bytes", "source_ref_id"),
                ("take_text", "file_id"),
                ("take_link", "file_id"),
            ] {
                let (code, said) =
                    setup.refusal(&format!("{server}:{tool}"), json!({argument: id})).await;
                assert_eq!(code, "NOT_FOUND", "{tool} {argument} {id}: {said}");
            }
        }
    }
}

#[tokio::test]
async fn expired_files_and_references_are_not_found() {
    // Long enough to use the file once.
    let config = "files: { ttl: 6s }\nreferences: { ttl: 6s }\n";
    let setup = Setup::with(config, "").await;
    let id = setup.put("a.pdf", pdf(30_000)).await;
    let made = setup.data("near:stamp_field", json!({"file_id": id})).await;
    let reference = made["pdf"]["ref_id"].as_str().unwrap().to_owned();
    for id in [&id, &reference] {
        eventually("it has expired", || async {
            let seen = setup.gateway.get(&format!("/v1/files/{id}")).await;
            (seen.status == 404).then_some(())
        })
        .await;
        let (code, said) = setup.refusal("far:take_bytes", json!({"file_id": id})).await;
        assert_eq!(code, "NOT_FOUND", "{said}");
    }
}

#[tokio::test]
async fn input_limits_count_what_the_caller_sends() {
    let setup =
        Setup::with("limits: { max_input_bytes: 1000, max_server_input_bytes: 1000 }\n", "").await;
    let id = setup.put("a.pdf", pdf(500_000)).await;
    for server in ["near", "far"] {
        let tool = format!("{server}:take_bytes");
        let got = setup.data(&tool, json!({"file_id": id, "note": "n".repeat(500)})).await;
        assert!(got["size"].as_u64() > Some(500_000), "{got}");
        let long = json!({"file_id": id, "note": "n".repeat(2_000)});
        let (code, said) = setup.refusal(&tool, long).await;
        assert_eq!(code, "INVALID_INPUT");
        assert!(said.contains("at most 1000"), "{said}");
    }
}

/// Sends a request with a token of these claims.
async fn ask(
    setup: &GuardedGateway,
    claims: &Value,
    path: &str,
    body: impl Into<reqwest::Body>,
) -> Value {
    let request = reqwest::Client::new().post(setup.gateway.url(path));
    let request = request.bearer_auth(setup.token(claims.clone()));
    send(request.header("content-type", "application/json").body(body)).await.body
}

#[tokio::test]
async fn files_of_another_tenant_cannot_be_used() {
    let server = documents_server().await;
    let servers = format!("servers:\n  far: {{ url: '{}' }}\n", server.url);
    let setup = &GuardedGateway::start(Gateway::with(), &servers).await;
    let scope = "tools:read tools:call files:read files:write";
    let ann = json!({"org": "acme", "sub": "ann", "scope": scope});
    let eve = json!({"org": "evil", "sub": "ann", "scope": scope});
    let call = async |who: &Value, tool: &str, input: Value| {
        ask(setup, who, &format!("/mcp/tool/far:{tool}"), input.to_string()).await
    };
    eventually("the server is there", || async {
        let answer = call(&ann, "issue", json!({})).await;
        (answer["ok"] == true).then_some(())
    })
    .await;
    let kept = ask(setup, &ann, "/v1/files?name=a.png", picture(30_000)).await;
    let file = kept["data"]["file_id"].as_str().unwrap();
    let made = call(&ann, "stamp_field", json!({"file_id": file})).await;
    let ours = made["data"]["pdf"]["ref_id"].as_str().unwrap_or_else(|| panic!("{made}"));
    let document = ask(setup, &ann, "/v1/files?name=a.pdf", pdf(100)).await;
    let document = document["data"]["file_id"].clone();
    let parsed = call(&ann, "parse_document", json!({"file_id": document})).await;
    let issued = parsed["data"]["ref_id"].as_str().unwrap_or_else(|| panic!("{parsed}"));
    for id in [file, ours, issued] {
        let hers = call(&ann, "take_bytes", json!({"file_id": id})).await;
        assert_eq!(hers["ok"], true, "{id}: {hers}");
        let refused = call(&eve, "take_bytes", json!({"file_id": id})).await;
        assert_eq!(refused["errors"][0]["code"], "NOT_FOUND", "{id}: {refused}");
        let said = refused.to_string();
        assert!(!said.contains("acme") && !said.contains("a.png"), "{said}");
    }
}
