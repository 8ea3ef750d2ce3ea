/// Why a sign-in failed. The messages are shown to the person, and repeat nothing of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignInFault {
    #[error("The identity provider cannot be used for signing in now. The gateway's log says why.")]
    Unavailable,
    #[error("Sign-in is not possible: this machine has no random numbers.")]
    Randomness,
    #[error("This sign-in is not known, was used already, or took longer than ten minutes.")]
    Unknown,
    #[error(
        "This sign-in was begun in another browser, or this one does not accept cookies. If another person sent you a link, \
        they may have tried to sign you in as themselves."
    )]
    OtherBrowser,
    #[error("The address that your browser returned with cannot be read.")]
    Unreadable,
    #[error(
        "The answer is of another identity provider than the one that was asked. It is not used."
    )]
    OtherIssuer,
    #[error("You, or the identity provider, refused this sign-in.")]
    Denied,
    #[error("The identity provider refused the sign-in ({0}).")]
    Refused(&'static str),
    #[error("The identity provider sent your browser back without a code.")]
    NoCode,
    #[error("The identity provider gave no token. The gateway's log says why.")]
    NoToken,
    #[error(
        "The identity provider's statement about who you are is not for this sign-in. It is not used; the gateway's log \
        says more."
    )]
    Unproven,
}

impl SignInFault {
    /// The meaning of an identity provider's `error`; a code that no specification lists is not repeated.
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
            None => Self::Refused("an unknown error code"),
        }
    }
}
