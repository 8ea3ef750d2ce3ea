//! Checks a caller again whose work goes on after its request: a workflow that waits or is resumed.

use proto::{Principal, Via};

use crate::Access;
use crate::access::Guarded;

/// Why a caller that was admitted once would not be admitted now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Gone {
    #[error("the key of its owner was revoked")]
    KeyRevoked,
    #[error("keys of the gateway are no longer accepted")]
    KeysRefused,
    #[error("tokens of `{0}`, which its owner used, are no longer accepted")]
    IssuerRemoved(String),
    #[error("callers need credentials now, and its owner had none")]
    CredentialNeeded,
}

impl Access {
    /// Whether a principal that was admitted before still has its rights. A token or key that has expired since keeps them;
    /// a revoked key and a removed issuer do not. Whether an agent still exists, the strip knows.
    pub fn still_valid(&self, principal: &Principal) -> Result<(), Gone> {
        match (&principal.via, self) {
            (Via::Local, _) | (Via::Loopback, Self::Local(_)) => Ok(()),
            (Via::Loopback, Self::Guarded(_)) => Err(Gone::CredentialNeeded),
            (Via::Key { id }, Self::Guarded(guarded)) => guarded.check_key_again(id),
            (Via::Key { .. }, Self::Local(_)) => Err(Gone::KeysRefused),
            (Via::Token { issuer, .. }, access) => match access {
                Self::Guarded(guarded) if guarded.issuer_name() == Some(issuer) => Ok(()),
                _ => Err(Gone::IssuerRemoved(issuer.clone())),
            },
        }
    }
}

impl Guarded {
    fn check_key_again(&self, id: &str) -> Result<(), Gone> {
        let keys = self.keys().ok_or(Gone::KeysRefused)?;
        if keys.is_revoked(id) { Err(Gone::KeyRevoked) } else { Ok(()) }
    }
}
