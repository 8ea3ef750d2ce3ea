//! Headers and cookies of the dashboard.

use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue};

/// Only our own resources, no inline scripts or styles, no frames.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Adds the security headers. A `Cache-Control` of the response is kept.
pub(super) async fn guard_response(mut response: Response) -> Response {
    guard(response.headers_mut());
    response
}

pub(super) fn guard(headers: &mut HeaderMap) {
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        // A stricter policy would remove the `Origin` of forms.
        (REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// The name of the session cookie. It has the port, because cookies do not: two gateways on one host must not sign each
/// other out.
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

/// The name of the cookie that identifies a browser when the identity provider sends it back; one per sign-in.
pub(super) fn sign_in_cookie(tag: &str, secure: bool) -> String {
    let prefix = if secure { "__Host-" } else { "" };
    format!("{prefix}powerstrip-sign-in-{tag}")
}

/// A `Set-Cookie` that browsers also send when another site redirects to us; it expires after `seconds`.
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

/// A `Set-Cookie` that browsers send only from our own pages; without `seconds` it ends with the browser.
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

/// The host that a request was sent to.
pub(super) fn host(headers: &HeaderMap) -> Option<Authority> {
    headers.get(HOST)?.to_str().ok()?.parse().ok()
}

/// The path of one of our pages to redirect to; `None` for anything else.
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
    fn redirects_lead_only_to_our_own_pages() {
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
    fn a_cookie_that_occurs_twice_is_ignored() {
        let one = headers(&[(COOKIE, "a=1; powerstrip-7=x; b=2")]);
        assert_eq!(cookie(&one, "powerstrip-7"), Some("x"));
        assert_eq!(cookie(&one, "powerstrip"), None);
        let two = headers(&[(COOKIE, "s=x"), (COOKIE, "s=y")]);
        assert_eq!(cookie(&two, "s"), None);
        assert_eq!(session_cookie(&headers(&[(HOST, "localhost:7777")]), false), "powerstrip-7777");
        assert_eq!(session_cookie(&headers(&[]), true), "__Host-powerstrip");
    }
}
