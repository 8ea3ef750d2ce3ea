//! Tokens for servers that require them: where they come from, and how often a refused request is sent again.

use std::sync::Arc;

use auth::client::{BearerChallenge, Fault, Holder, ServerTokens, TokenServer};
use egress::http::StreamingResponse;
use http::{HeaderValue, Method};
use server_entry::ServerConfig;

use crate::caller::Caller;
use crate::deps::Deps;
use crate::error::TransportError;

/// A request is sent again with a token, and once more with a token of more scopes.
const ROUNDS: u8 = 2;

/// The tokens of a server, unless its entry has an `authorization` header.
pub(super) fn for_server(
    name: &str,
    config: &ServerConfig,
    deps: &Deps,
) -> Option<Arc<ServerTokens>> {
    // A server that registered itself could send the gateway and its users anywhere for a token.
    if config.sends_authorization() || config.is_announced() {
        return None;
    }
    let server = TokenServer {
        name,
        urls: config.all_urls().map(str::to_owned).collect(),
        shared: config.is_shared(),
        config: config.auth.clone(),
    };
    let oauth = Arc::clone(deps.keyring.as_ref()?);
    Some(ServerTokens::new(oauth, server, &deps.http))
}

/// Obtains a token for one request.
pub(super) struct Authorizer<'a> {
    tokens: &'a Arc<ServerTokens>,
    holder: Holder,
    sent: Option<HeaderValue>,
    rounds: u8,
}

impl<'a> Authorizer<'a> {
    pub(super) fn new(tokens: &'a Arc<ServerTokens>, caller: Option<&Caller>) -> Self {
        let holder = caller.map_or(Holder::Gateway, Caller::holder);
        Self { tokens, holder, sent: None, rounds: 0 }
    }

    /// The `authorization` header to send.
    pub(super) async fn bearer(&mut self) -> Option<HeaderValue> {
        self.sent = self.tokens.authorization(&self.holder).await;
        self.sent.clone()
    }

    /// The `dpop` header to send with it, if the token is bound to a key.
    pub(super) fn proof(&self, method: &Method, url: &str) -> Option<HeaderValue> {
        self.tokens.proof(self.sent.as_ref()?, method.as_str(), url)
    }

    /// The challenge in a response, unless too many were answered already.
    pub(super) fn challenge(
        &self,
        url: &str,
        response: &StreamingResponse,
    ) -> Option<BearerChallenge> {
        // After a redirect the challenge is another host's, or the request has had its effect.
        if response.redirected || !same_origin(url, response) {
            return None;
        }
        self.tokens.note_nonce(&response.headers);
        let challenge = BearerChallenge::from_response(response.status, &response.headers)?;
        (self.rounds < ROUNDS).then_some(challenge)
    }

    /// Obtains a token for a challenge, so that the request can be sent again.
    pub(super) async fn answer(
        &mut self,
        url: &str,
        challenge: BearerChallenge,
    ) -> Result<(), TransportError> {
        self.rounds += 1;
        let answered = self.tokens.answer_challenge(&self.holder, url, challenge, self.sent.take());
        match answered.await {
            Ok(()) => Ok(()),
            Err(Fault::LoginRequired { link, .. }) => Err(TransportError::Login(link)),
            Err(fault) => {
                let transient = fault.is_transient();
                Err(TransportError::NoToken { why: fault.to_string().into(), transient })
            }
        }
    }
}

fn same_origin(url: &str, response: &StreamingResponse) -> bool {
    egress::http::Target::parse(url)
        .is_ok_and(|target| target.url().origin() == response.target.url().origin())
}
