//! What stays in an answer, and what replaces the rest.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use testkit::{eventually, initialize_message, legacy_request};

use crate::documents::support::Setup;

const MEDIA: usize = 1 << 20;
/// A length whose base64 is longer than that of the limit.
const LARGE: usize = MEDIA + 3;
const TEXT: usize = 64 << 10;

/// The blocks of a result, without links.
fn blocks(result: &Value) -> Vec<&Value> {
    assert_ne!(result["isError"], true, "{result}");
    let blocks = result["content"].as_array().unwrap_or_else(|| panic!("{result}"));
    blocks.iter().filter(|block| block["type"] != "resource_link").collect()
}

fn links(result: &Value) -> usize {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter(|block| block["type"] == "resource_link").count()
}

fn data_length(block: &Value) -> Option<usize> {
    block["data"].as_str().map(str::len)
}

/// The reference in a text block.
fn reference(block: &Value) -> Value {
    let text = block["text"].as_str().unwrap_or_else(|| panic!("{block}"));
    let reference: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"));
    assert!(reference["ref_id"].is_string() && reference["sha256"].is_string(), "{reference}");
    reference
}

/// Width and height of a JPEG.
fn jpeg_size(block: &Value) -> (u16, u16) {
    assert_eq!((&block["type"], &block["mimeType"]), (&json!("image"), &json!("image/jpeg")));
    let bytes = BASE64_STANDARD.decode(block["data"].as_str().unwrap()).unwrap();
    let frame = bytes.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    let number = |at: usize| u16::from_be_bytes([bytes[frame + at], bytes[frame + at + 1]]);
    (number(7), number(5))
}

#[tokio::test]
async fn images_and_audio_stay_in_the_answer() {
    let setup = Setup::open().await;
    for server in ["near", "far"] {
        let draw = format!("{server}__draw");
        for (bytes, audio) in [(30_000, false), (30_000, true), (400_000, false), (MEDIA, false)] {
            let result = setup.result(&draw, json!({"bytes": bytes, "audio": audio})).await;
            let found = blocks(&result);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0]["type"], if audio { "audio" } else { "image" });
            assert_eq!(data_length(found[0]), Some(bytes.div_ceil(3) * 4));
            assert_eq!(links(&result), 0);
        }
        // Bytes that are no picture have no smaller copy.
        for audio in [false, true] {
            let result = setup.result(&draw, json!({"bytes": LARGE, "audio": audio})).await;
            let found = blocks(&result);
            assert_eq!((found.len(), links(&result)), (1, 1), "{result}");
            let reference = reference(found[0]);
            assert_eq!(reference["size"], LARGE);
            assert_eq!(setup.bytes(reference["ref_id"].as_str().unwrap()).await.len(), LARGE);
        }
        let data = setup.data(&format!("{server}:draw"), json!({"bytes": 30_000})).await;
        assert_eq!(data_length(&data["content"][0]), Some(40_000), "as at every door");

        let several = setup.result(&draw, json!({"bytes": MEDIA, "count": 5})).await;
        let kinds: Vec<_> = blocks(&several).iter().map(|block| block["type"].clone()).collect();
        assert_eq!(kinds, ["image", "image", "image", "image", "text"]);
    }
}

