//! Shortens the texts of notices: some clients close a stream with an event of more than 1 MiB and lose the answer of
//! their call.

use proto::canonical;
use serde_json::{Map, Value};

/// The longest text of a notice, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// Shortens the message of a progress report.
pub(super) fn shorten_progress(report: &mut Map<String, Value>) {
    shorten_field(report, "message");
}

/// Shortens the data of a log message. Long data that is no text becomes JSON text.
pub(super) fn shorten_log(message: &mut Map<String, Value>) {
    shorten_field(message, "data");
}

/// Shortens one field, and drops others of such a size: only a field of text can be shortened.
fn shorten_field(fields: &mut Map<String, Value>, name: &str) {
    fields.retain(|key, value| key == name || canonical::len(value) <= MAX_BYTES);
    let Some(value) = fields.get_mut(name).filter(|value| canonical::len(value) > MAX_BYTES) else {
        return;
    };
    let text = match value.take() {
        Value::String(text) => text,
        other => other.to_string(),
    };
    *value = shorten(text).into();
}

fn shorten(mut text: String) -> String {
    let bytes = text.len();
    if bytes > MAX_BYTES {
        text.truncate(text.floor_char_boundary(MAX_BYTES));
        text.push_str(&format!("… ({bytes} bytes)"));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).expect("an object")
    }

    #[test]
    fn long_texts_are_cut_and_short_ones_are_not() {
        let mut report = fields(json!({"progress": 1, "message": "ä".repeat(MAX_BYTES)}));
        shorten_progress(&mut report);
        let message = report["message"].as_str().expect("a text");
        assert!(message.starts_with('ä') && message.len() < MAX_BYTES + 40);
        assert!(message.ends_with("ä… (131072 bytes)"), "{}", &message[MAX_BYTES - 20..]);

        let mut log = fields(json!({"level": "info", "data": {"rows": "x".repeat(MAX_BYTES)}}));
        shorten_log(&mut log);
        let data = log["data"].as_str().expect("JSON text");
        assert!(data.starts_with(r#"{"rows":"xxx"#) && data.ends_with("… (65547 bytes)"));

        let short = fields(json!({"level": "info", "logger": "l", "data": {"rows": [1, 2]}}));
        let mut same = short.clone();
        shorten_log(&mut same);
        assert_eq!(same, short);
    }

    #[test]
    fn other_large_fields_are_dropped() {
        let mut report = fields(json!({"progress": 1, "_meta": {"x": "y".repeat(MAX_BYTES)}}));
        shorten_progress(&mut report);
        assert_eq!(report, fields(json!({"progress": 1})));
    }
}
