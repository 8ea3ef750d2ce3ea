//! The server as a program: its tools over stdin and stdout, its flags, and bad input.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests play the client")]

use std::io::{BufRead as _, BufReader, Cursor, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/// Calls tools of one process at once; the results are in the order of the calls.
fn call_all(flags: &[&str], calls: &[(&str, Value)]) -> Vec<Value> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_audit-compliance-mcp"))
        .arg("--stdio")
        .args(flags)
        .env_remove("POWERSTRIP_GATEWAY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let messages: Vec<String> = calls
        .iter()
        .enumerate()
        .map(|(id, (tool, arguments))| {
            let message = json!({
                "jsonrpc": "2.0", "id": id, "method": "tools/call",
                "params": {
                    "name": tool, "arguments": arguments,
                    "_meta": {
                        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                        "io.modelcontextprotocol/clientCapabilities": {},
                    },
                },
            });
            format!("{message}\n")
        })
        .collect();
    // Input that ends early would cut long calls short, so it stays open until all answers are there.
    let (done, all_read) = std::sync::mpsc::channel::<()>();
    let writing = std::thread::spawn(move || {
        let written = stdin.write_all(messages.concat().as_bytes()).is_ok();
        all_read.recv().ok();
        written
    });
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answers: Vec<Value> = lines
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .filter(|answer: &Value| answer["id"].is_u64())
        .take(calls.len())
        .collect();
    drop(done);
    assert!(writing.join().unwrap());
    child.wait().unwrap();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers.len(), calls.len());
    answers.into_iter().map(|mut answer| answer["result"].take()).collect()
}

fn call(tool: &str, arguments: Value) -> Value {
    call_all(&["--keep", "off"], &[(tool, arguments)]).remove(0)
}

fn answer(tool: &str, arguments: Value) -> Value {
    let mut result = call(tool, arguments);
    assert_ne!(result["isError"], json!(true), "{result}");
    result["structuredContent"].take()
}

/// The code and message of a call that fails.
fn fault(result: &Value) -> (String, String, Value) {
    assert_eq!(result["isError"], json!(true), "{result}");
    let facts = &result["_meta"]["powerstrip/fault"];
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    (facts["code"].as_str().unwrap().to_owned(), text, facts["details"].clone())
}

fn refused(tool: &str, arguments: Value, code: &str, part: &str) -> Value {
    let (found, message, details) = fault(&call(tool, arguments));
    assert!(found == code && message.contains(part), "{found} {message}");
    details
}

fn encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../crates/documents/tests/fixtures")
        .join(name);
    encoded(&std::fs::read(path).unwrap())
}

