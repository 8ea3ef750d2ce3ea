//! SearXNG, an instance of the operator's: <https://docs.searxng.org/dev/search_api.html>.

use egress::http::Request;
use serde_json::Value;
use url::Url;

use super::api::Reply;
use super::fault::Fault;
use super::hit::{Hit, ImageHit};
use super::provider::{Provider, Supported, endpoint, get, json, list, some_text, text};
use super::query::{Age, Query, Safe};
use crate::settings::{Kind, ProviderName};
use crate::text::{clip, tidy};

/// The most engines that are named in a message.
const MAX_ENGINES: usize = 10;

pub(super) struct Searxng;

impl Provider for Searxng {
    fn name(&self) -> ProviderName {
        ProviderName::Searxng
    }

    fn supported(&self, _kind: Kind, query: &Query) -> Supported {
        Supported {
            age: query.age != Some(Age::Hour),
            safe: true,
            language: true,
            country: query.language.is_some(),
            exact: true,
            exclude: true,
            images: false,
        }
    }

    fn max_count(&self) -> usize {
        // It has no parameter for the number of results.
        usize::MAX
    }

    fn request(&self, base: &Url, kind: Kind, query: &Query) -> Request {
        let category = match kind {
            Kind::Web => "general",
            Kind::Image => "images",
            Kind::News => "news",
        };
        let safe = match query.safe {
            Safe::Off => "0",
            Safe::Medium => "1",
            Safe::High => "2",
        };
        let words = query.with_operators();
        let mut parameters = vec![
            ("q", words.as_str()),
            ("format", "json"),
            ("categories", category),
            ("safesearch", safe),
        ];
        if let Some(age) = query.age {
            parameters.push(("time_range", age.day_or_longer()));
        }
        let language = match (&query.language, &query.country) {
            (Some(language), Some(country)) => {
                Some(format!("{language}-{}", country.to_ascii_uppercase()))
            }
            (language, _) => language.clone(),
        };
        if let Some(language) = &language {
            parameters.push(("language", language));
        }
        get(endpoint(base, "/search", &parameters))
    }

    fn fault(&self, reply: &Reply) -> Option<Fault> {
        (reply.status == 403).then(|| {
            Fault::invalid_key("HTTP 403: add `json` to `search.formats` in its settings.yml, or allow this client")
        })
    }

    fn read(&self, kind: Kind, reply: &Reply) -> Result<Vec<Hit>, Fault> {
        let answer = json(reply)?;
        let hits = list(&answer, "results").iter().map(|result| Hit {
            title: tidy(text(result, "title")),
            url: text(result, "url").to_owned(),
            snippet: tidy(text(result, "content")),
            source: some_text(result, "source"),
            published: some_text(result, "publishedDate"),
            image: (kind == Kind::Image).then(|| image(result)),
        });
        let hits: Vec<_> = hits.collect();
        match silent_engines(&answer) {
            Some(engines) if hits.is_empty() => Err(Fault::failed(format!(
                "no engine had results, and some did not answer: {engines}"
            ))),
            _ => Ok(hits),
        }
    }

    fn warning(&self, _query: &Query, reply: &Reply) -> Option<String> {
        let engines = silent_engines(&json(reply).ok()?)?;
        Some(format!("Some engines of searxng did not answer: {engines}."))
    }
}

/// The engines that did not answer, and why: `[["google", "timeout"]]`.
fn silent_engines(answer: &Value) -> Option<String> {
    let engines = list(answer, "unresponsive_engines").iter().filter_map(|engine| {
        let (name, why) = (engine[0].as_str()?, engine[1].as_str().unwrap_or("no reason given"));
        Some(format!("{} ({})", tidy(name), tidy(why)))
    });
    let engines: Vec<_> = engines.take(MAX_ENGINES).collect();
    (!engines.is_empty()).then(|| clip(&engines.join(", "), 500).to_owned())
}

fn image(result: &Value) -> ImageHit {
    // `1920 x 1080`, `1920x1080` or `1920×1080`.
    let mut sides =
        text(result, "resolution").split(['x', '×']).map(|side| side.trim().parse().ok());
    ImageHit {
        link: absolute(text(result, "img_src")),
        thumbnail: some_text(result, "thumbnail_src").map(|link| absolute(&link)),
        width: sides.next().flatten(),
        height: sides.next().flatten(),
        size: some_text(result, "filesize"),
    }
}

/// Some engines give `//host/path`.
fn absolute(link: &str) -> String {
    if link.starts_with("//") { format!("https:{link}") } else { link.to_owned() }
}
