//! Makes connections that have passed every check.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::Service;
use url::Host;

use super::dial::{dial, in_turn};
use super::error::{FetchError, Phase, Refusal};
use super::policy::{AddressPolicy, literal};
use super::resolve::Resolve;
use super::target::Target;
use super::tls::Tls;
use super::wire::Wire;

/// The longest connection attempt, also if it continues for the pool after its caller has gone.
const CEILING: Duration = Duration::from_secs(30);

/// How many of a name's addresses are tried; all of them are checked.
const TRIED: usize = 8;

/// Makes connections for the pool: resolve, check, dial, look at the peer, TLS.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) policy: AddressPolicy,
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) tls: Arc<Tls>,
}

impl Connector {
    pub(super) async fn connect(self, uri: Uri) -> Result<TokioIo<Wire>, FetchError> {
        // hyper passes only scheme and authority; parsing them again applies the guard again.
        let target = Target::parse(&uri.to_string())?;
        let attempt = async {
            let stream = self.dial(&target).await?;
            match target.url().scheme() {
                "https" => Ok(Wire::Tls(Box::new(self.tls.open(target.host(), stream).await?))),
                _ => Ok(Wire::Plain(stream)),
            }
        };
        within_ceiling(attempt).await.map(TokioIo::new)
    }

    /// Opens a checked connection without TLS, for callers that speak with the target themselves.
    pub(crate) async fn open(&self, target: &Target) -> Result<TcpStream, FetchError> {
        within_ceiling(self.dial(target)).await
    }

    async fn dial(&self, target: &Target) -> Result<TcpStream, FetchError> {
        let addresses = self.addresses(target.host(), target.port()).await?;
        let (stream, dialled) = dial(&addresses).await.map_err(|e| FetchError::Connect {
            host: target.host().to_string(),
            why: e.to_string(),
        })?;
        self.check_peer(target.host(), dialled, &stream)?;
        Ok(stream)
    }

    /// Resolves once and refuses the host if any of its addresses is not allowed: a name that
    /// answers with one allowed and one denied address is not trustworthy.
    async fn addresses(
        &self,
        host: &Host<String>,
        port: u16,
    ) -> Result<Vec<SocketAddr>, FetchError> {
        let found = match host {
            Host::Domain(name) => self
                .resolver
                .resolve(name)
                .await
                .map_err(|error| unresolved(host, &error.to_string()))?,
            // Written as an address: no resolver is asked, the check is the same.
            _ => literal(host).into_iter().collect(),
        };
        if found.is_empty() {
            return Err(unresolved(host, "the name has no address"));
        }
        let found: Vec<_> = found.into_iter().map(|ip| SocketAddr::new(ip, port)).collect();
        for address in &found {
            self.policy.check(host, *address)?;
        }
        let mut order = in_turn(found);
        order.truncate(TRIED);
        Ok(order)
    }

    /// Asks the open connection where it went, before a single byte is written to it.
    fn check_peer(
        &self,
        host: &Host<String>,
        dialled: SocketAddr,
        stream: &TcpStream,
    ) -> Result<(), FetchError> {
        let ends = stream.peer_addr().and_then(|peer| Ok((stream.local_addr()?, peer)));
        let (local, reached) =
            ends.map_err(|e| FetchError::Connect { host: host.to_string(), why: e.to_string() })?;
        if (reached.ip(), reached.port()) != (dialled.ip(), dialled.port()) {
            return Err(Refusal::Peer { dialled, reached }.into());
        }
        self.policy.check(host, reached)?;
        if self.policy.own_listeners().holds_connection(local, reached) {
            return Err(Refusal::OwnListener { address: reached }.into());
        }
        Ok(())
    }
}

/// The failure of a name without an address. What the resolver said is for the log: it names the host.
fn unresolved(host: &Host<String>, why: &str) -> FetchError {
    tracing::debug!(%host, why, "a name cannot be resolved");
    FetchError::Resolve { host: host.to_string() }
}

async fn within_ceiling<T>(
    attempt: impl Future<Output = Result<T, FetchError>>,
) -> Result<T, FetchError> {
    let late = FetchError::Timeout { phase: Phase::Connect, after: CEILING };
    tokio::time::timeout(CEILING, attempt).await.unwrap_or(Err(late))
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Wire>;
    type Error = FetchError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, FetchError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), FetchError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}

#[cfg(test)]
mod tests;
