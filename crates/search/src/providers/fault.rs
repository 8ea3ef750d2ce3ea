//! Why a provider gave no results.

use std::time::Duration;

/// Why a provider gave no results. No message contains a key or a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The provider refused the key.
    InvalidKey { why: String },
    /// The provider limits us, or our own quota is used up.
    Limited { wait: Option<Duration>, why: String },
    /// The provider refused this request, which says nothing about the next one.
    Refused { why: String },
    /// It did not answer in time.
    TimedOut { why: String },
    /// Everything else.
    Failed { why: String },
}

impl Fault {
    /// The provider failed.
    pub fn failed(why: impl Into<String>) -> Self {
        Self::Failed { why: why.into() }
    }

    pub(crate) fn limited(why: impl Into<String>) -> Self {
        Self::Limited { wait: None, why: why.into() }
    }

    /// The provider refused the key.
    pub fn invalid_key(why: impl Into<String>) -> Self {
        Self::InvalidKey { why: why.into() }
    }

    /// What happened, in a few words.
    pub fn why(&self) -> &str {
        match self {
            Self::InvalidKey { why }
            | Self::Limited { why, .. }
            | Self::Refused { why }
            | Self::TimedOut { why }
            | Self::Failed { why } => why,
        }
    }
}
