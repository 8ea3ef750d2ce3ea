//! The server as a program: its tools over stdin and stdout, without LibreOffice.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests play the client")]

#[path = "process/client.rs"]
mod client;
#[path = "process/files.rs"]
mod files;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use client::{Client, file, with};

const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const PDF: &str = "application/pdf";
const REPORT: &str = "# Rivers\n\nThe **Elm** is long, see [a map](https://example.org/map).\n\n## Table\n\n\
    | River | km |\n|-------|---:|\n| Elm | 120 |\n| Oak, old | 75 |\n\n- one\n- two\n";

#[test]
fn format_document_brings_structure_into_order() {
    let mut client = Client::start();
    let text = "Title\n=====\n\n\n* a\n+ b\n\n#### Deep\n\nText.\n";
    let done =
        client.call("format_document", json!({"text": text, "toc": true, "number_headings": true}));
    assert_eq!(
        done["content"],
        json!("# Title\n\n- [1 Deep](#1-deep)\n\n---\n\n- a\n- b\n\n## 1 Deep\n\nText.\n"),
        "{done}"
    );
    assert_eq!(done["format"], json!("markdown"));
    assert_eq!(
        done["outline"],
        json!([{"level": 1, "title": "Title"}, {"level": 2, "title": "1 Deep"}])
    );
    let kinds: Vec<_> =
        done["changes"].as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "list_markers",
            "heading_marks",
            "blank_lines",
            "heading_levels",
            "headings_numbered",
            "toc_entries"
        ]
    );
    let html = "<h1>A</h1><p>b <script>alert(1)</script></p><p onclick='x'>c</p>";
    let done = client.call("format_document", json!({"file_text": html, "from": "html"}));
    assert_eq!(done["content"], json!("# A\n\nb\n\nc\n"));
    let data = json!({"title": "T", "rows": [{"a": 1}]}).to_string();
    let done =
        client.call("format_document", json!({"text": data, "from": "json", "style": "letter"}));
    assert_eq!(done["content"], json!("**T**\n\n**rows**\n\n| a |\n| --- |\n| 1 |\n"));
    let long = "word ".repeat(30_000);
    let done = client.call("format_document", json!({"text": long}));
    assert!(
        done["content"].is_null() && done["ref_id"].as_str().unwrap().starts_with("doc_"),
        "{done}"
    );
    assert_eq!(client.bytes(&done).len(), 150_000);
}

#[test]
fn generate_docx_writes_a_document_that_can_be_read() {
    let mut client = Client::start();
    let done =
        client.call("generate_docx", json!({"text": REPORT, "author": "Ada", "page": "letter"}));
    assert_eq!((&done["format"], &done["media_type"]), (&json!("docx"), &json!(DOCX)), "{done}");
    let docx = client.bytes(&done);
    assert!(files::part(&docx, "docProps/core.xml").contains("Ada"));
    let back = client.call("convert", json!({"source_ref_id": done["ref_id"], "to": "markdown"}));
    let markdown = back["content"].as_str().unwrap();
    for expected in [
        "# Rivers",
        "The Elm is long",
        "[a map](https://example.org/map)",
        "| Oak, old | 75 |",
        "- one",
    ] {
        assert!(markdown.contains(expected), "{expected} in {markdown}");
    }
    let again = client.call("generate_docx", with(file(&docx, DOCX), json!({"title": "Copy"})));
    assert!(files::part(&client.bytes(&again), "word/document.xml").contains("Oak, old"));
}

#[test]
fn generate_docx_fills_templates() {
    let mut client = Client::start();
    let base = client.call(
        "generate_docx",
        json!({"text": "Dear NAME,\n\nCONTENT\n\n| a | b |\n|---|---|\n| ITEM | PRICE |\n"}),
    );
    let template = files::changed(&client.bytes(&base), |name, text| {
        if name != "word/document.xml" {
            return text.replace(" PAGE ", " NUMPAGES ");
        }
        text.replace("NAME", "{{ cust</w:t></w:r><w:r><w:t>omer.name }}")
            .replace("CONTENT", "{{ content }}")
            .replace("ITEM", "{{ items.name }}")
            .replace("PRICE", "{{ items.price }}")
    });
    let data = json!({"customer": {"name": "A & B"}, "items": [{"name": "pen", "price": 1}, {"name": "ink", "price": 2}]});
    let template = STANDARD.encode(template);
    let arguments =
        json!({"text": "# Offer\n\nBelow.", "template_file_data": template, "data": data});
    let done = client.call("generate_docx", arguments);
    let filled = client.bytes(&done);
    assert!(files::part(&filled, "word/footer1.xml").contains(" NUMPAGES "));
    let read = client.call("convert", json!({"source_ref_id": done["ref_id"], "to": "text"}));
    let text = read["content"].as_str().unwrap();
    for expected in ["Dear A & B,", "Offer\n\nBelow.", "pen\t1\nink\t2"] {
        assert!(text.contains(expected), "{expected:?} in {text}");
    }
    let only_data =
        json!({"template_file_data": template, "data": with(data, json!({"content": "-"}))});
    client.call("generate_docx", only_data);
    let (text, fault) = client.refuse(
        "generate_docx",
        json!({"text": "x", "template_file_data": template, "data": {"items": []}}),
    );
    assert!(text.contains("customer.name"), "{text}");
    assert_eq!(
        (&fault["code"], &fault["details"]["reason"]),
        (&json!("INVALID_INPUT"), &json!("missing_values"))
    );
    for (template, reason) in
        [("eA==".to_owned(), "damaged"), (STANDARD.encode(files::pdf(&["x"])), "damaged")]
    {
        let (_, fault) =
            client.refuse("generate_docx", json!({"text": "x", "template_file_data": template}));
        assert_eq!(fault["details"]["reason"], json!(reason), "{fault}");
    }
    let (text, _) = client.refuse("generate_docx", json!({"text": "x", "data": {}}));
    assert!(text.contains("/data"), "{text}");
}

