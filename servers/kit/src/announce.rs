//! A server's side of registration: it announces itself to a gateway, renews its lease, and says goodbye.

mod wire;

use std::time::Duration;

use egress::http::Target;
use tokio_util::sync::CancellationToken;

use crate::options::{GatewayOptions, Token};
pub(crate) use wire::Misaddressed;
use wire::{Lease, Refused, Wire};

/// The first wait after a failure; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(200);

const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// How long the goodbye may take when the server stops.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What the server tells of itself.
pub(crate) struct Identity {
    pub(crate) name: String,
    pub(crate) version: &'static str,
    pub(crate) url: String,
    pub(crate) replica: bool,
}

impl Identity {
    /// The host that the gateway will name when it calls, if the URL has one.
    pub(crate) fn host(url: &str) -> Option<String> {
        Target::parse(url).ok().map(|target| target.host().to_string())
    }
}

/// Keeps a server registered.
pub(crate) struct Announcer {
    wire: Wire,
    token: Token,
    identity: Identity,
}

impl Announcer {
    /// Prepares to speak to the gateway; nothing is sent yet.
    pub(crate) fn new(
        gateway: &str,
        options: &GatewayOptions,
        identity: Identity,
    ) -> Result<Self, Misaddressed> {
        Ok(Self { wire: Wire::new(gateway, &identity)?, token: options.token(), identity })
    }

    /// Registers, and again whenever the gateway has forgotten, until `leaving`; then says goodbye.
    pub(crate) async fn keep(self, leaving: CancellationToken) {
        let mut lease = None;
        let mut told = Told::default();
        let mut wait = Duration::ZERO;
        let mut failures = Failures::default();
        while leaving.run_until_cancelled(tokio::time::sleep(wait)).await.is_some() {
            let asked = leaving.run_until_cancelled(self.renew(lease.as_ref())).await;
            let Some(outcome) = asked else { break };
            match outcome {
                Ok(granted) => {
                    failures = Failures::default();
                    wait = granted.heartbeat();
                    if lease.as_ref() != Some(&granted) {
                        told = Told::default();
                        tracing::info!(
                            server = self.identity.name,
                            url = self.identity.url,
                            "registered"
                        );
                    }
                    lease = Some(granted);
                }
                Err(Refused::Forgotten) if lease.is_some() => {
                    tracing::info!("the gateway does not know us any more; registering again");
                    lease = None;
                    wait = Duration::ZERO;
                }
                Err(refused) => {
                    wait = failures.next();
                    told.tell(&refused);
                }
            }
        }
        if let Some(lease) = lease {
            self.goodbye(&lease).await;
        }
    }

    async fn renew(&self, lease: Option<&Lease>) -> Result<Lease, Refused> {
        // Read anew each time: the gateway may make the file after we were started, or a new one.
        let token = self.token.read().map_err(Refused::NoToken)?;
        match lease {
            Some(lease) => self.wire.heartbeat(&token, lease).await,
            None => self.wire.register(&token, &self.identity).await,
        }
    }

    async fn goodbye(&self, lease: &Lease) {
        let Ok(token) = self.token.read() else { return };
        match tokio::time::timeout(LAST_WORDS, self.wire.goodbye(&token, lease)).await {
            Ok(Ok(())) => tracing::info!("said goodbye to the gateway"),
            Ok(Err(refused)) => tracing::warn!(%refused, "the gateway did not take our goodbye"),
            Err(_) => tracing::warn!("the gateway did not take our goodbye in time"),
        }
    }
}

/// Growing pauses.
#[derive(Default)]
struct Failures(u32);

impl Failures {
    fn next(&mut self) -> Duration {
        let wait = FIRST_WAIT.saturating_mul(1 << self.0.min(8)).min(LONGEST_WAIT);
        self.0 += 1;
        wait
    }
}

/// What was last said about failures, so that a gateway that is away for an hour fills no log.
#[derive(Default)]
struct Told(Option<String>);

impl Told {
    fn tell(&mut self, refused: &Refused) {
        let text = refused.to_string();
        if self.0.as_ref() != Some(&text) {
            tracing::warn!("not registered: {text}; trying again");
            self.0 = Some(text);
        }
    }
}
