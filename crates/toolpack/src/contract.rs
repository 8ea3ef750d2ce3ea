//! The subprocess contract: one line of JSON in, one line of JSON out.

use std::str::FromStr;

use proto::{Blame, Code, Failure, clean};
use serde_json::{Map, Value, json};
use strip::Job;

/// How much of a tool's text an error message quotes.
const MAX_MESSAGE: usize = 1_000;

/// How much of a malformed answer an error message quotes.
const MAX_PREVIEW: usize = 60;

/// The answer of a tool, before `onSuccess`.
#[derive(Debug, PartialEq)]
pub(crate) struct Reply {
    pub(crate) data: Value,
    pub(crate) warnings: Vec<String>,
}

/// The line that a program reads: the input, and the caller's idempotency key if there is one.
pub(crate) fn request_line(job: &Job) -> Map<String, Value> {
    let mut line = Map::new();
    line.insert("input".to_owned(), (*job.input).clone());
    if let Some(key) = &job.request().idempotency_key {
        line.insert("meta".to_owned(), json!({"idempotencyKey": key}));
    }
    line
}

/// Reads the output of a program.
pub(crate) fn read(stdout: &[u8]) -> Result<Reply, Failure> {
    let text = std::str::from_utf8(stdout).map_err(|_| {
        unreadable("the tool printed bytes that are not UTF-8; one line of JSON is expected")
    })?;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let Some(line) = lines.next() else {
        return Err(unreadable("the tool printed nothing; one line of JSON is expected"));
    };
    let more = lines.count();
    if more > 0 {
        return Err(unreadable(format!(
            "the tool printed {} lines; exactly one line of JSON is expected",
            more + 1
        )));
    }
    let value = serde_json::from_str(line).map_err(|_| {
        unreadable(format!("the tool printed `{}`, which is not JSON", preview(line)))
    })?;
    open(value)
}

/// Opens an envelope; any other value is the data itself.
pub(crate) fn open(value: Value) -> Result<Reply, Failure> {
    let Value::Object(mut map) = value else {
        return Ok(Reply { data: value, warnings: Vec::new() });
    };
    match envelope(&map) {
        None => Ok(Reply { data: Value::Object(map), warnings: Vec::new() }),
        Some(false) => Err(reported(&map)),
        Some(true) => {
            Ok(Reply { warnings: warnings(&map), data: map.remove("data").unwrap_or(Value::Null) })
        }
    }
}

/// A failure that is the tool's own fault.
pub(crate) fn tool_failure(message: impl Into<String>) -> Failure {
    Failure::new(Code::Internal, message)
}

/// The failure of a tool that ran and gave no answer that can be read: what it did is unknown.
pub(crate) fn unreadable(message: impl Into<String>) -> Failure {
    tool_failure(message).with_unknown_effect()
}

/// Too much output, with its size and limit.
pub(crate) fn too_large(size: u64, limit: u64) -> Failure {
    unreadable(format!("the tool printed more than {limit} bytes"))
        .details(json!({"size": size, "limit": limit}))
}

/// The `ok` of an envelope; none for data that happens to have a field of that name.
fn envelope(map: &Map<String, Value>) -> Option<bool> {
    let ok = map.get("ok")?.as_bool()?;
    let own = ["ok", "data", "meta", "errors"];
    let shaped = map.keys().all(|key| own.contains(&key.as_str()));
    let complete = !ok || map.contains_key("data");
    (shaped && complete).then_some(ok)
}

fn warnings(map: &Map<String, Value>) -> Vec<String> {
    let listed = map.get("meta").and_then(|meta| meta.get("warnings")).and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str).take(100).map(cleaned).collect()
}

