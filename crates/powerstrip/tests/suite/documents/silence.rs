//! File content and links that a server echoes are removed from everything that a caller or the log receives.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use serde_json::json;
use testkit::noise;

use crate::documents::support::{Setup, pdf, picture};

/// Strings that would reveal a file.
pub(crate) struct Traces(Vec<String>);

impl Traces {
    /// Pieces of the file from all over it, in base64.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut pieces = Vec::new();
        for engine in [BASE64_STANDARD, BASE64_URL_SAFE] {
            let encoded = engine.encode(bytes);
            let step = (encoded.len() / 50).max(40);
            let starts = (0..encoded.len().saturating_sub(40)).step_by(step);
            pieces.extend(starts.map(|at| encoded[at..at + 40].to_owned()));
        }
        Self(pieces)
    }

    fn and(mut self, piece: &str) -> Self {
        self.0.push(piece.to_owned());
        self
    }

    pub(crate) fn are_not_in(&self, what: &str, text: &str) {
        for trace in &self.0 {
            if let Some(at) = text.find(trace.as_str()) {
                let from = text[..at].char_indices().rev().nth(300).map_or(0, |(at, _)| at);
                panic!("{what} holds `{trace}`: …{}…", &text[from..at + trace.len()]);
            }
        }
        // The token of a file link, 32 bytes in URL-safe base64.
        for sign in ["sig=", "sig%3D", "sig%253D", "sig\\u003d"] {
            for (at, _) in text.match_indices(sign) {
                let value = &text[at + sign.len()..];
                let end = value.find(|c: char| !(c.is_ascii_alphanumeric() || "-_".contains(c)));
                assert!(end.unwrap_or(value.len()) < 20, "{what} holds a signature: {value:.60}");
            }
        }
    }
}

const FORMS: [&str; 10] = [
    "answer", "escaped", "percent", "field", "key", "error", "details", "protocol", "progress",
    "log",
];

#[tokio::test]
async fn echoed_file_content_is_removed_from_answers() {
    let setup = Setup::with("limits: { max_output_bytes: 10000000 }\n", "").await;
    for document in [pdf(2_000), picture(40), pdf(400_000), noise(9_000)] {
        let traces = Traces::of(&document).and("/content?");
        let id = setup.put("a", document.clone()).await;
        for server in ["near", "far"] {
            for tool in ["echo_bytes", "echo_link"] {
                for form in FORMS {
                    let what = format!("{server}:{tool} as {form} of {} bytes", document.len());
                    let input = json!({"file_id": id, "form": form});
                    let name = format!("{server}__{tool}");
                    let params = json!({"name": name, "arguments": input,
                        "_meta": {"progressToken": "p", "io.modelcontextprotocol/logLevel": "debug"}});
                    let body = setup.mcp_text("tools/call", params).await;
                    traces.are_not_in(&what, &body);
                    match form {
                        "progress" => assert!(body.contains("notifications/progress"), "{body}"),
                        "log" => assert!(body.contains("notifications/message"), "{body}"),
                        _ => {}
                    }
                    let answer = setup.call(&format!("{server}:{tool}"), input).await;
                    traces.are_not_in(&what, &answer.to_string());
                }
            }
        }
        traces.are_not_in("the log", &setup.gateway.log());
    }
    let folder = setup.gateway.folder().join(".powerstrip");
    let rows = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let traces = Traces::of(&pdf(2_000));
    for database in rows.filter(|path| path.is_file()) {
        let text = String::from_utf8_lossy(&std::fs::read(&database).unwrap()).into_owned();
        traces.are_not_in(&database.display().to_string(), &text);
    }
}
