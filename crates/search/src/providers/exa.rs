//! Exa: <https://docs.exa.ai/reference/search>.

use egress::http::Request;
use http::header::HeaderName;
use proto::Secret;
use proto::time::rfc3339;
use serde_json::{Value, json};
use url::Url;

use super::api::Reply;
use super::fault::Fault;
use super::hit::Hit;
use super::provider::{Provider, Supported, endpoint, list, post, some_text, text, with_key};
use super::query::{Query, Safe};
use crate::settings::{Kind, ProviderName};
use crate::text::{clip, tidy};

const KEY: HeaderName = HeaderName::from_static("x-api-key");

/// `includeText` takes phrases of at most so many words.
const MAX_PHRASE_WORDS: usize = 5;

pub(super) struct Exa {
    pub(super) key: Secret,
}

impl Provider for Exa {
    fn name(&self) -> ProviderName {
        ProviderName::Exa
    }

    fn supported(&self, _kind: Kind, query: &Query) -> Supported {
        Supported {
            age: true,
            safe: true,
            country: true,
            exact: phrase(query).is_some(),
            ..Supported::default()
        }
    }

    fn request(&self, base: &Url, kind: Kind, query: &Query) -> Request {
        let mut body = json!({
            "query": query.text,
            "numResults": query.count,
            "moderation": query.safe != Safe::Off,
            "contents": {"highlights": true},
        });
        if kind == Kind::News {
            body["category"] = "news".into();
        }
        if let Some(age) = query.age {
            body["startPublishedDate"] = rfc3339(query.now.saturating_sub(age.ms())).into();
        }
        if !query.sites.is_empty() {
            body["includeDomains"] = json!(query.sites);
        }
        if let Some(country) = &query.country {
            body["userLocation"] = country.to_ascii_uppercase().into();
        }
        if let Some(phrase) = phrase(query) {
            body["includeText"] = json!([phrase]);
        }
        with_key(post(endpoint(base, "/search", &[]), &body), KEY, "", &self.key)
    }

    fn read(&self, _kind: Kind, reply: &Reply) -> Result<Vec<Hit>, Fault> {
        let answer = super::provider::json(reply)?;
        let hits = list(&answer, "results").iter().map(|result| Hit {
            title: tidy(text(result, "title")),
            url: text(result, "url").to_owned(),
            snippet: snippet(result),
            published: some_text(result, "publishedDate"),
            ..Hit::default()
        });
        Ok(hits.collect())
    }
}

fn phrase(query: &Query) -> Option<String> {
    query.phrase().filter(|phrase| phrase.split_whitespace().count() <= MAX_PHRASE_WORDS)
}

fn snippet(result: &Value) -> String {
    let highlights: Vec<_> = list(result, "highlights").iter().filter_map(Value::as_str).collect();
    let text = if highlights.is_empty() {
        text(result, "text").to_owned()
    } else {
        highlights.join(" … ")
    };
    clip(&tidy(&text), 1_000).to_owned()
}
