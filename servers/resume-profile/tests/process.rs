//! The server as a program: its tools over stdin and stdout.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests play the client")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A running server, so that its references can be used.
struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_resume-profile-mcp"))
            .args(["--stdio", "--keep", "off"])
            .env_remove("POWERSTRIP_GATEWAY")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (stdin, stdout) =
            (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, stdin, stdout }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The bytes of a resource.
    fn read(&mut self, uri: &Value) -> Vec<u8> {
        let result = self.request("resources/read", json!({"uri": uri}));
        STANDARD.decode(result["contents"][0]["blob"].as_str().expect("bytes")).unwrap()
    }

    fn request(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        writeln!(self.stdin, "{message}").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        answer["result"].take()
    }

    fn structured(&mut self, tool: &str, arguments: Value) -> Value {
        let mut result = self.call(tool, arguments);
        assert_ne!(result["isError"], json!(true), "{result}");
        result["structuredContent"].take()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const RESUME: &str = "# Dario Yilmazer\n\ndario.yilmazer@example.net\n(512) 555-0138\nAustin, TX\n\n## Experience\n\nData Engineer, Northbeam Systems  \
    2019-01 – 2022-12\n\n- Built pipelines with Kafka\n\n## Education\n\nBSc Computer Science, Westfen College 2018\n\n## Skills\n\nPython, SQL\n";

const JOB: &str = "Position: Senior Data Engineer\nEmployer: Calder & Voss\nLocation: Leeds\nExperience: 8+ years\nEssential: Python; Rust\nDesirable: Kafka";

fn file(text: &str) -> Value {
    json!({"file_data": STANDARD.encode(text), "file_type": "text/markdown"})
}

#[test]
fn a_document_is_stored_and_used_by_its_reference() {
    let mut server = Server::start();
    let parsed = server.structured("parse_document", file(RESUME));
    let ref_id = parsed["ref_id"].as_str().unwrap();
    assert!(ref_id.starts_with("doc_"), "{parsed}");
    assert_eq!((&parsed["page_count"], &parsed["scanned"]), (&json!(1), &json!(false)));
    assert_eq!(parsed["findings"], json!([]), "{parsed}");
    let kinds: Vec<&Value> =
        parsed["sections"].as_array().unwrap().iter().map(|section| &section["kind"]).collect();
    assert_eq!(
        kinds,
        [&json!("contact"), &json!("experience"), &json!("education"), &json!("skills")]
    );

    let profile = server.structured("extract_profile", json!({"source_ref_id": ref_id}));
    assert_eq!(profile["contact"]["phone"], json!("+15125550138"));
    assert_eq!(profile["experience"][0]["start"], json!("2019-01"), "{profile}");
    assert_eq!(
        profile["education"][0],
        json!({"degree": "BSc Computer Science", "institution": "Westfen College", "end": "2018"})
    );
    assert_eq!(profile["skills"], json!(["Python", "SQL"]));
    assert_eq!(profile["timeline"]["months"], json!(48));
    let span = &profile["skill_details"][0]["spans"][0];
    let (start, end) =
        (span["start"].as_u64().unwrap() as usize, span["end"].as_u64().unwrap() as usize);
    assert_eq!(RESUME.chars().skip(start).take(end - start).collect::<String>(), "Python");

    let by_reference =
        server.structured("score_fit", json!({"source_ref_id": ref_id, "job_text": JOB}));
    assert_eq!(by_reference["missing_must"], json!(["Rust"]), "{by_reference}");
    let parts = by_reference["parts"].as_array().unwrap();
    let sum: f64 = parts.iter().map(|part| part["contribution"].as_f64().unwrap()).sum();
    assert!((sum - by_reference["score"].as_f64().unwrap()).abs() < 0.005, "{by_reference}");
    let by_profile = server.structured("score_fit", json!({"profile": profile, "job_text": JOB}));
    assert_eq!(by_profile["score"], by_reference["score"]);
}

/// A page without text.
const SCANNED: &str = "%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n3 0 obj\n\
    <</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n";

/// Arguments of `tailor_resume` with some replaced.
fn tailoring(other: Value) -> Value {
    let mut arguments = file(RESUME);
    arguments["target_role"] = json!("Data Platform Engineer");
    for (name, value) in other.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

fn text_of(bytes: Vec<u8>, media_type: &str) -> String {
    let form = documents::Form::Text;
    let options = documents::Options { media_type, charset: None, url: None, form };
    let read = documents::extract(bytes, &options, &documents::Limits::default()).unwrap();
    read.text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_tailored_resume_is_stored_as_pdf_and_docx() {
    let mut server = Server::start();
    let source =
        RESUME.replace("- Built", "- Wrote minutes\n- Built").replace("Python, SQL", "SQL, Python");
    for (format, template, media_type) in [
        ("pdf", "classic", "application/pdf"),
        ("pdf", "compact", "application/pdf"),
        ("pdf", "plain", "application/pdf"),
        (
            "docx",
            "classic",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
    ] {
        let arguments = tailoring(json!({
            "file_data": STANDARD.encode(&source), "job_text": JOB, "format": format, "template": template,
        }));
        let result = server.call("tailor_resume", arguments);
        let answer = &result["structuredContent"];
        assert!(answer["ref_id"].as_str().unwrap().starts_with("tailored_"), "{result}");
        assert_eq!(answer["name"], json!(format!("Resume_Data_Platform_Engineer.{format}")));
        assert_eq!((&answer["page_count"], &answer["media_type"]), (&json!(1), &json!(media_type)));
        assert_eq!(answer["matched"], json!(["Python", "Kafka"]), "{answer}");
        assert_eq!(answer["missing"], json!(["Rust"]));
        let moved: Vec<&Value> = answer["changes"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|change| change["kind"] == json!("moved"))
            .map(|change| &change["after"])
            .collect();
        assert_eq!(
            moved,
            [&json!("Built pipelines with Kafka"), &json!("Python, SQL")],
            "{answer}"
        );
        let links = result["content"].as_array().unwrap();
        let link = links.iter().find(|block| block["type"] == json!("resource_link")).unwrap();
        let bytes = server.read(&link["uri"]);
        assert_eq!(json!(bytes.len()), answer["size"]);
        let text = text_of(bytes, media_type);
        for expected in [
            "Dario Yilmazer",
            "Data Platform Engineer",
            "dario.yilmazer@example.net",
            "(512) 555-0138",
            "Austin, TX",
            "Data Engineer, Northbeam Systems",
            "2019-01 – 2022-12",
            "Built pipelines with Kafka",
            "BSc Computer Science, Westfen College",
            "Python, SQL",
        ] {
            assert!(text.contains(expected), "{format} {template}: no {expected:?} in {text}");
        }
        assert!(text.find("Built pipelines") < text.find("Wrote minutes"), "{text}");
    }
}

#[test]
fn edits_are_applied_or_refused_with_what_is_new() {
    let mut server = Server::start();
    let parsed = server.structured("parse_document", file(RESUME));
    let before = "Built pipelines with Kafka";
    let start = RESUME[..RESUME.find(before).unwrap()].chars().count();
    let arguments = |text: &str| {
        json!({
            "source_ref_id": parsed["ref_id"], "target_role": "Engineer",
            "edits": [{"start": start, "end": start + before.len(), "text": text}],
        })
    };
    let answer = server.structured("tailor_resume", arguments("Designed Kafka pipelines"));
    assert_eq!(
        answer["changes"],
        json!([{
            "kind": "edited", "before": before, "after": "Designed Kafka pipelines",
            "start": start, "end": start + before.len(),
        }])
    );
    assert_eq!((&answer["matched"], &answer["missing"]), (&json!([]), &json!([])));
    let refused =
        server.call("tailor_resume", arguments("Built 7 pipelines at Initech with Kafka"));
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("INVALID_INPUT") && text.contains("7, Initech"), "{refused}");
    assert!(refused.to_string().contains("new_facts"), "{refused}");
}

#[test]
fn lines_that_do_not_fit_are_dropped_and_listed_but_positions_stay() {
    let mut server = Server::start();
    let mut source = String::from("# Mara Lindqvist\n\nmara@example.org\n\n## Experience\n\n");
    for year in 2001..2013 {
        source.push_str(&format!("Engineer, Northbeam Systems (01/{year} – 12/{year})\n\n"));
        for task in [
            "Answered questions of customers",
            "Sorted old files by hand",
            "Built pipelines with Kafka",
            "Wrote minutes of meetings",
        ] {
            source.push_str(&format!("- {task} in the office of {year} and reported about it\n"));
        }
        source.push('\n');
    }
    let arguments = json!({
        "file_data": STANDARD.encode(&source), "target_role": "Data Engineer", "job_text": JOB, "max_pages": 1,
    });
    let result = server.call("tailor_resume", arguments);
    let answer = &result["structuredContent"];
    assert_eq!(answer["page_count"], json!(1), "{result}");
    let changes = answer["changes"].as_array().unwrap();
    let dropped: Vec<&Value> =
        changes.iter().filter(|change| change["kind"] == json!("dropped")).collect();
    assert!(
        !dropped.is_empty()
            && dropped.iter().all(|change| !change["before"].to_string().contains("Kafka")),
        "{answer}"
    );
    let link = result["content"]
        .as_array()
        .unwrap()
        .iter()
        .find(|block| block["type"] == json!("resource_link"))
        .unwrap()["uri"]
        .clone();
    let text = text_of(server.read(&link), "application/pdf");
    assert!((2001..2013).all(|year| text.contains(&format!("01/{year} – 12/{year}"))), "{text}");
    for change in dropped {
        let before = change["before"].as_str().unwrap();
        assert!(!text.contains(before), "{before}");
    }
}

#[test]
fn jobs_are_ranked() {
    let mut server = Server::start();
    let other = "Position: Staff Nurse\nEmployer: Bluemoor Clinic\nLocation: Leeds\nEssential: Triage; Wound care";
    let mut arguments = file(RESUME);
    arguments["jobs"] = json!([other, JOB]);
    let ranking = server.structured("rank_jobs", arguments);
    assert_eq!(
        (&ranking["ranking"][0]["index"], &ranking["ranking"][1]["score"]),
        (&json!(1), &json!(0.0)),
        "{ranking}"
    );
}

#[test]
fn profiles_have_the_json_resume_format() {
    let mut server = Server::start();
    let answer =
        server.structured("extract_profile", json!({"text": RESUME, "format": "json_resume"}));
    let resume = &answer["json_resume"];
    assert_eq!(resume["basics"]["email"], json!("dario.yilmazer@example.net"), "{answer}");
    assert_eq!(resume["work"][0]["endDate"], json!("2022-12"));
    assert_eq!(resume["skills"][1]["name"], json!("SQL"));
}

#[test]
fn invalid_input_is_refused_and_the_server_goes_on() {
    let mut server = Server::start();
    for (tool, arguments, code, said) in [
        ("parse_document", json!({}), "INVALID_INPUT", "file_data"),
        ("parse_document", json!({"file_data": "%%"}), "INVALID_INPUT", "base64"),
        (
            "parse_document",
            json!({"file_data": STANDARD.encode("%PDF-1.7 broken")}),
            "INVALID_INPUT",
            "",
        ),
        ("extract_profile", json!({}), "INVALID_INPUT", "exactly one"),
        (
            "extract_profile",
            json!({"text": "a", "file_data": "YQ=="}),
            "INVALID_INPUT",
            "exactly one",
        ),
        ("extract_profile", json!({"text": "1 2 3"}), "INVALID_INPUT", "no words"),
        ("extract_profile", json!({"text": "a", "format": "xml"}), "INVALID_INPUT", "format"),
        ("extract_profile", json!({"source_ref_id": "doc_unknown"}), "NOT_FOUND", ""),
        (
            "score_fit",
            json!({"profile": {}, "job_text": "The rain came."}),
            "INVALID_INPUT",
            "not recognised as a job description",
        ),
        ("score_fit", json!({"profile": {}}), "INVALID_INPUT", "job_text"),
        ("score_fit", json!({"profile": {}, "job": {}}), "INVALID_INPUT", "neither"),
        (
            "score_fit",
            json!({"profile": {}, "job": {"must": vec!["Rust"; 201]}}),
            "INVALID_INPUT",
            "/job/must",
        ),
        (
            "tailor_resume",
            tailoring(json!({"job": {"nice": ["Rust", "x".repeat(2_001)]}})),
            "INVALID_INPUT",
            "/job/nice/1",
        ),
        (
            "score_fit",
            json!({"profile": {}, "source_ref_id": "doc_x", "job_text": JOB}),
            "INVALID_INPUT",
            "profile",
        ),
        ("rank_jobs", json!({"profile": {}, "jobs": []}), "INVALID_INPUT", "jobs"),
        ("rank_jobs", json!({"profile": {}, "jobs": ["No."]}), "INVALID_INPUT", "/jobs/0"),
        ("tailor_resume", tailoring(json!({"target_role": ""})), "INVALID_INPUT", "target_role"),
        ("tailor_resume", tailoring(json!({"target_role": "  "})), "INVALID_INPUT", "target_role"),
        (
            "tailor_resume",
            tailoring(json!({"target_role": "a".repeat(101)})),
            "INVALID_INPUT",
            "target_role",
        ),
        ("tailor_resume", tailoring(json!({"max_pages": 5})), "INVALID_INPUT", "max_pages"),
        ("tailor_resume", tailoring(json!({"max_pages": 0})), "INVALID_INPUT", "max_pages"),
        ("tailor_resume", tailoring(json!({"format": "odt"})), "INVALID_INPUT", "format"),
        ("tailor_resume", tailoring(json!({"colour": "red"})), "INVALID_INPUT", "colour"),
        (
            "tailor_resume",
            tailoring(json!({"source_ref_id": "doc_x"})),
            "INVALID_INPUT",
            "exactly one",
        ),
        ("tailor_resume", json!({"target_role": "Engineer"}), "INVALID_INPUT", "exactly one"),
        (
            "tailor_resume",
            json!({"target_role": "Engineer", "source_ref_id": "doc_unknown"}),
            "NOT_FOUND",
            "",
        ),
        (
            "tailor_resume",
            json!({"target_role": "Engineer", "file_data": STANDARD.encode(SCANNED)}),
            "INVALID_INPUT",
            "image-ocr-mcp:extract_document",
        ),
        (
            "tailor_resume",
            tailoring(json!({"job_text": JOB, "job": {}})),
            "INVALID_INPUT",
            "job_text",
        ),
        (
            "tailor_resume",
            tailoring(json!({"edits": [{"start": 0, "end": 9_999, "text": ""}]})),
            "INVALID_INPUT",
            "/edits/0",
        ),
        (
            "tailor_resume",
            tailoring(json!({"edits": [{"start": 0, "end": 0, "text": "x".repeat(2_001)}]})),
            "INVALID_INPUT",
            "edits",
        ),
    ] {
        let result = server.call(tool, arguments.clone());
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(result["isError"], json!(true), "{tool} {arguments}: {result}");
        assert!(text.starts_with(code) && text.contains(said), "{tool} {arguments}: {text}");
    }
    server.structured("extract_profile", json!({"text": RESUME}));
}
