//! The server as a program: its tools over stdin and stdout, with the real tesseract.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests play the client")]

#[path = "process/client.rs"]
mod client;
#[path = "process/pictures.rs"]
mod pictures;

use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ocr::grey::Turn;
use serde_json::{Value, json};

use self::client::Client;

const LINES: [&str; 4] = [
    "The night ferry leaves at 22:45 from pier 7",
    "and arrives before dawn. Passengers with",
    "bicycles should board first, and nothing",
    "happens to anyone who is late by a minute.",
];

fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn fault(result: &Value) -> &Value {
    assert_eq!(result["isError"], json!(true), "{result}");
    &result["_meta"]["powerstrip/fault"]
}

#[test]
fn a_picture_is_read_with_the_places_of_its_words() {
    let mut client = Client::start(&[]);
    let picture = encode(&pictures::png(&LINES, Turn::None));
    let read = client.answer("extract", json!({"image_data": picture, "image_type": "image/png"}));
    assert_eq!(words(read["text"].as_str().unwrap()), words(&LINES.join(" ")), "{read}");
    assert_eq!(read["engine"]["name"], json!("tesseract"));
    assert!(read["engine"]["version"].as_str().unwrap().starts_with(char::is_numeric), "{read}");
    assert_eq!(read["languages"][0], json!("eng"));
    assert_eq!(read["rotation"], json!(0));
    assert!(read["mean_confidence"].as_f64().unwrap() > 0.8, "{read}");
    assert!(read.get("tables").is_none() && read.get("warnings").is_none(), "{read}");
    let found = read["words"].as_array().unwrap();
    let first = &found[0];
    assert_eq!((first["text"].as_str(), first["line"].as_u64()), (Some("The"), Some(0)));
    assert_eq!(found.last().unwrap()["line"], json!(3));
    // The text begins 72 points from the left of a page with 200 pixels to the inch.
    let left = first["bbox"][0].as_i64().unwrap();
    assert!((left - 200).abs() < 10, "{first}");
}

#[test]
fn a_picture_upside_down_is_turned_and_its_places_are_those_of_the_picture() {
    let mut client = Client::start(&[]);
    let upright =
        client.answer("extract", json!({"image_data": encode(&pictures::png(&LINES, Turn::None))}));
    for (turn, rotation) in [(Turn::Half, 180), (Turn::Quarter, 270)] {
        let picture = encode(&pictures::png(&LINES, turn));
        let read = client.answer("extract", json!({"image_data": picture}));
        assert_eq!(read["rotation"], json!(rotation), "{read}");
        assert_eq!(read["text"], upright["text"]);
        let (width, height) = pictures::SIZE;
        let [left, top, right, bottom] =
            [0, 1, 2, 3].map(|at| upright["words"][0]["bbox"][at].as_i64().unwrap());
        let expected = match turn {
            Turn::Half => [width - right, height - bottom, width - left, height - top],
            _ => [height - bottom, left, height - top, right],
        };
        for (at, expected) in expected.iter().enumerate() {
            let found = read["words"][0]["bbox"][at].as_i64().unwrap();
            assert!((found - expected).abs() <= 3, "{turn:?}: {found} for {expected}");
        }
    }
}

#[test]
fn tables_are_found_where_they_are_asked_for() {
    let mut client = Client::start(&[]);
    let rows = [
        "Article          Price",
        "Flat white        6.40",
        "Cheese toast      7.25",
        "Still water       5.70",
    ];
    let picture = encode(&pictures::png_of(&pictures::columns(&rows)));
    let read = client.answer("extract", json!({"image_data": picture, "tables": true}));
    let table = &read["tables"][0];
    assert_eq!(table["method"], json!("text"), "{read}");
    assert_eq!(table["rows"][1], json!(["Flat white", "6.40"]), "{read}");
    assert_eq!(table["rows"].as_array().unwrap().len(), 4);
    assert!(table["markdown"].as_str().unwrap().contains("| Cheese toast | 7.25 |"), "{read}");
}

