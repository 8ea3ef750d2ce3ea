use std::fs;
use std::sync::Arc;

use super::super::{ToolIndex, ToolText};
use crate::model::StaticModel;

/// Two directions of meaning: `umbrella` and `weather` point one way, `tune` and `song` the other.
fn model() -> Arc<StaticModel> {
    let words = ["umbrella", "weather", "tune", "song"];
    let mut vocabulary = serde_json::json!({"[UNK]": 0});
    for (id, word) in (1..).zip(words) {
        vocabulary[word] = serde_json::Value::from(id);
    }
    let tokenizer = serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "post_processor": null,
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    });
    let rows: [[f32; 2]; 5] = [[0.0, 0.0], [1.0, 0.1], [0.9, 0.2], [0.1, 1.0], [0.2, 0.9]];
    let data: Vec<u8> = rows.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    let header = r#"{"embeddings": {"dtype": "F32", "shape": [5, 2], "data_offsets": [0, 40]}}"#;
    let folder = tempfile::tempdir().unwrap();
    let tensors = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat();
    fs::write(folder.path().join("model.safetensors"), tensors).unwrap();
    fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    Arc::new(StaticModel::open(folder.path()).unwrap())
}

const TOOLS: [ToolText<'_>; 3] = [
    ToolText { name: "blank", title: "", description: "", parameters: &[] },
    ToolText { name: "weather", title: "", description: "", parameters: &[] },
    ToolText { name: "song", title: "", description: "", parameters: &[] },
];

#[test]
fn a_model_finds_what_words_do_not() {
    let index = ToolIndex::build(&TOOLS, Some(model()));
    // With words alone, `gizmo` says nothing and `umbrella` only what its concept says.
    let hits = index.search("umbrella gizmo", 3);
    assert_eq!(hits[0].index, 1);
    assert_eq!(hits[0].parts.meaning, 1.0);
    assert_eq!(index.search("tune", 1)[0].index, 2);
}

#[test]
fn each_clause_has_its_meaning() {
    let hits = ToolIndex::build(&TOOLS, Some(model())).search("An umbrella? A tune!", 3);
    let mut found: Vec<usize> = hits.iter().take(2).map(|hit| hit.index).collect();
    found.sort_unstable();
    assert_eq!(found, [1, 2]);
}

#[test]
fn the_whole_counts_in_addition_to_its_clauses() {
    let hits = ToolIndex::build(&TOOLS, Some(model())).search("Umbrella. Weather. Tune.", 3);
    let meaning = |tool| hits.iter().find(|hit| hit.index == tool).unwrap().parts.meaning;
    assert!(meaning(1) > meaning(2), "two clauses of three are about the weather: {hits:?}");
}

#[test]
fn words_that_the_model_does_not_know_are_found_by_words() {
    let index = ToolIndex::build(&TOOLS, Some(model()));
    let hits = index.search("blank", 3);
    assert_eq!(hits[0].index, 0);
    assert_eq!(hits[0].parts.meaning, 0.0);
    assert_eq!(index.search("qqqqzzzz", 3), []);
}

#[test]
fn the_same_request_gets_the_same_answer() {
    let (a, b) = (ToolIndex::build(&TOOLS, Some(model())), ToolIndex::build(&TOOLS, Some(model())));
    for query in ["umbrella", "weather or song", "Song. Then weather."] {
        assert_eq!(a.search(query, 3), b.search(query, 3));
    }
}
