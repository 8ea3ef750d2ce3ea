use serde::{Deserialize, Serialize};

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
        Self { path: path.into(), code, message: message.into() }
    }
}