#[test]
fn documents_give_their_text_and_scans_are_recognized() {
    let mut client = Client::start(&[]);
    let document = encode(&pictures::pdf(&LINES));
    let read = client
        .answer("extract_document", json!({"file_data": document, "file_type": "application/pdf"}));
    assert_eq!(words(read["text"].as_str().unwrap()), words(&LINES.join(" ")));
    assert_eq!(read["pages"][0]["origin"], json!("text"), "{read}");
    assert_eq!((&read["engine"], &read["page_count"]), (&Value::Null, &json!(1)));
    assert!(read.get("next_page").is_none() && read.get("ref_id").is_none(), "{read}");

    let scan = encode(&pictures::scan(&LINES));
    let read = client.answer("extract_document", json!({"file_data": scan, "output": "pdf"}));
    assert_eq!(words(read["text"].as_str().unwrap()), words(&LINES.join(" ")), "{read}");
    assert_eq!(read["pages"][0]["origin"], json!("ocr"));
    assert!(read["pages"][0]["mean_confidence"].as_f64().unwrap() > 0.8);
    assert_eq!(read["media_type"], json!("application/pdf"));
    assert!(read["ref_id"].as_str().unwrap().starts_with("scan_"), "{read}");

    // The new PDF has the text.
    let stored = client.stored_bytes();
    let again = client.answer("extract_document", json!({"file_data": encode(&stored)}));
    assert_eq!(again["pages"][0]["origin"], json!("text"), "{again}");
    assert_eq!(words(again["text"].as_str().unwrap()), words(&LINES.join(" ")), "{again}");
}

#[test]
fn a_picture_is_a_document_of_one_page() {
    let mut client = Client::start(&[]);
    let picture = encode(&pictures::png(&LINES, Turn::None));
    let read = client.answer(
        "extract_document",
        json!({"file_data": picture, "file_type": "image/tiff", "output": "pdf", "languages": ["en"]}),
    );
    assert_eq!(words(read["text"].as_str().unwrap()), words(&LINES.join(" ")), "{read}");
    assert_eq!((&read["page_count"], &read["languages"]), (&json!(1), &json!(["eng"])));
    assert!(read["warnings"][0].as_str().unwrap().contains("image/png"), "{read}");
    assert!(client.stored_bytes().starts_with(b"%PDF"));
}

#[test]
fn input_that_cannot_be_read_says_what_to_do() {
    let mut client = Client::start(&[]);
    let whole = pictures::png(&LINES, Turn::None);
    let picture = encode(&whole);
    let damaged = encode(&whole[..whole.len() / 2]);
    let text = encode(b"just a text");
    let pdf = encode(&pictures::pdf(&LINES));
    for (tool, input, said) in [
        ("extract", json!({}), "image_data"),
        ("extract", json!({"image_data": ""}), "image_data"),
        ("extract", json!({"image_data": "%%%"}), "base64"),
        ("extract", json!({"image_data": picture, "file": "/etc/passwd"}), "file"),
        ("extract", json!({"image_data": picture, "tables": "yes"}), "tables"),
        ("extract", json!({"image_data": damaged}), "damaged"),
        ("extract", json!({"image_data": text}), "picture"),
        ("extract", json!({"image_data": encode(&pictures::bomb())}), "too large"),
        ("extract", json!({"image_data": encode(&pictures::tall(&LINES, 33_000))}), "parts"),
        ("extract_document", json!({"file_data": pdf, "pages": "2"}), "/pages"),
        ("extract_document", json!({"file_data": pdf, "pages": "x"}), "/pages"),
        ("extract_document", json!({"file_data": pdf, "output": "docx"}), "output"),
        ("extract_document", json!({"file_data": text, "output": "pdf"}), "/output"),
        ("extract_document", json!({"file_data": encode(b"%PDF-1.7 broken")}), "damaged"),
    ] {
        let result = client.call(tool, input);
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(fault(&result)["code"], json!("INVALID_INPUT"), "{said}: {result}");
        assert!(text.contains(said), "{said}: {text}");
    }
    // The server goes on.
    client.answer("extract", json!({"image_data": picture}));
}

