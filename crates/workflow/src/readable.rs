//! Writes the steps of workflows, and refuses what could not be read again: serde_json writes any depth, and reads 127 levels.
//! The depth of what callers and tools give is checked before, where they learn the reason; see `dag::check_depth`.

use store::{Receipt, RowChange, StoreError, WorkflowChange};

use crate::service::Service;

/// The deepest nesting that serde_json reads.
const MAX_LEVELS: usize = 127;

/// How much of a refused text an error names.
const SHOWN_BYTES: usize = 100;

impl Service {
    /// Writes a step through the group-commit writer. Fails for good with [`StoreError::Unreadable`] if a text of it is
    /// nested too deeply.
    pub(crate) async fn save(&self, change: WorkflowChange) -> Result<Receipt, StoreError> {
        let too_deep = texts(&change).find(|(_, text)| levels(text) > MAX_LEVELS);
        if let Some((column, text)) = too_deep {
            let value = text[..text.floor_char_boundary(SHOWN_BYTES)].to_owned();
            return Err(StoreError::Unreadable { column, value });
        }
        self.commits.save_workflow(change).await
    }
}

/// The JSON of a step that holds values of callers and tools, by column.
fn texts(change: &WorkflowChange) -> impl Iterator<Item = (&'static str, &str)> {
    let dag = match &change.row {
        Some(RowChange::Insert(row)) => Some(row.dag.as_str()),
        Some(RowChange::Update(update)) => update.dag.as_deref(),
        None => None,
    };
    let checkpoint = change.checkpoint.as_ref().map(|row| ("checkpoint", row.answer.as_str()));
    let answer = change.answer.as_ref().map(|row| ("answer", row.answer.as_str()));
    let results = change.tasks.iter().map(|row| ("result", row.result.as_str()));
    let outputs = change.tasks.iter().filter_map(|row| Some(("output", row.output.as_deref()?)));
    let events = change.events.iter().map(|row| ("data", row.data.as_str()));
    let whole = dag.map(|dag| ("dag", dag)).into_iter().chain(checkpoint).chain(answer);
    whole.chain(results).chain(outputs).chain(events)
}

/// The levels of lists and objects in JSON.
fn levels(json: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                open += 1;
                most = most.max(open);
            }
            b']' | b'}' => open = open.saturating_sub(1),
            b'"' => skip_text(&mut bytes),
            _ => {}
        }
    }
    most
}

/// Skips a text whose first quotation mark was read.
fn skip_text(bytes: &mut impl Iterator<Item = u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use store::{WorkflowAnswer, WorkflowCheckpointRow, WorkflowEventRow};
    use uuid::Uuid;

    use super::*;
    use crate::testing::Setup;

    fn nest(levels: usize) -> String {
        format!("{}1{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn the_levels_are_those_that_serde_json_counts() {
        let text = json!({"a [[[": ["\"[\\", {"b": [[]]}], "c": "]]]"}).to_string();
        assert_eq!(levels(&text), 5);
        for levels_of in [126, 127, 128, 200] {
            let text = nest(levels_of);
            assert_eq!(levels(&text), levels_of);
            let read = serde_json::from_str::<Value>(&text).is_ok();
            assert_eq!(read, levels_of <= MAX_LEVELS);
        }
    }

    #[tokio::test]
    async fn a_step_that_could_not_be_read_again_is_refused() {
        let setup = Setup::new(0).await;
        let workflows = setup.workflows();
        let service = workflows.service();
        let step = |data: String| {
            let event = WorkflowEventRow {
                workflow: Uuid::nil(),
                number: 1,
                at_unix_ms: 1,
                kind: "command".to_owned(),
                data,
            };
            WorkflowChange { events: vec![event], ..WorkflowChange::default() }
        };
        let checkpoint = WorkflowCheckpointRow {
            workflow: Uuid::nil(),
            id: "chk_1".to_owned(),
            layer: 0,
            kind: "layer".to_owned(),
            answer: nest(128),
        };
        let paused = WorkflowChange { checkpoint: Some(checkpoint), ..WorkflowChange::default() };
        let answer = WorkflowAnswer { answer: nest(128), expires_unix_ms: 1 };
        let ended = WorkflowChange { answer: Some(answer), ..WorkflowChange::default() };
        for (change, expected) in
            [(step(nest(128)), "data"), (paused, "checkpoint"), (ended, "answer")]
        {
            let refused = service.save(change).await.err();
            assert!(
                matches!(&refused, Some(StoreError::Unreadable { column, .. }) if *column == expected),
                "{expected}: {refused:?}"
            );
        }
        assert!(service.save(step(nest(127))).await.is_ok());
    }
}
