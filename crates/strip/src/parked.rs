use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Answer, Output, Reply};

/// The reason why the call of a workflow's task waits instead of running. It is the data of an answer that is
/// [`Reply::Pending`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "parked", rename_all = "snake_case", deny_unknown_fields)]
pub enum Parked {
    /// A person must decide about the call. They may have decided before this answer is read: look at the approval once,
    /// then follow [`Approvals::events`](crate::approval::Approvals::events).
    Approval {
        approval_id: String,
        /// The tool's id.
        tool: String,
        /// The canonical arguments, as the reviewer sees them.
        arguments: Value,
        deadline_unix_ms: u64,
    },
    /// People must answer questions of the run. The task is repeated when all of them are settled, with `resume` in
    /// [`Park::resume`](crate::Park::resume); with no questions at once. Follow [`Runs::events`](crate::runs::Runs::events).
    Questions {
        /// The questions that are open.
        questions: Vec<ParkedQuestion>,
        resume: Option<Value>,
    },
}

/// A question that a task waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedQuestion {
    pub question_id: String,
    pub slot_id: String,
    pub prompt: String,
}

impl Parked {
    /// What an answer waits for; none if the call is over.
    pub fn of(answer: &Answer) -> Option<Self> {
        let data = answer.result.as_ref().ok().filter(|_| answer.reply == Reply::Pending)?;
        Self::deserialize(&**data).ok()
    }

    pub(crate) fn output(&self) -> Output {
        // cannot fail: all keys are texts, and there are no numbers but integers.
        let data = serde_json::to_value(self).unwrap_or_default();
        Output { reply: Reply::Pending, ..Output::new(data) }
    }
}