fn reported(map: &Map<String, Value>) -> Failure {
    let error = map.get("errors").and_then(|errors| errors.get(0)).unwrap_or(&Value::Null);
    let text = |name: &str| error.get(name).and_then(Value::as_str);
    let code = text("code").and_then(|code| Code::from_str(code).ok()).unwrap_or(Code::Internal);
    let message = text("message")
        .map(cleaned)
        .filter(|message| !message.trim().is_empty())
        .unwrap_or_else(|| "the tool reported a failure without saying why".to_owned());
    let mut failure = Failure::new(code, message);
    // The tool reports it, so it is not the gateway's fault.
    if failure.blame == Blame::Gateway {
        failure = failure.blame(Blame::Tool);
    }
    if let Some(retryable) = error.get("retryable").and_then(Value::as_bool) {
        failure = failure.retryable(retryable);
    }
    match error.get("details").filter(|details| !details.is_null()) {
        Some(details) => failure.details(details.clone()),
        None => failure,
    }
}

fn cleaned(text: &str) -> String {
    let (text, _) = clean::text(text);
    text.chars().take(MAX_MESSAGE).collect()
}

/// The beginning of a text, without invisible characters.
pub(crate) fn preview(text: &str) -> String {
    let (text, _) = clean::text(text.trim());
    let mut shown: String = text.chars().take(MAX_PREVIEW).collect();
    if text.chars().nth(MAX_PREVIEW).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(stdout: &str) -> Value {
        read(stdout.as_bytes()).unwrap().data
    }

    #[test]
    fn one_line_is_the_data() {
        assert_eq!(data("{\"a\":1}\n"), json!({"a": 1}));
        assert_eq!(data("\n 42 \r\n\n"), json!(42));
        assert_eq!(data("{\"ok\":true,\"data\":[1],\"meta\":{},\"errors\":[]}"), json!([1]));
        assert_eq!(data("{\"ok\":true,\"data\":null}"), Value::Null);
    }

    #[test]
    fn data_that_looks_a_little_like_an_envelope_stays() {
        for value in [
            json!({"ok": true}),
            json!({"ok": "false", "errors": []}),
            json!({"ok": false, "reason": "x"}),
            json!({"ok": true, "data": 1, "extra": 2}),
        ] {
            assert_eq!(data(&value.to_string()), value);
        }
    }

    #[test]
    fn warnings_travel_with_the_data() {
        let reply =
            read(br#"{"ok":true,"data":1,"meta":{"warnings":["old\u200b data", 7]}}"#).unwrap();
        assert_eq!(reply.warnings, ["old data"]);
    }

    #[test]
    fn everything_else_is_named() {
        for (stdout, expected) in [
            (&b""[..], "nothing"),
            (b"\n\n", "nothing"),
            (b"hello\n", "`hello`"),
            (b"{}\n{}\n", "2 lines"),
            (b"{\n\"a\": 1\n}", "3 lines"),
            (b"\xff\xfe", "UTF-8"),
            (b"{\"a\":1} trailing", "not JSON"),
        ] {
            let failure = read(stdout).unwrap_err();
            assert_eq!(failure.code, Code::Internal);
            assert!(failure.message.contains(expected), "{}", failure.message);
        }
    }

    #[test]
    fn reported_failures_keep_their_code() {
        let failure = read(
            br#"{"ok":false,"errors":[{"code":"NOT_FOUND","message":"no \u001b[31msuch\u001b[0m row","retryable":true,"details":{"id":7}}]}"#,
        )
        .unwrap_err();
        assert_eq!(failure.code, Code::NotFound);
        assert_eq!(failure.message, "no such row");
        assert!(failure.retryable);
        assert_eq!(failure.details, Some(json!({"id": 7})));
        for vague in [r#"{"ok":false}"#, r#"{"ok":false,"errors":[{"code":"EH"}]}"#] {
            assert_eq!(read(vague.as_bytes()).unwrap_err().code, Code::Internal);
        }
        let failure = read(br#"{"ok":false,"errors":[{"code":"UNAVAILABLE"}]}"#).unwrap_err();
        assert_eq!((failure.code, failure.blame), (Code::Unavailable, Blame::Tool));
    }
}
