//! What the next request looks like after a redirect.

use http::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION, CONTENT_TYPE, COOKIE,
    HeaderName, LOCATION, PROXY_AUTHORIZATION,
};
use http::{HeaderMap, Method, StatusCode};

use super::error::FetchError;
use super::sent::Body;

/// The parts of a request that a redirect may change.
#[derive(Clone)]
pub(super) struct Message {
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Body,
}

const CREDENTIALS: [HeaderName; 4] =
    [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION, HeaderName::from_static("x-api-key")];

const ABOUT_THE_BODY: [HeaderName; 4] =
    [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION];

/// Where an answer sends us, if it does.
pub(super) fn location(
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<Option<&str>, FetchError> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = headers.get(LOCATION) else { return Ok(None) };
    match std::str::from_utf8(location.as_bytes()) {
        Ok(location) => Ok(Some(location)),
        Err(_) => {
            Err(FetchError::Protocol { why: "the redirect's location is not text".to_owned() })
        }
    }
}

impl Message {
    /// Whether this answer means that the server has done what the request asks for, and the result is elsewhere or
    /// nowhere. 307 and 308 leave it to the next server.
    pub(super) fn is_taken(&self, status: StatusCode) -> bool {
        let passed_on =
            matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        status.is_redirection() && !passed_on && !self.method.is_safe()
    }

    /// Changes the method as browsers do: 303 asks with GET, and so do 301 and 302 after a POST.
    pub(super) fn redirected(&mut self, status: StatusCode) {
        let becomes_get = match status {
            StatusCode::SEE_OTHER => self.method != Method::HEAD,
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method == Method::POST,
            _ => false,
        };
        if becomes_get {
            self.method = Method::GET;
            self.body = Body::none();
            for name in ABOUT_THE_BODY {
                self.headers.remove(name);
            }
        }
    }

    /// Forgets every credential for good: a redirect back to the first origin does not bring them back.
    pub(super) fn drop_credentials(&mut self) {
        for name in CREDENTIALS {
            self.headers.remove(name);
        }
        let secret: Vec<_> = self
            .headers
            .iter()
            .filter(|(_, value)| value.is_sensitive())
            .map(|(name, _)| name.clone())
            .collect();
        for name in secret {
            self.headers.remove(name);
        }
    }
}

#[cfg(test)]
mod tests;
