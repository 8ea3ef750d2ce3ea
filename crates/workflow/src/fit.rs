//! Makes answers fit: the largest outputs become references that live as long as the run, and what cannot is cut, with a mark
//! that says where to read it.

use std::cmp::Reverse;
use std::sync::Arc;

use dag::evaluate::step_into;
use proto::{Principal, canonical};
use runs::Run;
use serde_json::{Value, json};
use strip::Strip;

use crate::results::Results;

/// The largest answer. Doors add a little to it.
pub(crate) const MAX_ANSWER: usize = (1 << 20) - 4096;

/// The parts of answers that are lists of results.
const LISTS: [&str; 4] = ["results", "layer_results", "partial_results", "compensations"];

/// The fields of answers that may hold any value.
const FREE: [&str; 6] = ["output", "arguments", "details", "data", "for_each", "workflow"];

/// Shorter values are not cut: a mark takes almost as much.
const LEAST_CUT: usize = 512;

/// How much of a text is left.
const KEPT_CHARS: usize = 200;

/// What an answer is fitted for.
pub(crate) struct Fitting<'a> {
    pub(crate) strip: &'a Strip,
    pub(crate) principal: &'a Principal,
    pub(crate) run: &'a Arc<Run>,
    pub(crate) results: &'a Results,
}

impl Fitting<'_> {
    /// Replaces the largest outputs of an answer until it has at most `most` bytes.
    pub(crate) async fn fit(&self, mut answer: Value, most: usize) -> Value {
        let mut size = canonical::len(&answer);
        if size <= most {
            return answer;
        }
        let mut outputs = outputs_of(&answer);
        outputs.sort_unstable_by(|one, other| other.cmp(one));
        for (bytes, list, place) in outputs {
            if size <= most {
                break;
            }
            let result = &mut answer[list][place];
            let task = result["task_id"].as_str().unwrap_or_default();
            let name = format!("{list}/{task}/{}", result["attempt"]);
            let output = result["output"].take();
            let reference = self.reference(&name, &output, bytes).await;
            let now = canonical::len(&reference);
            let smaller = now < bytes;
            answer[list][place]["output"] = if smaller { reference } else { output };
            size -= if smaller { bytes - now } else { 0 };
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

/// The outputs in an answer that are no references: their length, list and position.
fn outputs_of(answer: &Value) -> Vec<(usize, &'static str, usize)> {
    let mut found = Vec::new();
    for list in LISTS {
        for (place, result) in answer[list].as_array().into_iter().flatten().enumerate() {
            let Some(output) = result.get("output") else { continue };
            if output.get("ref_id").is_none() && output.get("omitted").is_none() {
                found.push((canonical::len(output), list, place));
            }
        }
    }
    found
}

/// A value of an answer that can be cut.
struct Part {
    bytes: usize,
    path: String,
    /// Where the whole value can be read.
    read: String,
}

impl Part {
    fn of(value: &Value, path: &str, read: &str) -> Option<Self> {
        let bytes = canonical::len(value);
        let cuttable = bytes > LEAST_CUT;
        cuttable.then(|| Self { bytes, path: path.to_owned(), read: read.to_owned() })
    }
}

/// Cuts the largest values of an answer until it has at most `most` bytes, and the longest lists if that is not enough.
pub(crate) fn cut(answer: &mut Value, most: usize) {
    let mut size = canonical::len(answer);
    let read = format!("GET /v1/workflows/{}", answer["workflow_id"].as_str().unwrap_or_default());
    let mut parts = Vec::new();
    if size > most {
        find_parts(answer, "", &read, &mut parts);
        parts.sort_by_key(|part| Reverse(part.bytes));
    }
    for Part { bytes, path, read } in parts {
        if size <= most {
            return;
        }
        let Some(value) = answer.pointer_mut(&path) else { continue };
        *value = match value.as_str() {
            Some(text) => {
                let start: String = text.chars().take(KEPT_CHARS).collect();
                format!("{start}… (cut: {bytes} bytes; {read} has all of it)").into()
            }
            None => json!({"omitted": true, "bytes": bytes, "read": read}),
        };
        size = size.saturating_sub(bytes.saturating_sub(canonical::len(value)));
    }
    while canonical::len(answer) > most {
        let Some(list) = longest_list(answer) else { return };
        list.truncate(list.len() / 2);
    }
}

fn find_parts(value: &Value, path: &str, read: &str, found: &mut Vec<Part>) {
    match value {
        Value::String(_) => found.extend(Part::of(value, path, read)),
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                find_parts(item, &format!("{path}/{place}"), read, found);
            }
        }
        Value::Object(fields) => {
            let approval = fields.get("approval_id").and_then(Value::as_str);
            let of_approval = approval.map(|id| format!("GET /v1/approvals/{id}"));
            let read = of_approval.as_deref().unwrap_or(read);
            for (name, field) in fields {
                let path = step_into(path, name);
                if FREE.contains(&name.as_str()) {
                    found.extend(Part::of(field, &path, read));
                } else {
                    find_parts(field, &path, read, found);
                }
            }
        }
        _ => {}
    }
}

