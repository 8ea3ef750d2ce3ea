//! The server as a program: its tools over stdin and stdout.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests play the client")]

#[path = "process/files.rs"]
mod files;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// One process for several calls, without LibreOffice.
fn calls(calls: &[(&str, Value)]) -> Vec<Value> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_doc-parser-mcp"))
        .args(["--stdio", "--keep", "off", "--libreoffice", "/nonexistent"])
        .env_remove("POWERSTRIP_GATEWAY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = String::new();
    for (id, (tool, arguments)) in calls.iter().enumerate() {
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
        lines.push_str(&format!("{message}\n"));
    }
    let writing = std::thread::spawn(move || {
        stdin.write_all(lines.as_bytes()).unwrap();
        stdin
    });
    let mut answers = vec![Value::Null; calls.len()];
    let stdout = BufReader::new(child.stdout.take().unwrap());
    // The end of stdin ends the server, also in the middle of a call.
    for line in stdout.lines().take(calls.len()) {
        let mut answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let id = answer["id"].as_u64().unwrap() as usize;
        answers[id] = answer["result"].take();
    }
    drop(writing.join().unwrap());
    assert!(child.wait().unwrap().success());
    answers
}

fn call(tool: &str, arguments: Value) -> Value {
    let mut result = calls(&[(tool, arguments)]).remove(0);
    assert!(!result["isError"].as_bool().unwrap_or(false), "{result}");
    result["structuredContent"].take()
}

fn file(bytes: &[u8], media_type: &str) -> Value {
    json!({"file_data": STANDARD.encode(bytes), "file_type": media_type})
}

fn with(mut arguments: Value, more: Value) -> Value {
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    arguments
}

const PDF: &str = "application/pdf";

#[test]
fn text_comes_with_the_offsets_of_its_pages() {
    let first = files::texts(&[(72, 700, "The first page is about rivers and the sea.")]);
    let second = files::texts(&[(72, 700, "The second page is about mountains.")]);
    let third = files::texts(&[(72, 700, "The third page.")]);
    let pdf = files::pdf(&[&first, &second, &third], "", &[]);
    let all = call("extract_text", file(&pdf, PDF));
    assert_eq!(all["page_count"], json!(3), "{all}");
    assert_eq!(all["media_type"], json!(PDF));
    assert_eq!(all["language"], json!("en"));
    assert_eq!((&all["scanned"], &all["truncated"]), (&json!(false), &json!(false)));
    let text: Vec<char> = all["text"].as_str().unwrap().chars().collect();
    let span = |page: &Value| {
        let number = |name| page[name].as_u64().unwrap() as usize;
        text[number("start")..number("end")].iter().collect::<String>()
    };
    let pages: Vec<String> = all["pages"].as_array().unwrap().iter().map(span).collect();
    assert!(pages[1].starts_with("The second page"), "{pages:?}");
    assert_eq!(pages.len(), 3);

    let chosen = call("extract_text", with(file(&pdf, PDF), json!({"pages": "3"})));
    assert_eq!(chosen["text"], json!("The third page."), "{chosen}");
    assert_eq!(chosen["pages"], json!([{"page": 3, "start": 0, "end": 15}]));

    let plain = call("extract_text", json!({"content": "Just a text."}));
    assert_eq!(plain["text"], json!("Just a text."), "{plain}");
}

#[test]
fn a_body_has_no_running_heads() {
    let page = |number: &str, text: &str| {
        files::texts(&[
            (72, 770, "Annual report of the river"),
            (72, 720, "It has been a long year for all who live"),
            (72, 707, "at the river, and for those who sail on"),
            (72, 694, text),
            (290, 30, number),
        ])
    };
    let texts = ["it. Water came first.", "it. Stones came second.", "it. Sand was last."];
    let pages: Vec<String> =
        texts.iter().zip(["1", "2", "3"]).map(|(text, number)| page(number, text)).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let pdf = files::pdf(&pages, "", &[]);
    let all = call("extract_text", file(&pdf, PDF));
    assert!(all["text"].as_str().unwrap().contains("Annual report"), "{all}");
    let body = call("extract_text", with(file(&pdf, PDF), json!({"part": "body"})));
    let text = body["text"].as_str().unwrap();
    assert!(texts.iter().all(|line| text.contains(line)), "{body}");
    assert!(!text.contains("Annual") && !text.contains(['1', '2', '3']), "{body}");
}

