//! Which transport and which protocol era are spoken with a server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kind, ServerConfig};

/// Which transport is spoken with a server that has a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UrlTransport {
    /// Streamable HTTP, or HTTP+SSE if the server does not know it.
    #[default]
    Auto,
    /// Streamable HTTP only.
    Streamable,
    /// HTTP+SSE, the transport of 2024-11-05.
    Sse,
}

/// Which protocol era is spoken with a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EraChoice {
    /// What the server speaks; if it speaks both, the era of each caller.
    #[default]
    Auto,
    /// 2025-11-25 and before: `initialize`, sessions, questions during a call.
    Legacy,
    /// 2026-07-28: requests without sessions.
    Modern,
}

impl ServerConfig {
    /// Checks the keys that say how the server is spoken to.
    pub(super) fn check_protocol(&self) -> Result<(), (&'static str, &'static str)> {
        let has_url = self.all_urls().next().is_some();
        if self.transport != UrlTransport::Auto && !has_url {
            return Err(("transport", "it goes with `url`: a program is spoken to over its pipes"));
        }
        if self.kind == Kind::Openapi && self.era != EraChoice::Auto {
            return Err(("era", "a server of kind openapi does not speak MCP"));
        }
        if self.transport == UrlTransport::Sse && self.era == EraChoice::Modern {
            return Err(("era", "`transport: sse` is legacy; remove one of the two"));
        }
        Ok(())
    }
}
