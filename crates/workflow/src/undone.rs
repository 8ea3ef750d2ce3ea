//! What an ended workflow has done and could not undo.

use dag::core::{Undo, UndoStage, Verdict};
use dag::paths;
use operations::workflows::NotUndone;
use serde_json::Value;

use crate::answer::Moment;
use crate::results::ResultKey;

/// The longest reason, in characters.
const MAX_REASON: usize = 500;

impl Moment<'_> {
    /// The compensations that ended without success, in the order of their calls. With `over`, also those that were not called
    /// before the workflow ended.
    pub(crate) fn not_undone(&self, over: bool) -> Vec<NotUndone> {
        let listed = |undo: &&Undo| match undo.stage {
            UndoStage::Ended(verdict) => verdict != Verdict::Success,
            _ => over,
        };
        let undone = self.state.compensations.iter().filter(listed);
        undone.map(|undo| self.describe(undo)).collect()
    }

    fn describe(&self, undo: &Undo) -> NotUndone {
        let planned = paths::find(self.plan, &undo.cell).map(|(_, planned)| planned);
        let compensation = planned.and_then(|planned| planned.task.compensate.as_ref());
        let key = ResultKey { address: undo.cell.clone(), undo: true };
        let error = self.results.get(&key).and_then(|result| result.note.error);
        let reason = match undo.stage {
            UndoStage::Ended(_) => reason_of(error.as_ref()),
            _ => "the workflow ended before the compensation was called".to_owned(),
        };
        NotUndone {
            task_id: self.name_of(&undo.cell),
            tool: compensation.map(|call| call.tool.clone()).unwrap_or_default(),
            reason,
        }
    }
}

fn reason_of(error: Option<&Value>) -> String {
    let Some(error) = error else {
        return "it was not called, because the credential of the workflow's owner is no longer valid"
            .to_owned();
    };
    if error["details"]["outcome"] == "unknown" {
        return "the compensation was cut off, and whether it took effect is unknown; its tool does not declare that it may \
                run twice, so it was not called again: check what it did"
            .to_owned();
    }
    let part = |name: &str| error[name].as_str().unwrap_or_default();
    let reason = format!("{}: {}", part("code"), part("message"));
    reason.chars().take(MAX_REASON).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reason_says_why_a_compensation_has_no_success() {
        let reason = |error: Value| reason_of(Some(&error));
        let denied = reason(json!({"code": "DENIED", "message": "a reviewer rejected the call"}));
        assert_eq!(denied, "DENIED: a reviewer rejected the call");
        let unknown = json!({"code": "UNAVAILABLE", "details": {"outcome": "unknown"}});
        assert!(reason(unknown).contains("whether it took effect is unknown"));
        assert!(reason_of(None).contains("was not called"));
        let long = json!({"code": "INTERNAL", "message": "x".repeat(10_000)});
        assert_eq!(reason(long).chars().count(), MAX_REASON);
    }
}
