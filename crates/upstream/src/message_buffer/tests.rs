use proptest::prelude::{
    Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use serde_json::{Value, json};

use super::*;

/// Texts of which some are long, look like base64, and come twice.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let text = prop_oneof![
        Just("QUJDREVG".repeat(9_000)),
        Just("QUJDREVG".repeat(9_000) + "Rw=="),
        Just("data:a/b;base64,".to_owned() + &"abcd".repeat(20_000)),
        Just("a sentence with \"quotes\" and \\ ".repeat(3_000)),
        any::<String>(),
    ];
    prop::collection::vec(text, 0..5)
}

fn gathered(bytes: &[u8], cut: usize) -> RawMessage {
    let mut gathering = MessageBuffer::default();
    for chunk in bytes.chunks(cut) {
        gathering.add(&Bytes::copy_from_slice(chunk));
        gathering.check().unwrap();
    }
    gathering.take()
}

/// What a message carries: the result of an answer, or the parameters of anything else.
fn carried(message: Result<Message<'_>, String>) -> Value {
    match message.unwrap() {
        Message::Answer { answer: Ok(given), .. } => serde_json::from_str(&given.whole()).unwrap(),
        Message::Answer { answer: Err(error), .. } => json!(error.message),
        Message::Request { params, .. } | Message::Notification { params, .. } => {
            serde_json::from_str(params.unwrap().get()).unwrap()
        }
    }
}

#[test]
fn long_base64_is_extracted() {
    let long = "QUJD".repeat(100_000);
    let text = format!("data: {{\"result\":{{\"blob\":\"{long}\"}},\"id\":1}}\n\n");
    for cut in [1_000, text.len()] {
        let mut events = Events::default();
        let mut found = Vec::new();
        for chunk in text.as_bytes().chunks(cut) {
            let take = |_, data| {
                found.push(data);
                true
            };
            events.feed(&Bytes::copy_from_slice(chunk), take).unwrap();
        }
        let data = found.pop().unwrap();
        assert!(data.json.len() < 200);
        let json = String::from_utf8(data.json).unwrap();
        assert_eq!(format!("data: {}\n\n", data.blobs.unwrap().restore(&json)), text);
    }
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(32))]

    #[test]
    fn nothing_is_lost_of_any_message(texts in texts(), cut in 1_usize..100_000, kind in 0..4) {
        let (message, expected) = match kind {
            0 => (json!({"jsonrpc": "2.0", "id": 1, "result": {"texts": texts}}), json!({"texts": texts})),
            1 => (json!({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"texts": texts}}), json!({"texts": texts})),
            2 => (json!({"jsonrpc": "2.0", "method": "x", "params": {"texts": texts}}), json!({"texts": texts})),
            _ => {
                let said = texts.concat();
                (json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 5, "message": said}}), json!(said))
            }
        };
        let written = message.to_string();
        let found = gathered(written.as_bytes(), cut).open(&Scrubber::default(), carried);
        prop_assert!(found == expected);

        // The message as an event of a stream, between others.
        let stream = format!(": hello\ndata: {{}}\n\nevent: message\r\ndata: {written}\r\n\r\ndata: {{}}\n\n");
        let (mut events, mut found) = (Events::default(), Vec::new());
        for chunk in stream.as_bytes().chunks(cut) {
            let take = |_, data| {
                found.push(data);
                true
            };
            events.feed(&Bytes::copy_from_slice(chunk), take).unwrap();
        }
        prop_assert_eq!(found.len(), 3);
        prop_assert!(found[1].open(&Scrubber::default(), carried) == expected);
    }
}
