use std::sync::Arc;

use auth::LocalAccess;
use proto::{Clock, Code, Failure};
use schema::Schema;
use serde_json::{Value, json};
use strip::{Door, Job, Request, Tool};

use super::tools;

/// 2026-02-28T23:59:59.500Z, a Saturday.
const MOMENT: u64 = 1_772_323_199_500;

fn tool(id: &str) -> Arc<dyn Tool> {
    tools(Clock::manual(MOMENT))
        .into_iter()
        .find(|tool| tool.descriptor().id.as_str() == id)
        .unwrap()
}

async fn run(id: &str, input: Value) -> Result<Value, Failure> {
    let tool = tool(id);
    let call = Request::new(id, input, LocalAccess::default().user(), Door::Cli);
    let data = tool.run(&Job::new(call)).await.map(|output| (*output.data).clone())?;
    let schema = Schema::compile(tool.descriptor().output_schema.as_ref().unwrap()).unwrap();
    assert_eq!(schema.violations(&data), [], "{id} violates its output schema");
    Ok(data)
}

#[tokio::test]
async fn echo_returns_its_input() {
    let data = run("demo.echo", json!({"message": "hé\n🙂"})).await.unwrap();
    assert_eq!(data, json!({"message": "hé\n🙂"}));
}

#[tokio::test]
async fn time_is_given_in_utc_or_at_an_offset() {
    let data = run("time.now", json!({})).await.unwrap();
    assert_eq!(
        data,
        json!({"time": "2026-02-28T23:59:59.500Z", "weekday": "Saturday", "unixMs": MOMENT})
    );
    let east = run("time.now", json!({"offset": "+05:30"})).await.unwrap();
    assert_eq!(
        (&east["time"], &east["weekday"]),
        (&json!("2026-03-01T05:29:59.500+05:30"), &json!("Sunday"))
    );
    let west = run("time.now", json!({"offset": "-08:00"})).await.unwrap();
    assert_eq!(west["time"], "2026-02-28T15:59:59.500-08:00");
}

#[tokio::test]
async fn offsets_beyond_14_hours_are_refused() {
    for offset in ["+15:00", "+14:01", "-99:00", "+01:60"] {
        let failure = run("time.now", json!({"offset": offset})).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput, "{offset}");
    }
}

#[tokio::test]
async fn select_returns_the_matches_of_a_path() {
    let document = json!({"items": [{"n": "a", "p": 5}, {"n": "b", "p": 15}, {"n": "c", "p": 7}]});
    let input = json!({"document": document, "path": "$.items[?@.p < 10].n"});
    assert_eq!(
        run("json.select", input).await.unwrap(),
        json!({"matches": ["a", "c"], "total": 2})
    );
    let input = json!({"document": document, "path": "$.items[*].n", "limit": 1});
    assert_eq!(run("json.select", input).await.unwrap(), json!({"matches": ["a"], "total": 3}));
    let input = json!({"document": document, "path": "$.nothing"});
    assert_eq!(run("json.select", input).await.unwrap(), json!({"matches": [], "total": 0}));
}

#[tokio::test]
async fn select_reads_a_document_that_is_json_text() {
    for document in [r#"{"a": [1, 2]}"#, " {\"a\": [1, 2]}\n"] {
        let input = json!({"document": document, "path": "$.a[*]"});
        assert_eq!(
            run("json.select", input).await.unwrap(),
            json!({"matches": [1, 2], "total": 2})
        );
    }
    let deep = "[".repeat(5_000) + &"]".repeat(5_000);
    for document in ["no JSON", "{\"a\": ", "", &deep] {
        let input = json!({"document": document, "path": "$.a"});
        let failure = run("json.select", input).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput, "{document}");
        assert!(failure.message.starts_with("`document` is a text"), "{failure}");
    }
}

#[tokio::test]
async fn a_malformed_path_is_invalid_input() {
    for path in ["items", "$.[", "$..", ""] {
        let failure = run("json.select", json!({"document": {}, "path": path})).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput, "{path}");
    }
}

#[tokio::test]
async fn stats_count_characters_words_lines_and_bytes() {
    let data = run("text.stats", json!({"text": "two words\nünd 漢字\n"})).await.unwrap();
    let expected =
        json!({"characters": 17, "words": 4, "lines": 2, "bytes": 22, "estimatedTokens": 6});
    assert_eq!(data, expected);
    let none = run("text.stats", json!({"text": ""})).await.unwrap();
    assert_eq!(
        none,
        json!({"characters": 0, "words": 0, "lines": 0, "bytes": 0, "estimatedTokens": 0})
    );
}
