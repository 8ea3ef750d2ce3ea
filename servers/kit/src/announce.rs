//! A server's side of registration: it registers with a gateway, renews its lease, and unregisters.

mod wire;

use std::time::Duration;

use egress::http::Target;
use tokio_util::sync::CancellationToken;

use crate::options::{GatewayOptions, Token};
pub(crate) use wire::InvalidRegistration;
use wire::{Lease, Refused, Wire};

/// The first wait after a failure; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(200);

const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The timeout for unregistering when the server stops.
const UNREGISTER_TIMEOUT: Duration = Duration::from_secs(2);

/// The server's name, version and URL.
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
    /// Checks the options; sends nothing yet.
    pub(crate) fn new(
        gateway: &str,
        options: &GatewayOptions,
        identity: Identity,
    ) -> Result<Self, InvalidRegistration> {
        Ok(Self { wire: Wire::new(gateway, &identity)?, token: options.token(), identity })
    }

    /// Registers, and again whenever the gateway does not know the lease; unregisters on `stop`.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut lease = None;
        let mut log = FailureLog::default();
        let mut wait = Duration::ZERO;
        let mut failures = Failures::default();
        while stop.run_until_cancelled(tokio::time::sleep(wait)).await.is_some() {
            let renewed = stop.run_until_cancelled(self.renew(lease.as_ref())).await;
            let Some(outcome) = renewed else { break };
            match outcome {
                Ok(granted) => {
                    failures = Failures::default();
                    wait = granted.heartbeat();
                    if lease.as_ref() != Some(&granted) {
                        log = FailureLog::default();
                        tracing::info!(
                            server = self.identity.name,
                            url = self.identity.url,
                            "registered"
                        );
                    }
                    lease = Some(granted);
                }
                Err(Refused::UnknownLease) if lease.is_some() => {
                    tracing::info!(
                        "the gateway does not know the lease any more; registering again"
                    );
                    lease = None;
                    wait = Duration::ZERO;
                }
                Err(refused) => {
                    wait = failures.next();
                    log.warn(&refused);
                }
            }
        }
        if let Some(lease) = lease {
            self.unregister(&lease).await;
        }
    }

    async fn renew(&self, lease: Option<&Lease>) -> Result<Lease, Refused> {
        // Read each time: the gateway may write the file later, or replace it.
        let token = self.token.read().map_err(Refused::NoToken)?;
        match lease {
            Some(lease) => self.wire.heartbeat(&token, lease).await,
            None => self.wire.register(&token, &self.identity).await,
        }
    }

    async fn unregister(&self, lease: &Lease) {
        let Ok(token) = self.token.read() else { return };
        match tokio::time::timeout(UNREGISTER_TIMEOUT, self.wire.unregister(&token, lease)).await {
            Ok(Ok(())) => tracing::info!("unregistered from the gateway"),
            Ok(Err(refused)) => tracing::warn!(%refused, "could not unregister from the gateway"),
            Err(_) => tracing::warn!("could not unregister from the gateway in time"),
        }
    }
}

/// Exponential backoff.
#[derive(Default)]
struct Failures(u32);

impl Failures {
    fn next(&mut self) -> Duration {
        let wait = FIRST_WAIT.saturating_mul(1 << self.0.min(8)).min(LONGEST_WAIT);
        self.0 += 1;
        wait
    }
}

/// Logs each failure once, so that a gateway that is down for an hour does not fill the log.
#[derive(Default)]
struct FailureLog(Option<String>);

impl FailureLog {
    fn warn(&mut self, refused: &Refused) {
        let text = refused.to_string();
        if self.0.as_ref() != Some(&text) {
            tracing::warn!("not registered: {text}; trying again");
            self.0 = Some(text);
        }
    }
}
