//! TLS settings: who is trusted, and under which name.

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::Host;

use super::error::FetchError;

/// Opens TLS over a dialled connection; the trust store is read when it is first needed.
pub(super) struct Tls {
    extra_roots: Vec<CertificateDer<'static>>,
    connector: OnceCell<TlsConnector>,
}

impl Tls {
    pub(super) fn new(extra_roots: Vec<CertificateDer<'static>>) -> Self {
        Self { extra_roots, connector: OnceCell::new() }
    }

    pub(super) async fn open(
        &self,
        host: &Host<String>,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, FetchError> {
        let failed = |why: String| FetchError::Tls { host: host.to_string(), why };
        let connector = self
            .connector
            .get_or_try_init(|| connector(self.extra_roots.clone()))
            .await
            .map_err(failed)?;
        let name = match host {
            Host::Domain(name) => {
                ServerName::try_from(name.clone()).map_err(|e| failed(e.to_string()))?
            }
            Host::Ipv4(ip) => ServerName::IpAddress((*ip).into()),
            Host::Ipv6(ip) => ServerName::IpAddress((*ip).into()),
        };
        connector.connect(name, stream).await.map_err(|e| failed(e.to_string()))
    }
}

async fn connector(extra_roots: Vec<CertificateDer<'static>>) -> Result<TlsConnector, String> {
    // Reading a few hundred certificates from disk would hold up other calls on this thread.
    let roots =
        tokio::task::spawn_blocking(move || roots(extra_roots)).await.map_err(|e| e.to_string())?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

/// The machine's trust store, or Mozilla's list where there is none, as in an empty container.
fn roots(extra: Vec<CertificateDer<'static>>) -> RootCertStore {
    let found = rustls_native_certs::load_native_certs();
    for why in &found.errors {
        tracing::debug!(%why, "a part of the system's trust store cannot be read");
    }
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        tracing::info!("no trust store on this machine, using the built-in list");
        store.add_parsable_certificates(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned());
    }
    store.add_parsable_certificates(extra);
    store
}
