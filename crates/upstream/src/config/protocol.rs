//! Which transport and which protocol era are spoken with a server.

use serde::Deserialize;

use super::{Kind, ServerConfig};

/// Which transport is spoken with a server that has a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UrlTransport {
    /// Streamable HTTP; HTTP+SSE if the server refuses that as servers of 2024-11-05 do.
    #[default]
    Auto,
    Streamable,
    /// HTTP+SSE of 2024-11-05.
    Sse,
}

/// Which protocol era is spoken with a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EraChoice {
    /// What the server speaks; the era of each caller if it speaks both.
    #[default]
    Auto,
    Legacy,
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
