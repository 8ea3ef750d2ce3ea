//! The server as a program: its tools over stdin and stdout, and its flags.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests play the client")]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn run(flags: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_text-analysis-mcp"))
        .args(flags)
        .env_remove("POWERSTRIP_GATEWAY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // A program that refuses its flags reads nothing.
    let writing = std::thread::spawn(move || stdin.write_all(input.as_bytes()).is_ok());
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    output
}

fn call(tool: &str, arguments: Value) -> Value {
    call_with(&["--stdio"], tool, arguments)
}

fn call_with(flags: &[&str], tool: &str, arguments: Value) -> Value {
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": tool, "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let output = run(flags, &format!("{message}\n"));
    let line = String::from_utf8(output.stdout).unwrap();
    let mut answer: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    answer["result"].take()
}

const NEWS: &str = "The river Elm flooded the old town of Brackley on Monday after three days of heavy rain. Firefighters \
    brought two hundred people from flooded homes to safety. The bakery had its birthday. The mayor of Brackley said that \
    the town will build a higher river wall before the next heavy rain.";

#[test]
fn each_tool_answers_in_its_shape() {
    let keywords =
        call("extract_keywords", json!({"text": NEWS, "limit": 5}))["structuredContent"].take();
    assert_eq!(keywords["read"]["language"], json!("en"));
    let found = keywords["keywords"].as_array().unwrap();
    assert!(found.len() == 5 && found[0]["score"] == json!(1.0), "{keywords}");
    assert!(found.iter().any(|keyword| keyword["phrase"] == json!("heavy rain")), "{keywords}");

    let summary =
        call("summarize_text", json!({"text": NEWS, "sentences": 2}))["structuredContent"].take();
    assert_eq!(summary["sentences"].as_array().map(Vec::len), Some(2), "{summary}");
    assert!(summary["summary"].as_str().unwrap().starts_with("The river Elm flooded"), "{summary}");
    assert!(!summary["summary"].as_str().unwrap().contains("bakery"), "{summary}");

    let labels =
        json!(["sports", {"name": "disaster", "description": "floods, storms and rescue"}]);
    let verdict =
        call("classify_text", json!({"text": NEWS, "labels": labels}))["structuredContent"].take();
    assert_eq!(verdict["label"], json!("disaster"), "{verdict}");
    assert!(verdict["probability"].as_f64() > Some(0.6), "{verdict}");
}

#[test]
fn the_beginning_of_a_very_long_text_is_read() {
    let long = format!("{NEWS} {}", "x".repeat(2_000_000));
    for (tool, mut arguments) in [
        ("extract_keywords", json!({"limit": 100})),
        ("summarize_text", json!({"sentences": 2})),
        ("classify_text", json!({"labels": ["sports", "heavy rain"]})),
    ] {
        arguments["text"] = json!(long);
        let answer = call(tool, arguments.clone())["structuredContent"].take();
        assert_eq!(answer["read"]["truncated"], json!(true), "{tool}");
        assert_eq!(answer["read"]["language"], json!("en"), "{tool}");
        // Labels are found in a process of its own as well.
        let label = arguments["labels"].get(1).unwrap_or(&Value::Null);
        assert_eq!(&answer["label"], label, "{tool}");
    }
}

#[test]
fn a_request_that_is_too_long_is_answered() {
    let request = |id: u32, text: &str| {
        json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {
                "name": "extract_keywords", "arguments": {"text": text},
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        })
    };
    let input = format!("{}\n{}\n", request(1, &"word ".repeat(1000)), request(2, NEWS));
    let output = run(&["--stdio", "--max-body-bytes", "2000"], &input);
    let answers: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |id: u32| answers.iter().find(|answer| answer["id"] == json!(id)).unwrap();
    let refused = of(1)["error"]["message"].as_str().unwrap();
    assert!(refused.contains("more than 2000 bytes"), "{refused}");
    assert_eq!(of(2)["result"]["isError"], json!(false));
}