#[test]
fn convert_says_what_is_lost() {
    let mut client = Client::start();
    let text = client.call("convert", json!({"text": REPORT, "to": "text"}));
    assert!(text["content"].as_str().unwrap().contains("River\tkm\nElm\t120"), "{text}");
    assert_eq!(text["lost"], json!(["addresses of links: 1", "bold and italic texts: 1"]));
    assert_eq!(
        (&text["fidelity"], &text["engine"]["name"]),
        (&json!("approximate"), &json!("embedded"))
    );
    let html = client.call("convert", json!({"text": REPORT, "to": "html"}));
    assert!(html["content"].as_str().unwrap().contains("<strong>Elm</strong>"), "{html}");
    assert_eq!((&html["fidelity"], &html["lost"]), (&json!("exact"), &json!([])));
    let csv = client.call("convert", json!({"text": REPORT, "to": "csv"}));
    assert_eq!(csv["content"], json!("River,km\nElm,120\n\"Oak, old\",75\n"));
    let merged = "<table><tr><th colspan=2>A</th></tr><tr><td>1</td><td>2</td></tr></table>";
    let csv =
        client.call("convert", with(file(merged.as_bytes(), "text/html"), json!({"to": "csv"})));
    assert_eq!(csv["content"], json!("A,\n1,2\n"), "{csv}");
    assert!(csv["lost"].to_string().contains("merged cells"), "{csv}");
    let formula = "<table><tr><td>=cmd|' /C calc'!A0</td><td>-5</td></tr></table>";
    for input in [
        file(formula.as_bytes(), "text/html"),
        json!({"text": "| =cmd\\|' /C calc'!A0 | -5 |\n|---|---|\n"}),
    ] {
        let csv = client.call("convert", with(input, json!({"to": "csv"})));
        assert_eq!(csv["content"], json!("'=cmd|' /C calc'!A0,-5\n"), "{csv}");
        assert!(csv["lost"].to_string().contains("formulas"), "{csv}");
    }
    let long = "| a |\n|---|\n".to_owned() + &"| b |\n".repeat(100_001);
    let (text, fault) = client.refuse("convert", json!({"text": long, "to": "markdown"}));
    assert!(text.contains("100001 rows"), "{text}");
    assert_eq!(fault["details"]["reason"], json!("too_large"));
    let (text, fault) = client.refuse("convert", json!({"text": "no table", "to": "csv"}));
    assert!(text.contains("no tables"), "{text}");
    assert_eq!(fault["details"]["reason"], json!("no_tables"));
    let pdf = files::pdf(&["A page about rivers."]);
    let markdown = client.call("convert", with(file(&pdf, DOCX), json!({"to": "markdown"})));
    assert!(markdown["content"].as_str().unwrap().contains("A page about rivers."), "{markdown}");
    assert!(markdown["warnings"][0].as_str().unwrap().contains(PDF), "{markdown}");
    let scanned =
        client.call("convert", with(file(&files::pdf(&[""]), PDF), json!({"to": "text"})));
    assert_eq!(scanned["scanned"], json!(true), "{scanned}");
    assert!(scanned["warnings"].to_string().contains("image-ocr-mcp:extract_document"));
}

