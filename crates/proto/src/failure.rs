use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::{ANSWERED_BY, Blame, Code, ErrorItem, Scrubber};

/// Why a call failed: the message for the caller, the blame, and the cause for the log.
#[derive(Clone, Debug)]
pub struct Failure {
    pub code: Code,
    pub message: String,
    pub blame: Blame,
    pub retryable: bool,
    pub details: Option<Value>,
    pub retry_after: Option<Duration>,
    /// Whether the tool may have done what it was asked, although there is no answer that says so.
    pub effect_unknown: bool,
    /// The failed result as an MCP server gave it, for doors that can forward it unchanged.
    pub native: Option<Arc<Value>>,
    /// The cause as the log shows it; a caller never sees it.
    pub source: Option<Arc<dyn Error + Send + Sync>>,
}

impl Failure {
    /// A failure with its code's usual blame and retry advice.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            blame: code.blame(),
            retryable: code.retryable(),
            details: None,
            retry_after: None,
            effect_unknown: false,
            native: None,
            source: None,
        }
    }

    /// Facts that a program may read, such as a size and its limit.
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// Overrides the code's usual blame.
    pub fn blame(mut self, blame: Blame) -> Self {
        self.blame = blame;
        self
    }

    /// Overrides the code's usual retry advice.
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }

    /// Says when the caller may try again.
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Says that the tool may have done what it was asked: it was, and there is no answer that can be used.
    pub fn with_unknown_effect(mut self) -> Self {
        self.effect_unknown = true;
        self
    }

    /// Keeps the failed result of an MCP server.
    pub fn native(mut self, result: Arc<Value>) -> Self {
        self.native = Some(result);
        self
    }

    /// Keeps the cause for the log.
    pub fn caused_by(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Removes secret values from everything that a caller sees, and the cause if it contains any.
    pub fn scrub(mut self, secrets: &Scrubber) -> Self {
        if secrets.is_empty() {
            return self;
        }
        self.message = secrets.text(&self.message).into_owned();
        self.details.iter_mut().for_each(|details| secrets.json(details));
        self.native.iter_mut().for_each(|native| secrets.json(Arc::make_mut(native)));
        let source = self.source.as_ref().map(ToString::to_string).unwrap_or_default();
        if matches!(secrets.text(&source), Cow::Owned(_)) {
            self.source = None;
        }
        self
    }

    /// The server whose own words the message is, if it is not the gateway's.
    pub fn answered_by(&self) -> Option<&str> {
        self.details.as_ref()?.get(ANSWERED_BY)?.as_str()
    }

    /// The failure as an envelope lists it.
    pub fn item(&self) -> ErrorItem {
        ErrorItem {
            code: self.code,
            message: self.message.clone(),
            retryable: self.retryable,
            details: self.details.clone(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
