//! `news_search`.

use std::time::Duration;

use proto::{Code, Failure};
use search::dates;
use search::links::{display_host, web_url};
use search::providers::{Age, Hit, Kind, Query};
use search::router::SearchHits;
use search::text::tidy;
use serde_json::json;

use crate::cache;
use crate::input::{check_count, check_domain, check_query};
use crate::research::{Call, Research};
use crate::tools::{Article, Freshness, NewsSearch, NewsSearchOutput, SortBy};

const TTL: Duration = Duration::from_secs(15 * 60);

/// How many articles are looked at when the newest of them are asked for.
const NEWEST_OF: usize = 20;

impl Research {
    /// Searches news.
    pub async fn news_search(
        &self,
        input: NewsSearch,
        call: &Call<'_>,
    ) -> Result<NewsSearchOutput, Failure> {
        let count = check_count(input.num_results)?;
        let query = Query {
            text: check_query(&input.query)?.to_owned(),
            count: if input.sort_by == SortBy::Date { NEWEST_OF } else { count },
            age: Some(age(input.freshness)),
            sites: check_domain("news_source", input.news_source.as_deref())?.into_iter().collect(),
            ..Query::default()
        };
        let key =
            cache::key("news", None, &json!({"input": input, "route": self.router().route()}));
        let searching = self.cached(key, TTL, |research| async move {
            research.find_articles(query, count, input).await
        });
        call.run(searching).await
    }

    async fn find_articles(
        self,
        query: Query,
        count: usize,
        input: NewsSearch,
    ) -> Result<NewsSearchOutput, Failure> {
        let now = self.parts().clock.unix_ms();
        let found = self.find_news(&query).await?;
        let mut hits = found.hits;
        if input.sort_by == SortBy::Date {
            // Articles without a date come last, in the provider's order.
            hits.sort_by_key(|hit| std::cmp::Reverse(published(hit, now)));
        }
        let articles: Vec<_> =
            hits.into_iter().filter_map(|hit| article(hit, now)).take(count).collect();
        Ok(NewsSearchOutput {
            query: input.query,
            result_count: articles.len(),
            articles,
            warnings: found.warnings,
        })
    }

    /// Asks news endpoints; if there is none that answers, searches the web with a date limit.
    async fn find_news(&self, query: &Query) -> Result<SearchHits, Failure> {
        let why = if self.router().offers(Kind::News) {
            match self.router().search(Kind::News, query).await {
                Ok(found) => return Ok(found),
                Err(failure) if !self.router().offers(Kind::Web) => return Err(failure),
                Err(failure) => {
                    let limited = failure.code == Code::RateLimit;
                    if limited {
                        "All news endpoints are limited"
                    } else {
                        "No news endpoint answered"
                    }
                }
            }
        } else {
            "No provider with a news endpoint is set up"
        };
        let mut found = self.router().search(Kind::Web, query).await?;
        found.warnings.insert(0, format!("{why}: these are web results with a date limit."));
        Ok(found)
    }
}

fn age(freshness: Freshness) -> Age {
    match freshness {
        Freshness::Hour => Age::Hour,
        Freshness::Day => Age::Day,
        Freshness::Week => Age::Week,
        Freshness::Month => Age::Month,
        Freshness::Year => Age::Year,
    }
}

fn published(hit: &Hit, now: u64) -> Option<u64> {
    hit.published.as_deref().and_then(|text| dates::parse(text, now))
}

fn article(hit: Hit, now: u64) -> Option<Article> {
    let url = web_url(&hit.url)?;
    let source = hit.source.map(|source| tidy(&source)).filter(|source| !source.is_empty());
    Some(Article {
        source: source.unwrap_or_else(|| display_host(&url)),
        title: if hit.title.is_empty() { url.to_string() } else { hit.title },
        url: url.into(),
        published_at: hit.published.map(|text| dates::normalize(&text, now)),
        snippet: hit.snippet,
    })
}