/// A small Word document.
fn document(body: &str) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let types = r#"<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#;
    let relations = r#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#;
    let main = format!(
        r#"<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>"#
    );
    let core = r#"<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>Anna Weber</dc:creator></cp:coreProperties>"#;
    for (name, content) in [
        ("[Content_Types].xml", types),
        ("_rels/.rels", relations),
        ("docProps/core.xml", core),
        ("word/document.xml", &main),
    ] {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn paragraph(runs: &[&str]) -> String {
    let runs: String = runs
        .iter()
        .map(|run| format!(r#"<w:r><w:t xml:space="preserve">{run}</w:t></w:r>"#))
        .collect();
    format!("<w:p>{runs}</w:p>")
}

#[test]
fn find_pii_counts_code_points_and_hides_values() {
    let text = "😀 ähm: Anna Weber, anna@lumen.com, card 4111 1111 1111 1111";
    let found = answer("find_pii", json!({"text": text, "include_text": true}));
    assert_eq!(
        found["counts"],
        json!({"CREDIT_CARD": 1, "EMAIL_ADDRESS": 1, "PERSON": 1}),
        "{found}"
    );
    let characters: Vec<char> = text.chars().collect();
    for span in found["spans"].as_array().unwrap() {
        let (start, end) =
            (span["start"].as_u64().unwrap() as usize, span["end"].as_u64().unwrap() as usize);
        let written: String = characters[start..end].iter().collect();
        assert_eq!(span["text"], json!(written));
        assert!(span["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
    }
    assert_eq!(found["spans"][0]["tier"], json!("context"));
    assert_eq!(found["spans"][1]["tier"], json!("pattern"));
    let hidden = answer("find_pii", json!({"file_text": text, "types": ["EMAIL_ADDRESS"]}));
    assert_eq!(hidden["counts"], json!({"EMAIL_ADDRESS": 1}));
    assert!(!hidden.to_string().contains("lumen"), "{hidden}");
    let region = json!({"text": "3012345678", "region": "DE", "types": ["PHONE_NUMBER"]});
    assert_eq!(answer("find_pii", region)["counts"], json!({"PHONE_NUMBER": 1}));
}

#[test]
fn redact_replaces_texts_in_each_mode() {
    let text = "Anna Weber wrote to anna@lumen.com. Anna Weber left.";
    let done = |mode: &str| answer("redact", json!({"text": text, "mode": mode}));
    assert_eq!(
        done("label")["content"],
        json!("[PERSON] wrote to [EMAIL_ADDRESS]. [PERSON] left.")
    );
    assert_eq!(
        done("pseudonym")["content"],
        json!("PERSON_1 wrote to EMAIL_ADDRESS_1. PERSON_1 left.")
    );
    let masked = answer("redact", json!({"text": text}));
    assert_eq!(masked["verified"], json!(true));
    assert_eq!(
        masked["redacted"],
        json!([{"type": "EMAIL_ADDRESS", "count": 1}, {"type": "PERSON", "count": 2}])
    );
    assert!(!masked["content"].as_str().unwrap().contains("Anna"));
    let spans = json!({"text": "é Zorro rides", "spans": [{"start": 2, "end": 7, "type": "PERSON"}], "mode": "label"});
    assert_eq!(answer("redact", spans)["content"], json!("é [PERSON] rides"));
    let nested: Vec<Value> = (0..40).map(|_| json!({"start": 0, "end": 10})).collect();
    let nested = json!({"text": "Zorro rides", "spans": nested});
    refused("redact", nested, "INVALID_INPUT", "/spans: together");
    let file = json!({"file_data": encoded(text.as_bytes()), "file_type": "text/plain", "types": ["EMAIL_ADDRESS"], "mode": "remove"});
    assert_eq!(answer("redact", file)["content"], json!("Anna Weber wrote to . Anna Weber left."));
}

#[test]
fn redact_edits_word_documents_and_serves_them_again() {
    let keep = tempfile::tempdir().unwrap();
    let flags = ["--keep", keep.path().to_str().unwrap()];
    let body = paragraph(&["My name is An", "na We", "ber &amp; I live in Leeds."])
        + &paragraph(&["Write to anna@", "lumen.com"])
        + r#"<w:p><w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml" alt="ANNA WEBER, anna%40lumen.com"/></w:pict></w:r></w:p>"#;
    let arguments =
        json!({"file_data": encoded(&document(&body)), "file_type": WORD, "mode": "label"});
    let result = call_all(&flags, &[("redact", arguments)]).remove(0);
    let done = &result["structuredContent"];
    assert_eq!((&done["format"], &done["verified"]), (&json!("docx"), &json!(true)), "{result}");
    let warning = done["warnings"][0].as_str().unwrap();
    assert!(warning.contains("properties (1)"), "{warning}");
    let reference = done["ref_id"].as_str().unwrap();
    assert!(reference.starts_with("redacted_") && done["media_type"] == json!(WORD), "{done}");
    assert!(
        result["content"]
            .as_array()
            .unwrap()
            .iter()
            .any(|block| block["type"] == json!("resource_link"))
    );
    // Another process with the same folder reads it; nothing is left to redact.
    let again = json!({"source_ref_id": reference, "types": ["PERSON", "EMAIL_ADDRESS"]});
    let again = call_all(&flags, &[("redact", again)]).remove(0);
    assert_eq!(again["structuredContent"]["redacted"], json!([]), "{again}");
    let missing = json!({"source_ref_id": "redacted_0"});
    let (code, message, _) = fault(&call_all(&flags, &[("redact", missing)]).remove(0));
    assert!(code == "NOT_FOUND" && message.contains("again"), "{message}");
}

#[test]
fn redact_covers_values_of_pdfs_with_boxes() {
    let keep = tempfile::tempdir().unwrap();
    let flags = ["--keep", keep.path().to_str().unwrap()];
    let arguments = json!({"file_data": fixture("article.pdf"), "file_type": "application/pdf"});
    let result = call_all(&flags, &[("redact", arguments)]).remove(0);
    let done = &result["structuredContent"];
    assert_eq!((&done["format"], &done["verified"]), (&json!("pdf"), &json!(true)), "{result}");
    // The copy has no text layer that a second call could read.
    let again = json!({"source_ref_id": done["ref_id"]});
    let again = call_all(&flags, &[("redact", again)]).remove(0);
    let again = &again["structuredContent"];
    assert_eq!((&again["scanned"], &again["verified"]), (&json!(true), &json!(false)), "{again}");
    assert!(again["warnings"][0].as_str().unwrap().contains("image-ocr-mcp:extract_document"));
}

#[test]
fn check_quality_scores_by_parts_that_add_up() {
    let text = "# Report\n\nThe goverment wrote the the report. TODO: add figures.\n\n### Details\n\nSee [here](#nowhere).\n";
    let found = answer("check_quality", json!({"text": text}));
    let parts = found["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 6);
    let total: f64 = parts.iter().map(|part| part["contribution"].as_f64().unwrap()).sum();
    assert!((total - found["score"].as_f64().unwrap()).abs() < 0.011, "{found}");
    let checks: Vec<&str> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["check"].as_str().unwrap())
        .collect();
    for check in ["spelling", "consistency", "placeholders", "structure", "links"] {
        assert!(checks.contains(&check), "{check}: {found}");
    }
    let misspelt = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["check"] == json!("spelling"))
        .unwrap();
    assert_eq!(misspelt["suggestions"][0], json!("government"));
    assert!(found["readability"]["flesch"].is_number() && found["readability"]["lix"].is_number());
    let one = answer(
        "check_quality",
        json!({"text": text, "checks": ["placeholders"], "check_links": true}),
    );
    assert_eq!(one["parts"].as_array().unwrap().len(), 1);
    assert_eq!(one["skipped"][0]["what"], json!("check_links"));
}

#[test]
fn dictionaries_come_from_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("qq_QQ.aff"), "SET UTF-8\n").unwrap();
    std::fs::write(folder.path().join("qq_QQ.dic"), "2\nflim\nflam\n").unwrap();
    let flags = ["--keep", "off", "--dictionaries", folder.path().to_str().unwrap()];
    let arguments = json!({"text": "flim flam flum", "language": "qq", "checks": ["spelling"]});
    let found = call_all(&flags, &[("check_quality", arguments.clone())]).remove(0);
    let findings = found["structuredContent"]["findings"].as_array().unwrap();
    assert!(findings.len() == 1 && findings[0]["start"] == json!(10), "{found}");
    let details = refused("check_quality", arguments, "UNSUPPORTED", "qq");
    assert!(
        details["package"] == json!("hunspell-qq")
            && details["installed"].as_array().unwrap().contains(&json!("en"))
    );
    let partly = answer("check_quality", json!({"text": "flim flam flum", "language": "qq"}));
    assert_eq!(partly["skipped"][0]["what"], json!("spelling"));
    assert_eq!(partly["parts"].as_array().unwrap().len(), 5);
}

#[test]
fn validate_compliance_judges_by_packs() {
    let notice = "We are the controller, privacy@lumen.com. We use your data with your consent for our purposes and keep it.";
    let found = answer("validate_compliance", json!({"text": notice, "pack": "privacy-notice"}));
    assert_eq!(found["pack"], json!({"name": "privacy-notice", "version": "1.0"}));
    let status = |rule: &str| {
        let findings = found["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["rule"] == json!(rule)).unwrap()["status"].clone()
    };
    assert_eq!(
        (status("controller"), status("complaint"), status("officer")),
        (json!("satisfied"), json!("violated"), json!("not_applicable"))
    );
    let total: u64 =
        found["counts"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(total as usize, found["findings"].as_array().unwrap().len());
    assert!(!found.to_string().contains("\"compliant\""));
    let rules = "name: own\nversion: 2\nrules:\n  - id: fee\n    title: Fee\n    message: State the fee.\n    require: {phrase: fee}\n";
    let own = answer("validate_compliance", json!({"text": "ä The fee is due.", "rules": rules}));
    assert_eq!(own["findings"][0]["evidence"], json!([{"start": 6, "end": 9, "text": "fee"}]));
    let broken = rules.replace("phrase: fee", "regex: '('");
    let details = refused(
        "validate_compliance",
        json!({"text": "x", "rules": broken}),
        "INVALID_INPUT",
        "line 4: rule `fee`",
    );
    assert_eq!(details, json!({"line": 4, "rule": "fee"}));
    refused(
        "validate_compliance",
        json!({"text": "x", "rules": "name: [", }),
        "INVALID_INPUT",
        "/rules: line 1",
    );
    refused("validate_compliance", json!({"text": "x"}), "INVALID_INPUT", "/pack");
    refused(
        "validate_compliance",
        json!({"text": "x", "rules": rules, "pack": "plain-language"}),
        "INVALID_INPUT",
        "/rules",
    );
    refused("validate_compliance", json!({"text": "x", "pack": "none"}), "INVALID_INPUT", "/pack");
}

#[test]
fn compare_documents_lists_changes_with_pages() {
    let old = encoded(b"Terms\n\nThe fee is 100 euros per month.\n\nOld clause that goes away.");
    let new = encoded(b"Terms\n\nThe fee is 120 euros per month.\n\nBrand new words follow here.");
    let found = answer(
        "compare_documents",
        json!({"old_file_data": old, "new_file_data": new, "old_file_type": "text/plain"}),
    );
    let kinds: Vec<&str> = found["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["changed", "removed", "added"], "{found}");
    assert_eq!(found["changes"][0]["after"], json!("The fee is 120 euros per month."));
    let pdf = json!({"old_file_data": fixture("article.pdf"), "new_file_data": fixture("other.pdf"), "new_file_type": "text/plain"});
    let found = answer("compare_documents", pdf);
    assert!(
        found["changes"].as_array().unwrap().iter().any(|change| change["old_page"].is_u64()),
        "{found}"
    );
    assert!(found["warnings"][0].as_str().unwrap().contains("application/pdf"), "{found}");
    let same =
        json!({"old_file_data": fixture("report.docx"), "new_file_data": fixture("report.docx")});
    let found = answer("compare_documents", same);
    assert_eq!(
        (&found["similarity"], found["changes"].as_array().unwrap().len()),
        (&json!(1.0), 0)
    );
}

#[test]
fn bad_arguments_are_refused_with_their_path() {
    refused("find_pii", json!({"text": ""}), "INVALID_INPUT", "/text");
    refused("find_pii", json!({"text": " \n.,"}), "INVALID_INPUT", "no words");
    refused("find_pii", json!({}), "INVALID_INPUT", "/text");
    refused("find_pii", json!({"text": "a", "file_text": "b"}), "INVALID_INPUT", "not both");
    refused("find_pii", json!({"text": "a", "colour": 1}), "INVALID_INPUT", "colour");
    refused(
        "find_pii",
        json!({"text": "a", "min_confidence": 2}),
        "INVALID_INPUT",
        "/min_confidence",
    );
    refused("find_pii", json!({"text": "a", "types": ["NAME"]}), "INVALID_INPUT", "/types/0");
    refused("find_pii", json!({"text": "a", "region": "Germany"}), "INVALID_INPUT", "/region");
    refused("redact", json!({}), "INVALID_INPUT", "exactly one");
    refused("redact", json!({"text": "a", "source_ref_id": "b"}), "INVALID_INPUT", "exactly one");
    refused(
        "redact",
        json!({"text": "a", "types": ["AGE"], "spans": [{"start": 0, "end": 1}]}),
        "INVALID_INPUT",
        "/spans",
    );
    refused(
        "redact",
        json!({"text": "abc", "spans": [{"start": 2, "end": 9}]}),
        "INVALID_INPUT",
        "/spans/0",
    );
    refused(
        "redact",
        json!({"text": "abc", "spans": [{"start": 2, "end": 2}]}),
        "INVALID_INPUT",
        "/spans/0",
    );
    for (tool, arguments, part) in [
        ("redact", json!({"file_data": "%%", "file_type": "text/plain"}), "base64"),
        ("redact", json!({"text": "a", "mode": "hide"}), "/mode"),
        ("check_quality", json!({"text": "a", "checks": ["style"]}), "/checks/0"),
        ("compare_documents", json!({"old_file_data": "eA=="}), "new_file_data"),
    ] {
        refused(tool, arguments, "INVALID_INPUT", part);
    }
    let long = "a ".repeat(1_000_001);
    refused("find_pii", json!({"text": long}), "INVALID_INPUT", "/text");
}

#[test]
fn bad_documents_fail_their_call_only() {
    let good = encoded(b"Some words.");
    let compared = |old: String| json!({"old_file_data": old, "new_file_data": good});
    let bomb = document(&paragraph(&[&"a".repeat(70 << 20)]));
    let mut damaged = document(&paragraph(&["Anna Weber"]));
    damaged.truncate(damaged.len() - 40);
    let results = call_all(
        &["--keep", "off"],
        &[
            ("compare_documents", compared(fixture("locked.pdf"))),
            ("redact", json!({"file_data": encoded(&bomb), "file_type": WORD})),
            ("compare_documents", compared(encoded(&damaged))),
            ("redact", json!({"file_data": fixture("orders.xlsx")})),
            (
                "redact",
                json!({"file_data": encoded(b"Anna Weber called."), "file_type": "application/pdf", "mode": "label"}),
            ),
            ("find_pii", json!({"text": "Anna Weber"})),
        ],
    );
    let reason = |index: usize| {
        let (code, message, details) = fault(&results[index]);
        assert_eq!(code, "INVALID_INPUT", "{message}");
        details["reason"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(reason(0), "encrypted");
    assert_eq!(reason(1), "too_large");
    assert_eq!(reason(2), "damaged");
    assert_eq!(fault(&results[3]).0, "UNSUPPORTED");
    let text = &results[4]["structuredContent"];
    assert_eq!(text["content"], json!("[PERSON] called."), "{text}");
    assert!(text["warnings"][0].as_str().unwrap().contains("application/pdf"));
    assert_eq!(results[5]["structuredContent"]["counts"], json!({"PERSON": 1}));
}

#[test]
fn long_texts_stay_fast() {
    let text =
        "Anna Weber of Leeds paid 20 euros to anna@lumen.com on 3 March 2024. ".repeat(14_000);
    let start = std::time::Instant::now();
    let found = answer("find_pii", json!({"text": text}));
    assert_eq!(found["truncated"], json!(true), "the list is cut");
    assert!(start.elapsed() < std::time::Duration::from_secs(60), "{:?}", start.elapsed());
}

/// The first block of this language in the guide.
fn example(language: &str) -> String {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/guide/audit-compliance.md");
    let guide = std::fs::read_to_string(path).unwrap();
    let (_, block) = guide.split_once(&format!("```{language}\n")).unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_examples_of_the_guide_work() {
    let block = example("json");
    let values: Vec<Value> =
        serde_json::Deserializer::from_str(&block).into_iter().collect::<Result<_, _>>().unwrap();
    let [call, expected] = &values[..] else { panic!("a call and its answer: {block}") };
    assert_eq!(answer(call["tool"].as_str().unwrap(), call["arguments"].clone()), *expected);
    let text = "This offer is valid until 2031-05-06 and we like it.";
    let found = answer("validate_compliance", json!({"text": text, "rules": example("yaml")}));
    assert_eq!(
        found["counts"],
        json!({"satisfied": 2, "violated": 0, "undecided": 0, "not_applicable": 0}),
        "{found}"
    );
}

#[test]
fn a_long_text_is_worked_on_like_a_short_one() {
    let filler = "The river is calm and the boats are small today.\n\n".repeat(500);
    let text = format!("Write to anna.roe@lumen.com about the teh report.\n\n{filler}");
    let rules = "name: own\nversion: 1\nrules:\n  - {id: a, title: T, message: M, forbid: {regex: 'teh'}}\n";
    let found = answer("find_pii", json!({"text": text, "types": ["EMAIL_ADDRESS"]}));
    assert_eq!(found["counts"], json!({"EMAIL_ADDRESS": 1}));
    let body = paragraph(&["Write to anna.roe@lumen.com."])
        + &paragraph(&["The river is calm and the boats are small today."]).repeat(600);
    let keep = tempfile::tempdir().unwrap();
    let flags = ["--keep", keep.path().to_str().unwrap()];
    let arguments = json!({"file_data": encoded(&document(&body)), "file_type": WORD});
    let redacted = call_all(&flags, &[("redact", arguments)]).remove(0);
    assert_eq!(redacted["structuredContent"]["verified"], json!(true), "{redacted}");
    let quality = answer("check_quality", json!({"text": text, "checks": ["spelling"]}));
    assert!(quality["findings"][0]["message"].as_str().unwrap().contains("teh"), "{quality}");
    let judged = answer("validate_compliance", json!({"text": text, "rules": rules}));
    assert_eq!(judged["counts"]["violated"], json!(1));
}
