//! Google's Programmable Search Engine: <https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list>.

use egress::http::Request;
use proto::Secret;
use serde_json::{Value, json};
use url::Url;

use super::api::Reply;
use super::fault::Fault;
use super::hit::{Hit, ImageHit};
use super::provider::{Provider, Supported, endpoint, get, json, list, number, some_text, text};
use super::query::{Age, Query, Safe};
use crate::settings::{Kind, ProviderName};
use crate::text::tidy;

pub(crate) struct Google {
    pub(crate) key: Secret,
    /// The engine.
    pub(crate) cx: String,
}

impl Provider for Google {
    fn name(&self) -> ProviderName {
        ProviderName::Google
    }

    fn supported(&self, _kind: Kind, query: &Query) -> Supported {
        Supported {
            age: query.age != Some(Age::Hour),
            safe: true,
            language: true,
            country: true,
            exact: true,
            exclude: true,
            images: true,
        }
    }

    fn max_count(&self) -> usize {
        10
    }

    fn request(&self, base: &Url, kind: Kind, query: &Query) -> Request {
        let count = query.count.to_string();
        let (words, site) = match &query.sites[..] {
            [site] => (query.text.clone(), Some(site.as_str())),
            // `siteSearch` takes one site only.
            _ => (Query { exact: None, exclude: None, ..query.clone() }.with_operators(), None),
        };
        let phrase = query.phrase();
        let excluded = query.excluded().collect::<Vec<_>>().join(" ");
        let language = query.language.as_ref().map(|language| format!("lang_{language}"));
        let mut parameters = vec![
            ("key", self.key.expose()),
            ("cx", self.cx.as_str()),
            ("q", words.as_str()),
            ("num", count.as_str()),
            ("safe", if query.safe == Safe::Off { "off" } else { "active" }),
        ];
        let optional = [
            ("dateRestrict", query.age.map(date_restrict)),
            ("lr", language.as_deref()),
            ("gl", query.country.as_deref()),
            ("siteSearch", site),
            ("siteSearchFilter", site.map(|_| "i")),
            ("exactTerms", phrase.as_deref()),
            ("excludeTerms", Some(excluded.as_str()).filter(|terms| !terms.is_empty())),
        ];
        parameters.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
        let filters = image_filters(query);
        if kind == Kind::Image {
            parameters.push(("searchType", "image"));
            parameters.extend(filters.iter().map(|(name, value)| (*name, value.as_str())));
        }
        get(endpoint(base, "/customsearch/v1", &parameters))
    }

    fn fault(&self, reply: &Reply) -> Option<Fault> {
        if reply.status == 400 && (reply.says("API_KEY_INVALID") || reply.says("API key not valid"))
        {
            return Some(Fault::invalid_key("the key was refused (HTTP 400)"));
        }
        (reply.status == 403
            && (reply.says("dailyLimitExceeded") || reply.says("rateLimitExceeded")))
        .then(|| Fault::limited("the daily limit is reached (HTTP 403)"))
    }

    fn read(&self, kind: Kind, reply: &Reply) -> Result<Vec<Hit>, Fault> {
        let answer = json(reply)?;
        let hits = list(&answer, "items").iter().map(|item| {
            let image = &item["image"];
            let page =
                if kind == Kind::Image { text(image, "contextLink") } else { text(item, "link") };
            Hit {
                title: tidy(text(item, "title")),
                url: page.to_owned(),
                snippet: tidy(text(item, "snippet")),
                source: None,
                published: published(item),
                image: (kind == Kind::Image).then(|| ImageHit {
                    link: text(item, "link").to_owned(),
                    thumbnail: some_text(image, "thumbnailLink"),
                    width: number(image, "width"),
                    height: number(image, "height"),
                    size: image["byteSize"].as_u64().map(size),
                }),
            }
        });
        Ok(hits.collect())
    }
}

/// The date that the page's own meta tags give.
fn published(item: &Value) -> Option<String> {
    let tags = list(&item["pagemap"], "metatags").first()?;
    some_text(tags, "article:published_time")
}

fn size(bytes: u64) -> String {
    if bytes < 1_000 { format!("{bytes} B") } else { format!("{} KB", bytes / 1_000) }
}

fn date_restrict(age: Age) -> &'static str {
    match age {
        Age::Hour | Age::Day => "d1",
        Age::Week => "w1",
        Age::Month => "m1",
        Age::Year => "y1",
    }
}

/// The enums of our input have the names that Google uses.
fn image_filters(query: &Query) -> Vec<(&'static str, String)> {
    let name = |value: Option<Value>| value.and_then(|value| value.as_str().map(str::to_owned));
    let image = &query.image;
    let filters = [
        ("imgSize", name(image.size.map(|value| json!(value)))),
        ("imgType", name(image.kind.map(|value| json!(value)))),
        ("imgColorType", name(image.color.map(|value| json!(value)))),
        ("imgDominantColor", name(image.dominant.map(|value| json!(value)))),
        ("fileType", name(image.file.map(|value| json!(value)))),
    ];
    filters.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
