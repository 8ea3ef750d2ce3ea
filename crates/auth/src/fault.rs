/// Why a credential is rejected. The message goes to its bearer and repeats nothing of the credential.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    #[error("it is longer than any token")]
    TooLong,
    #[error("it is unknown to this gateway")]
    Unknown,
    #[error("it cannot be read")]
    Malformed,
    #[error("its signature algorithm is not accepted")]
    Algorithm,
    #[error("it is signed with a key that its issuer does not publish")]
    Key,
    #[error("its signature is wrong")]
    Signature,
    #[error("it has expired")]
    Expired,
    #[error("it is not valid yet")]
    Early,
    #[error("another issuer made it")]
    Issuer,
    #[error("it was made for another audience")]
    Audience,
    #[error("its claim `{0}` is missing or cannot be used")]
    Claim(String),
}

impl TokenFault {
    /// Whether the credential may be made up. One that its issuer has signed is not, even if it has expired.
    pub fn is_guess(&self) -> bool {
        match self {
            Self::TooLong
            | Self::Unknown
            | Self::Malformed
            | Self::Algorithm
            | Self::Key
            | Self::Signature
            | Self::Issuer => true,
            Self::Expired | Self::Early | Self::Audience | Self::Claim(_) => false,
        }
    }
}

/// Why a credential could not be checked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the identity provider cannot be reached: {0}")]
pub struct Unreachable(pub(crate) String);

/// Why a token is not admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rejected {
    Fault(TokenFault),
    Unreachable(Unreachable),
}

impl From<TokenFault> for Rejected {
    fn from(fault: TokenFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Unreachable> for Rejected {
    fn from(unreachable: Unreachable) -> Self {
        Self::Unreachable(unreachable)
    }
}
