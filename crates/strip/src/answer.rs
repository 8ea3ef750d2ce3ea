use std::sync::Arc;

use proto::{Envelope, Meta};
use serde_json::Value;

use crate::files::Reference;
use crate::{Failure, Reply};

/// The end of one call, ready for any door to render.
#[derive(Clone, Debug)]
pub struct Answer {
    pub result: Result<Arc<Value>, Failure>,
    /// The result as an MCP server gave it, good or bad, for doors that can pass it on whole.
    pub native: Option<Arc<Value>>,
    pub reply: Reply,
    /// What was kept of the answer, for doors that can link to it.
    pub references: Vec<Reference>,
    pub meta: Meta,
}

impl Answer {
    /// The answer as an envelope; a failed call has `data: null`.
    pub fn envelope(self) -> Envelope {
        match self.result {
            Ok(data) => Envelope { ok: true, data, meta: self.meta, errors: Vec::new() },
            Err(failure) => Envelope {
                ok: false,
                data: Arc::new(Value::Null),
                meta: self.meta,
                errors: vec![failure.item()],
            },
        }
    }
}