#[tokio::test]
async fn a_long_text_keeps_its_beginning() {
    let setup = Setup::open().await;
    for server in ["near", "far"] {
        let write = |length: usize, structured: bool| {
            let input = json!({"word": "x\n", "words": length / 2, "structured": structured});
            setup.result_owned(format!("{server}__write"), input)
        };
        let whole = write(TEXT, false).await;
        assert_eq!(blocks(&whole)[0]["text"].as_str().map(str::len), Some(TEXT));
        let long = write(TEXT + 2, false).await;
        let found = blocks(&long);
        assert_eq!((found.len(), links(&long)), (2, 1), "{long}");
        assert_eq!(found[0]["text"], "x\n".repeat(2_048), "not escaped");
        let kept = reference(found[1]);
        assert_eq!((&kept["truncated"], &kept["size"]), (&json!(true), &json!(TEXT + 2)));
        assert!(kept.get("preview").is_none(), "the beginning comes once: {kept}");

        let long = write(100_000, true).await;
        let text = &long["structuredContent"]["text"];
        assert_eq!((&text["truncated"], &text["size"]), (&json!(true), &json!(100_000)));
        assert_eq!(text["preview"], "x\n".repeat(2_048));
        let repeated: Value =
            serde_json::from_str(blocks(&long)[0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(repeated, long["structuredContent"]);
        let short = write(60_000, true).await;
        assert_eq!(short["structuredContent"]["text"].as_str().map(str::len), Some(60_000));
    }
}

#[tokio::test]
async fn a_large_picture_comes_as_a_smaller_copy() {
    let setup = Setup::open().await;
    for server in ["near", "far"] {
        let paint = format!("{server}__paint");
        for (width, height, expected) in [(2_000, 300, (1_024, 154)), (700, 600, (700, 600))] {
            let result = setup.result(&paint, json!({"width": width, "height": height})).await;
            let found = blocks(&result);
            assert_eq!((found.len(), links(&result)), (2, 1), "{result}");
            assert_eq!(jpeg_size(found[0]), expected);
            let kept = reference(found[1]);
            assert_eq!(kept["media_type"], "image/png");
            assert!(kept["size"].as_u64() > Some(MEDIA as u64), "{kept}");
            let read = json!({"ref_id": kept["ref_id"]});
            let again = setup.result("powerstrip__read_result", read).await;
            assert_eq!(jpeg_size(blocks(&again)[0]), expected);
        }
        // A header that claims 400 million pixels; and pixels that do not fit the header.
        for claims in [20_000, 900] {
            let input = json!({"width": 700, "height": 600, "claims": claims});
            let result = setup.result(&paint, input).await;
            let found = blocks(&result);
            assert_eq!((found.len(), links(&result)), (1, 1), "{result}");
            let read = json!({"ref_id": reference(found[0])["ref_id"]});
            let refused = setup.result("powerstrip__read_result", read).await;
            assert_eq!(refused["isError"], true, "{refused}");
            let text = refused["content"][0]["text"].as_str().unwrap();
            assert!(text.starts_with("UNSUPPORTED: the picture"), "{text}");
        }
    }
}

/// The Python SDK closes streams with larger events, and the client never gets its answer.
#[tokio::test]
async fn an_event_of_an_older_client_has_less_than_a_million_bytes() {
    const VERSION: &str = "2025-11-25";
    let setup = Setup::open().await;
    let url = setup.gateway.url("/mcp");
    let client = reqwest::Client::new();
    let send = async |session: &str, message: &Value| {
        let answer = legacy_request(client.post(&url), VERSION, session, message).send().await;
        answer.unwrap()
    };
    let greeted = send("", &initialize_message(VERSION, json!({}))).await;
    let session = greeted.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    send(&session, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let call = async |tool: &str, input: Value| {
        // With a progress token the answer is a stream.
        let params = json!({"name": tool, "arguments": input, "_meta": {"progressToken": 1}});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let text = send(&session, &message).await.text().await.unwrap();
        let events = text.split("\n\n").filter(|event| event.contains("\"id\":1"));
        let event = events.last().unwrap_or_else(|| panic!("{}", &text[..text.len().min(500)]));
        assert!(event.len() < 1_000_000, "{tool}: {}", event.len());
        let data = event.lines().find_map(|line| line.strip_prefix("data:")).unwrap();
        serde_json::from_str::<Value>(data).unwrap()["result"].take()
    };
    let small = call("near__draw", json!({"bytes": 700_000})).await;
    assert_eq!(data_length(blocks(&small)[0]), Some(933_336), "it fits");
    // 840 KB, whose copy is much smaller.
    let painted = call("near__paint", json!({"width": 700, "height": 400})).await;
    let found = blocks(&painted);
    assert_eq!((found.len(), links(&painted)), (2, 1), "{painted}");
    assert_eq!(jpeg_size(found[0]), (700, 400));
    let kept = reference(found[1]);
    assert_eq!(kept["media_type"], "image/png");
    let again = call("powerstrip__read_result", json!({"ref_id": kept["ref_id"]})).await;
    assert_eq!(jpeg_size(blocks(&again)[0]), (700, 400));
    let several = call("near__draw", json!({"bytes": 400_000, "count": 3})).await;
    let kinds: Vec<_> = blocks(&several).iter().map(|block| block["type"].clone()).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "image").count(), 1, "{kinds:?}");
    assert!(links(&several) >= 1, "{kinds:?}");
    // A client that reads more gets more.
    let whole = setup.result("near__draw", json!({"bytes": 900_000})).await;
    assert_eq!(data_length(blocks(&whole)[0]), Some(1_200_000));
}

#[tokio::test]
async fn tasks_of_workflows_get_references() {
    let setup = Setup::with("", "    deterministic: [draw]\n").await;
    let input = json!({"bytes": 30_000});
    // An equal call of another caller must not be answered to a task.
    let direct = setup.result("near__draw", input.clone()).await;
    assert_eq!(data_length(blocks(&direct)[0]), Some(40_000));
    let task = json!({"id": "a", "tool": "near:draw", "arguments": input});
    let dag = json!({"workflow": {"tasks": [task]}});
    let ended = setup.result("powerstrip__execute_dag", dag).await;
    let output = &ended["structuredContent"]["results"][0]["output"];
    let content = output["content"].as_array().unwrap_or_else(|| panic!("{ended}"));
    assert_eq!(content.len(), 1, "{ended}");
    assert_eq!(reference(&content[0])["size"], 30_000);
    let direct = setup.result("near__draw", json!({"bytes": 30_000})).await;
    assert_eq!(data_length(blocks(&direct)[0]), Some(40_000));

    // A task may read a text, but no model looks at a picture in its answer.
    let long = setup.data("near:write", json!({"words": 20_000, "structured": true})).await;
    let read = |id: &str, reference: &Value| {
        let arguments = json!({"ref_id": reference, "max_bytes": 10});
        json!({"id": id, "tool": "powerstrip:read_result", "arguments": arguments})
    };
    let picture = reference(&content[0])["ref_id"].clone();
    let tasks = json!([read("text", &long["text"]["ref_id"]), read("picture", &picture)]);
    let dag = json!({"workflow": {"tasks": tasks}});
    let ended = setup.result("powerstrip__execute_dag", dag).await;
    let results = ended["structuredContent"]["results"].as_array().unwrap();
    let of = |id: &str| results.iter().find(|result| result["task_id"] == id).unwrap();
    assert_eq!(of("text")["output"]["text"], "word word ", "{ended}");
    assert_eq!(of("picture")["status"], "failed", "{ended}");
}

#[tokio::test]
async fn a_server_has_limits_of_its_own() {
    let own = "    references: { media: 20KB, text: 1KB, data: 100KB }\n";
    let setup = Setup::with("references: { media: 40KB }\n", own).await;
    for server in ["near", "far"] {
        let draw = format!("{server}__draw");
        let small = setup.result(&draw, json!({"bytes": 20_000})).await;
        assert_eq!(blocks(&small)[0]["type"], "image");
        let large = setup.result(&draw, json!({"bytes": 21_000})).await;
        assert_eq!(reference(blocks(&large)[0])["size"], 21_000);
        let long = setup.result(&format!("{server}__write"), json!({"words": 400})).await;
        assert_eq!(blocks(&long)[0]["text"].as_str().map(str::len), Some(1_000), "half of it");
        assert_eq!(reference(blocks(&long)[1])["size"], 2_000);
        // Other binary of up to 100 KB stays, although it was extracted when it arrived.
        let spelt = setup.result(&format!("{server}__pack"), json!({"bytes": 80_000})).await;
        assert_eq!(spelt["structuredContent"]["data"].as_str().map(str::len), Some(106_668));
        let packed = setup.result(&format!("{server}__pack"), json!({"bytes": 110_000})).await;
        assert_eq!(packed["structuredContent"]["data"]["size"], 110_000);
    }
    let global = Setup::with("references: { media: 40KB, data: 1KB }\n", "").await;
    let small = global.result("near__draw", json!({"bytes": 40_000})).await;
    assert_eq!(blocks(&small)[0]["type"], "image");
    let large = global.result("near__draw", json!({"bytes": 41_000})).await;
    assert_eq!(reference(blocks(&large)[0])["size"], 41_000);
    let packed = global.result("near__pack", json!({"bytes": 1_100})).await;
    assert_eq!(packed["structuredContent"]["data"]["size"], 1_100);
}

#[tokio::test]
async fn references_can_be_turned_off() {
    let off = Setup::with("", "    references: off\n").await;
    for server in ["near", "far"] {
        let result = off.result(&format!("{server}__draw"), json!({"bytes": 900_000})).await;
        assert_eq!(data_length(blocks(&result)[0]), Some(1_200_000));
        let long = off.result(&format!("{server}__write"), json!({"words": 40_000})).await;
        assert_eq!(blocks(&long)[0]["text"].as_str().map(str::len), Some(200_000));
        // Nothing is stored, so the limit of an answer is all that is left.
        let refused = off.result(&format!("{server}__draw"), json!({"bytes": 1_100_000})).await;
        assert_eq!(refused["isError"], true, "{}", refused.to_string().len());
        let shown = off.gateway.get(&format!("/mcp/schema/{server}:stamp_field@1/output")).await;
        assert_eq!(shown.body["properties"]["pdf"]["type"], "string");
    }
    off.gateway.write(
        "powerstrip.yaml",
        &std::fs::read_to_string(off.gateway.folder().join("powerstrip.yaml"))
            .unwrap()
            .replace("references: off", "references: on"),
    );
    eventually("references are on again", || async {
        let result = off.result("near__draw", json!({"bytes": 1_100_000})).await;
        (result["isError"] != true && links(&result) == 1).then_some(())
    })
    .await;
}
