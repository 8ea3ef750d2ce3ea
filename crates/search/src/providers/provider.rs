//! What every search provider implements.

use egress::http::Request;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use proto::Secret;
use serde_json::Value;
use url::Url;

use super::api::Reply;
use super::fault::Fault;
use super::hit::Hit;
use super::query::Query;
use crate::settings::{Kind, ProviderName};

/// A search provider: makes requests and reads answers, and sends nothing itself.
pub(crate) trait Provider: Send + Sync {
    fn name(&self) -> ProviderName;

    /// Which filters of a query it applies itself.
    fn supported(&self, kind: Kind, query: &Query) -> Supported;

    /// The most results that it gives at once.
    fn max_count(&self) -> usize {
        20
    }

    /// The request for a search.
    fn request(&self, base: &Url, kind: Kind, query: &Query) -> Request;

    /// What an answer other than success means, where it is not what the status says.
    fn fault(&self, _reply: &Reply) -> Option<Fault> {
        None
    }

    /// Reads the results.
    fn read(&self, kind: Kind, reply: &Reply) -> Result<Vec<Hit>, Fault>;

    /// What callers should know about an answer with results.
    fn warning(&self, _query: &Query, _reply: &Reply) -> Option<String> {
        None
    }
}

/// Filters that a provider applies itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Supported {
    pub(crate) age: bool,
    pub(crate) safe: bool,
    pub(crate) language: bool,
    pub(crate) country: bool,
    pub(crate) exact: bool,
    pub(crate) exclude: bool,
    pub(crate) images: bool,
}

/// A `GET` for JSON.
pub(super) fn get(url: Url) -> Request {
    let mut request = Request::get(url);
    request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    request
}

/// A `POST` of JSON for JSON.
pub(super) fn post(url: Url, body: &Value) -> Request {
    let mut request = get(url);
    request.method = http::Method::POST;
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.body = body.to_string().into();
    request
}

/// Adds a key as a header that is dropped at redirects to other hosts and never logged.
pub fn with_key(mut request: Request, name: HeaderName, prefix: &str, key: &Secret) -> Request {
    if let Ok(mut value) = HeaderValue::from_str(&format!("{prefix}{}", key.expose())) {
        value.set_sensitive(true);
        request.headers.insert(name, value);
    }
    request
}

/// The URL of an endpoint below a base URL, with these parameters.
pub fn endpoint(base: &Url, path: &str, parameters: &[(&str, &str)]) -> Url {
    let mut url = base.clone();
    let front = url.path().trim_end_matches('/').to_owned();
    url.set_path(&format!("{front}{path}"));
    if !parameters.is_empty() {
        url.query_pairs_mut().extend_pairs(parameters);
    }
    url
}

/// A text field of an object.
pub fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// A text field that is there and not empty.
pub fn some_text(value: &Value, field: &str) -> Option<String> {
    value[field].as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A number field, also where it is written as a text.
pub(super) fn number(value: &Value, field: &str) -> Option<u32> {
    let value = &value[field];
    value
        .as_u64()
        .and_then(|number| u32::try_from(number).ok())
        .or_else(|| value.as_str()?.parse().ok())
}

/// A list field; what is no list is an empty one.
pub fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

/// The body as a JSON object.
pub fn json(reply: &Reply) -> Result<Value, Fault> {
    let fault = || {
        let html = reply.body.trim_ascii_start().starts_with(b"<");
        Fault::failed(if html {
            "answered with a web page instead of JSON"
        } else {
            "answered with broken JSON"
        })
    };
    let value: Value = serde_json::from_slice(&reply.body).map_err(|_| fault())?;
    if value.is_object() { Ok(value) } else { Err(fault()) }
}
