//! What the research does now, from the events of its workflow.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Write as _};

use operations::workflows::WorkflowEvent;
use terminal::Style;

/// The phrases of tasks that are called once.
const STEPS: [(&str, &str); 6] = [
    ("plan", "Planning questions"),
    ("rank", "Choosing sources"),
    ("compose", "Writing the report"),
    ("report", "Rendering the report"),
    ("audit", "Checking citations"),
    ("store_outline", "Storing the files"),
];

/// The phrases of tasks that are called for each item: before and after the numbers.
const LISTS: [(&str, &str, &str); 4] = [
    ("search", "Searching for", "questions"),
    ("read", "Reading", "sources"),
    ("find", "Looking up", "questions"),
    ("notes", "Taking notes on", "questions"),
];

/// Shows the current step: on a terminal in one line that is rewritten, elsewhere a line for each step.
pub(super) struct Steps {
    style: Style,
    in_place: bool,
    done: BTreeMap<String, u64>,
    shown: String,
}

impl Steps {
    pub(super) fn new(style: Style) -> Self {
        let in_place = io::stderr().is_terminal() && style.width().is_some();
        Self { style, in_place, done: BTreeMap::new(), shown: String::new() }
    }

    /// Shows what an event says.
    pub(super) fn take(&mut self, event: &WorkflowEvent) {
        let Some(phrase) = self.phrase(event) else { return };
        if phrase == self.shown {
            return;
        }
        if self.in_place {
            let width = self.style.width().unwrap_or(80).saturating_sub(1);
            let line: String = phrase.chars().take(width).collect();
            // There is nowhere else to report a closed standard error.
            let _ = write!(io::stderr().lock(), "\r\x1b[K{line}");
        } else {
            terminal::note(&phrase);
        }
        self.shown = phrase;
    }

    /// Removes the line from a terminal.
    pub(super) fn clear(&mut self) {
        if self.in_place && !self.shown.is_empty() {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
        self.shown.clear();
    }

    /// The step that an event begins or advances.
    fn phrase(&mut self, event: &WorkflowEvent) -> Option<String> {
        let task = event.data["task_id"].as_str()?;
        match event.kind.as_str() {
            "task_started" => {
                let step = STEPS.iter().find(|(id, _)| *id == task);
                if let Some((_, phrase)) = step {
                    return Some((*phrase).to_owned());
                }
                self.count(task, event, 0)
            }
            "task_done" if event.data.get("item").is_some() => self.count(task, event, 1),
            _ => None,
        }
    }

    /// `Reading 3 of 12 sources`.
    fn count(&mut self, task: &str, event: &WorkflowEvent, more: u64) -> Option<String> {
        let (id, before, after) = LISTS.iter().find(|(id, ..)| *id == task)?;
        let total = event.data["items"].as_u64();
        let done = self.done.entry((*id).to_owned()).or_default();
        *done += more;
        let between = if more == 0 { *done > 0 } else { total != Some(*done) };
        if !self.in_place && between {
            // A line for each item would bury the rest of a log.
            return None;
        }
        Some(match total {
            Some(total) => format!("{before} {done} of {total} {after}"),
            None => format!("{before} {after}: {done} done"),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(kind: &str, data: Value) -> WorkflowEvent {
        WorkflowEvent { kind: kind.to_owned(), data, ..WorkflowEvent::default() }
    }

    #[test]
    fn items_are_counted_and_steps_named() {
        let mut steps = Steps::new(Style::default());
        steps.in_place = true;
        let mut phrases = Vec::new();
        for event in [
            event("layer_started", json!({"layer_index": 0})),
            event("task_started", json!({"task_id": "plan"})),
            event("task_started", json!({"task_id": "read", "item": 0, "items": 3})),
            event("task_done", json!({"task_id": "read", "item": 1, "items": 3})),
            event("task_done", json!({"task_id": "read", "item": 0, "items": 3})),
            event("task_done", json!({"task_id": "read"})),
            event("task_started", json!({"task_id": "unknown"})),
            event("task_done", json!({"task_id": "notes", "item": 0})),
        ] {
            phrases.extend(steps.phrase(&event));
        }
        let expected = [
            "Planning questions",
            "Reading 0 of 3 sources",
            "Reading 1 of 3 sources",
            "Reading 2 of 3 sources",
            "Taking notes on questions: 1 done",
        ];
        assert_eq!(phrases, expected);
    }

    #[test]
    fn a_log_has_the_first_and_the_last_item_only() {
        let mut steps = Steps::new(Style::default());
        steps.in_place = false;
        let mut phrases = Vec::new();
        for item in 0..3 {
            let data = json!({"task_id": "read", "item": item, "items": 3});
            phrases.extend(steps.phrase(&event("task_started", data.clone())));
            phrases.extend(steps.phrase(&event("task_done", data)));
        }
        assert_eq!(phrases, ["Reading 0 of 3 sources", "Reading 3 of 3 sources"]);
    }
}
