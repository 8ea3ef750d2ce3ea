//! Merges questions that ask the same.

use language::similarity::similarity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::markdown::one_line;

/// From which similarity on two questions are one.
const SAME: f64 = 0.85;

/// Whether the planner or a person asked the question first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Planner,
    Person,
}

/// A question with those that were merged into it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergedQuestion {
    pub id: String,
    pub text: String,
    /// The id of its perspective.
    pub perspective: String,
    pub origin: Origin,
    /// The ids of questions that ask the same.
    pub merged_from: Vec<String>,
}

/// Merges each question into the most similar one before it, if that asks the same; the older id and text stay.
pub fn merge(questions: Vec<MergedQuestion>) -> Vec<MergedQuestion> {
    let mut kept: Vec<MergedQuestion> = Vec::with_capacity(questions.len());
    for question in questions {
        let text = one_line(&question.text);
        let mut best: Option<(f64, usize)> = None;
        for (place, older) in kept.iter().enumerate() {
            let likeness = if older.text.eq_ignore_ascii_case(&text) {
                1.0
            } else {
                similarity(&older.text, &text)
            };
            if likeness >= SAME && best.is_none_or(|(most, _)| likeness > most) {
                best = Some((likeness, place));
            }
        }
        match best {
            Some((_, place)) => {
                let MergedQuestion { id, merged_from, .. } = question;
                let older = &mut kept[place];
                for id in std::iter::once(id).chain(merged_from) {
                    if id != older.id && !older.merged_from.contains(&id) {
                        older.merged_from.push(id);
                    }
                }
            }
            None => kept.push(MergedQuestion { text, ..question }),
        }
    }
    kept
}
