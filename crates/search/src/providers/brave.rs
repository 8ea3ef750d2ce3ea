//! Brave Search: <https://api-dashboard.search.brave.com/app/documentation>.

use egress::http::Request;
use http::header::HeaderName;
use proto::Secret;
use url::Url;

use super::api::Reply;
use super::fault::Fault;
use super::hit::{Hit, ImageHit};
use super::provider::{
    Provider, Supported, endpoint, get, json, list, number, some_text, text, with_key,
};
use super::query::{Age, Query, QueryLimit, Safe};
use crate::settings::{Kind, ProviderName};
use crate::text::plain;

const KEY: HeaderName = HeaderName::from_static("x-subscription-token");

/// The API refuses longer queries.
const LIMIT: QueryLimit = QueryLimit { chars: 400, words: 50 };

/// Other countries are refused (HTTP 422).
const COUNTRIES: [&str; 37] = [
    "ar", "at", "au", "be", "br", "ca", "ch", "cl", "cn", "de", "dk", "es", "fi", "fr", "gb", "gr",
    "hk", "id", "in", "it", "jp", "kr", "mx", "my", "nl", "no", "nz", "ph", "pl", "pt", "ru", "sa",
    "se", "tr", "tw", "us", "za",
];

/// Other languages are refused (HTTP 422), but for those with a code of Brave's own.
const LANGUAGES: [&str; 45] = [
    "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fi", "fr", "gl", "gu",
    "he", "hi", "hr", "hu", "is", "it", "kn", "ko", "lt", "lv", "ml", "mr", "ms", "nb", "nl", "pa",
    "pl", "ro", "ru", "sk", "sl", "sr", "sv", "ta", "te", "th", "tr", "uk", "vi",
];

pub(super) struct Brave {
    pub(super) key: Secret,
}

impl Provider for Brave {
    fn name(&self) -> ProviderName {
        ProviderName::Brave
    }

    fn supported(&self, kind: Kind, query: &Query) -> Supported {
        Supported {
            age: kind != Kind::Image && query.age != Some(Age::Hour),
            safe: true,
            language: search_language(query).is_some(),
            country: country(query).is_some(),
            exact: true,
            exclude: true,
            images: false,
        }
    }

    fn request(&self, base: &Url, kind: Kind, query: &Query) -> Request {
        let path = match kind {
            Kind::Web => "/res/v1/web/search",
            Kind::Image => "/res/v1/images/search",
            Kind::News => "/res/v1/news/search",
        };
        let words = query.with_operators();
        let count = query.count.to_string();
        let safe = safesearch(kind, query.safe);
        let mut parameters =
            vec![("q", LIMIT.cut(&words)), ("count", &count), ("safesearch", safe)];
        if kind == Kind::Web {
            parameters.push(("text_decorations", "false"));
            parameters.push(("result_filter", "web"));
        }
        if let (Kind::Web | Kind::News, Some(age)) = (kind, query.age) {
            parameters.push(("freshness", freshness(age)));
        }
        let country = country(query);
        if let Some(country) = &country {
            parameters.push(("country", country));
        }
        if let Some(language) = search_language(query) {
            parameters.push(("search_lang", language));
        }
        with_key(get(endpoint(base, path, &parameters)), KEY, "", &self.key)
    }

    fn fault(&self, reply: &Reply) -> Option<Fault> {
        (reply.status == 422 && reply.says("SUBSCRIPTION_TOKEN_INVALID"))
            .then(|| Fault::invalid_key("the key was refused (HTTP 422)"))
    }

    fn read(&self, kind: Kind, reply: &Reply) -> Result<Vec<Hit>, Fault> {
        let answer = json(reply)?;
        let results = match kind {
            Kind::Web => list(&answer["web"], "results"),
            Kind::Image | Kind::News => list(&answer, "results"),
        };
        let hits = results.iter().map(|result| Hit {
            title: plain(text(result, "title")),
            url: text(result, "url").to_owned(),
            snippet: plain(text(result, "description")),
            source: some_text(&result["profile"], "name")
                .or_else(|| some_text(&result["meta_url"], "hostname")),
            published: some_text(result, "page_age").or_else(|| some_text(result, "age")),
            image: (kind == Kind::Image).then(|| ImageHit {
                link: text(&result["properties"], "url").to_owned(),
                thumbnail: some_text(&result["thumbnail"], "src"),
                width: number(&result["properties"], "width"),
                height: number(&result["properties"], "height"),
                size: None,
            }),
        });
        Ok(hits.collect())
    }

    fn warning(&self, query: &Query, _reply: &Reply) -> Option<String> {
        LIMIT.warn(&query.with_operators(), self.name())
    }
}

/// Image search knows no `moderate`.
fn safesearch(kind: Kind, safe: Safe) -> &'static str {
    match (safe, kind) {
        (Safe::Off, _) => "off",
        (Safe::Medium, Kind::Web | Kind::News) => "moderate",
        _ => "strict",
    }
}

fn freshness(age: Age) -> &'static str {
    match age {
        Age::Hour | Age::Day => "pd",
        Age::Week => "pw",
        Age::Month => "pm",
        Age::Year => "py",
    }
}

/// The country as Brave writes it, if Brave knows it.
fn country(query: &Query) -> Option<String> {
    let country = query.country.as_deref().filter(|country| COUNTRIES.contains(country));
    country.map(str::to_ascii_uppercase)
}

/// The language, if Brave knows it. Some codes differ from ISO 639-1.
fn search_language(query: &Query) -> Option<&str> {
    match query.language.as_deref()? {
        "ja" => Some("jp"),
        "pt" if query.country.as_deref() == Some("br") => Some("pt-br"),
        "pt" => Some("pt-pt"),
        "zh" => Some("zh-hans"),
        "no" => Some("nb"),
        language => LANGUAGES.contains(&language).then_some(language),
    }
}
