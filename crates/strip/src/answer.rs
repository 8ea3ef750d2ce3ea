use std::sync::Arc;

use proto::{Envelope, Failure, Meta};
use serde_json::Value;

use crate::Reply;
use crate::catalog::Entry;
use files::Reference;

/// The result of one call, ready for any door to render.
#[derive(Clone, Debug)]
pub struct Answer {
    pub result: Result<Arc<Value>, Failure>,
    /// The result as an MCP server gave it, success or failure, for doors that can forward it unchanged.
    pub native: Option<Arc<Value>>,
    pub reply: Reply,
    /// The parts of the answer that were stored, for doors that can link to them.
    pub references: Vec<Reference>,
    /// The catalog entry of the tool that the caller named; none if the caller has no such tool.
    pub entry: Option<Arc<Entry>>,
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
