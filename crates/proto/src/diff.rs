//! The differences between two definitions of a tool, for the person who decides about them.

use std::collections::BTreeSet;

use crate::clean;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// More differences than this are only counted.
const MAX_CHANGES: usize = 200;

/// Longer texts are not compared word by word.
const MAX_WORDS: usize = 1_000;

/// One difference. Invisible characters are written out, such as `\u{200b}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where it is, as a JSON pointer into the definition.
    pub at: String,
    /// The old value; none if there was none.
    pub before: Option<String>,
    /// The new value; none if it is gone.
    pub after: Option<String>,
    /// Of two texts, the words that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Of two texts, the words that have come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
}

/// Every difference between two definitions, and how many were left out because there are too many.
pub fn changes(before: &Value, after: &Value) -> (Vec<Change>, usize) {
    let mut comparison = Comparison::default();
    comparison.compare(&mut String::new(), Some(before), Some(after));
    (comparison.changes, comparison.left_out)
}

#[derive(Default)]
struct Comparison {
    changes: Vec<Change>,
    left_out: usize,
}

impl Comparison {
    fn compare(&mut self, at: &mut String, before: Option<&Value>, after: Option<&Value>) {
        match (present(before), present(after)) {
            (Some(Value::Object(a)), Some(Value::Object(b))) => {
                let keys: BTreeSet<_> = a.keys().chain(b.keys()).collect();
                for key in keys {
                    self.below(at, key, a.get(key), b.get(key));
                }
            }
            (Some(Value::Array(a)), Some(Value::Array(b))) => {
                for index in 0..a.len().max(b.len()) {
                    self.below(at, &index.to_string(), a.get(index), b.get(index));
                }
            }
            (a, b) if a == b => {}
            (a, b) => self.note(at, a, b),
        }
    }

    fn below(&mut self, at: &mut String, key: &str, before: Option<&Value>, after: Option<&Value>) {
        let length = at.len();
        at.push('/');
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        self.compare(at, before, after);
        at.truncate(length);
    }

    fn note(&mut self, at: &str, before: Option<&Value>, after: Option<&Value>) {
        if self.changes.len() >= MAX_CHANGES {
            self.left_out += 1;
            return;
        }
        let (removed, added) = match (before, after) {
            (Some(Value::String(a)), Some(Value::String(b))) => words(a, b),
            _ => (Vec::new(), Vec::new()),
        };
        let at = clean::visible(at);
        self.changes.push(Change {
            at,
            before: before.map(shown),
            after: after.map(shown),
            removed,
            added,
        });
    }
}

/// A part that is not there is stored as null.
fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => clean::visible(text),
        other => clean::visible(&other.to_string()),
    }
}

/// The words of each text that are not part of their longest common subsequence, in order.
fn words(before: &str, after: &str) -> (Vec<String>, Vec<String>) {
    let a: Vec<&str> = before.split_whitespace().collect();
    let b: Vec<&str> = after.split_whitespace().collect();
    let head = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[head..], &b[head..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    let written = |words: &[&str]| words.iter().map(|word| clean::visible(word)).collect();
    if a.len() > MAX_WORDS || b.len() > MAX_WORDS {
        return (written(a), written(b));
    }
    let width = b.len() + 1;
    // The length of the longest common sequence of what follows each pair of places.
    let mut common = vec![0u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i * width + j] = if a[i] == b[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == b.len()
            || (i < a.len() && common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            removed.push(a[i]);
            i += 1;
        } else {
            added.push(b[j]);
            j += 1;
        }
    }
    (written(&removed), written(&added))
}

#[cfg(test)]
mod tests;
