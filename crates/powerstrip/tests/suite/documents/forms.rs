//! Each form in which a tool takes files, over stdio and HTTP, and the schema that models see.

use serde_json::{Value, json};

use crate::documents::support::{Setup, digest, pdf, picture};

const TEXT: &str = "Ada Lovelace wrote the first programme.";

#[tokio::test]
async fn every_strategy_reaches_every_server() {
    let setup = Setup::open().await;
    // One small enough to be inlined, and one large enough to be streamed.
    for size in [1_000, 700_000] {
        let (document, image) = (pdf(size), picture(size));
        let document_id = setup.put("cv.pdf", document.clone()).await;
        let image_id = setup.put("face.png", image.clone()).await;
        let text_id = setup.put("cv.txt", TEXT).await;
        for server in ["near", "far"] {
            let tool = |name: &str| format!("{server}:{name}");
            let input = json!({"file_id": document_id, "note": "n"});
            let got = setup.data(&tool("take_bytes"), input).await;
            let expected = json!({"size": document.len(), "digest": digest(&document),
                "media_type": "application/pdf", "file_id": document_id, "note": "n"});
            assert_eq!(got, expected);
            let got = setup.data(&tool("take_image"), json!({"file_id": image_id})).await;
            assert_eq!(
                (&got["digest"], &got["media_type"]),
                (&json!(digest(&image)), &json!("image/png"))
            );
            for name in ["take_text", "take_content"] {
                let got = setup.data(&tool(name), json!({"file_id": text_id})).await;
                assert_eq!(got["digest"], digest(TEXT.as_bytes()), "{name}");
            }
            let got = setup.data(&tool("take_link"), json!({"file_id": document_id})).await;
            assert_eq!(
                (&got["digest"], &got["media_type"]),
                (&json!(digest(&document)), &json!("200"))
            );
            let got = setup.data(&tool("take_id"), json!({"file_id": document_id})).await;
            assert_eq!(got["file_id"], document_id);
        }
    }
}

#[tokio::test]
async fn the_text_of_a_pdf_is_read_for_tools_that_take_text() {
    let setup = Setup::open().await;
    let id = setup.put("cv.pdf", pdf(100)).await;
    let text = setup.gateway.get(&format!("/v1/files/{id}/text")).await.body;
    let text = text["data"]["text"]
        .as_str()
        .map_or_else(|| text.as_str().unwrap_or_default().to_owned(), str::to_owned);
    assert!(text.contains("engineer of engines"), "{text}");
    for tool in ["near:take_text", "far:take_content"] {
        assert_eq!(
            setup.data(tool, json!({"file_id": id})).await["digest"],
            digest(text.as_bytes())
        );
    }
}

#[tokio::test]
async fn models_see_ids_where_tools_take_files() {
    let setup = Setup::open().await;
    for server in ["near", "far"] {
        for (tool, gone, id) in [
            ("take_bytes", vec!["file_data", "file_type"], "file_id"),
            ("take_content", vec!["content"], "file_id"),
            ("take_text", vec!["text"], "file_id"),
            ("take_image", vec!["image_data", "image_type"], "file_id"),
            ("take_link", vec!["input_url"], "file_id"),
            ("take_list", vec!["file_data", "file_type"], "file_ids"),
            ("take_two", vec!["old_file_data", "new_file_data"], "old_file_id"),
            ("take_named", vec!["body", "kind"], "document"),
        ] {
            let listed = setup.listed(&format!("{server}__{tool}")).await;
            let shown = setup.gateway.get(&format!("/mcp/schema/{server}:{tool}@1/input")).await;
            assert_eq!(listed["inputSchema"], shown.body, "{tool}");
            let schema = &listed["inputSchema"];
            for name in gone {
                assert!(schema["properties"].get(name).is_none(), "{tool}: {schema}");
                assert!(!schema["required"].to_string().contains(&format!("\"{name}\"")));
            }
            assert!(schema["required"].as_array().unwrap().contains(&json!(id)), "{schema}");
            let described = schema["properties"][id].to_string();
            assert!(tool == "take_bytes" || described.contains("file_…"), "{tool}: {described}");
        }
    }
    let tailor = setup.listed("far__tailor_resume").await;
    assert_eq!(tailor["inputSchema"]["required"], json!(["target_role"]), "{tailor}");
    let document = setup.gateway.get("/openapi.json").await.body.to_string();
    assert!(document.contains("old_file_id") && !document.contains("old_file_data"));
    // The schema of a `passthrough` tool is not changed.
    let plain = setup.listed("near__take_plain").await;
    assert!(plain["inputSchema"]["properties"].get("file_data").is_some(), "{plain}");
}

#[tokio::test]
async fn several_files_lists_and_custom_argument_names() {
    let setup = Setup::open().await;
    let (one, two) = (pdf(10), picture(400_000));
    let (first, second) =
        (setup.put("a.pdf", one.clone()).await, setup.put("b", two.clone()).await);
    for server in ["near", "far"] {
        let tool = |name: &str| format!("{server}:{name}");
        let digests = |answer: &Value| -> Vec<Value> {
            answer["got"].as_array().unwrap().iter().map(|got| got["digest"].clone()).collect()
        };
        let both = [json!(digest(&one)), json!(digest(&two))];
        let got = setup.data(&tool("take_list"), json!({"file_ids": [first, second]})).await;
        assert_eq!(digests(&got), both);
        assert_eq!(got["got"][1]["media_type"], "image/png");
        let got = setup
            .data(&tool("take_two"), json!({"old_file_id": first, "new_file_id": second}))
            .await;
        assert_eq!(digests(&got), both);
        let got = setup.data(&tool("take_named"), json!({"document": first})).await;
        assert_eq!((&got["digest"], &got["media_type"]), (&both[0], &json!("application/pdf")));
        // The same file used twice.
        let got = setup.data(&tool("take_list"), json!({"file_ids": [second, second]})).await;
        assert_eq!(digests(&got), [both[1].clone(), both[1].clone()]);
    }
}

#[tokio::test]
async fn the_config_overrides_the_servers_file_strategy() {
    let config = "file_strategies:\n  'near:take_plain': binary_base64\n  \
                  'near:take_bytes': passthrough\n  \
                  'far:take_plain': { strategy: binary_base64, args: [{ id: scan }] }\n";
    let setup = Setup::with(config, "").await;
    let document = pdf(10);
    let id = setup.put("a.pdf", document.clone()).await;
    let got = setup.data("near:take_plain", json!({"file_id": id})).await;
    assert_eq!((&got["digest"], &got["file_id"]), (&json!(digest(&document)), &json!(id)));
    assert_eq!(
        setup.data("far:take_plain", json!({"scan": id})).await["digest"],
        digest(&document)
    );
    let (code, _) = setup.refusal("near:take_bytes", json!({"file_id": id})).await;
    assert_eq!(code, "INVALID_INPUT");
    let given = json!({"file_data": "aGVsbG8=", "file_type": "text/plain"});
    assert_eq!(setup.data("near:take_bytes", given).await["digest"], digest(b"hello"));
}
