use std::sync::Arc;

use egress::http::FetchError;

use crate::vault::VaultFault;

/// Why there is no token. The texts are for operators: they may name hosts, and never hold a secret.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Fault {
    /// A person has to agree first; the link is theirs alone, and missing where nobody is there to follow it.
    #[error("a person has to log in (`powerstrip login {server}`)")]
    Login { server: Arc<str>, link: Option<Arc<str>> },
    /// It could not be reached, or the guard refused to.
    #[error("{what}: {why}")]
    Fetch { what: &'static str, why: FetchError },
    /// It says something that cannot be used.
    #[error("{what} {why}")]
    Unfit { what: &'static str, why: String },
    /// The authorization server said no.
    #[error("the authorization server refuses with `{code}`{said}")]
    Refused { code: String, said: String },
    /// The server does not take what its own authorization server gave.
    #[error("the server does not accept the token that was just issued for it")]
    Unaccepted,
    /// The server wants scopes that were asked for already.
    #[error("the server wants scopes that the token was asked for already: {0}")]
    Scopes(String),
    #[error("{0}")]
    Vault(Arc<VaultFault>),
    #[error("the token could not be had: the work was cut short")]
    CutShort,
}

impl Fault {
    pub(super) fn unfit(what: &'static str, why: impl Into<String>) -> Self {
        Self::Unfit { what, why: why.into() }
    }

    /// Whether the same may work in a while, with nobody doing anything.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Fetch { why, .. } => !matches!(why, FetchError::Refused(_)),
            Self::Refused { code, .. } => {
                matches!(&**code, "temporarily_unavailable" | "server_error" | "slow_down")
            }
            Self::CutShort => true,
            _ => false,
        }
    }
}

impl From<VaultFault> for Fault {
    fn from(fault: VaultFault) -> Self {
        Self::Vault(Arc::new(fault))
    }
}
