//! `powerstrip:read_result`: what a reference refers to, in parts.

use serde_json::{Value, json};
use testkit::{eventually, mcp, mcp_call, mcp_tools};

use crate::documents::support::{Setup, pdf};

const READ: &str = "powerstrip__read_result";

/// The text of each block but the last, and the facts in the last one.
fn read(result: &Value) -> (Vec<String>, Value) {
    assert_ne!(result["isError"], true, "{result}");
    let blocks = result["content"].as_array().unwrap();
    let mut texts: Vec<String> =
        blocks.iter().map(|block| block["text"].as_str().unwrap().to_owned()).collect();
    let facts = serde_json::from_str(&texts.pop().unwrap()).unwrap();
    (texts, facts)
}

fn code(result: &Value) -> &str {
    result["_meta"]["powerstrip/error"]["code"].as_str().unwrap_or_else(|| panic!("{result}"))
}

#[tokio::test]
async fn a_long_text_is_read_in_parts() {
    let setup = Setup::open().await;
    let word = "aé漢🙂\n";
    let input = json!({"word": word, "words": 10_000});
    let long = setup.result("near__write", input).await;
    let reference = serde_json::from_str::<Value>(long["content"][1]["text"].as_str().unwrap());
    let id = reference.unwrap()["ref_id"].clone();
    for max_bytes in [None, Some(64_000), Some(997)] {
        let (mut whole, mut next, mut parts) = (String::new(), Some(0), 0);
        // The small parts of a long text would be many calls.
        while let Some(offset) = next.filter(|_| parts < 20) {
            let mut input = json!({"ref_id": id, "offset": offset});
            if let Some(max_bytes) = max_bytes {
                input["max_bytes"] = json!(max_bytes);
            }
            let (texts, facts) = read(&setup.result(READ, input).await);
            assert_eq!((&facts["offset"], &facts["size"]), (&json!(offset), &json!(110_000)));
            assert!(texts[0].len() <= max_bytes.unwrap_or(16_000), "{facts}");
            whole.push_str(&texts[0]);
            next = facts["next_offset"].as_u64();
            parts += 1;
        }
        assert!(word.repeat(10_000).starts_with(&whole));
        assert_eq!(whole.len() == 110_000, max_bytes != Some(997));
    }
    // Within a character, the next one.
    let (texts, facts) =
        read(&setup.result(READ, json!({"ref_id": id, "offset": 2, "max_bytes": 7})).await);
    assert_eq!((texts[0].as_str(), &facts["offset"]), ("漢🙂", &json!(3)));
    let data = setup.data("powerstrip:read_result", json!({"ref_id": id, "max_bytes": 11})).await;
    assert_eq!((&data["text"], &data["next_offset"]), (&json!(word), &json!(11)));
    for wrong in [
        json!({"ref_id": id, "offset": 110_001}),
        json!({"ref_id": id, "max_bytes": 64_001}),
        json!({"ref_id": id, "offset": -1}),
        json!({"ref_id": ""}),
    ] {
        assert_eq!(code(&setup.result(READ, wrong.clone()).await), "INVALID_INPUT", "{wrong}");
    }
    for unknown in ["ref_0123456789abcdef0123456789abcdef", "nothing"] {
        assert_eq!(code(&setup.result(READ, json!({"ref_id": unknown})).await), "NOT_FOUND");
    }
}

#[tokio::test]
async fn passages_are_found_by_words() {
    let setup = Setup::open().await;
    let filler = "The committee met on a rainy day and adjourned early.\n".repeat(900);
    let text = format!("{filler}Invoices are paid within thirty days.\n{filler}");
    let id = setup.put("minutes.txt", text.clone()).await;
    let found = setup.result(READ, json!({"ref_id": id, "query": "when is an invoice paid"})).await;
    let (texts, facts) = read(&found);
    assert!(texts[0].contains("Invoices are paid"), "{texts:?}");
    let offset = usize::try_from(facts["offsets"][0].as_u64().unwrap()).unwrap();
    assert!(text[offset..].starts_with(&texts[0]));
    let input = json!({"ref_id": id, "query": "committee", "max_bytes": 2_000});
    let (texts, facts) = read(&setup.result(READ, input).await);
    let total: usize = texts.iter().map(String::len).sum();
    assert!((600..=2_000).contains(&total), "{total}");
    assert_eq!(facts["offsets"].as_array().unwrap().len(), texts.len());
    let (texts, _) = read(&setup.result(READ, json!({"ref_id": id, "query": "zebra"})).await);
    assert_eq!(texts, Vec::<String>::new());
    // An empty query is none.
    let (texts, _) = read(&setup.result(READ, json!({"ref_id": id, "query": ""})).await);
    assert_eq!(texts[0], text[..16_000]);
}

