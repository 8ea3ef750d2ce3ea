use std::sync::Arc;

use serde_json::Value;

use crate::files::{Carved, Reference};

/// How far a call has come with its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reply {
    /// The answer is there.
    #[default]
    Done,
    /// The caller is asked something; `native` says what. It repeats the call with the answers.
    NeedsInput,
    /// The work goes on as a task; `native` names it.
    Pending,
}

/// What a tool hands back.
#[derive(Clone, Debug)]
pub struct Output {
    pub data: Arc<Value>,
    pub warnings: Vec<String>,
    /// The result as an MCP server gave it, for doors that can pass it on whole.
    pub native: Option<Arc<Value>>,
    pub reply: Reply,
    /// Long runs of base64 that stand in the data and the result by their marks.
    pub carved: Option<Carved>,
    /// What was kept of the answer.
    pub references: Vec<Reference>,
}

/// Two outputs are the same if they say the same; what was kept of them stands in the data.
impl PartialEq for Output {
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data
            && self.warnings == other.warnings
            && self.native == other.native
            && self.reply == other.reply
    }
}

impl Output {
    /// Data without warnings.
    pub fn new(data: Value) -> Self {
        Self {
            data: Arc::new(data),
            warnings: Vec::new(),
            native: None,
            reply: Reply::Done,
            carved: None,
            references: Vec::new(),
        }
    }
}
