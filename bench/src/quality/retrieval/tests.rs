use std::collections::HashSet;
use std::fs;

use super::{ToolRetrieval, measure, ndcg, recall};

#[test]
fn recall_counts_what_was_found_of_what_was_needed() {
    let relevant = HashSet::from(["a", "b"]);
    assert_eq!(recall(&["a", "x", "b"], &relevant, 1), 0.5);
    assert_eq!(recall(&["a", "x", "b"], &relevant, 5), 1.0);
    assert_eq!(recall(&[], &relevant, 5), 0.0);
}

#[test]
fn ndcg_wants_the_right_tools_first() {
    let relevant = HashSet::from(["a", "b"]);
    assert_eq!(ndcg(&["b", "a", "x"], &relevant), 1.0);
    // Ranks one and three, against ranks one and two.
    let expected = (1.0 + 0.5) / (1.0 + 1.0 / 3f64.log2());
    assert!((ndcg(&["a", "x", "b"], &relevant) - expected).abs() < 1e-12);
    assert_eq!(ndcg(&["x", "y"], &relevant), 0.0);
}

fn asked(folder: &tempfile::TempDir, tools: &str, queries: &str) -> ToolRetrieval {
    let [t, q] = ["tools", "queries"].map(|name| folder.path().join(name));
    fs::write(&t, tools).unwrap();
    fs::write(&q, queries).unwrap();
    ToolRetrieval { tools: t, queries: q, model: None }
}

#[test]
fn files_are_read_and_scored() {
    let folder = tempfile::tempdir().unwrap();
    let tools = r#"{"name": "getWeather", "description": "The weather", "parameters": {"city": {"type": "str"}}, "required": []}
{"name": "sendMail", "description": "Send a letter"}

"#;
    let queries = r#"{"query": "weather in Rome", "relevant": ["getWeather"]}
{"query": "send a letter", "relevant": ["getWeather"]}"#;
    let figures = measure(&asked(&folder, tools, queries)).unwrap();
    assert_eq!((figures.tools, figures.queries), (2, 2));
    assert_eq!((figures.recall1, figures.ndcg10), (50.0, 50.0));
}

#[test]
fn a_bad_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = measure(&asked(&folder, "{\"name\": \"a\"}\n{\"name\": 1}", "")).unwrap_err();
    assert!(format!("{error:#}").contains("line 2"), "{error:#}");
    let error = measure(&asked(&folder, "{\"name\": \"a\"}", "\n")).unwrap_err();
    assert!(error.to_string().contains("no queries"), "{error}");
}
