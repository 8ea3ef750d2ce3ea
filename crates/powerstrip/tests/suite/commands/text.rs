//! Documents are read by a confined child process; if a document breaks it, the command reports that.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::commands::project::Project;

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../documents/tests/fixtures");
    std::fs::read(folder.join(name)).unwrap()
}

fn project(name: &str, bytes: &[u8]) -> Project {
    let project = Project::new();
    std::fs::write(project.path().join(name), bytes).unwrap();
    project
}

/// A PDF from its objects, the first of which is the catalog.
fn pdf(objects: &[String]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(objects) {
        places.push(bytes.len());
        bytes.extend(format!("{number} 0 obj\n{object}\nendobj\n").as_bytes());
    }
    let table = bytes.len();
    bytes.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    for place in places {
        bytes.extend(format!("{place:010} 00000 n \n").as_bytes());
    }
    let end = format!(
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1
    );
    bytes.extend(end.as_bytes());
    bytes
}

fn page(contents: &str, resources: &str) -> Vec<String> {
    vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Resources << {resources} >> /Contents {contents} >>"
        ),
    ]
}

/// Nested forms that each draw the next one ten times: a small file that takes forever.
fn endless_pdf() -> Vec<u8> {
    let mut objects = page("4 0 R", "/XObject << /F 5 0 R >>");
    objects.push("<< /Length 5 >> stream\n/F Do\nendstream".to_owned());
    let draws = "/F Do ".repeat(10);
    for next in 6..15 {
        objects.push(format!(
            "<< /Type /XObject /Subtype /Form /BBox [0 0 99 99] /Resources << /XObject << /F {next} 0 R >> >> /Length {} >> stream\n{draws}\nendstream",
            draws.len()
        ));
    }
    let path = "0 0 m 9 9 l S ".repeat(100);
    objects.push(format!("<< /Type /XObject /Subtype /Form /BBox [0 0 99 99] /Length {} >> stream\n{path}\nendstream", path.len()));
    pdf(&objects)
}

/// A page that repeats one stream: megabytes that expand to gigabytes.
fn huge_pdf() -> Vec<u8> {
    let blank = " ".repeat(8 << 20);
    let mut objects = page(&format!("[{}]", "4 0 R ".repeat(400)), "");
    objects.push(format!("<< /Length {} >> stream\n{blank}\nendstream", blank.len()));
    pdf(&objects)
}

#[test]
fn documents_are_detected_by_content_not_by_name() {
    for (fixture_name, name, start) in [
        ("report.docx", "report.docx", "ACME confidential"),
        ("report.docx", "report.pdf", "ACME confidential"),
        ("plan.pptx", "plan", "Slide 1\nFirst slide"),
        ("orders.xlsx", "orders.txt", "Sheet: Orders\nItem\tDate"),
        ("article.pdf", "study.docx", "A study of cables"),
        ("restricted.pdf", "restricted.pdf", "Made by another program."),
    ] {
        let project = project(name, &fixture(fixture_name));
        let ended = project.run(&["text", name]);
        assert!(ended.ok().starts_with(start), "{name}: {ended:?}");
    }
}

#[test]
fn invisible_text_is_removed_and_counted() {
    let words = "<p>vis\u{200b}ible\u{202e} \u{1b}[31mwords</p><p hidden>SECRET</p>";
    let project = project("page.html", format!("<!doctype html>{words}").as_bytes());
    let report = project.run(&["text", "page.html", "--json"]).json_of(0);
    assert_eq!(report["text"], "visible words");
    assert_eq!(report["removed"], "SECRET".len() + 2 + "\u{1b}[31m".len());
    assert_eq!(report["media_type"], "text/html");
    let doctor = project.run(&["doctor", "--json"]).json_of(0);
    assert_eq!(report["sandbox"], doctor["sandbox"]["tier"]);
}

#[test]
fn a_file_that_cannot_be_read_says_why_and_what_to_do() {
    let cut = &fixture("report.docx")[..20_000];
    for (bytes, reason, words) in [
        (
            fixture("locked.pdf").as_slice(),
            "encrypted",
            "protected by a password; save a copy without one",
        ),
        (cut, "damaged", "it is damaged"),
        (
            b"%PDF-1.7\nnothing else".as_slice(),
            "damaged",
            "this PDF (`odd`) could not be read: it is damaged",
        ),
        (
            b"\x89PNG\r\n\x1a\n".as_slice(),
            "unsupported",
            "no text is read from image/png; send it as PDF",
        ),
    ] {
        let project = project("odd", bytes);
        let report = project.run(&["text", "odd", "--json"]).json_of(1);
        assert_eq!(report["error"]["code"], "INVALID_INPUT", "{report}");
        assert_eq!(report["error"]["details"]["reason"], reason, "{report}");
        assert!(report["error"]["message"].as_str().unwrap().contains(words), "{report}");
        assert!(project.run(&["text", "odd"]).failed(1).contains(words));
    }
    let missing = Project::new().run(&["text", "missing.pdf"]);
    assert!(missing.failed(1).contains("could not be opened"));
}