/// The longest list of an answer, or of the checkpoint within it. Decisions are all shown: a person answers all of them.
fn longest_list(answer: &mut Value) -> Option<&mut Vec<Value>> {
    let fields = answer.as_object_mut()?.iter_mut();
    let lists = fields.flat_map(|(name, field)| match field {
        Value::Object(inner) => inner.iter_mut().filter_map(list_of).collect(),
        other => Vec::from_iter(list_of((name, other))),
    });
    let size = |list: &&mut Vec<Value>| list.iter().map(canonical::len).sum::<usize>();
    lists.filter(|list| !list.is_empty()).max_by_key(size)
}

fn list_of<'a>((name, field): (&String, &'a mut Value)) -> Option<&'a mut Vec<Value>> {
    field.as_array_mut().filter(|_| name != "decisions")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_is_cut_to_fit() {
        let long = "ü".repeat(MAX_ANSWER);
        let results: Vec<_> = (0..500)
            .map(|n| json!({"task_id": format!("t{n}"), "output": "o".repeat(3_000), "error": {"message": "m".repeat(2_000), "details": vec!["d"; 900]}}))
            .collect();
        let decisions: Vec<_> = (0..60)
            .map(|n| json!({"approval_id": format!("apr_{n}"), "arguments": {"text": "a".repeat(30_000)}}))
            .collect();
        let names: Vec<_> = (0..9_000).map(|n| format!("a-name-of-a-task-{n}")).collect();
        for (what, mut answer) in [
            ("results", json!({"results": results})),
            ("decisions", json!({"layer_results": [], "decisions": decisions})),
            (
                "a report",
                json!({"checkpoint": {"decisions": decisions}, "events": [{"data": decisions}]}),
            ),
            ("a reason", json!({"partial_results": results, "reason": long})),
            (
                "a plan",
                json!({"new_tasks": [{"id": "a", "workflow": {"tasks": decisions}, "when": long}]}),
            ),
            ("names", json!({"next_layer_preview": vec![json!({"depends_on": names}); 30]})),
        ] {
            answer["workflow_id"] = "w".into();
            cut(&mut answer, MAX_ANSWER);
            assert!(canonical::len(&answer) <= MAX_ANSWER, "{what}");
        }
    }

    #[test]
    fn the_largest_are_cut_first_and_say_where_they_are() {
        let decision = |id: &str, bytes: usize| json!({"approval_id": id, "arguments": {"text": "x".repeat(bytes)}});
        let mut answer = json!({"workflow_id": "w", "decisions": [decision("apr_1", 900), decision("apr_2", 2_000)], "feedback": "f".repeat(1_500)});
        let whole = answer.clone();
        cut(&mut answer, 5_000);
        assert_eq!(answer, whole, "it fits");
        cut(&mut answer, 3_000);
        let mark = json!({"omitted": true, "bytes": 2_011, "read": "GET /v1/approvals/apr_2"});
        assert_eq!(answer["decisions"][1]["arguments"], mark);
        assert_eq!(answer["decisions"][0], whole["decisions"][0]);
        cut(&mut answer, 1_900);
        let feedback = answer["feedback"].as_str().unwrap_or_default();
        assert!(
            feedback.ends_with("(cut: 1502 bytes; GET /v1/workflows/w has all of it)"),
            "{feedback}"
        );
    }
}
