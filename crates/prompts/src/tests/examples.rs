//! The prompts that ship with the gateway have no findings.

use std::path::Path;

use serde_json::json;

use super::get;
use crate::Snapshot;

fn examples() -> Snapshot {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/prompts");
    let (snapshot, findings) = Snapshot::load(&dir);
    assert_eq!(findings, [], "the examples have no findings at all");
    snapshot
}

#[test]
fn every_example_is_served() {
    let ids: Vec<_> = examples().prompts().iter().map(|p| (p.id(), p.major)).collect();
    let expected = [("engineering/review", 1), ("research/outline", 2), ("research/outline", 1)];
    assert_eq!(ids, expected.map(|(id, major)| (id.to_owned(), major)));
}

#[test]
fn the_outline_is_rendered_from_text_arguments() {
    let snapshot = examples();
    let outline = get(&snapshot, "research/outline");
    let text = outline
        .render(&json!({
            "topic": "heat pumps", "audience": "executive", "sections": "4",
            "sources": "[\"IEA 2023\", \"a second one\"]", "counterarguments": "false",
        }))
        .unwrap();
    assert!(text.contains("Topic: heat pumps\nReaders: people who decide"), "{text}");
    assert!(text.contains("Plan 4 main sections"));
    assert!(text.contains("- IEA 2023\n- a second one\n"), "{text}");
    assert!(!text.contains("strongest case against"));
    let plain = outline.render(&json!({"topic": "heat pumps"})).unwrap();
    assert!(plain.contains("Plan 5 main sections") && plain.contains("strongest case against"));
    assert!(!plain.contains("Use these sources"));
    assert_eq!(outline.complete("audience", "E"), ["executive"]);
    assert_eq!(outline.complete("counterarguments", ""), ["true", "false"]);
    assert_eq!(outline.complete("topic", ""), Vec::<String>::new());
}

#[test]
fn the_review_keeps_the_diff_as_it_is() {
    let snapshot = examples();
    let diff = "-a\n+{{ 7 * 7 }} <b>&amp;</b> {% raw %}";
    let text = get(&snapshot, "engineering/review@1")
        .render(&json!({"diff": diff, "context": "one\ntwo"}))
        .unwrap();
    assert!(text.contains(&format!("```diff\n{diff}\n```")), "{text}");
    assert!(text.contains("    one\n    two"), "{text}");
}
