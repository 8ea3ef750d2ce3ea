//! Pages for browsers that are served next to the API, such as the dashboard.

use std::sync::Arc;

use auth::Session;
use axum::Router;
use axum::response::Response;
use http::header::{ACCEPT, HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, Method, StatusCode, Uri};

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

    /// The page for a browser that asks for something which does not exist or which it may not see.
    fn refusal(&self, status: StatusCode, message: &str) -> Response;
}

/// Whether a request comes from a browser that opens a page, and not from a program that reads JSON.
pub(super) fn wants_page(method: &Method, headers: &HeaderMap) -> bool {
    let reads = matches!(*method, Method::GET | Method::HEAD);
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut types = accepted.flat_map(|value| value.split(','));
    reads && types.any(|kind| kind.split(';').next().is_some_and(is_html))
}

fn is_html(kind: &str) -> bool {
    kind.trim().eq_ignore_ascii_case("text/html")
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
    fn browsers_want_pages_and_programs_do_not() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        assert!(wants_page(&Method::GET, &headers(&[(ACCEPT, browser)])));
        assert!(wants_page(&Method::HEAD, &headers(&[(ACCEPT, "Text/HTML; q=0.5")])));
        assert!(!wants_page(&Method::POST, &headers(&[(ACCEPT, browser)])));
        for program in ["*/*", "application/json", "application/json, text/event-stream", ""] {
            assert!(!wants_page(&Method::GET, &headers(&[(ACCEPT, program)])), "{program}");
        }
        assert!(!wants_page(&Method::GET, &headers(&[])));
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
