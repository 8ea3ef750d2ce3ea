use std::fmt;

use serde::{Deserialize, Serialize};

/// The protocol version of the modern era.
pub(crate) const MODERN: &str = "2026-07-28";

/// Which of the two kinds of MCP a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    /// 2026-07-28: no handshake, each request is complete by itself.
    Modern,
    /// 2025-11-25 and before: `initialize`, sessions.
    Legacy,
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Modern => "modern",
            Self::Legacy => "legacy",
        })
    }
}
