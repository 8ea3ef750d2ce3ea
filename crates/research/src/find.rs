//! Pages that a search finds, with what is known about them before they become the output of a tool.

use std::time::Duration;

use proto::Failure;
use search::dates::{self, utc_date};
use search::links::{display_host, web_url};
use search::providers::{Hit, Query, Safe};
use search::router::SearchHits;
use search::text::tidy;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cache;
use crate::input::{check_code, check_domain, check_query, check_range};
use crate::research::{Call, Research};
use crate::tools::{TimeRange, WebSearch};
use crate::web::{age, check_terms};

const TTL: Duration = Duration::from_secs(30 * 60);

/// The most pages that one search finds.
const MAX_FOUND: u32 = 20;

/// What to search the web for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Find {
    /// 1 to 500 characters.
    pub query: String,
    /// 1 to 20.
    pub limit: u32,
    pub time_range: Option<TimeRange>,
    pub safe: Safe,
    /// A code such as `en`.
    pub language: Option<String>,
    pub site: Option<String>,
    pub exact_terms: Option<String>,
    pub exclude_terms: Option<String>,
    /// A code such as `DE`.
    pub country: Option<String>,
    pub lens: Option<String>,
}

impl Find {
    /// A search with defaults.
    pub fn new(query: impl Into<String>) -> Self {
        WebSearch::new(query).into()
    }
}

impl From<WebSearch> for Find {
    fn from(search: WebSearch) -> Self {
        Self {
            query: search.query,
            limit: search.num_results,
            time_range: search.time_range,
            safe: search.safe,
            language: search.language,
            site: search.site,
            exact_terms: search.exact_terms,
            exclude_terms: search.exclude_terms,
            country: search.country,
            lens: search.lens,
        }
    }
}

/// The pages that were found, best first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FoundPages {
    pub pages: Vec<FoundPage>,
    pub warnings: Vec<String>,
}

/// A page that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FoundPage {
    /// The URL where there is no title.
    pub title: String,
    pub url: String,
    pub snippet: String,
    /// The host, as people read it.
    pub host: String,
    /// The publisher's name, where the provider knows it.
    pub publisher: Option<String>,
    /// A date such as `2024-05-03`.
    pub published: Option<String>,
}

impl Research {
    /// Searches the web. Equal searches share an answer for a while.
    pub async fn find(&self, input: Find, call: &Call<'_>) -> Result<FoundPages, Failure> {
        let query = self.query_of(&input)?;
        let lens = self.find_lens(input.lens.as_deref())?;
        let key = cache::key(
            "find",
            None,
            &json!({"input": input, "lens": lens, "route": self.router().route()}),
        );
        let lens = lens.cloned();
        call.run(self.cached(key, TTL, |research| async move {
            let now = research.parts().clock.unix_ms();
            let count = query.count;
            Ok(pages(research.find_pages(query, lens).await?, count, now))
        }))
        .await
    }

    fn query_of(&self, input: &Find) -> Result<Query, Failure> {
        let site = check_domain("site", input.site.as_deref())?;
        Ok(Query {
            text: check_query(&input.query)?.to_owned(),
            count: check_range("limit", input.limit, MAX_FOUND)?,
            age: input.time_range.map(age),
            safe: input.safe,
            language: check_code("language", input.language.as_deref(), "`en`")?,
            country: check_code("country", input.country.as_deref(), "`DE`")?,
            sites: site.into_iter().collect(),
            exact: check_terms("exact_terms", input.exact_terms.as_deref())?,
            exclude: check_terms("exclude_terms", input.exclude_terms.as_deref())?,
            ..Query::default()
        })
    }
}

fn pages(found: SearchHits, count: usize, now: u64) -> FoundPages {
    let pages = found.hits.into_iter().take(count).filter_map(|hit| page(hit, now)).collect();
    FoundPages { pages, warnings: found.warnings }
}

fn page(hit: Hit, now: u64) -> Option<FoundPage> {
    let url = web_url(&hit.url)?;
    let publisher = hit.source.map(|source| tidy(&source)).filter(|source| !source.is_empty());
    let published = hit.published.and_then(|text| dates::parse(&text, now)).map(utc_date);
    Some(FoundPage {
        host: display_host(&url),
        title: if hit.title.is_empty() { url.to_string() } else { hit.title },
        url: url.into(),
        snippet: hit.snippet,
        publisher,
        published,
    })
}