#[test]
fn a_language_that_is_not_installed_names_its_package() {
    let mut client = Client::start(&[]);
    let picture = encode(&pictures::png(&LINES, Turn::None));
    let result = client.call("extract", json!({"image_data": picture, "languages": ["xyz"]}));
    let fault = fault(&result);
    assert_eq!(fault["code"], json!("UNSUPPORTED"), "{result}");
    assert_eq!(fault["details"]["package"], json!("tesseract-ocr-xyz"));
    let installed = fault["details"]["installed"].as_array().unwrap();
    assert!(installed.contains(&json!("eng")), "{result}");
}

#[test]
fn without_tesseract_only_documents_with_text_are_read() {
    let mut client = Client::start(&["--tesseract", "/nonexistent"]);
    let picture = encode(&pictures::png(&LINES, Turn::None));
    for (tool, input) in [
        ("extract", json!({"image_data": picture})),
        ("extract_document", json!({"file_data": picture})),
    ] {
        let result = client.call(tool, input);
        let fault = fault(&result);
        assert_eq!(fault["code"], json!("UNSUPPORTED"), "{result}");
        let expected = json!({
            "program": "tesseract", "package": "tesseract-ocr", "fix": "apt install tesseract-ocr",
        });
        assert_eq!(fault["details"], expected, "{result}");
    }
    let read =
        client.answer("extract_document", json!({"file_data": encode(&pictures::pdf(&LINES))}));
    assert_eq!(read["pages"][0]["origin"], json!("text"));
}

#[test]
fn models_that_are_missing_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(&["--ocr-models", folder.path().to_str().unwrap()]);
    let result =
        client.call("extract", json!({"image_data": encode(&pictures::png(&LINES, Turn::None))}));
    assert_eq!(fault(&result)["code"], json!("UNSUPPORTED"), "{result}");
    assert!(result.to_string().contains("det.onnx"), "{result}");
}

/// A program in the place of tesseract, which reads pictures with this command.
fn tesseract_that(command: &str) -> (tempfile::TempDir, Client) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("tesseract");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n  --version) echo tesseract 5.0.0;;\n  --list-langs) printf 'List:\\neng\\n';;\n  \
         *) {command};;\nesac\n"
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let client = Client::start(&["--tesseract", program.to_str().unwrap()]);
    (folder, client)
}

#[test]
fn a_scan_with_very_many_words_becomes_a_pdf() {
    let words = "cat > /dev/null; seq -f '5\t1\t1\t1\t1\t1\t200\t300\t60\t20\t90\tword%g' 20000";
    let (_folder, mut client) = tesseract_that(words);
    let picture = encode(&pictures::png(&LINES, Turn::None));
    let read = client.answer("extract_document", json!({"file_data": picture, "output": "pdf"}));
    assert!(read["text"].as_str().unwrap().contains("word20000"), "{read}");
    assert!(client.stored_bytes().starts_with(b"%PDF"));
}

#[test]
fn a_program_that_prints_too_much_fails_its_call_only() {
    let line = "a".repeat(68);
    let (_folder, mut client) = tesseract_that(&format!("while :; do echo {line}; done"));
    let picture = encode(&pictures::png(&LINES, Turn::None));
    let result = client.call("extract", json!({"image_data": picture}));
    assert_eq!(fault(&result)["code"], json!("INVALID_INPUT"), "{result}");
    assert!(result.to_string().contains("prints more than"), "{result}");
    let read =
        client.answer("extract_document", json!({"file_data": encode(&pictures::pdf(&LINES))}));
    assert_eq!(read["pages"][0]["origin"], json!("text"));
}
