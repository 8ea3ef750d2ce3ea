//! Folders that are cut, bent or of another kind: each gets a clear refusal, none a panic.

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};

use super::{StaticModel, f32s, folder, open, tensors, tokenizer_json};

fn sound() -> Vec<u8> {
    tensors(&[
        ("embeddings", "F32", &[3, 2], f32s(&[0.0, 0.0, 1.0, 0.0, 0.0, 1.0])),
        ("weights", "F32", &[3], f32s(&[1.0, 1.0, 1.0])),
        ("mapping", "I32", &[3], [0i32, 1, 2].iter().flat_map(|x| x.to_le_bytes()).collect()),
    ])
}

fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

#[test]
fn each_fault_is_reported() {
    let entry = |shape: &str, offsets: &str| {
        with_header(
            &format!(
                r#"{{"embeddings": {{"dtype": "F32", "shape": {shape}, "data_offsets": {offsets}}}}}"#
            ),
            &[0; 8],
        )
    };
    let huge = format!("[{}, 4]", usize::MAX);
    let layers: Vec<_> = (0..9).map(|_| f32s(&[1.0])).collect();
    let names: Vec<_> = (0..9).map(|i| format!("encoder.layer.{i}")).collect();
    let network: Vec<_> = names
        .iter()
        .zip(layers)
        .map(|(name, bytes)| (name.as_str(), "F32", &[1usize][..], bytes))
        .collect();
    let one = ("embeddings", "F32", &[1usize, 1][..], f32s(&[1.0]));
    for (bytes, reason) in [
        (Vec::new(), "ends inside the header's length"),
        (vec![0xff; 64], "out of bounds"),
        (100u64.to_le_bytes().to_vec(), "ends inside the header"),
        (with_header("{", &[]), "not JSON"),
        (with_header("[]", &[]), "not JSON"),
        (with_header("{}", &[]), "no tensor `embeddings`"),
        (with_header(r#"{"embeddings": 1}"#, &[]), "tensor `embeddings`"),
        (entry("[2, 1]", "[0, 9]"), "outside the file"),
        (entry("[2, 1]", "[8, 0]"), "outside the file"),
        (entry("[2, 1]", &format!("[0, {}]", usize::MAX)), "outside the file"),
        (entry("[2, 2]", "[0, 8]"), "another size"),
        (entry(&huge, "[0, 8]"), "another size"),
        (entry("[2]", "[0, 8]"), "two dimensions"),
        (entry("[0, 2]", "[0, 0]"), "holds no vectors"),
        (tensors(&[("embeddings", "I32", &[1, 1], vec![0; 4])]), "kind of number"),
        (tensors(&[("embeddings", "F8_E4M3", &[1, 1], vec![0])]), "kind of number"),
        (tensors(&network), "must be distilled first"),
        (tensors(&[one.clone(), ("weights", "I8", &[1], vec![1])]), "`weights`"),
        (tensors(&[one.clone(), ("mapping", "F32", &[1], f32s(&[0.0]))]), "`mapping`"),
        (
            tensors(&[one.clone(), ("mapping", "I32", &[1], 1i32.to_le_bytes().to_vec())]),
            "does not have",
        ),
        (
            tensors(&[one, ("mapping", "I64", &[1], (-1i64).to_le_bytes().to_vec())]),
            "does not have",
        ),
    ] {
        let error = open(&bytes).unwrap_err().to_string();
        assert!(error.contains("model.safetensors") && error.contains(reason), "{reason}: {error}");
    }
}

#[test]
fn an_invalid_tokenizer_is_refused() {
    for tokenizer in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"model": {"type": "Magic"}}"#,
        r#"{"version": "1.0", "model": null}"#,
        // The library panics over this one.
        r#"{"version": "1.0", "decoder": 1, "model": {"type": "WordLevel", "vocab": {}, "unk_token": "a"}}"#,
    ] {
        let error = StaticModel::open(folder(&sound(), tokenizer).path()).unwrap_err().to_string();
        assert!(error.contains("tokenizer.json is not"), "{tokenizer}: {error}");
    }
}

#[test]
fn a_tokenizer_whose_unknown_token_has_no_number_knows_its_words() {
    let mut tokenizer: serde_json::Value =
        serde_json::from_str(&tokenizer_json(&["rain", "snow"])).unwrap();
    tokenizer["model"]["unk_token"] = "missing".into();
    let model = StaticModel::open(folder(&sound(), &tokenizer.to_string()).path()).unwrap();
    assert_eq!(model.embed("xyzzy"), None);
    super::same(model.embed("rain"), &[1.0, 0.0]);
}

#[test]
fn padding_and_truncation_of_the_folder_are_not_followed() {
    let mut tokenizer: serde_json::Value =
        serde_json::from_str(&tokenizer_json(&["rain", "snow"])).unwrap();
    tokenizer["truncation"] = serde_json::json!({"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0});
    tokenizer["padding"] = serde_json::json!({
        "strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": null,
        "pad_id": 1, "pad_type_id": 0, "pad_token": "rain",
    });
    let model = StaticModel::open(folder(&sound(), &tokenizer.to_string()).path()).unwrap();
    super::same(model.embed("snow"), &[0.0, 1.0]);
    super::same(model.embed("rain snow"), &[0.5f32.sqrt(), 0.5f32.sqrt()]);
}

/// A folder that opens can be used.
fn use_it(tensors: &[u8], tokenizer: &str) {
    if let Ok(model) = StaticModel::open(folder(tensors, tokenizer).path())
        && let Some(vector) = model.embed("rain and snow, or ☃?")
    {
        assert!(vector.iter().all(|x| x.is_finite()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bent_bytes_do_not_panic(bends in vec((any::<usize>(), any::<u8>()), 1..8), cut in any::<usize>()) {
        let whole = sound();
        let mut tensors = whole.clone();
        for &(at, byte) in &bends {
            let at = at % tensors.len();
            tensors[at] = byte;
        }
        let words = tokenizer_json(&["rain", "snow"]);
        use_it(&tensors, &words);
        use_it(&whole[..cut % whole.len()], &words);

        let mut bytes = words.clone().into_bytes();
        for (at, byte) in bends {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        use_it(&whole, &String::from_utf8_lossy(&bytes));
        let cut = words.floor_char_boundary(cut % words.len());
        use_it(&whole, &words[..cut]);
    }

    #[test]
    fn noise_is_refused(noise in vec(any::<u8>(), 0..256)) {
        assert!(open(&noise).is_err());
    }
}
