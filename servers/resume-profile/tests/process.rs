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
            "no job",
        ),
        ("score_fit", json!({"profile": {}}), "INVALID_INPUT", "job_text"),
        ("score_fit", json!({"profile": {}, "job": {}}), "INVALID_INPUT", "neither"),
        (
            "score_fit",
            json!({"profile": {}, "source_ref_id": "doc_x", "job_text": JOB}),
            "INVALID_INPUT",
            "profile",
        ),
        ("rank_jobs", json!({"profile": {}, "jobs": []}), "INVALID_INPUT", "jobs"),
        ("rank_jobs", json!({"profile": {}, "jobs": [JOB, "No."]}), "INVALID_INPUT", "/jobs/1"),
    ] {
        let result = server.call(tool, arguments.clone());
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(result["isError"], json!(true), "{tool} {arguments}: {result}");
        assert!(text.starts_with(code) && text.contains(said), "{tool} {arguments}: {text}");
    }
    server.structured("extract_profile", json!({"text": RESUME}));
}
