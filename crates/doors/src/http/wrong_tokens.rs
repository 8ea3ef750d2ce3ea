//! Limits wrong tokens per address. A valid token is always accepted: many callers may share an address.

use auth::{Access, Attempts, Refusal, Source};
use http::HeaderMap;
use http_server::Peer;
use proto::Clock;

/// The most wrong tokens of an address within a minute that are answered with a challenge.
const MAX_WRONG: usize = 100;

/// The wrong tokens of the last minute.
pub(crate) struct WrongTokens(Attempts);

impl WrongTokens {
    pub(super) fn new(clock: Clock) -> Self {
        Self(Attempts::with_limit(clock, MAX_WRONG))
    }

    /// Refuses a token that only the identity provider can check, from an address with too many wrong tokens: each
    /// would be a request to the provider.
    pub(super) fn check(
        &self,
        access: &Access,
        headers: &HeaderMap,
        peer: Option<&Peer>,
    ) -> Result<(), Refusal> {
        if !access.must_ask_issuer(headers) {
            return Ok(());
        }
        self.0.check(&source(peer)).map_err(Refusal::TooManyWrong)
    }

    /// Counts a refusal because of a wrong token, and replaces it if there were too many.
    pub(super) fn count(&self, refusal: Refusal, peer: Option<&Peer>) -> Refusal {
        if !matches!(&refusal, Refusal::BadToken(fault) if fault.is_guess()) {
            return refusal;
        }
        let source = source(peer);
        match self.0.check(&source) {
            Ok(()) => {
                self.0.note_failure(source);
                refusal
            }
            Err(wait) => Refusal::TooManyWrong(wait),
        }
    }
}

fn source(peer: Option<&Peer>) -> Source {
    Source::of_address(peer.map(Peer::address))
}