#[test]
fn a_document_that_is_too_large_is_refused_unread() {
    let project = Project::new();
    let file = std::fs::File::create(project.path().join("large.pdf")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    let report = project.run(&["text", "large.pdf", "--json"]).json_of(1);
    assert_eq!(report["error"]["details"]["reason"], "too_large", "{report}");
}

#[test]
fn a_document_that_never_ends_is_cut_short() {
    let project = project("endless.pdf", &endless_pdf());
    let begun = Instant::now();
    let report = project.run(&["text", "endless.pdf", "--json", "--timeout", "1"]).json_of(1);
    assert_eq!(report["error"]["code"], "TIMEOUT", "{report}");
    assert!(report["error"]["message"].as_str().unwrap().contains("longer than 1 s"), "{report}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_document_can_exhaust_only_the_memory_of_its_reader() {
    let project = project("vast.pdf", &huge_pdf());
    // Memory must run out before the time does.
    let report = project.run(&["text", "vast.pdf", "--json", "--timeout", "120"]).json_of(1);
    assert_eq!(report["error"]["details"]["reason"], "memory", "{report}");
    assert!(report["error"]["message"].as_str().unwrap().contains("more than 1024 MB"), "{report}");
}

/// Checks in /proc that a running reader has no new privileges, filtered system calls and no host network. Then kills
/// it to simulate a crash.
#[cfg(target_os = "linux")]
#[test]
fn a_reader_is_confined_and_its_crash_is_reported() {
    let project = project("endless.pdf", &endless_pdf());
    let tier = project.run(&["doctor", "--json"]).json_of(0)["sandbox"]["tier"]
        .as_str()
        .unwrap()
        .to_owned();
    let child = Command::new(env!("CARGO_BIN_EXE_powerstrip"))
        .args(["text", "endless.pdf", "--json", "--timeout", "60"])
        .current_dir(project.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let reader = loop {
        if let Some(reader) = reader_below(child.id()) {
            break reader;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let status = std::fs::read_to_string(format!("/proc/{reader}/status")).unwrap();
    let says = |line: &str| {
        status.lines().any(|found| found.split_whitespace().collect::<String>() == line)
    };
    if tier != "T0" {
        assert!(
            says("NoNewPrivs:1") && says("Seccomp:2") && says("CapEff:0000000000000000"),
            "{status}"
        );
    }
    if tier == "T2" {
        let network =
            |process: &str| std::fs::read_link(format!("/proc/{process}/ns/net")).unwrap();
        assert_ne!(network(&reader.to_string()), network("self"));
    }
    let limits = std::fs::read_to_string(format!("/proc/{reader}/limits")).unwrap();
    let limit = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(limit("Max data size"), (1 << 30).to_string());
    assert_eq!(limit("Max file size"), "0");
    // It is at work on the document, and no longer starting.
    while processor_ticks(reader) < 20 {
        std::thread::sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_raw(i32::try_from(reader).unwrap()).unwrap(), Signal::KILL).unwrap();
    let output = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), &report["error"]["details"]["reason"]),
        (Some(1), &Value::from("crashed"))
    );
}

/// The processor time of a process in user mode, in hundredths of a second.
#[cfg(target_os = "linux")]
fn processor_ticks(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    after_name.split_whitespace().nth(11).unwrap().parse().unwrap()
}

/// The process below `root` that has become the reader.
#[cfg(target_os = "linux")]
fn reader_below(root: u32) -> Option<u32> {
    let mut below = vec![root];
    let mut found = None;
    while let Some(parent) = below.pop() {
        let children = std::fs::read_dir(format!("/proc/{parent}/task")).ok()?;
        for task in children.flatten() {
            let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            below.extend(list.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        }
        let line = std::fs::read(format!("/proc/{parent}/cmdline")).unwrap_or_default();
        if line.split(|byte| *byte == 0).nth(1) == Some(b"read-documents") {
            found = Some(parent);
        }
    }
    found
}