#[tokio::test]
async fn pictures_and_documents_are_read_and_other_files_are_not() {
    let setup = Setup::open().await;
    let drawn = setup.result("near__draw", json!({"bytes": 30_000})).await;
    let data = drawn["content"][0]["data"].as_str().unwrap();
    let bytes = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, data).unwrap();
    let id = setup.put("a.png", bytes).await;
    let shown = setup.result(READ, json!({"ref_id": id})).await;
    let block = &shown["content"][0];
    assert_eq!((&block["type"], &block["data"]), (&json!("image"), &json!(data)));
    let data = setup.data("powerstrip:read_result", json!({"ref_id": id})).await;
    assert_eq!(data["content"][0], *block);

    let id = setup.put("a.pdf", pdf(30_000)).await;
    let (texts, facts) = read(&setup.result(READ, json!({"ref_id": id})).await);
    assert!(texts[0].contains("Ada Lovelace"), "{texts:?}");
    assert_eq!(facts["media_type"], "application/pdf");
    let input = json!({"ref_id": id, "query": "first programme"});
    let (texts, _) = read(&setup.result(READ, input).await);
    assert!(texts[0].contains("She wrote"), "{texts:?}");

    let id = setup.put("a.bin", b"\x7fELF\0\x01\x02\xff".repeat(9)).await;
    let refused = setup.result(READ, json!({"ref_id": id})).await;
    assert_eq!(code(&refused), "UNSUPPORTED", "{refused}");

    // A reference that a server issued is fetched from it.
    let id = setup.put("b.pdf", pdf(1_000)).await;
    let parsed = setup.data("near:parse_document", json!({"file_id": id})).await;
    let (texts, _) = read(&setup.result(READ, json!({"ref_id": parsed["ref_id"]})).await);
    assert!(texts[0].contains("Ada Lovelace"), "{texts:?}");
}

#[tokio::test]
async fn an_expired_reference_is_not_found() {
    let setup = Setup::with("references: { ttl: 5s }\n", "").await;
    let long = setup.data("near:write", json!({"words": 20_000, "structured": true})).await;
    let input = json!({"ref_id": long["text"]["ref_id"], "max_bytes": 100});
    read(&setup.result(READ, input.clone()).await);
    let refused = eventually("the reference has expired", || async {
        let result = setup.result(READ, input.clone()).await;
        (result["isError"] == true).then_some(result)
    })
    .await;
    assert_eq!(code(&refused), "NOT_FOUND");
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("expired") && text.contains("call the tool"), "{text}");
}

#[tokio::test]
async fn every_caller_is_offered_it() {
    let agents = "skills:\n  own: { tools: ['near:write'] }\nagents:\n  \
                  lists: { skills: [own] }\n  searches: { skills: [own], discovery: search }\n";
    let setup = Setup::with(agents, "").await;
    for door in ["/mcp", "/agents/lists/mcp", "/agents/searches/mcp"] {
        let url = setup.gateway.url(door);
        let tools = mcp_tools(&url).await;
        let listed = tools.iter().find(|tool| tool["name"] == READ);
        let schema = &listed.unwrap_or_else(|| panic!("{door}"))["inputSchema"];
        assert_eq!(schema["required"], json!(["ref_id"]), "{schema}");
        let about = mcp(&url, "server/discover", json!({})).await;
        let instructions = about["result"]["instructions"].as_str().unwrap_or_default();
        assert!(instructions.contains(READ), "{about}");
    }
    // It is no data tool: a person is still not asked.
    let run = |name: &str, input: Value| {
        let params = json!({"name": name, "arguments": input, "_meta": {"run_id": "r"}});
        let url = setup.gateway.url("/mcp");
        async move { mcp(&url, "tools/call", params).await["result"].clone() }
    };
    let long = run("near__write", json!({"words": 20_000, "structured": true})).await;
    let id = &long["structuredContent"]["text"]["ref_id"];
    for _ in 0..2 {
        read(&run(READ, json!({"ref_id": id})).await);
    }
    let question = json!({"slot_type": "confirm", "slot_id": "s", "prompt_key": "Go on?"});
    let refused = run("powerstrip__request_user_input", question).await;
    assert_eq!(code(&refused), "DENIED", "{refused}");

    let canonical = Setup::with("tool_names: canonical\n", "").await;
    let url = canonical.gateway.url("/mcp");
    let about = mcp(&url, "server/discover", json!({})).await;
    assert!(about["result"]["instructions"].as_str().unwrap().contains("powerstrip:read_result"));
    assert!(mcp_call(&url, "powerstrip:read_result", json!({"ref_id": "x"})).await.is_object());
}
