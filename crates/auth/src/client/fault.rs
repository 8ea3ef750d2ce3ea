use std::sync::Arc;

use egress::http::FetchError;

use crate::vault::VaultFault;

/// Why there is no token. The messages are for operators: they may name hosts, and never contain a secret.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Fault {
    /// A person has to log in first. The link is for that person only; there is none if no person made the call.
    #[error("a person has to log in (`powerstrip login {server}`)")]
    LoginRequired { server: Arc<str>, link: Option<Arc<str>> },
    /// The server could not be reached, or the guard refused the connection.
    #[error("{what}: {why}")]
    Fetch { what: &'static str, why: FetchError },
    /// An answer or a setting cannot be used.
    #[error("{what} {why}")]
    Invalid { what: &'static str, why: String },
    /// The authorization server refused.
    #[error("the authorization server refuses with `{code}`{said}")]
    Refused { code: String, said: String },
    /// The authorization server does not know the server by its `resource`, or does not know that parameter.
    #[error(
        "the authorization server refuses the parameter `resource` with `{code}`{said}; set `auth.resource` to the name \
         by which it knows the server, or to false"
    )]
    ResourceRefused { code: String, said: String },
    /// The server rejects a token that its own authorization server has just issued.
    #[error("the server does not accept the token that was just issued for it")]
    TokenRejected,
    /// The server asks for scopes that were requested already.
    #[error("the server asks for scopes that were requested already: {0}")]
    Scopes(String),
    #[error("{0}")]
    Vault(Arc<VaultFault>),
    #[error("the token request was interrupted")]
    Interrupted,
}

impl Fault {
    pub(super) fn invalid(what: &'static str, why: impl Into<String>) -> Self {
        Self::Invalid { what, why: why.into() }
    }

    /// Whether an error of an authorization server is about the parameter `resource`.
    pub(super) fn is_about_resource(code: &str, said: &str) -> bool {
        code == "invalid_target" || (code == "invalid_request" && said.contains("resource"))
    }

    /// Whether the authorization server did not accept how the client authenticated.
    pub(super) fn is_refused_client(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if code == "invalid_client")
    }

    /// Whether a retry may succeed without any change.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Fetch { why, .. } => !matches!(why, FetchError::Refused(_)),
            Self::Refused { code, .. } => {
                matches!(&**code, "temporarily_unavailable" | "server_error" | "slow_down")
            }
            Self::Interrupted => true,
            _ => false,
        }
    }
}

impl From<VaultFault> for Fault {
    fn from(fault: VaultFault) -> Self {
        Self::Vault(Arc::new(fault))
    }
}