#[test]
fn markdown_has_headings_and_tables() {
    let html = "<h1>Rivers</h1><p>The Elm is long.</p>";
    let read = call(
        "extract_text",
        with(file(html.as_bytes(), "text/html"), json!({"format": "markdown"})),
    );
    assert_eq!(read["text"], json!("# Rivers\n\nThe Elm is long."), "{read}");
    assert_eq!(read["format"], json!("markdown"));
}

#[test]
fn ruled_tables_are_found_with_their_place() {
    let rows: [&[&str]; 3] = [&["River", "Length"], &["Elm", "120"], &["Oder", "840"]];
    let pdf = files::pdf(&["", &files::ruled(100, 500, &rows)], "", &[]);
    let answer = call("extract_tables", file(&pdf, PDF));
    assert_eq!(answer["page_count"], json!(2));
    let table = &answer["tables"][0];
    assert_eq!(table["page"], json!(2), "{answer}");
    assert_eq!(table["rows"], json!([["River", "Length"], ["Elm", "120"], ["Oder", "840"]]));
    assert_eq!(table["method"], json!("lines"));
    assert_eq!(table["bbox"], json!([100.0, 500.0, 300.0, 560.0]));
    assert_eq!(
        table["markdown"],
        json!("| River | Length |\n| --- | --- |\n| Elm | 120 |\n| Oder | 840 |")
    );
    assert_eq!(
        table["cells"][3],
        json!({"row": 1, "col": 1, "row_end": 1, "col_end": 1, "text": "120"})
    );
    let none = call("extract_tables", with(file(&pdf, PDF), json!({"pages": "1"})));
    assert_eq!(none["tables"], json!([]), "{none}");
}

