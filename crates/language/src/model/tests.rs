mod broken;

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{ModelError, StaticModel, TENSORS, TOKENIZER};

/// A tokenizer of whole words: `[UNK]` and then the words, numbered from 1.
pub(crate) fn tokenizer_json(words: &[&str]) -> String {
    let mut vocabulary = serde_json::json!({"[UNK]": 0});
    for (id, word) in (1..).zip(words) {
        vocabulary[word] = serde_json::Value::from(id);
    }
    serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    })
    .to_string()
}

/// A file of tensors: name, kind, shape and bytes of each.
pub(crate) fn tensors(all: &[(&str, &str, &[usize], Vec<u8>)]) -> Vec<u8> {
    let mut header = serde_json::json!({"__metadata__": {"format": "pt"}});
    let mut data = Vec::new();
    for (name, kind, shape, bytes) in all {
        let from = data.len();
        data.extend(bytes);
        header[*name] =
            serde_json::json!({"dtype": kind, "shape": shape, "data_offsets": [from, data.len()]});
    }
    let header = header.to_string().into_bytes();
    [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat()
}

pub(crate) fn f32s(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

pub(crate) fn folder(tensors: &[u8], tokenizer: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(TENSORS), tensors).unwrap();
    fs::write(folder.path().join(TOKENIZER), tokenizer).unwrap();
    folder
}

fn open(tensors: &[u8]) -> Result<StaticModel, ModelError> {
    StaticModel::open(folder(tensors, &tokenizer_json(&["rain", "snow"])).path())
}

fn same(vector: Option<Vec<f32>>, expected: &[f32]) {
    let vector = vector.unwrap();
    assert_eq!(vector.len(), expected.len());
    for (a, b) in vector.iter().zip(expected) {
        assert!((a - b).abs() < 1e-3, "{vector:?} is not {expected:?}");
    }
}

#[test]
fn the_vector_of_a_text_is_the_normalized_sum_of_its_tokens() {
    let model =
        open(&tensors(&[("embeddings", "F32", &[3, 2], f32s(&[9.0, 9.0, 3.0, 0.0, 0.0, 4.0]))]))
            .unwrap();
    assert_eq!(model.dimensions(), 2);
    same(model.embed("Rain"), &[1.0, 0.0]);
    same(model.embed("rain snow"), &[0.6, 0.8]);
    // The row of the unknown token is never used.
    same(model.embed("rain xyzzy"), &[1.0, 0.0]);
    assert_eq!(model.embed("xyzzy"), None);
    assert_eq!(model.embed(""), None);
}

#[test]
fn every_kind_of_number_is_read() {
    let numbers = [0.0, 0.0, 1.0, 2.0, -0.5, 4.0f32];
    let high = |x: f32| (x.to_bits() >> 16) as u16;
    let half = [0, 0, 0x3c00, 0x4000, 0xb800, 0x4400u16];
    let kinds: [(&str, Vec<u8>); 4] = [
        ("F32", f32s(&numbers)),
        ("F64", numbers.iter().flat_map(|&x| f64::from(x).to_le_bytes()).collect()),
        ("BF16", numbers.iter().flat_map(|&x| high(x).to_le_bytes()).collect()),
        ("F16", half.iter().flat_map(|x| x.to_le_bytes()).collect()),
    ];
    for (kind, bytes) in kinds {
        let model = open(&tensors(&[("embedding.weight", kind, &[3, 2], bytes)])).unwrap();
        same(model.embed("rain snow"), &[0.5 / 36.25f32.sqrt(), 6.0 / 36.25f32.sqrt()]);
    }
    let bytes = [0i8, 0, 3, 4, -1, 0].iter().map(|x| x.to_le_bytes()[0]).collect();
    let model = open(&tensors(&[("embeddings", "I8", &[3, 2], bytes)])).unwrap();
    same(model.embed("rain"), &[0.6, 0.8]);
}

#[test]
fn weights_and_shared_rows_are_kept() {
    let rows: Vec<u8> = [1i64, 1, 0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let model = open(&tensors(&[
        ("embeddings", "F32", &[2, 2], f32s(&[1.0, 0.0, 0.0, 1.0])),
        ("weights", "F32", &[3], f32s(&[1.0, 3.0, 4.0])),
        ("mapping", "I64", &[3], rows),
    ]))
    .unwrap();
    same(model.embed("rain"), &[0.0, 1.0]);
    same(model.embed("rain snow"), &[0.8, 0.6]);
}

#[test]
fn a_broken_number_spoils_only_itself() {
    let model = open(&tensors(&[(
        "embeddings",
        "F32",
        &[3, 2],
        f32s(&[0.0, 0.0, f32::NAN, 2.0, f32::INFINITY, 1.0]),
    )]))
    .unwrap();
    same(model.embed("rain snow"), &[0.0, 1.0]);
}

#[test]
fn tokens_beyond_the_table_are_left_out() {
    let model = open(&tensors(&[("embeddings", "F32", &[2, 1], f32s(&[0.0, 1.0]))])).unwrap();
    same(model.embed("rain snow"), &[1.0]);
    assert_eq!(model.embed("snow"), None);
}

#[test]
fn a_missing_file_is_named() {
    let error = StaticModel::open(Path::new("no/such/folder")).unwrap_err();
    assert!(matches!(error, ModelError::Unreadable { .. }));
    assert!(error.to_string().contains(TENSORS), "{error}");

    let table = tensors(&[("embeddings", "F32", &[1, 1], f32s(&[1.0]))]);
    let folder = folder(&table, "");
    fs::remove_file(folder.path().join(TOKENIZER)).unwrap();
    let error = StaticModel::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains(TOKENIZER), "{error}");
}
