//! Makes answers fit: the largest outputs become references that live as long as the run.

use std::io;
use std::sync::Arc;

use proto::Principal;
use serde_json::{Value, json};
use strip::Strip;
use strip::runs::Run;

use crate::results::Results;

/// The largest answer. Doors add a little to it.
const MAX_ANSWER: usize = (1 << 20) - 4096;

/// The parts of answers that are lists of results.
const LISTS: [&str; 4] = ["results", "layer_results", "partial_results", "compensations"];

/// Whose answer it is.
pub(crate) struct Fitting<'a> {
    pub(crate) strip: &'a Strip,
    pub(crate) principal: &'a Principal,
    pub(crate) run: &'a Arc<Run>,
    pub(crate) results: &'a Results,
}

impl Fitting<'_> {
    /// Replaces the largest outputs of an answer until it fits.
    pub(crate) async fn fit(&self, mut answer: Value) -> Value {
        let mut size = length(&answer);
        while size > MAX_ANSWER {
            let Some((list, place, bytes)) = largest(&answer) else { break };
            let result = &mut answer[list][place];
            let name = format!("{list}/{}", result["task_id"].as_str().unwrap_or_default());
            let output = result["output"].take();
            result["output"] = self.reference(&name, &output, bytes).await;
            let now = length(&result["output"]);
            if now >= bytes {
                break;
            }
            size -= bytes - now;
        }
        answer
    }

    async fn reference(&self, name: &str, output: &Value, bytes: usize) -> Value {
        if let Some(known) = self.results.reference(name) {
            return known;
        }
        match self.strip.store_output(self.principal, self.run, output).await {
            Ok(reference) => {
                self.results.keep_reference(name, &reference);
                reference
            }
            Err(failure) => {
                tracing::warn!("a large output of a workflow cannot be stored: {failure}");
                json!({"omitted": true, "bytes": bytes, "reason": failure.message})
            }
        }
    }
}

/// The largest output in an answer: its list, its position, its length.
fn largest(answer: &Value) -> Option<(&'static str, usize, usize)> {
    let mut found: Option<(&'static str, usize, usize)> = None;
    for list in LISTS {
        for (place, result) in answer[list].as_array().into_iter().flatten().enumerate() {
            let Some(output) = result.get("output") else { continue };
            let is_reference = output.get("ref_id").is_some() || output.get("omitted").is_some();
            let bytes = length(output);
            if !is_reference && found.is_none_or(|(.., most)| bytes > most) {
                found = Some((list, place, bytes));
            }
        }
    }
    found
}

/// The length of a value as JSON.
pub(crate) fn length(value: &Value) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Counting does not fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}
