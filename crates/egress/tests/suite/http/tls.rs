//! TLS goes to the checked address under the name of the URL.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use egress::http::{Client, FetchError};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::http::server::{Record, Script, get, policy, reply, serve};

/// A TLS server for `names`, the port it listens on, and the server names that clients asked for.
struct Secure {
    port: u16,
    certificate: CertificateDer<'static>,
    asked: Arc<Mutex<Vec<Option<String>>>>,
}

async fn secure(names: &[&str], alpn: &[&str]) -> Secure {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der()).into();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let asked_ = Arc::clone(&asked);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            // A client that does not trust us hangs up in the handshake.
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            asked_.lock().unwrap().push(stream.get_ref().1.server_name().map(str::to_owned));
            let answer = Arc::new(|_: &_| reply(200, "sealed"));
            tokio::spawn(serve(stream, Arc::new(Record::default()), answer));
        }
    });
    Secure { port, certificate: cert.der().clone(), asked }
}

fn client(trust: Vec<CertificateDer<'static>>) -> Client {
    let script = Script::default()
        .name("secure.test", &[&["127.0.0.1"]])
        .name("other.test", &[&["127.0.0.1"]]);
    Client::builder(policy(&["127.0.0.1"])).resolver(Arc::new(script)).trust(trust).build().unwrap()
}

#[tokio::test]
async fn the_name_of_the_url_is_asked_for_and_verified() {
    let server = secure(&["secure.test"], &[]).await;
    let client = client(vec![server.certificate.clone()]);
    let answer = get(&client, &format!("https://secure.test:{}/", server.port)).await.unwrap();
    assert_eq!(&answer.body[..], b"sealed");
    assert_eq!(*server.asked.lock().unwrap(), [Some("secure.test".to_owned())]);
    // The same server under a name that its certificate does not hold, and under its bare address.
    for host in ["other.test", "127.0.0.1"] {
        let error = get(&client, &format!("https://{host}:{}/", server.port)).await.unwrap_err();
        assert!(matches!(error, FetchError::Tls { .. }), "{host}: {error:?}");
    }
}

#[tokio::test]
async fn a_certificate_for_an_address_serves_that_address() {
    let server = secure(&["127.0.0.1"], &[]).await;
    let client = client(vec![server.certificate.clone()]);
    assert!(get(&client, &format!("https://127.0.0.1:{}/", server.port)).await.is_ok());
}

#[tokio::test]
async fn an_unknown_authority_is_not_trusted() {
    let server = secure(&["secure.test"], &[]).await;
    let error = get(&client(Vec::new()), &format!("https://secure.test:{}/", server.port))
        .await
        .unwrap_err();
    assert!(matches!(error, FetchError::Tls { .. }), "{error:?}");
}

#[tokio::test]
async fn http2_is_spoken_where_offered_and_one_connection_carries_all() {
    let server = secure(&["secure.test"], &["h2", "http/1.1"]).await;
    let client = client(vec![server.certificate.clone()]);
    let url = format!("https://secure.test:{}/", server.port);
    get(&client, &url).await.unwrap();
    let many = futures_util::future::join_all((0..50).map(|_| get(&client, &url))).await;
    assert!(many.iter().all(Result::is_ok));
    assert_eq!(server.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_plain_server_is_no_tls_server() {
    let server = crate::http::server::Server::start(|_| reply(200, "open")).await;
    let error = get(&client(Vec::new()), &format!("https://127.0.0.1:{}/", server.port()))
        .await
        .unwrap_err();
    assert!(matches!(error, FetchError::Tls { .. }), "{error:?}");
    assert!(server.seen().is_empty());
}

/// An empty trust store must neither panic nor trust anyone: the built-in list takes its place.
#[tokio::test]
async fn without_a_trust_store_certificates_are_still_verified() {
    let empty = tempfile::NamedTempFile::new().unwrap();
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
    child.args([
        "--exact",
        "http::tls::an_unknown_authority_is_not_trusted",
        "http::tls::the_name_of_the_url_is_asked_for_and_verified",
    ]);
    child.env("SSL_CERT_FILE", empty.path()).env_remove("SSL_CERT_DIR");
    let output = child.output().await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("2 passed"), "{text}");
}
