//! Large parts of answers are stored; their references can be used in calls of every server.

use schema::Schema;
use serde_json::{Value, json};

use crate::documents::support::{Setup, digest, pdf};

const STAMP: &[u8] = b"\n% stamped\n";

fn stamped(document: &[u8]) -> Vec<u8> {
    [document, STAMP].concat()
}

/// The reference in a text block.
fn reference_of(result: &Value) -> Value {
    let blocks = result["content"].as_array().unwrap();
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    texts
        .filter_map(|text| serde_json::from_str::<Value>(text).ok())
        .find_map(|text| {
            let inner = text.get("document").cloned();
            inner.or(Some(text)).filter(|found| found["ref_id"].is_string())
        })
        .unwrap_or_else(|| panic!("{result}"))
}

#[tokio::test]
async fn large_parts_of_every_form_become_references() {
    let setup = Setup::open().await;
    let document = pdf(30_000);
    let id = setup.put("a.pdf", document.clone()).await;
    for server in ["near", "far"] {
        for form in ["image", "audio", "blob", "text", "data_url", "document"] {
            let name = format!("{server}__stamp");
            let result = setup.result(&name, json!({"file_id": id, "form": form})).await;
            assert_ne!(result["isError"], true, "{form}: {result}");
            assert!(result.to_string().len() < 2_000, "{form}: {result}");
            assert_eq!(result["content"][0]["text"], "Stamped.");
            let kept = reference_of(&result);
            let reference = kept["ref_id"].as_str().unwrap();
            assert_eq!(kept["size"], stamped(&document).len(), "{form}: {kept}");
            assert_eq!(kept["media_type"], "application/pdf", "{form}: {kept}");
            assert_eq!(setup.bytes(reference).await, stamped(&document), "{form}");
            let uri = format!("powerstrip://files/{reference}");
            let blocks = result["content"].as_array().unwrap();
            let links = |block: &&Value| block["type"] == "resource_link" && block["uri"] == uri;
            assert_eq!(blocks.iter().filter(links).count(), 1, "{form}: {result}");
            let read = setup.mcp("resources/read", json!({"uri": uri})).await;
            assert!(read["result"]["contents"][0]["blob"].is_string(), "{form}: {read}");
        }
    }
}

#[tokio::test]
async fn a_structured_answer_fits_the_schema_that_is_shown() {
    let setup = Setup::open().await;
    for size in [10, 30_000, 500_000] {
        let document = pdf(size);
        let id = setup.put("a.pdf", document.clone()).await;
        for server in ["near", "far"] {
            let path = format!("/mcp/schema/{server}:stamp_field@1/output");
            let shown = setup.gateway.get(&path).await.body;
            let listed = setup.listed(&format!("{server}__stamp_field")).await;
            assert_eq!(listed["outputSchema"], shown);
            let data = setup.data(&format!("{server}:stamp_field"), json!({"file_id": id})).await;
            assert_eq!(Schema::compile(&shown).unwrap().violations(&data), [], "{data}");
            // Even if it is small: it starts with the caller's own bytes.
            let reference = data["pdf"]["ref_id"].as_str().unwrap_or_else(|| panic!("{data}"));
            assert_eq!(setup.bytes(reference).await, stamped(&document));
            let result =
                setup.result(&format!("{server}__stamp_field"), json!({"file_id": id})).await;
            let structured = &result["structuredContent"];
            assert_eq!(structured["pdf"]["sha256"], data["pdf"]["sha256"], "{result}");
            assert!(result.to_string().len() < 2_000, "{result}");
        }
    }
}

#[tokio::test]
async fn each_tool_receives_a_reference_in_its_own_form() {
    let setup = Setup::open().await;
    for size in [100, 500_000] {
        let document = pdf(size);
        let id = setup.put("a.pdf", document.clone()).await;
        for (maker, taker) in [("near", "far"), ("far", "near")] {
            let made = setup.data(&format!("{maker}:stamp_field"), json!({"file_id": id})).await;
            let reference = made["pdf"]["ref_id"].clone();
            for argument in ["file_id", "source_ref_id", "content_ref_id", "ref_id"] {
                let input = json!({argument: reference});
                let got = setup.data(&format!("{taker}:take_bytes"), input.clone()).await;
                assert_eq!(got["digest"], digest(&stamped(&document)), "{argument}");
                // A tool with a closed schema gets no unknown arguments.
                let got = setup.data(&format!("{taker}:take_text"), input).await;
                assert!(got["size"].as_u64() > Some(10), "{got}");
            }
            let got =
                setup.data(&format!("{taker}:take_link"), json!({"file_id": reference})).await;
            assert_eq!(got["digest"], digest(&stamped(&document)));
            let got = setup
                .data(
                    &format!("{taker}:take_two"),
                    json!({"old_ref_id": reference, "new_file_id": id}),
                )
                .await;
            assert_eq!(got["got"][0]["digest"], digest(&stamped(&document)));
            assert_eq!(got["got"][1]["digest"], digest(&document));
            let got = setup
                .data(&format!("{taker}:take_list"), json!({"source_ref_ids": [reference, id]}))
                .await;
            assert_eq!(got["got"][1]["digest"], digest(&document));
            let (code, _) =
                setup.refusal(&format!("{taker}:take_image"), json!({"file_id": reference})).await;
            assert_eq!(code, "INVALID_INPUT");
        }
    }
}

