use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn replaced(json: &str) -> String {
    let mut bytes = json.as_bytes().to_vec();
    replace_lone_surrogates(&mut bytes);
    assert_eq!(*without_lone_surrogates(json.as_bytes()), *bytes, "{json}");
    String::from_utf8(bytes).expect("only ASCII was replaced")
}

#[test]
fn only_lone_surrogates_are_replaced() {
    for (written, expected) in [
        (r#""\ud83d""#, r#""\ufffd""#),
        (r#""\uDE00 x""#, r#""\ufffd x""#),
        (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
        (r#""\ud83d\n\ude00""#, r#""\ufffd\n\ufffd""#),
        (r#""\\\ud83d""#, r#""\\\ufffd""#),
        (r#"{"\udfff": 1}"#, r#"{"\ufffd": 1}"#),
    ] {
        assert_eq!(replaced(written), expected);
    }
    for unchanged in
        [r#""\ud83d\ude00""#, r#""\\ud83d""#, r#""\\\\ud83d""#, r#""\ud7ff\ue000""#, r"\ud8", r"\"]
    {
        assert_eq!(replaced(unchanged), unchanged);
    }
}

/// Pieces of the inside of a JSON string.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(r"\\".to_owned()),
        Just(r#"\""#.to_owned()),
        Just(r"\n".to_owned()),
        Just("ud83d".to_owned()),
        (0_u32..=0xffff).prop_map(|unit| format!("\\u{unit:04x}")),
        (0xd800_u32..=0xdfff).prop_map(|unit| format!("\\u{unit:04X}")),
        "[a-zäöü😀]{0,3}",
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn the_result_parses_and_valid_json_is_unchanged(inside in pieces()) {
        let json = format!("{{\"{inside}\":[\"{inside}\"]}}");
        let result = replaced(&json);
        prop_assert!(serde_json::from_str::<Value>(&result).is_ok(), "{result}");
        if serde_json::from_str::<Value>(&json).is_ok() {
            prop_assert_eq!(&result, &json);
        }
        prop_assert_eq!(replaced(&result), result);
    }
}
