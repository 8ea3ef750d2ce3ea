//! Serper, which asks Google: <https://serper.dev>.

use egress::http::Request;
use http::header::HeaderName;
use proto::Secret;
use serde_json::json;
use url::Url;

use super::api::Reply;
use super::fault::Fault;
use super::hit::{Hit, ImageHit};
use super::provider::{
    Provider, Supported, endpoint, list, number, post, some_text, text, with_key,
};
use super::query::{Age, Query};
use crate::settings::{Kind, ProviderName};
use crate::text::tidy;

const KEY: HeaderName = HeaderName::from_static("x-api-key");

pub(super) struct Serper {
    pub(super) key: Secret,
}

impl Provider for Serper {
    fn name(&self) -> ProviderName {
        ProviderName::Serper
    }

    fn supported(&self, _kind: Kind, _query: &Query) -> Supported {
        Supported {
            age: true,
            safe: false,
            language: true,
            country: true,
            exact: true,
            exclude: true,
            images: false,
        }
    }

    fn request(&self, base: &Url, kind: Kind, query: &Query) -> Request {
        let path = match kind {
            Kind::Web => "/search",
            Kind::Image => "/images",
            Kind::News => "/news",
        };
        let mut body = json!({"q": query.with_operators(), "num": query.count});
        if let Some(age) = query.age {
            body["tbs"] = time(age).into();
        }
        if let Some(country) = &query.country {
            body["gl"] = country.as_str().into();
        }
        if let Some(language) = &query.language {
            body["hl"] = language.as_str().into();
        }
        with_key(post(endpoint(base, path, &[]), &body), KEY, "", &self.key)
    }

    fn fault(&self, reply: &Reply) -> Option<Fault> {
        (reply.status == 400 && reply.says("Not enough credits"))
            .then(|| Fault::limited("no credit is left (HTTP 400)"))
    }

    fn read(&self, kind: Kind, reply: &Reply) -> Result<Vec<Hit>, Fault> {
        let answer = super::provider::json(reply)?;
        let results = match kind {
            Kind::Web => list(&answer, "organic"),
            Kind::Image => list(&answer, "images"),
            Kind::News => list(&answer, "news"),
        };
        let hits = results.iter().map(|result| Hit {
            title: tidy(text(result, "title")),
            url: text(result, "link").to_owned(),
            snippet: tidy(text(result, "snippet")),
            source: some_text(result, "source"),
            published: some_text(result, "date"),
            image: (kind == Kind::Image).then(|| ImageHit {
                link: text(result, "imageUrl").to_owned(),
                thumbnail: some_text(result, "thumbnailUrl"),
                width: number(result, "imageWidth"),
                height: number(result, "imageHeight"),
                size: None,
            }),
        });
        Ok(hits.collect())
    }
}

fn time(age: Age) -> &'static str {
    match age {
        Age::Hour => "qdr:h",
        Age::Day => "qdr:d",
        Age::Week => "qdr:w",
        Age::Month => "qdr:m",
        Age::Year => "qdr:y",
    }
}
