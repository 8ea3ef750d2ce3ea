/// Why somebody is not signed in. The texts are for that person, and repeat nothing that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignInFault {
    #[error("The identity provider cannot be used for signing in now. The gateway's log says why.")]
    Unavailable,
    #[error("This machine has no random numbers; nobody can sign in.")]
    Randomness,
    #[error("This sign-in is not known, was used already, or took longer than ten minutes.")]
    Unknown,
    #[error(
        "This sign-in was begun in another browser, or this one keeps no cookies. If somebody sent you a link, they may \
         have tried to sign you in as somebody else."
    )]
    OtherBrowser,
    #[error("The address that your browser came back with cannot be read.")]
    Unreadable,
    #[error(
        "The answer is of another identity provider than the one that was asked. It is not used."
    )]
    OtherIssuer,
    #[error("You, or the identity provider, said no to this sign-in.")]
    Denied,
    #[error("The identity provider refused the sign-in ({0}).")]
    Refused(&'static str),
    #[error("The identity provider sent your browser back without a code.")]
    NoCode,
    #[error("The identity provider gave no token. The gateway's log says why.")]
    NoToken,
    #[error(
        "What the identity provider says about who you are was not said for this sign-in. It is not used; the gateway's \
         log says more."
    )]
    Unproven,
}

impl SignInFault {
    /// What an identity provider's `error` means; a word that stands in no book is not repeated.
    pub(super) fn refused(error: &str) -> Self {
        const KNOWN: [&str; 12] = [
            "invalid_request",
            "unauthorized_client",
            "unsupported_response_type",
            "invalid_scope",
            "invalid_target",
            "server_error",
            "temporarily_unavailable",
            "interaction_required",
            "login_required",
            "account_selection_required",
            "consent_required",
            "request_not_supported",
        ];
        match KNOWN.iter().find(|known| **known == error) {
            _ if error == "access_denied" => Self::Denied,
            Some(known) => Self::Refused(known),
            None => Self::Refused("for a reason of its own"),
        }
    }
}
