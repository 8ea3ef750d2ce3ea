//! Pages for browsers that are served next to the API, such as the dashboard.

use std::sync::Arc;

use auth::Session;
use axum::Router;
use axum::response::Response;
use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, Method, Uri};

use super::routes::Route;

/// Pages, the browser sessions that open them, and the answers to requests that have none.
#[async_trait::async_trait]
pub trait Pages: Send + Sync {
    /// Every route of the pages, and what it needs.
    fn routes(&self) -> &'static [Route];

    /// Serves the routes. The HTTP door admits requests before they arrive here.
    fn router(&self) -> Router;

    /// The session of a browser, if its credential is still valid.
    async fn session(&self, headers: &HeaderMap) -> Option<Arc<Session>>;

    /// The answer to a request without a session.
    fn signed_out(&self, method: &Method, uri: &Uri) -> Response;

    /// The answer to a form that was not sent by one of these pages.
    fn foreign_form(&self) -> Response;
}

/// Whether a request has exactly one `Origin`, which is the host that it was sent to or the public origin.
pub fn is_own_origin(headers: &HeaderMap, public: Option<&str>) -> bool {
    let mut origins = headers.get_all(ORIGIN).iter();
    let (Some(origin), None) = (origins.next(), origins.next()) else { return false };
    let Ok(origin) = origin.to_str() else { return false };
    if public == Some(origin) {
        return true;
    }
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    match (authority, host) {
        (Some(from), Some(to)) => from.eq_ignore_ascii_case(to.as_str()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, HeaderValue::from_str(value).expect("a header value"));
        }
        headers
    }

    #[test]
    fn only_our_own_origin_is_accepted() {
        let of = |pairs: &[(HeaderName, &str)]| {
            is_own_origin(&headers(pairs), Some("https://strip.example"))
        };
        assert!(of(&[(HOST, "127.0.0.1:7777"), (ORIGIN, "http://127.0.0.1:7777")]));
        assert!(of(&[(HOST, "inner:80"), (ORIGIN, "https://strip.example")]));
        for foreign in [
            &[(HOST, "127.0.0.1:7777")][..],
            &[(HOST, "127.0.0.1:7777"), (ORIGIN, "null")],
            &[(HOST, "127.0.0.1:7777"), (ORIGIN, "http://127.0.0.1:8888")],
            &[(HOST, "127.0.0.1:7777"), (ORIGIN, "http://localhost:7777")],
            &[(HOST, "h:1"), (ORIGIN, "http://h:1"), (ORIGIN, "http://evil.example")],
            &[(HOST, "h:1"), (ORIGIN, "file://h:1")],
        ] {
            assert!(!of(foreign), "{foreign:?}");
        }
    }
}