#[test]
fn each_region_has_one_table() {
    let page = files::texts(&[
        (100, 700, "Tree"),
        (200, 700, "Height"),
        (100, 685, "Oak"),
        (200, 685, "30"),
        (100, 670, "Pine"),
        (200, 670, "40"),
        (100, 300, "Some text below the table."),
    ]);
    let pdf = files::pdf(&[&page], "", &[]);
    let regions = json!([
        {"page": 1, "bbox": [95, 660, 300, 715]}, {"page": 1, "bbox": [10, 10, 50, 50]},
    ]);
    let answer = call("extract_tables", with(file(&pdf, PDF), json!({"regions": regions})));
    let tables = answer["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 2, "{answer}");
    assert_eq!(tables[0]["rows"], json!([["Tree", "Height"], ["Oak", "30"], ["Pine", "40"]]));
    assert_eq!(tables[0]["method"], json!("text"));
    assert_eq!(tables[1]["cells"], json!([]));
}

#[test]
fn native_tables_keep_their_merged_cells() {
    let cell = |more: &str, text: &str| {
        format!("<w:tc><w:tcPr>{more}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>")
    };
    let docx = files::docx(
        &format!(
            "<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>{}{}</w:tr><w:tr>{}{}{}</w:tr></w:tbl>",
            cell("<w:vMerge w:val='restart'/>", "Name"),
            cell("<w:gridSpan w:val='2'/>", "Both"),
            cell("<w:vMerge/>", ""),
            cell("", "left"),
            cell("", "right"),
        ),
        &[],
    );
    let expected = json!([
        {"row": 0, "col": 0, "row_end": 1, "col_end": 0, "text": "Name"},
        {"row": 0, "col": 1, "row_end": 0, "col_end": 2, "text": "Both"},
        {"row": 1, "col": 1, "row_end": 1, "col_end": 1, "text": "left"},
        {"row": 1, "col": 2, "row_end": 1, "col_end": 2, "text": "right"},
    ]);
    let html = "<table><tr><th rowspan=2>Name</th><th colspan=2>Both</th></tr>\
        <tr><td>left<td>right</tr></table>";
    let text = |text: &str| format!("<a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody>");
    let pptx = files::pptx(&format!(
        "<a:tbl><a:tblPr firstRow='1'/><a:tr><a:tc rowSpan='2'>{}</a:tc><a:tc gridSpan='2'>{}</a:tc><a:tc hMerge='1'/></a:tr>\
         <a:tr><a:tc vMerge='1'/><a:tc>{}</a:tc><a:tc>{}</a:tc></a:tr></a:tbl>",
        text("Name"),
        text("Both"),
        text("left"),
        text("right"),
    ));
    let string =
        |at: &str, text: &str| format!("<c r='{at}' t='inlineStr'><is><t>{text}</t></is></c>");
    let xlsx = files::xlsx(&format!(
        "<sheetData><row r='3'>{}{}</row><row r='4'>{}{}</row></sheetData>\
         <mergeCells><mergeCell ref='B3:B4'/><mergeCell ref='C3:D3'/></mergeCells>",
        string("B3", "Name"),
        string("C3", "Both"),
        string("C4", "left"),
        string("D4", "right"),
    ));
    for (kind, bytes) in
        [("DOCX", docx), ("HTML", html.as_bytes().to_vec()), ("PPTX", pptx), ("XLSX", xlsx)]
    {
        let answer = call("extract_tables", file(&bytes, ""));
        let table = &answer["tables"][0];
        assert_eq!(table["cells"], expected, "{kind}: {answer}");
        assert_eq!(table["method"], json!("native"), "{kind}");
        assert_eq!(table["header_rows"], json!(1), "{kind}");
        assert_eq!((&table["page"], &table["bbox"]), (&json!(1), &Value::Null), "{kind}");
    }
}

#[test]
fn metadata_says_what_a_pdf_is() {
    let page = files::texts(&[(72, 700, "A form with two fields and an outline.")]);
    let catalog = "/Lang (en) /Outlines 6 0 R /AcroForm << /Fields [8 0 R 9 0 R] >>";
    let pdf = files::pdf(
        &[&page],
        catalog,
        &[
            "<< /First 7 0 R /Last 7 0 R /Count 1 >>",
            "<< /Title (Chapter one) /Parent 6 0 R /Dest [4 0 R /Fit] >>",
            "<< /FT /Tx /T (name) /V (Ada) >>",
            "<< /FT /Sig /T (sign) /V << /Type /Sig >> >>",
        ],
    );
    let said = call("metadata", file(&pdf, PDF));
    assert_eq!(said["outline"], json!([{"level": 1, "title": "Chapter one", "page": 1}]), "{said}");
    assert_eq!(
        said["form_fields"],
        json!([
            {"name": "name", "kind": "text", "value": "Ada"},
            {"name": "sign", "kind": "signature", "value": null},
        ])
    );
    assert_eq!(said["words"], json!(8));
    for (name, value) in [
        ("signed", json!(true)),
        ("encrypted", json!(false)),
        ("scanned", json!(false)),
        ("has_macros", json!(false)),
        ("page_count", json!(1)),
        ("title", Value::Null),
    ] {
        assert_eq!(said[name], value, "{name}: {said}");
    }
}

#[test]
fn metadata_says_what_an_office_file_is() {
    let core = "<cp:coreProperties><dc:title>Rivers</dc:title><dc:creator>Ada;Grace</dc:creator>\
        <dcterms:created>2024-02-03T10:00:00Z</dcterms:created><dcterms:modified>2025-04-05T10:00:00Z</dcterms:modified></cp:coreProperties>";
    let app = "<Properties><Application>Writer</Application><Pages>12</Pages></Properties>";
    let docx = files::docx(
        "<w:p><w:r><w:t>Two words</w:t></w:r></w:p>",
        &[("docProps/core.xml", core), ("docProps/app.xml", app), ("word/vbaProject.bin", "x")],
    );
    let said = call("metadata", file(&docx, ""));
    for (name, value) in [
        ("title", json!("Rivers")),
        ("created", json!("2024-02-03")),
        ("modified", json!("2025-04-05")),
        ("producer", json!("Writer")),
        ("page_count", json!(12)),
        ("words", json!(2)),
        ("has_macros", json!(true)),
        ("signed", json!(false)),
    ] {
        assert_eq!(said[name], value, "{name}: {said}");
    }
}

#[test]
fn a_scanned_pdf_names_the_server_that_reads_it() {
    let image = "q 600 0 0 800 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q";
    let pdf = files::pdf(&[image], "", &[]);
    for tool in ["extract_text", "metadata"] {
        let answer = call(tool, file(&pdf, PDF));
        assert_eq!(answer["scanned"], json!(true), "{tool}: {answer}");
        let warning = answer["warnings"][0].as_str().unwrap();
        assert!(warning.contains("image-ocr-mcp:extract_document"), "{warning}");
    }
    let blank = call("extract_text", file(&files::pdf(&[""], "", &[]), PDF));
    assert_eq!(blank["scanned"], json!(false), "{blank}");
}

#[test]
fn text_whose_characters_are_not_known_is_no_silent_loss() {
    let content = format!("BT /F 12 Tf 60 700 Td <{}> Tj ET", "0102030405".repeat(8));
    let pdf =
        String::from_utf8(files::pdf(&[&content], "", &["<< /Length 0 >>\nstream\n\nendstream"]))
            .unwrap();
    let font = "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 600 700] /FontMatrix [.001 0 0 .001 0 0] \
        /CharProcs << /g1 6 0 R /g2 6 0 R /g3 6 0 R /g4 6 0 R /g5 6 0 R >> \
        /Encoding << /Differences [1 /g1 /g2 /g3 /g4 /g5] >> \
        /FirstChar 1 /LastChar 5 /Widths [600 600 600 600 600] >>";
    let pdf = pdf.replace("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>", font);
    // The table of positions is no longer right.
    let objects = pdf.split("xref\n").next().unwrap();
    let pdf = format!("{objects}trailer << /Root 1 0 R >>\n%%EOF\n");
    for tool in ["extract_text", "metadata"] {
        let answer = call(tool, file(pdf.as_bytes(), PDF));
        let warning = answer["warnings"][0].as_str().unwrap_or_default();
        assert!(warning.contains("pages 1 cannot be read"), "{tool}: {answer}");
        assert!(warning.contains("image-ocr-mcp:extract_document"), "{tool}: {answer}");
    }
}

#[test]
fn bytes_of_another_kind_are_read_with_a_warning() {
    let pdf = files::pdf(&[&files::texts(&[(72, 700, "A text.")])], "", &[]);
    let answer = call("extract_text", file(&pdf, "text/html"));
    assert_eq!(answer["text"], json!("A text."), "{answer}");
    assert!(answer["warnings"][0].as_str().unwrap().contains("application/pdf"), "{answer}");
}

#[test]
fn bad_input_is_refused_with_its_path() {
    let pdf = files::pdf(&["", ""], "", &[]);
    let good = file(&pdf, PDF);
    let cases = [
        ("extract_text", json!({}), "file_data"),
        ("extract_text", with(good.clone(), json!({"content": "x"})), "not both"),
        ("extract_text", json!({"file_data": "%%%"}), "base64"),
        ("extract_text", json!({"file_data": ""}), "file_data"),
        ("extract_text", with(good.clone(), json!({"pages": "2-1"})), "/pages"),
        ("extract_text", with(good.clone(), json!({"pages": "7"})), "no page 7"),
        ("extract_text", with(good.clone(), json!({"format": "html"})), "format"),
        ("extract_text", with(good.clone(), json!({"file": "/etc/passwd"})), "file"),
        ("extract_tables", with(good.clone(), json!({"pages": "9"})), "no page 9"),
        (
            "extract_tables",
            with(good.clone(), json!({"regions": [{"page": 3, "bbox": [0, 0, 9, 9]}]})),
            "/regions/0/page",
        ),
        (
            "extract_tables",
            with(good.clone(), json!({"regions": [{"page": 1, "bbox": [9, 0, 0, 9]}]})),
            "/regions/0/bbox",
        ),
        ("metadata", json!({"file_data": STANDARD.encode("x"), "other": 1}), "other"),
    ];
    let asked: Vec<(&str, Value)> =
        cases.iter().map(|(tool, arguments, _)| (*tool, arguments.clone())).collect();
    for ((tool, arguments, said), result) in cases.iter().zip(calls(&asked)) {
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(result["isError"], json!(true), "{tool} {arguments}: {result}");
        assert!(
            text.starts_with("INVALID_INPUT") && text.contains(said),
            "{tool} {arguments}: {text}"
        );
    }
}

#[test]
fn unreadable_documents_have_a_reason_and_the_server_goes_on() {
    let mut locked = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    locked.resize(512, 0);
    locked.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    let picture = b"\x89PNG\r\n\x1a\n and more".to_vec();
    let good = files::pdf(&[&files::texts(&[(72, 700, "Still here.")])], "", &[]);
    let results = calls(&[
        ("extract_text", file(b"%PDF-1.7 and nothing else", PDF)),
        ("extract_text", file(&locked, "")),
        ("extract_tables", file(&picture, "")),
        ("extract_text", file(&good, PDF)),
    ]);
    for (result, reason) in results.iter().zip(["damaged", "encrypted", "unsupported"]) {
        assert_eq!(result["isError"], json!(true), "{result}");
        let fault = &result["_meta"]["powerstrip/fault"];
        assert_eq!(fault["code"], json!("INVALID_INPUT"), "{result}");
        assert_eq!(fault["details"]["reason"], json!(reason), "{result}");
    }
    assert_eq!(results[3]["structuredContent"]["text"], json!("Still here."), "{}", results[3]);
}

#[test]
fn old_formats_need_libreoffice() {
    let rtf = file(b"{\\rtf1\\ansi A text.}", "application/rtf");
    let results = calls(&[("extract_text", rtf.clone()), ("metadata", rtf)]);
    let fault = &results[0]["_meta"]["powerstrip/fault"];
    assert_eq!(fault["code"], json!("UNSUPPORTED"), "{}", results[0]);
    assert_eq!(fault["details"]["fix"], json!("apt install libreoffice"));
    let said = &results[1]["structuredContent"];
    assert_eq!(said["media_type"], json!("application/rtf"), "{}", results[1]);
    assert_eq!(said["skipped"][0]["fix"], json!("apt install libreoffice"), "{said}");
    assert_eq!(said["words"], Value::Null);
}

#[test]
fn a_page_with_very_many_words_and_lines_is_answered() {
    let mut content = String::new();
    for at in 0..30_000 {
        let (x, y) = (at % 50 * 12, 800 - at / 50);
        content.push_str(&format!(
            "BT /F 2 Tf {x} {y} Td (w{at}) Tj ET {x} {y} m {} {y} l S\n",
            x + 5
        ));
    }
    let pdf = files::pdf(&[&content], "", &[]);
    let answer = call("extract_tables", file(&pdf, PDF));
    assert_eq!(answer["page_count"], json!(1));
    assert_eq!(answer["truncated"], json!(true));
}

/// The example of the guide.
#[test]
fn the_guide_shows_what_the_server_answers() {
    let guide = include_str!("../../../docs/src/guide/doc-parser.md");
    let block = |kind: &str| {
        let start = guide.split_once(&format!("```{kind}\n")).unwrap().1;
        start.split_once("\n```").unwrap().0
    };
    let answer = call("extract_tables", file(block("html").as_bytes(), "text/html"));
    assert_eq!(answer["tables"][0]["markdown"], json!(block("markdown")), "{answer}");
}
