//! What is wrong with an entry, as far as is known without starting or reaching anything.

use egress::http::Rule;
use http::{HeaderName, HeaderValue};
use proto::ToolId;

use crate::choices::{EraChoice, Kind, UrlTransport};
use crate::entry::ServerConfig;
use crate::invalid::InvalidKey;

/// A key of a server's entry that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("servers.{server}.{key}: {reason}")]
pub struct ConfigFault {
    pub server: String,
    /// The key, `name` for the server's name itself.
    pub key: &'static str,
    pub reason: String,
}

impl From<ConfigFault> for InvalidKey {
    fn from(fault: ConfigFault) -> Self {
        Self { place: None, key: fault.key.to_owned(), message: fault.reason }
    }
}

/// Headers that the gateway itself writes into its requests to an MCP server, so that a value in the config would be lost. Some
/// are also among those that `egress::http::is_framing_header` knows: here they are refused before a request is made.
const RESERVED_HEADERS: [&str; 9] = [
    "accept",
    "content-type",
    "content-length",
    "host",
    "connection",
    "transfer-encoding",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
];

impl ServerConfig {
    /// Checks the whole entry without starting or reaching anything.
    pub fn check(&self, server: &str) -> Result<(), ConfigFault> {
        let fault =
            |key, why: &str| ConfigFault { server: server.to_owned(), key, reason: why.to_owned() };
        format!("{server}:x").parse::<ToolId>().map_err(|why| fault("name", &why.to_string()))?;
        if server.contains(':') {
            return Err(fault("name", "a server's name has no `:`"));
        }
        match (&self.command, self.all_urls().next()) {
            (command, url) if self.kind == Kind::Openapi => {
                if command.is_some() || url.is_some() {
                    let key = if command.is_some() { "command" } else { "url" };
                    let reason = "a server of kind openapi has a document and no more";
                    return Err(fault(key, reason));
                }
                if self.document.as_deref().is_none_or(|document| document.trim().is_empty()) {
                    return Err(fault("document", "kind openapi needs a document"));
                }
            }
            _ if self.document.is_some() => {
                return Err(fault("document", "a document goes with kind openapi"));
            }
            _ if self.base_url.is_some() => {
                return Err(fault("base_url", "it goes with kind openapi"));
            }
            (Some(_), Some(_)) => {
                return Err(fault("url", "a server has a command or a URL, not both"));
            }
            (None, None) => {
                return Err(fault("command", "a server needs a command or a URL"));
            }
            (Some(command), None) if command.trim().is_empty() => {
                return Err(fault("command", "it is empty"));
            }
            _ => {}
        }
        self.check_protocol().map_err(|(key, why)| fault(key, why))?;
        for url in self.all_urls() {
            Rule::for_url(url).map_err(|why| fault("url", &why.to_string()))?;
        }
        let remote = self.document.as_deref().filter(|document| is_url(document));
        for (key, url) in [("base_url", self.base_url.as_deref()), ("document", remote)] {
            if let Some(url) = url {
                Rule::for_url(url).map_err(|why| fault(key, &why.to_string()))?;
            }
        }
        let own = self.personal.headers.keys().map(|name| (name, ""));
        let given = self.headers.iter().map(|(name, value)| (name, value.as_str()));
        for (name, value) in given.chain(own) {
            // The value may be a secret, so no message quotes it.
            let parsed =
                HeaderName::try_from(name.as_str()).is_ok() && HeaderValue::try_from(value).is_ok();
            if !parsed {
                return Err(fault("headers", &format!("`{name}` is not a usable header")));
            }
            if RESERVED_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                return Err(fault("headers", &format!("`{name}` is written by the gateway")));
            }
        }
        self.personal.check(self.is_shared()).map_err(|(key, why)| fault(key, &why))?;
        if let Some(auth) = &self.auth {
            if self.command.is_some() {
                return Err(fault("auth", "a program is not asked for tokens"));
            }
            if self.kind == Kind::Openapi {
                let reason = "tokens are for MCP servers; kind openapi has `headers`";
                return Err(fault("auth", reason));
            }
            if self.sends_authorization() {
                return Err(fault("auth", "the headers have an `authorization` already"));
            }
            auth.check().map_err(|why| fault("auth", &format!("{}: {}", why.key, why.reason)))?;
        }
        if self.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(fault("timeout", "it is zero"));
        }
        for (old, new) in &self.rename {
            format!("{server}:{new}")
                .parse::<ToolId>()
                .map_err(|why| fault("rename", &format!("`{old}`: {why}")))?;
        }
        Ok(())
    }

    /// Checks the keys that say how the server is spoken to.
    fn check_protocol(&self) -> Result<(), (&'static str, &'static str)> {
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

    /// What is wrong with the entry, as far as is known without starting or reaching anything.
    pub fn faults(&self, server: &str) -> Vec<InvalidKey> {
        if self.invalid.is_empty() {
            return self.check(server).err().map(InvalidKey::from).into_iter().collect();
        }
        self.invalid.clone()
    }
}

/// Whether a document is on the network rather than in a file.
pub fn is_url(location: &str) -> bool {
    location.starts_with("http://") || location.starts_with("https://")
}
