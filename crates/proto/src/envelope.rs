use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Code, TraceId};

/// The one answer shape of every REST, LSP, CLI and workflow call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    pub ok: bool,
    /// Shared, because a recorded answer is returned to many callers.
    pub data: Arc<Value>,
    pub meta: Meta,
    pub errors: Vec<ErrorItem>,
}

/// Facts about one call that are not its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    pub tool: Arc<str>,
    pub version: Arc<str>,
    pub duration_ms: u64,
    pub trace_id: TraceId,
    pub warnings: Vec<String>,
}

/// One error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorItem {
    pub code: Code,
    pub message: String,
    pub retryable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// The key of [`ErrorItem::details`] that names the server whose own words the message is.
pub const ANSWERED_BY: &str = "answeredBy";

impl ErrorItem {
    /// The server whose own words the message is, if it is not the gateway's.
    pub fn answered_by(&self) -> Option<&str> {
        self.details.as_ref()?.get(ANSWERED_BY)?.as_str()
    }

    /// The label before the message for people and models: the code, or the server that answered.
    pub fn label(&self) -> String {
        match self.answered_by() {
            Some(server) => format!("{server} answered:"),
            None => format!("{}:", self.code),
        }
    }
}

impl Envelope {
    /// The code of the first error, if the call failed.
    pub fn code(&self) -> Option<Code> {
        self.errors.first().map(|error| error.code)
    }

    /// The HTTP status of this envelope.
    pub fn http_status(&self) -> u16 {
        self.code().map_or(200, Code::http_status)
    }
}