#[test]
fn pdfs_have_the_text_of_their_source() {
    let mut client = Client::start();
    let picture = "![dot](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==)";
    let done = client.call(
        "convert_to_pdf",
        json!({"text": format!("{REPORT}\n{picture}\n"), "style": "paper", "page": "letter"}),
    );
    assert_eq!((&done["page_count"], &done["fidelity"]), (&json!(1), &json!("exact")), "{done}");
    assert_eq!(done["engine"]["name"], json!("embedded"));
    assert!(client.bytes(&done).starts_with(b"%PDF-"));
    let read = client.call("convert", json!({"source_ref_id": done["ref_id"], "to": "text"}));
    let text = read["content"].as_str().unwrap();
    for expected in ["Rivers", "The Elm is long, see a map.", "Oak, old", "two"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let same = client.call("convert_to_pdf", json!({"source_ref_id": done["ref_id"]}));
    assert_eq!((&same["page_count"], &same["size"]), (&json!(1), &done["size"]));
    let merged =
        client.call("merge_pdf", json!({"source_ref_ids": [done["ref_id"], done["ref_id"]]}));
    assert_eq!(merged["page_count"], json!(2), "{merged}");
}

/// A report of about twenty pages, with all kinds of blocks.
fn long_report() -> String {
    let words = [
        "river",
        "measures",
        "Überschwemmung",
        "station",
        "between",
        "temperature",
        "of",
        "the",
        "mean",
        "annual",
        "and",
        "precipitation",
        "office",
        "affects",
        "coefficient",
        "in",
        "flow",
        "with",
        "catchment",
        "a",
    ];
    let mut state = 7_usize;
    let mut sentence = |length: usize| {
        let chosen = (0..length).map(|_| {
            state = (state * 1_103_515_245 + 12_345) % (1 << 31);
            words[(state >> 8) % words.len()]
        });
        chosen.collect::<Vec<_>>().join(" ")
    };
    let mut report = format!("# {}\n\n", sentence(5));
    for chapter in 0..22 {
        report.push_str(&format!("## {}\n\n", sentence(4)));
        for _ in 0..5 {
            let (first, second, third) = (sentence(22), sentence(17), sentence(30));
            report.push_str(&format!("{first}, {second}. **{}** {third}.\n\n", sentence(2)));
        }
        for number in 1..5 {
            report.push_str(&format!("{number}. {}\n", sentence(9)));
        }
        report.push_str(&format!(
            "\n> {}\n\n| {} | {} |\n|---|---|\n",
            sentence(14),
            sentence(1),
            sentence(1)
        ));
        for _ in 0..4 {
            report.push_str(&format!("| {} | {chapter} |\n", sentence(3)));
        }
        report.push('\n');
    }
    report
}

#[test]
fn a_long_report_has_the_same_words_as_pdf() {
    let mut client = Client::start();
    let report = long_report();
    let done = client.call("convert_to_pdf", json!({"text": report, "style": "plain"}));
    assert!(done["page_count"].as_u64().unwrap() >= 15, "{done}");
    let mut words = |arguments: Value| {
        let read = client.call("convert", arguments);
        let text = match read["content"].as_str() {
            Some(text) => text.to_owned(),
            None => String::from_utf8(client.bytes(&read)).unwrap(),
        };
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let expected = words(json!({"text": report, "to": "text"}));
    let found = words(json!({"source_ref_id": done["ref_id"], "to": "text"}));
    let first = expected.iter().zip(&found).position(|(a, b)| a != b);
    assert_eq!((found.len(), first), (expected.len(), None));
}

#[test]
fn office_files_get_a_new_layout_without_libreoffice() {
    let mut client = Client::start();
    let docx = client.call("generate_docx", json!({"text": REPORT}));
    let done = client.call("convert_to_pdf", json!({"source_ref_id": docx["ref_id"]}));
    assert_eq!(
        (&done["fidelity"], &done["engine"]["name"]),
        (&json!("approximate"), &json!("embedded")),
        "{done}"
    );
    assert_eq!(done["skipped"][0]["fix"], json!("apt install libreoffice"), "{done}");
    let (text, fault) = client.refuse(
        "convert_to_pdf",
        json!({"source_ref_id": docx["ref_id"], "engine": "libreoffice"}),
    );
    assert!(text.contains("libreoffice"), "{text}");
    assert_eq!(fault["code"], json!("UNSUPPORTED"));
    assert_eq!(fault["details"]["program"], json!("libreoffice"), "{fault}");
    let (_, fault) = client.refuse("convert_to_pdf", json!({"text": "x", "engine": "libreoffice"}));
    assert_eq!(fault["code"], json!("INVALID_INPUT"));
    let old = [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1].repeat(200);
    let (_, fault) =
        client.refuse("convert", with(file(&old, "application/msword"), json!({"to": "markdown"})));
    assert!(["UNSUPPORTED", "INVALID_INPUT"].contains(&fault["code"].as_str().unwrap()), "{fault}");
    let rtf = br"{\rtf1 text}";
    let (_, fault) =
        client.refuse("convert", with(file(rtf, "application/rtf"), json!({"to": "markdown"})));
    assert_eq!(fault["code"], json!("UNSUPPORTED"), "{fault}");
}

#[test]
fn merge_pdf_embeds_pages_with_their_links() {
    let mut client = Client::start();
    let (first, second) = (files::pdf(&["First one", "First two"]), files::pdf(&["Second one"]));
    let data = [STANDARD.encode(&first), STANDARD.encode(&second)];
    let merged = client.call("merge_pdf", json!({"file_data": data}));
    assert_eq!((&merged["page_count"], &merged["format"]), (&json!(3), &json!("pdf")), "{merged}");
    let bytes = client.bytes(&merged);
    assert!(String::from_utf8_lossy(&bytes).contains("https://example.org/first"));
    let warning = "notes, stamps, highlights and drawings are not kept: 2";
    assert_eq!(merged["warnings"], json!([warning]));
    let text = |client: &mut Client, answer: &Value| {
        let read = client.call("convert", json!({"source_ref_id": answer["ref_id"], "to": "text"}));
        read["content"].as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(text(&mut client, &merged), "First one First two Second one");
    let chosen = client.call("merge_pdf", json!({"file_data": data, "pages": ["2,1-2", ""]}));
    assert_eq!(text(&mut client, &chosen), "First two First one First two Second one");
    for (arguments, reason) in [
        (json!({"file_data": [data[0]], "pages": ["3"]}), json!("pages")),
        (json!({"file_data": [STANDARD.encode(files::encrypted())]}), json!("encrypted")),
        (json!({"file_data": [STANDARD.encode("%PDF-1.7 nothing")]}), json!("damaged")),
        (json!({"file_data": [STANDARD.encode("a text")]}), json!("unsupported")),
    ] {
        let (text, fault) = client.refuse("merge_pdf", arguments);
        assert_eq!(fault["details"]["reason"], reason, "{text}");
    }
    let many = vec!["1-2"; 200].join(",");
    let much: Vec<_> = (0..20).map(|_| data[0].clone()).collect();
    let pages: Vec<_> = (0..20).map(|_| many.clone()).collect();
    let (_, fault) = client.refuse("merge_pdf", json!({"file_data": much, "pages": pages}));
    assert_eq!(fault["details"]["reason"], json!("too_large"), "{fault}");
}

#[test]
fn bad_input_is_refused_and_the_server_keeps_serving() {
    let mut client = Client::start();
    let nested = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    for (tool, arguments) in [
        ("format_document", json!({})),
        ("format_document", json!({"text": "a", "file_text": "b"})),
        ("format_document", json!({"text": " \n - * "})),
        ("format_document", json!({"text": "a", "style": "novel"})),
        ("format_document", json!({"text": "a", "colour": "red"})),
        ("convert", json!({"text": "a"})),
        ("convert", json!({"text": "a", "to": "docx", "file_data": "YQ=="})),
        ("convert", json!({"file_data": "%", "to": "text"})),
        ("convert", json!({"file_data": "", "to": "text"})),
        ("convert", json!({"text": "{a", "from": "json", "to": "text"})),
        ("convert", json!({"text": nested, "from": "json", "to": "text"})),
        ("convert", with(file(b"PK\x03\x04 broken", DOCX), json!({"to": "text"}))),
        ("convert_to_pdf", json!({"text": "a", "page": "a3"})),
        ("convert_to_pdf", with(file(&files::encrypted(), PDF), json!({}))),
        ("generate_docx", json!({})),
        (
            "generate_docx",
            json!({"text": "a", "template_ref_id": "x", "template_file_data": "YQ=="}),
        ),
        ("merge_pdf", json!({})),
        ("merge_pdf", json!({"file_data": []})),
        ("merge_pdf", json!({"file_data": ["YQ=="], "pages": ["1", "2"]})),
        ("merge_pdf", json!({"file_data": ["YQ=="], "pages": ["x"]})),
    ] {
        let (text, fault) = client.refuse(tool, arguments.clone());
        assert_eq!(fault["code"], json!("INVALID_INPUT"), "{arguments}: {text}");
    }
    let (text, fault) =
        client.refuse("convert", json!({"source_ref_id": "doc_unknown", "to": "text"}));
    assert_eq!(fault["code"], json!("NOT_FOUND"), "{text}");
    let deep = format!("{}x{}", "<div>".repeat(2_000), "</div>".repeat(2_000));
    let (_, fault) =
        client.refuse("convert", json!({"text": deep, "from": "html", "to": "markdown"}));
    assert_eq!(fault["details"]["reason"], json!("damaged"), "{fault}");
    let ok = client.call("convert", json!({"text": "still *here*", "to": "html"}));
    assert!(ok["content"].as_str().unwrap().contains("<em>here</em>"));
}
