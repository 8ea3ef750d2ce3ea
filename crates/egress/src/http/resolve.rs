//! Names to addresses.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;

use hickory_resolver::config::{NameServerConfig, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::{ResolverBuilder, TokioResolver};

/// The answer of a resolver, still on its way.
pub type ResolveFuture<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Finds the addresses of a name; asked once for each connection.
pub trait Resolve: Send + Sync + 'static {
    /// All addresses of `name`, in order of preference.
    fn resolve<'a>(&'a self, name: &'a str) -> ResolveFuture<'a>;
}

type Settings = ResolverBuilder<TokioRuntimeProvider>;

/// The machine's own resolver settings and hosts file, asked from inside this process.
pub struct SystemResolver(TokioResolver);

impl SystemResolver {
    /// Reads the machine's settings; without any, asks the local name server, as the C library does.
    pub fn new() -> io::Result<Self> {
        Self::from_settings(TokioResolver::builder_tokio())
    }

    fn from_settings(settings: Result<Settings, NetError>) -> io::Result<Self> {
        let builder = settings.unwrap_or_else(|why| {
            tracing::warn!(%why, "no usable resolver settings, asking the local name server");
            let local = NameServerConfig::udp_and_tcp(IpAddr::V4(Ipv4Addr::LOCALHOST));
            let config = ResolverConfig::from_name_servers(vec![local]);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        });
        builder.build().map(Self).map_err(io::Error::other)
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> ResolveFuture<'a> {
        Box::pin(async move {
            let found = self.0.lookup_ip(name).await.map_err(io::Error::other)?;
            Ok(found.iter().collect())
        })
    }
}

#[cfg(test)]
mod tests;
