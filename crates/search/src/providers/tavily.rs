//! Tavily: <https://docs.tavily.com/documentation/api-reference/endpoint/search>.

use egress::http::Request;
use http::header::AUTHORIZATION;
use proto::Secret;
use serde_json::json;
use url::Url;

use super::api::Reply;
use super::fault::Fault;
use super::hit::Hit;
use super::provider::{Provider, Supported, endpoint, list, post, some_text, text, with_key};
use super::query::{Age, Query, QueryLimit};
use crate::settings::{Kind, ProviderName};
use crate::text::tidy;

/// The API refuses longer queries.
const LIMIT: QueryLimit = QueryLimit { chars: 400, words: usize::MAX };

pub(super) struct Tavily {
    pub(super) key: Secret,
}

impl Provider for Tavily {
    fn name(&self) -> ProviderName {
        ProviderName::Tavily
    }

    fn supported(&self, _kind: Kind, query: &Query) -> Supported {
        Supported { age: query.age != Some(Age::Hour), exact: true, ..Supported::default() }
    }

    fn request(&self, base: &Url, kind: Kind, query: &Query) -> Request {
        let mut body = json!({
            "query": LIMIT.cut(&query.with_exact()),
            "max_results": query.count,
            "topic": if kind == Kind::News { "news" } else { "general" },
            "search_depth": "basic",
        });
        if let Some(age) = query.age {
            body["time_range"] = age.day_or_longer().into();
        }
        if !query.sites.is_empty() {
            body["include_domains"] = json!(query.sites);
        }
        with_key(post(endpoint(base, "/search", &[]), &body), AUTHORIZATION, "Bearer ", &self.key)
    }

    fn fault(&self, reply: &Reply) -> Option<Fault> {
        matches!(reply.status, 432 | 433)
            .then(|| Fault::limited(format!("the plan's limit is reached (HTTP {})", reply.status)))
    }

    fn read(&self, _kind: Kind, reply: &Reply) -> Result<Vec<Hit>, Fault> {
        let answer = super::provider::json(reply)?;
        let hits = list(&answer, "results").iter().map(|result| Hit {
            title: tidy(text(result, "title")),
            url: text(result, "url").to_owned(),
            snippet: tidy(text(result, "content")),
            published: some_text(result, "published_date"),
            ..Hit::default()
        });
        Ok(hits.collect())
    }

    fn warning(&self, query: &Query, _reply: &Reply) -> Option<String> {
        LIMIT.warn(&query.with_exact(), self.name())
    }
}