#[test]
fn invalid_input_is_distinguished_from_a_failing_tool() {
    for (tool, arguments, said) in [
        ("extract_keywords", json!({}), "text"),
        ("extract_keywords", json!({"text": ""}), "text"),
        ("extract_keywords", json!({"text": " \n"}), "no words"),
        ("extract_keywords", json!({"text": "the of 12"}), "no words"),
        ("extract_keywords", json!({"text": "a text", "limit": 0}), "limit"),
        ("extract_keywords", json!({"text": "a text", "limit": 1000}), "limit"),
        ("extract_keywords", json!({"text": 7}), "text"),
        ("extract_keywords", json!({"text": "a text", "file_text": "b"}), "not both"),
        ("extract_keywords", json!({"text": "a text", "file": "/etc/passwd"}), "file"),
        ("summarize_text", json!({"text": "A text.", "sentences": 1, "ratio": 0.5}), "not both"),
        ("summarize_text", json!({"text": "A text.", "ratio": 7}), "ratio"),
        ("classify_text", json!({"text": "A text.", "labels": ["one"]}), "labels"),
        ("classify_text", json!({"text": "A text.", "labels": ["one", "One "]}), "twice"),
        ("classify_text", json!({"text": "A text.", "labels": [{"nam": "x"}, "y"]}), "labels"),
    ] {
        let result = call(tool, arguments.clone());
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(result["isError"], json!(true), "{tool} {arguments}: {result}");
        assert!(
            text.starts_with("INVALID_INPUT") && text.contains(said),
            "{tool} {arguments}: {text}"
        );
    }
}

#[test]
fn flags_that_cannot_work_are_refused_at_once() {
    for (flags, said) in [
        (vec!["--gateway", "nowhere"], "--gateway"),
        (vec!["--gateway", "ftp://localhost"], "--gateway"),
        (vec!["--gateway", "http://127.0.0.1:9", "--name", "a/b"], "--name"),
        (vec!["--gateway", "http://127.0.0.1:9", "--public-url", "mailto:x"], "--public-url"),
        (vec!["--gateway", "http://127.0.0.1:9", "--listen", "0.0.0.0:0"], "--public-url"),
        (vec!["--stdio", "--listen", "127.0.0.1:0"], "--listen"),
        (vec!["--embeddings", "/nonexistent"], "/nonexistent/model.safetensors cannot be read"),
    ] {
        let output = run(&flags, "");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {stderr}");
        assert!(stderr.contains(said), "{flags:?}: {stderr}");
    }
}

/// A model in which `quax` means the same as `drin`.
fn model() -> tempfile::TempDir {
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "post_processor": null,
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "decoder": null,
        "model": {
            "type": "WordLevel", "unk_token": "[UNK]",
            "vocab": {"[UNK]": 0, "zorb": 1, "quax": 2, "drin": 3},
        },
    });
    let rows: [f32; 8] = [0.0, 0.0, 1.0, 0.1, 0.1, 1.0, 0.2, 0.9];
    let data: Vec<u8> = rows.iter().flat_map(|number| number.to_le_bytes()).collect();
    let header = r#"{"embeddings": {"dtype": "F32", "shape": [4, 2], "data_offsets": [0, 32]}}"#;
    let tensors = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.safetensors"), tensors).unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    folder
}

#[test]
fn embeddings_classify_by_meaning() {
    let folder = model();
    let flags = ["--stdio", "--embeddings", folder.path().to_str().unwrap()];
    let arguments = json!({"text": "A quax.", "labels": ["zorb", "drin"]});
    let words = call("classify_text", arguments.clone())["structuredContent"].take();
    assert_eq!(words["label"], json!(null), "{words}");
    let meaning = call_with(&flags, "classify_text", arguments)["structuredContent"].take();
    assert_eq!(meaning["label"], json!("drin"), "{meaning}");
    assert_eq!(meaning["labels"][0]["evidence"], json!(["quax"]), "{meaning}");

    std::fs::write(folder.path().join("tokenizer.json"), "{").unwrap();
    let output = run(&flags, "");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("--embeddings") && stderr.contains("not JSON"), "{stderr}");
}

#[test]
fn definitions_do_not_depend_on_the_model() {
    let folder = model();
    let list = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }},
    });
    let tools = |flags: &[&str]| {
        let line = String::from_utf8(run(flags, &format!("{list}\n")).stdout).unwrap();
        serde_json::from_str::<Value>(line.lines().next().unwrap()).unwrap()["result"].take()
    };
    let plain = tools(&["--stdio"]);
    assert_eq!(plain["tools"].as_array().map(Vec::len), Some(3), "{plain}");
    assert_eq!(plain, tools(&["--stdio", "--embeddings", folder.path().to_str().unwrap()]));
}
