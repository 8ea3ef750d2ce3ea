use serde::{Deserialize, Serialize};

/// The longest path or message of a fault, in bytes.
const MAX_TEXT: usize = 800;

/// Something wrong with a DAG.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// A JSON Pointer into the DAG.
    pub path: String,
    pub code: FaultCode,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultCode {
    DuplicateId,
    UnknownDependency,
    Cycle,
    UnknownTool,
    BadReference,
    BadArguments,
    BadExpression,
    Limit,
}

impl Fault {
    pub(super) fn new(
        path: impl Into<String>,
        code: FaultCode,
        message: impl Into<String>,
    ) -> Self {
        Self { path: shorten(path.into()), code, message: shorten(message.into()) }
    }
}

/// Names in a DAG may be long.
fn shorten(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        text.push('…');
    }
    text
}
