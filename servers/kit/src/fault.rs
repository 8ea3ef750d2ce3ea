//! Why a call did not succeed, as the caller will read it.

use proto::{Code, Failure};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Value, json};

/// The `_meta` key under which a failed call repeats its code for programs.
const META_KEY: &str = "powerstrip/fault";

/// A failed call.
///
/// A tool's failure is an answer that a model can read and recover from; only [`Fault::protocol`] becomes a JSON-RPC error.
#[derive(Debug, Clone, thiserror::Error)]
#[error(transparent)]
pub struct Fault(Box<Cause>);

#[derive(Debug, Clone, thiserror::Error)]
enum Cause {
    #[error("{}: {message}", code.as_str())]
    Tool { code: Code, message: String, retryable: bool, details: Option<Value> },
    #[error(transparent)]
    Protocol(ErrorData),
}

impl Fault {
    /// A failure with a code of the envelope.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let (message, retryable) = (message.into(), code.retryable());
        Self(Box::new(Cause::Tool { code, message, retryable, details: None }))
    }

    /// The caller sent something that cannot be worked on.
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidInput, message)
    }

    /// A fault for something that the caller named and that does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message)
    }

    /// Something the call needs is missing on this host.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(Code::Unsupported, message)
    }

    /// Something the call needs does not answer at the moment.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Code::Unavailable, message)
    }

    /// The tool itself is at fault.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    /// A JSON-RPC error, for requests that break the protocol rather than the tool.
    pub fn protocol(error: ErrorData) -> Self {
        Self(Box::new(Cause::Protocol(error)))
    }

    /// Adds facts for programs; nothing is added to a JSON-RPC error.
    pub fn details(mut self, facts: Value) -> Self {
        if let Cause::Tool { details, .. } = self.0.as_mut() {
            *details = Some(facts);
        }
        self
    }

    /// Overrides the code's usual retry advice; a JSON-RPC error has none.
    pub fn retryable(mut self, advice: bool) -> Self {
        if let Cause::Tool { retryable, .. } = self.0.as_mut() {
            *retryable = advice;
        }
        self
    }

    /// The code, the message, the retry advice and the details, to be stored.
    pub(crate) fn into_parts(self) -> (Code, String, bool, Option<Value>) {
        match *self.0 {
            Cause::Tool { code, message, retryable, details } => {
                (code, message, retryable, details)
            }
            Cause::Protocol(error) => {
                (Code::Internal, error.message.into_owned(), false, error.data)
            }
        }
    }

    /// The answer to `tools/call`: the code and message as text, and again in `_meta`.
    pub(crate) fn into_call_result(self) -> Result<CallToolResult, ErrorData> {
        match *self.0 {
            Cause::Protocol(error) => Err(error),
            Cause::Tool { code, message, retryable, details } => {
                let mut facts = json!({ "code": code.as_str(), "retryable": retryable });
                if let Some(details) = details {
                    facts["details"] = details;
                }
                let mut meta = MetaObject::new();
                meta.0.insert(META_KEY.into(), facts);
                let text = ContentBlock::text(format!("{}: {message}", code.as_str()));
                Ok(CallToolResult::error(vec![text]).with_meta(Some(meta)))
            }
        }
    }

    /// The answer to `prompts/get` and `resources/read`, which know no failed results.
    pub(crate) fn into_error(self) -> ErrorData {
        match *self.0 {
            Cause::Protocol(error) => error,
            Cause::Tool { code, message, details, .. } => match code {
                Code::InvalidInput | Code::NotFound => ErrorData::invalid_params(message, details),
                _ => ErrorData::internal_error(format!("{}: {message}", code.as_str()), details),
            },
        }
    }
}

/// The cause of a failure is only logged.
impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        if let Some(cause) = &failure.source {
            tracing::warn!(%cause, "a call failed");
        }
        let fault = Self::new(failure.code, failure.message).retryable(failure.retryable);
        match failure.details {
            Some(details) => fault.details(details),
            None => fault,
        }
    }
}
