//! All servers answer through the gateway; one after another is killed or replaced, and the others go on.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use testkit::Gateway;

use super::support::{call, gateway, register, wait_for_replicas};

/// A picture of one white pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==";

/// Stores a file; returns its id.
async fn upload(gateway: &Gateway, name: &str, content: &str, encoding: &str) -> Value {
    let input = json!({"file_name": name, "content": content, "content_encoding": encoding});
    call(gateway, "powerstrip:store_artifact", &input).await["file_id"].clone()
}

/// Calls of tools that need no program of others.
async fn calls(gateway: &Gateway) -> Vec<(&'static str, &'static str, Value)> {
    let text = "The solar panel turns sunlight into power. Write to ada@example.org about it.";
    let cue = "1\n00:00:01,000 --> 00:00:02,000\nHello.\n";
    let note = upload(gateway, "note.txt", text, "utf-8").await;
    let page = "<h1>Towns</h1><table><tr><th>Town<th>People<tr><td>Ulm<td>126,000</table>";
    let page = upload(gateway, "towns.html", page, "utf-8").await;
    let pixel = upload(gateway, "pixel.png", PIXEL, "base64").await;
    let cue = upload(gateway, "cue.srt", cue, "utf-8").await;
    let both = json!({"old_file_id": note, "new_file_id": page});
    let two = json!(["Save energy today!", "Energy is a topic."]);
    vec![
        ("audit-compliance-mcp", "find_pii", json!({"text": text})),
        ("audit-compliance-mcp", "redact", json!({"text": text})),
        ("audit-compliance-mcp", "check_quality", json!({"text": text})),
        ("audit-compliance-mcp", "compare_documents", both),
        ("doc-parser-mcp", "extract_text", json!({"file_id": note})),
        ("doc-parser-mcp", "extract_tables", json!({"file_id": page})),
        ("doc-parser-mcp", "metadata", json!({"file_id": page})),
        ("image-ocr-mcp", "extract", json!({"file_id": pixel})),
        ("job-search-mcp", "parse_job_description", json!({"text": text})),
        ("job-search-mcp", "generate_search_queries", json!({"role": "Baker"})),
        ("media-transform-mcp", "format_document", json!({"text": text})),
        ("media-transform-mcp", "convert", json!({"text": text, "from": "markdown", "to": "docx"})),
        ("media-transform-mcp", "generate_docx", json!({"text": text})),
        ("resume-profile-mcp", "parse_document", json!({"file_id": note})),
        ("resume-profile-mcp", "extract_profile", json!({"text": text})),
        ("social-intelligence-mcp", "analyze_creative", json!({"text": text, "platform": "x"})),
        ("social-intelligence-mcp", "score_virality", json!({"text": text, "platform": "x"})),
        ("social-intelligence-mcp", "compare_variants", json!({"texts": two, "platform": "x"})),
        ("text-analysis-mcp", "extract_keywords", json!({"text": text})),
        ("text-analysis-mcp", "summarize_text", json!({"text": text})),
        ("video-subtitle-mcp", "convert_subtitles", json!({"file_id": cue, "to": "vtt"})),
    ]
}

#[tokio::test]
async fn a_killed_server_takes_no_other_with_it() {
    let gateway = gateway().await;
    let keep = tempfile::tempdir().unwrap();
    let calls = calls(&gateway).await;
    let mut running = VecDeque::new();
    for (server, ..) in &calls {
        if !running.iter().any(|(name, _)| name == server) {
            let process = register(server, &gateway, &keep.path().join(server), &[]).await;
            running.push_back((*server, process));
        }
    }
    assert_eq!(running.len(), 9);
    for (server, _) in &running {
        wait_for_replicas(&gateway, server, 1).await;
    }
    // The gateway checks each answer against the schema that the tool lists.
    for (server, tool, input) in &calls {
        call(&gateway, &format!("{server}:{tool}"), input).await;
    }
    while let Some((_, process)) = running.pop_front() {
        process.kill().await;
        for (server, _) in &running {
            let (_, tool, input) = calls.iter().find(|(name, ..)| name == server).unwrap();
            call(&gateway, &format!("{server}:{tool}"), input).await;
        }
    }
}

#[tokio::test]
async fn a_server_that_is_replaced_under_load_disturbs_no_other() {
    const REPLACED: &str = "job-search-mcp";
    let gateway = gateway().await;
    let keep = tempfile::tempdir().unwrap();
    let start = async |server: &str| {
        let process = register(server, &gateway, &keep.path().join(server), &[]).await;
        wait_for_replicas(&gateway, server, 1).await;
        process
    };
    let _others = (start("audit-compliance-mcp").await, start("text-analysis-mcp").await);
    let mut replaced = start(REPLACED).await;
    let done = AtomicBool::new(false);
    let text =
        json!({"text": "The solar panel turns sunlight into power. Write to ada@example.org."});
    // Servers build their lists of words during their first call, which takes as long as many others.
    for tool in ["audit-compliance-mcp:find_pii", "text-analysis-mcp:extract_keywords"] {
        call(&gateway, tool, &text).await;
    }
    // Each call must succeed.
    let load = async |tool: &str| {
        let mut answered = 0;
        while !done.load(Ordering::Relaxed) {
            call(&gateway, tool, &text).await;
            answered += 1;
        }
        answered
    };
    let replace = async {
        for _ in 0..3 {
            assert_eq!(replaced.stop().await, Some(0));
            replaced = start(REPLACED).await;
            let input = json!({"role": "Baker"});
            call(&gateway, &format!("{REPLACED}:generate_search_queries"), &input).await;
        }
        done.store(true, Ordering::Relaxed);
        replaced
    };
    let (found, keywords, summaries, _replaced) = tokio::join!(
        load("audit-compliance-mcp:find_pii"),
        load("text-analysis-mcp:extract_keywords"),
        load("text-analysis-mcp:summarize_text"),
        replace,
    );
    assert!(found > 3 && keywords > 3 && summaries > 3, "{found} {keywords} {summaries}");
}
