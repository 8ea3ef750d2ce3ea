//! Servers that want a token: where it comes from, and how often a refused request is sent again.

use std::sync::Arc;

use auth::client::{BearerChallenge, Fault, Holder, ServerTokens, TokenServer};
use egress::http::StreamingResponse;
use http::HeaderValue;

use super::HttpLink;
use super::exchange::Way;
use crate::Deps;
use crate::broken::Broken;
use crate::config::ServerConfig;

/// A request is sent again for a token, and once more for a token that reaches further.
const ROUNDS: u8 = 2;

/// The tokens of a server, unless its entry says what to send.
pub(super) fn of(name: &str, config: &ServerConfig, deps: &Deps) -> Option<Arc<ServerTokens>> {
    // A server that named itself could send us anywhere for a token, and tell people to log in for it.
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

impl HttpLink {
    /// Whether what is listed may be what one person among several is shown.
    pub(crate) fn is_listed_as_somebody(&self) -> bool {
        self.exchange.tokens().is_some_and(|tokens| tokens.uses_one_of_many())
    }

    /// Lists the tools again when somebody has logged in, who may be the first.
    pub(super) async fn greet_logins(&self) {
        let Some(tokens) = self.exchange.tokens() else { return };
        loop {
            tokens.next_login().await;
            self.news.changed.notify_one();
        }
    }
}

/// One request's way to a token.
pub(super) struct Showing<'a> {
    tokens: &'a Arc<ServerTokens>,
    holder: Holder,
    sent: Option<HeaderValue>,
    rounds: u8,
}

impl<'a> Showing<'a> {
    pub(super) fn new(tokens: &'a Arc<ServerTokens>, way: &Way) -> Self {
        let holder = way.who.as_ref().map_or(Holder::Gateway, |who| who.holder());
        Self { tokens, holder, sent: None, rounds: 0 }
    }

    /// What the request is to be sent with.
    pub(super) async fn bearer(&mut self) -> Option<HeaderValue> {
        self.sent = self.tokens.authorization(&self.holder).await;
        self.sent.clone()
    }

    /// The challenge in an answer, if it is worth answering.
    pub(super) fn challenge(
        &self,
        url: &str,
        response: &StreamingResponse,
    ) -> Option<BearerChallenge> {
        let challenge = BearerChallenge::from_response(response.status, &response.headers)?;
        // What another place says after a redirect is not the server's word.
        (self.rounds < ROUNDS && same_origin(url, response)).then_some(challenge)
    }

    /// Answers a challenge: the request can be sent again, with another token.
    pub(super) async fn answer(
        &mut self,
        url: &str,
        challenge: BearerChallenge,
    ) -> Result<(), Broken> {
        self.rounds += 1;
        let answered = self.tokens.answer_challenge(&self.holder, url, challenge, self.sent.take());
        match answered.await {
            Ok(()) => Ok(()),
            Err(Fault::LoginRequired { link, .. }) => Err(Broken::Login(link)),
            Err(fault) => {
                let passing = fault.is_transient();
                Err(Broken::NoToken { why: fault.to_string().into(), passing })
            }
        }
    }
}

fn same_origin(url: &str, response: &StreamingResponse) -> bool {
    egress::http::Target::parse(url)
        .is_ok_and(|target| target.url().origin() == response.target.url().origin())
}
