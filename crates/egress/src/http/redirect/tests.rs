use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, StatusCode};

use super::{Message, location};
use crate::http::Body;

fn message(method: Method) -> Message {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Message { method, headers, body: Bytes::from_static(b"body").into() }
}

fn after(method: Method, status: u16) -> (Method, bool) {
    let mut message = message(method);
    message.redirected(StatusCode::from_u16(status).unwrap());
    let has_body = !matches!(&message.body, Body::Whole(bytes) if bytes.is_empty());
    assert_eq!(message.headers.contains_key(CONTENT_TYPE), has_body);
    (message.method, has_body)
}

#[test]
fn methods_change_as_in_browsers() {
    for status in [301, 302, 303] {
        assert_eq!(after(Method::POST, status), (Method::GET, false), "{status}");
    }
    for status in [307, 308] {
        assert_eq!(after(Method::POST, status), (Method::POST, true), "{status}");
    }
    assert_eq!(after(Method::PUT, 302), (Method::PUT, true));
    assert_eq!(after(Method::PUT, 303), (Method::GET, false));
    assert_eq!(after(Method::HEAD, 303).0, Method::HEAD);
}

#[test]
fn credentials_are_dropped_and_other_headers_stay() {
    let mut message = message(Method::GET);
    for name in ["authorization", "cookie", "proxy-authorization", "x-api-key", "accept", "x-plain"]
    {
        message.headers.insert(name, HeaderValue::from_static("v"));
    }
    let mut secret = HeaderValue::from_static("v");
    secret.set_sensitive(true);
    message.headers.insert("x-custom-token", secret.clone());
    // One secret value among plain ones takes the whole header with it.
    message.headers.append("x-mixed", HeaderValue::from_static("plain"));
    message.headers.append("x-mixed", secret);
    message.drop_credentials();
    let mut left: Vec<_> = message.headers.keys().map(|name| name.as_str()).collect();
    left.sort_unstable();
    assert_eq!(left, ["accept", "content-type", "x-plain"]);
}

#[test]
fn only_redirects_with_a_location_redirect() {
    let mut headers = HeaderMap::new();
    assert_eq!(location(StatusCode::FOUND, &headers), Ok(None));
    headers.insert("location", HeaderValue::from_static("/next"));
    assert_eq!(location(StatusCode::FOUND, &headers), Ok(Some("/next")));
    for status in [
        StatusCode::OK,
        StatusCode::CREATED,
        StatusCode::NOT_MODIFIED,
        StatusCode::MULTIPLE_CHOICES,
    ] {
        assert_eq!(location(status, &headers), Ok(None), "{status}");
    }
    headers.insert("location", HeaderValue::from_bytes(b"/\xff").unwrap());
    assert!(location(StatusCode::FOUND, &headers).is_err());
}