#[tokio::test]
async fn references_issued_by_a_server_are_fetched_from_it() {
    let setup = Setup::open().await;
    let document = pdf(200_000);
    let id = setup.put("a.pdf", document.clone()).await;
    for (maker, taker) in [("near", "far"), ("far", "near")] {
        let parsed = setup.data(&format!("{maker}:parse_document"), json!({"file_id": id})).await;
        assert_eq!(parsed["page_count"], 2, "{parsed}");
        let kept = parsed["ref_id"].as_str().unwrap();
        assert!(kept.starts_with("kept_"), "{parsed}");
        for server in [maker, taker] {
            let input = json!({"source_ref_id": kept, "target_role": "Countess"});
            let made = setup.result(&format!("{server}__tailor_resume"), input).await;
            let tailored = setup.bytes(reference_of(&made)["ref_id"].as_str().unwrap()).await;
            assert!(tailored.starts_with(&document), "{made}");
            assert!(tailored.ends_with(b"for the role of Countess\n"));
        }
        for argument in ["file_id", "source_ref_id"] {
            let got = setup.data(&format!("{taker}:take_bytes"), json!({argument: kept})).await;
            assert_eq!(got["digest"], digest(&document), "{argument}");
        }
        let got = setup.data(&format!("{maker}:take_bytes"), json!({"file_id": kept})).await;
        assert_eq!(got["digest"], digest(&document));

        if maker == "far" {
            // Both servers have issued this id by now, so it is ambiguous.
            setup.data("far:issue", json!({})).await;
            let input = json!({"file_id": "ref-7"});
            let (code, said) = setup.refusal("near:take_bytes", input).await;
            assert_eq!(code, "INVALID_INPUT", "{said}");
            assert!(said.contains("more than one server"), "{said}");
            continue;
        }
        setup.data(&format!("{maker}:issue"), json!({})).await;
        let input = json!({"file_id": "ref-7"});
        let (code, said) = setup.refusal(&format!("{taker}:take_bytes"), input).await;
        assert_eq!(code, "NOT_FOUND", "{said}");
        assert!(said.contains(&format!("`ref-7` of server `{maker}` cannot be fetched")), "{said}");
    }
}

#[tokio::test]
async fn answers_with_references_can_be_replayed_and_verified() {
    let setup = Setup::with("", "    deterministic: [stamp_field]\n").await;
    let id = setup.put("a.pdf", pdf(30_000)).await;
    for server in ["near", "far"] {
        let tool = format!("{server}:stamp_field");
        let first = setup.data(&tool, json!({"file_id": id})).await;
        let again = setup.data(&tool, json!({"file_id": id})).await;
        assert_eq!(first, again);
        let result = setup.result(&format!("{server}__stamp_field"), json!({"file_id": id})).await;
        assert_eq!(result["structuredContent"], first);
        let uri = format!("powerstrip://files/{}", first["pdf"]["ref_id"].as_str().unwrap());
        let link = result["content"]
            .as_array()
            .unwrap()
            .iter()
            .any(|block| block["type"] == "resource_link" && block["uri"] == uri);
        assert!(link, "{result}");
        let input = json!({"file_id": id});
        let verified =
            setup.gateway.call_with(&tool, &input, &[("powerstrip-verify", "true")]).await.body;
        assert_eq!(verified["data"], first, "{verified}");
    }
}

#[tokio::test]
async fn text_that_looks_like_base64_is_passed_unchanged() {
    let setup = Setup::open().await;
    let text = "a".repeat(30_000);
    for server in ["near", "far"] {
        let result = setup.result(&format!("{server}__spell"), json!({"bytes": 30_000})).await;
        let blocks = result["content"].as_array().unwrap();
        assert_eq!(blocks[0]["data"].as_str().map(str::len), Some(120_000), "the picture stays");
        assert!(blocks[1]["text"] == text, "{}", result.to_string().replace(&text, "…"));
        assert!(blocks[2]["text"] == format!("{text}, {text}"));
        assert!(blocks[3]["resource"]["text"] == text);
        assert!(result["_meta"]["documents/text"] == text);
    }
}
