/// Why a credential opens nothing. Told to its bearer, so it repeats nothing of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    #[error("it is longer than any token")]
    TooLong,
    #[error("it is none that this gateway knows")]
    Unknown,
    #[error("it cannot be read")]
    Malformed,
    #[error("it is signed in a way that is not accepted here")]
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

/// Why it cannot be said whether a credential is good.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the identity provider cannot be asked: {0}")]
pub struct Unreachable(pub(crate) String);

/// What becomes of a token that is not let in.
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
