//! DuckDuckGo's page without scripts, which needs no key.

mod page;

use egress::http::Request;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue, USER_AGENT};
use url::Url;
use url::form_urlencoded::Serializer;

use super::api::Reply;
use super::fault::Fault;
use super::hit::Hit;
use super::provider::{Provider, Supported, endpoint};
use super::query::{Age, Query, Safe};
use crate::settings::{Kind, ProviderName};

const BROWSER: HeaderValue = HeaderValue::from_static(concat!(
    "Mozilla/5.0 (compatible; Powerstrip/",
    env!("CARGO_PKG_VERSION"),
    ")"
));

pub(super) struct Duckduckgo;

impl Provider for Duckduckgo {
    fn name(&self) -> ProviderName {
        ProviderName::Duckduckgo
    }

    fn supported(&self, _kind: Kind, query: &Query) -> Supported {
        Supported {
            age: query.age != Some(Age::Hour),
            safe: true,
            language: region(query).is_some(),
            country: region(query).is_some(),
            exact: true,
            exclude: true,
            images: false,
        }
    }

    fn max_count(&self) -> usize {
        // It has no parameter for the number of results.
        usize::MAX
    }

    fn request(&self, base: &Url, _kind: Kind, query: &Query) -> Request {
        let mut form = Serializer::new(String::new());
        form.append_pair("q", &query.with_operators());
        form.append_pair(
            "kp",
            match query.safe {
                Safe::Off => "-2",
                Safe::Medium => "-1",
                Safe::High => "1",
            },
        );
        if let Some(age) = query.age {
            form.append_pair("df", &age.day_or_longer()[..1]);
        }
        if let Some(region) = region(query) {
            form.append_pair("kl", &region);
        }
        let mut request = Request::get(endpoint(base, "/html/", &[]));
        request.method = http::Method::POST;
        request.headers.insert(ACCEPT, HeaderValue::from_static("text/html"));
        request.headers.insert(USER_AGENT, BROWSER);
        let form_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers.insert(CONTENT_TYPE, form_type);
        request.body = form.finish().into();
        request
    }

    fn fault(&self, reply: &Reply) -> Option<Fault> {
        // It answers 202 with a puzzle for people where others answer 429.
        let challenge =
            reply.status == 202 || reply.says("anomaly-modal") || reply.says("anomaly.js");
        if challenge || reply.status == 403 {
            return Some(Fault::limited(format!("asks for a person (HTTP {})", reply.status)));
        }
        None
    }

    fn read(&self, _kind: Kind, reply: &Reply) -> Result<Vec<Hit>, Fault> {
        let html = String::from_utf8_lossy(&reply.body);
        let hits = page::results(&html);
        let is_page =
            html.contains("result__") || html.contains("no-results") || html.contains("No results");
        if hits.is_empty() && !is_page {
            return Err(Fault::failed("answered with a page that has no results section"));
        }
        Ok(hits)
    }
}

/// The main language of a country, for DuckDuckGo's regions.
const LANGUAGES: [(&str, &str); 32] = [
    ("ar", "es"),
    ("at", "de"),
    ("au", "en"),
    ("be", "nl"),
    ("br", "pt"),
    ("ca", "en"),
    ("ch", "de"),
    ("cn", "zh"),
    ("cz", "cs"),
    ("de", "de"),
    ("dk", "da"),
    ("es", "es"),
    ("fi", "fi"),
    ("fr", "fr"),
    ("gb", "en"),
    ("gr", "el"),
    ("hu", "hu"),
    ("ie", "en"),
    ("in", "en"),
    ("it", "it"),
    ("jp", "jp"),
    ("kr", "kr"),
    ("mx", "es"),
    ("nl", "nl"),
    ("no", "no"),
    ("nz", "en"),
    ("pl", "pl"),
    ("pt", "pt"),
    ("ru", "ru"),
    ("se", "sv"),
    ("tr", "tr"),
    ("us", "en"),
];

/// The region of a query: a country with a language, such as `de-de` or `uk-en`.
fn region(query: &Query) -> Option<String> {
    let country = query.country.as_deref()?;
    let main = LANGUAGES.iter().find(|(known, _)| *known == country).map(|(_, language)| *language);
    let language = match query.language.as_deref() {
        Some("ja") => "jp",
        Some("ko") => "kr",
        Some(language) => language,
        None => main?,
    };
    let country = if country == "gb" { "uk" } else { country };
    Some(format!("{country}-{language}"))
}
