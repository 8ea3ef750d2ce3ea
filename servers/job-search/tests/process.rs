//! The server as a program: its tools over stdin and stdout.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests play the client")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

fn call(tool: &str, arguments: Value) -> Value {
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
    let mut child = Command::new(env!("CARGO_BIN_EXE_job-search-mcp"))
        .args(["--stdio", "--keep", "off"])
        .env_remove("POWERSTRIP_GATEWAY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writing = std::thread::spawn(move || {
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
        stdin
    });
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    // The server ends with its input.
    drop(writing.join().unwrap());
    child.wait().unwrap();
    let mut answer: Value = serde_json::from_str(&line).unwrap();
    answer["result"].take()
}

fn structured(tool: &str, arguments: Value) -> Value {
    let mut result = call(tool, arguments);
    assert_ne!(result["isError"], json!(true), "{result}");
    result["structuredContent"].take()
}

const JOB: &str = "Senior Data Engineer\nCalder & Voss, Leeds (hybrid, two days a week in the office)\n\nSalary: £60,000 - £70,000 per year\n\n\
    What you will do\n- Build pipelines\n\nRequirements\n- 5+ years of experience\n- Python\n- Kafka\n\nNice to have\n- Rust\n";

#[test]
fn a_job_is_read_and_searched_for() {
    let job = structured("parse_job_description", json!({"text": JOB}));
    assert_eq!(job["is_job"], json!(true), "{job}");
    assert_eq!(job["title"], json!("Senior Data Engineer"));
    assert_eq!(job["level"], json!("senior"));
    assert_eq!(job["must"], json!(["Python", "Kafka"]));
    assert_eq!(job["nice"], json!(["Rust"]));
    assert_eq!(job["years"], json!({"min": 5, "max": null}));
    assert_eq!(
        job["pay"],
        json!({"min": 60000.0, "max": 70000.0, "currency": "GBP", "period": "year"})
    );
    assert_eq!((&job["location"], &job["remote"]), (&json!("Leeds"), &json!("hybrid")));
    assert_eq!(job["company"], json!("Calder & Voss"));
    assert_eq!(job["responsibilities"], json!(["Build pipelines"]));
    assert_eq!(job["findings"], json!([]));
    let spans = job["skill_spans"].as_array().unwrap();
    let text = |span: &Value| -> String {
        let (start, end) = (span["start"].as_u64().unwrap(), span["end"].as_u64().unwrap());
        JOB.chars().skip(start as usize).take((end - start) as usize).collect()
    };
    assert!(spans.iter().any(|span| span["type"] == "knowledge" && text(span) == "Kafka"), "{job}");

    let found = structured(
        "generate_search_queries",
        json!({"job": job, "boards": ["linkedin", "generic"], "limit": 4}),
    );
    let queries = found["queries"].as_array().unwrap();
    assert!(
        queries.len() <= 4 && queries.iter().any(|query| query["board"] == "generic"),
        "{found}"
    );
    for must in ["Python", "Kafka"] {
        assert!(
            queries.iter().any(|query| query["query"].as_str().unwrap().contains(must)),
            "{found}"
        );
    }
    assert!(
        queries[0]["url"]
            .as_str()
            .unwrap()
            .starts_with("https://www.linkedin.com/jobs/search/?keywords="),
        "{found}"
    );
    assert!(found["titles"].as_array().unwrap().contains(&json!("Data Engineer")), "{found}");
}

#[test]
fn other_texts_are_no_jobs_but_have_skills() {
    let read = structured(
        "parse_job_description",
        json!({"file_text": "Experience with Terraform or Kubernetes"}),
    );
    assert_eq!(read["is_job"], json!(false));
    assert_eq!(
        (&read["title"], &read["pay"], &read["years"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!(read["skill_spans"].as_array().map(Vec::len), Some(2), "{read}");
}

#[test]
fn offsets_count_characters() {
    let text = "Größe: Kenntnisse in Python für die Arbeit mit den Daten und der Technik";
    let read = structured("parse_job_description", json!({"text": text}));
    let span = &read["skill_spans"][0];
    let start = text.chars().position(|sign| sign == 'P').unwrap();
    assert_eq!(
        (span["start"].as_u64(), span["end"].as_u64()),
        (Some(start as u64), Some(start as u64 + 6)),
        "{read}"
    );
}

#[test]
fn roles_and_profiles_are_searched_for() {
    let found =
        structured("generate_search_queries", json!({"role": "Staff Nurse", "location": "Leeds"}));
    assert_eq!(found["queries"].as_array().map(Vec::len), Some(5), "{found}");
    let profile = json!({"contact": {"name": "A"}, "experience": [{"title": "Auditor", "company": "B"}], "skills": ["IFRS", "Excel"]});
    let found = structured(
        "generate_search_queries",
        json!({"profile": profile, "boards": ["indeed"], "limit": 1}),
    );
    assert_eq!(found["queries"][0]["query"], json!("\"Auditor\" IFRS Excel"), "{found}");
}

#[test]
fn invalid_input_is_refused_with_its_path() {
    for (tool, arguments, said) in [
        ("parse_job_description", json!({}), "text"),
        ("parse_job_description", json!({"text": ""}), "text"),
        ("parse_job_description", json!({"text": " \n 12 %"}), "no words"),
        ("parse_job_description", json!({"text": "a", "file_text": "b"}), "not both"),
        ("parse_job_description", json!({"text": "a", "language": "en"}), "language"),
        ("parse_job_description", json!({"text": 7}), "text"),
        ("parse_job_description", json!({"text": "word ".repeat(400_001)}), "characters"),
        ("generate_search_queries", json!({}), "one of"),
        ("generate_search_queries", json!({"role": "Nurse", "job": {"title": "Nurse"}}), "one of"),
        ("generate_search_queries", json!({"role": ""}), "role"),
        ("generate_search_queries", json!({"role": "()"}), "no words"),
        ("generate_search_queries", json!({"role": "Nurse", "limit": 0}), "limit"),
        ("generate_search_queries", json!({"role": "Nurse", "limit": 21}), "limit"),
        ("generate_search_queries", json!({"role": "Nurse", "boards": ["monster"]}), "boards"),
        (
            "generate_search_queries",
            json!({"role": "Nurse", "boards": ["google", "xing"], "limit": 1}),
            "limit",
        ),
        ("generate_search_queries", json!({"job": {"is_job": false, "title": null}}), "title"),
        ("generate_search_queries", json!({"profile": {"skills": ["SQL"]}}), "experience"),
    ] {
        let result = call(tool, arguments.clone());
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let shown: String = arguments.to_string().chars().take(100).collect();
        assert_eq!(result["isError"], json!(true), "{tool} {shown}: {result}");
        assert!(text.starts_with("INVALID_INPUT") && text.contains(said), "{tool} {shown}: {text}");
    }
}

#[test]
fn a_long_text_is_read_like_a_short_one() {
    let head = "Position: Planner\nCompany: Northbeam\nLocation: Leeds\nEssential: Excel; SAP\n\n";
    let short = structured("parse_job_description", json!({"text": head}));
    // Longer texts are worked on in a confined process.
    let long = format!("{head}{}", "We are a friendly team.\n".repeat(1_000));
    let long = structured("parse_job_description", json!({"text": long}));
    for field in ["is_job", "title", "must", "location", "company"] {
        assert_eq!(long[field], short[field], "{field}");
    }
    assert_eq!(long["company"], json!("Northbeam"));
}
