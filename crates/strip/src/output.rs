use std::sync::Arc;

use serde_json::Value;

use files::{Blobs, Reference};

/// Whether an output answers the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reply {
    /// The answer is complete.
    #[default]
    Done,
    /// The caller is asked something; `native` says what. It repeats the call with the answers.
    NeedsInput,
    /// The work continues as a task; `native` names it.
    Pending,
}

/// What a tool returns.
#[derive(Clone, Debug)]
pub struct Output {
    pub data: Arc<Value>,
    pub warnings: Vec<String>,
    /// The result as an MCP server gave it, for doors that can forward it unchanged.
    pub native: Option<Arc<Value>>,
    pub reply: Reply,
    /// Long base64 that the data and the result contain as placeholders.
    pub blobs: Option<Blobs>,
    /// The parts of the answer that were stored.
    pub references: Vec<Reference>,
}

/// Compares everything that a caller sees; references are part of the data.
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
            blobs: None,
            references: Vec::new(),
        }
    }
}
