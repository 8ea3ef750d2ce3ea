use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::response::Redirect;
use axum::routing::get;
use tokio::net::TcpListener;

use super::*;

/// A body that does not go on after its first piece.
fn one_piece() -> impl futures_util::Stream<Item = io::Result<&'static str>> {
    futures_util::stream::once(async { Ok("0123456789") }).chain(futures_util::stream::pending())
}

async fn serve() -> SocketAddr {
    let app = Router::new()
        .route("/file", get(|| async { "0123456789" }))
        .route("/empty", get(|| async { "" }))
        .route("/gone", get(|| async { StatusCode::FORBIDDEN }))
        .route("/broken", get(|| async { StatusCode::BAD_GATEWAY }))
        .route("/silent", get(std::future::pending::<()>))
        .route("/stalls", get(|| async { Body::from_stream(one_piece()) }))
        .route("/away", get(|| async { Redirect::temporary("http://10.1.2.3/file") }))
        .route("/loop", get(|| async { Redirect::temporary("/loop?sig=secret") }))
        .route("/metadata", get(|| async { Redirect::temporary("http://169.254.169.254/") }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(axum::serve(listener, app).into_future());
    address
}

fn fetcher(allow: &[String], gateway: Option<&str>, max_download: u64) -> Fetcher {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    Fetcher::new(&FetchOptions { max_download, allow: allow.to_vec() }, gateway).unwrap()
}

#[tokio::test]
async fn a_file_is_downloaded_and_removed_when_it_is_not_needed_any_more() {
    let address = serve().await;
    let fetcher = fetcher(&[address.to_string()], None, 1000);
    let arrived = std::sync::Mutex::new(0.0);
    let url = format!("http://{address}/file?sig=secret");
    let fetched = fetcher.fetch(&url, |part| *arrived.lock().unwrap() = part).await.unwrap();
    assert_eq!((fetched.size, *arrived.lock().unwrap()), (10, 1.0));
    let path = fetched.path().to_owned();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "0123456789");
    // A second process does not remove what is in use.
    scratch::remove_leftovers();
    assert!(path.exists());
    drop(fetched);
    assert!(!path.exists());
    let left = std::env::temp_dir().join(format!("powerstrip-download-{}", uuid::Uuid::new_v4()));
    std::fs::write(&left, "left by a process that was killed").unwrap();
    scratch::remove_leftovers();
    assert!(!left.exists());
}

#[tokio::test]
async fn the_gateway_of_the_server_is_allowed() {
    let address = serve().await;
    let gateway = format!("http://{address}");
    let open = fetcher(&[], Some(&gateway), 1000);
    assert!(open.fetch(&format!("{gateway}/file"), |_| {}).await.is_ok());
    // Another port of the same host is not.
    let other = serve().await;
    assert!(open.fetch(&format!("http://{other}/file"), |_| {}).await.is_err());
}

#[tokio::test]
async fn a_refused_url_is_explained_without_naming_it() {
    let address = serve().await;
    let allowed = fetcher(&[address.to_string()], None, 5);
    let closed = fetcher(&[], None, 5);
    let local = |path: &str| format!("http://{address}/{path}?sig=secret");
    for (fetcher, url, code, said) in [
        (&closed, local("file"), "INVALID_INPUT", "private network"),
        (&closed, "http://169.254.169.254/secret".to_owned(), "INVALID_INPUT", "private network"),
        (&closed, "http://[::1]:1/secret".to_owned(), "INVALID_INPUT", "private network"),
        (&closed, "file:///etc/secret".to_owned(), "INVALID_INPUT", "only http"),
        (&closed, "concat:secret".to_owned(), "INVALID_INPUT", "/input_url"),
        (&closed, "secret".to_owned(), "INVALID_INPUT", "absolute URL"),
        (&closed, "http://user:secret@x.example/".to_owned(), "INVALID_INPUT", "password"),
        (&closed, format!("http://x.example/{}", "secret".repeat(2000)), "INVALID_INPUT", "long"),
        (&allowed, local("file"), "INVALID_INPUT", "--max-download"),
        (&allowed, local("empty"), "INVALID_INPUT", "empty"),
        (&allowed, local("gone"), "INVALID_INPUT", "expired"),
        (&allowed, local("broken"), "UNAVAILABLE", "502"),
        (&allowed, local("away"), "INVALID_INPUT", "private network"),
        (&allowed, local("metadata"), "INVALID_INPUT", "private network"),
        (&allowed, local("loop"), "INVALID_INPUT", "too often"),
    ] {
        let fault = fetcher.fetch(&url, |_| {}).await.unwrap_err();
        let text = format!("{fault} {fault:?}");
        assert!(text.starts_with(code) && text.contains(said), "{url}: {text}");
        assert!(!text.contains("secret") && !text.contains("10.1.2.3"), "{url}: {text}");
    }
}

#[tokio::test]
async fn a_host_that_sends_nothing_does_not_hold_up_others() {
    let address = serve().await;
    let mut fetcher = fetcher(&[address.to_string()], None, 1000);
    fetcher.stall = Duration::from_millis(200);
    for path in ["silent", "stalls"] {
        let fault = fetcher.fetch(&format!("http://{address}/{path}"), |_| {}).await.unwrap_err();
        let text = fault.to_string();
        assert!(text.starts_with("TIMEOUT") && text.contains("too slowly"), "{text}");
    }
}

#[test]
fn wrong_flags_are_named() {
    let options = |allow: &str| FetchOptions { max_download: 1, allow: vec![allow.to_owned()] };
    for (allow, gateway, said) in [
        ("a b", None, "--allow"),
        ("localhost:0", None, "--allow"),
        ("x", Some("ftp://x"), "--gateway"),
    ] {
        let error = Fetcher::new(&options(allow), gateway).unwrap_err();
        assert!(error.starts_with(said), "{error}");
    }
}

#[test]
fn a_full_disk_is_named() {
    let fault = disk(&io::Error::from(io::ErrorKind::StorageFull)).to_string();
    assert!(fault.starts_with("UNAVAILABLE") && fault.contains("TMPDIR"), "{fault}");
}
