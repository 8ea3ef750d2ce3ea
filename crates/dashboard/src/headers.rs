//! What every answer of the dashboard carries, and what its requests bring.

use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue};

/// Nothing from elsewhere, no inline script or style, no frames.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Adds what keeps a page inert. What an answer says itself about its keeping stands.
pub(super) async fn guarded(mut response: Response) -> Response {
    guard(response.headers_mut());
    response
}

pub(super) fn guard(headers: &mut HeaderMap) {
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        // With less, browsers would not say where a form comes from.
        (REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// The name of the session's cookie. Cookies know no ports: two gateways on one host must not sign each other out.
pub(super) fn session_cookie(headers: &HeaderMap, secure: bool) -> String {
    if secure {
        return "__Host-powerstrip".to_owned();
    }
    let port = host(headers).and_then(|host| host.port_u16()).unwrap_or(80);
    format!("powerstrip-{port}")
}

/// The value of a cookie, if there is exactly one of that name.
pub(super) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut found = headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(key, _)| *key == name);
    let (_, value) = found.next()?;
    found.next().is_none().then_some(value)
}

/// The name of the cookie by which a browser is known that comes back from the identity provider, one for each time
/// that it went.
pub(super) fn sign_in_cookie(tag: &str, secure: bool) -> String {
    let prefix = if secure { "__Host-" } else { "" };
    format!("{prefix}powerstrip-sign-in-{tag}")
}

/// A `Set-Cookie` that also comes along when another site sends the browser to us; gone after so many seconds.
pub(super) fn set_returning_cookie(
    name: &str,
    value: &str,
    seconds: u64,
    secure: bool,
) -> Option<HeaderValue> {
    let secure = if secure { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
    HeaderValue::from_str(&text).ok()
}

/// A `Set-Cookie` that only we are sent, and only by our own pages; with no lifetime it goes with the browser.
pub(super) fn set_cookie(
    name: &str,
    value: &str,
    seconds: Option<u32>,
    secure: bool,
) -> Option<HeaderValue> {
    let mut text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict");
    if let Some(seconds) = seconds {
        text.push_str(&format!("; Max-Age={seconds}"));
    }
    if secure {
        text.push_str("; Secure");
    }
    HeaderValue::from_str(&text).ok()
}

fn host(headers: &HeaderMap) -> Option<Authority> {
    headers.get(HOST)?.to_str().ok()?.parse().ok()
}

/// A place on our own pages that a person wanted to go to: anything else would send them elsewhere.
pub(super) fn safe_next(next: &str) -> Option<&str> {
    let fits = next.len() <= 2_000
        && (next == crate::paths::HOME
            || next.starts_with("/dashboard/")
            || next.starts_with("/dashboard?"))
        && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
        && !next.split(['/', '?']).any(|step| step == ".." || step == ".");
    fits.then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, HeaderValue::from_str(value).expect("a header value"));
        }
        headers
    }

    #[test]
    fn people_are_sent_on_to_our_own_pages_only() {
        for good in ["/dashboard", "/dashboard/calls?tool=a%3Ab&page=2", "/dashboard?x=1"] {
            assert_eq!(safe_next(good), Some(good));
        }
        for bad in [
            "",
            "/",
            "//evil.example",
            "https://evil.example/dashboard",
            "/dashboardx",
            "/dashboard/../healthz",
            "/dashboard/\\evil",
            "/dashboard/\r\nSet-Cookie: a=b",
            "javascript:alert(1)",
        ] {
            assert_eq!(safe_next(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_cookie_that_comes_twice_counts_for_nothing() {
        let one = headers(&[(COOKIE, "a=1; powerstrip-7=x; b=2")]);
        assert_eq!(cookie(&one, "powerstrip-7"), Some("x"));
        assert_eq!(cookie(&one, "powerstrip"), None);
        let two = headers(&[(COOKIE, "s=x"), (COOKIE, "s=y")]);
        assert_eq!(cookie(&two, "s"), None);
        assert_eq!(session_cookie(&headers(&[(HOST, "localhost:7777")]), false), "powerstrip-7777");
        assert_eq!(session_cookie(&headers(&[]), true), "__Host-powerstrip");
    }
}
