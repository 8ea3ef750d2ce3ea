//! `web.search.query`: searches the web with the providers of the web tools.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use proto::{Code, Failure, RequestedLimits};
use research::tools::TimeRange;
use research::{Call, Find, FoundPage, Research};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::Job;
use strip::typed::{About, TypedOutput, TypedTool};

pub const ID: &str = "web.search.query";

/// The limits of the flow's tools.
pub(crate) const LIMITS: RequestedLimits = RequestedLimits {
    timeout: Some(Duration::from_secs(60)),
    max_input_bytes: Some(1 << 20),
    max_output_bytes: Some(1 << 20),
};

/// The web tools as they are now; none if the operator has switched them off.
pub type CurrentResearch = Arc<dyn Fn() -> Option<Research> + Send + Sync>;

/// The web tools, or the failure that names the setting.
pub(crate) fn web_tools(current: &CurrentResearch) -> Result<Research, Failure> {
    current().ok_or_else(|| {
        let message = "The web tools are off: `research.tools` in the config turns them on.";
        Failure::new(Code::Unsupported, message)
    })
}

/// What the web tools need to know about a call.
pub(crate) fn call_of(job: &Job) -> Call<'_> {
    let principal = &job.request().principal;
    Call {
        tenant: principal.tenant.as_str(),
        subject: &principal.subject,
        progress: &|_| {},
        cancel: job.cancel(),
    }
}

/// Searches the web.
pub struct QueryWeb {
    pub research: CurrentResearch,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[schemars(length(min = 1, max = 500))]
    query: String,
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 20))]
    limit: u32,
    /// Only results of the last day, week, month or year.
    #[serde(default)]
    time_range: Option<TimeRange>,
    /// A domain.
    #[serde(default)]
    #[schemars(length(min = 1, max = 253))]
    site: Option<String>,
    /// Such as `en`.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z]{2}$"))]
    language: Option<String>,
    /// Such as `DE`.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z]{2}$"))]
    country: Option<String>,
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    lens: Option<String>,
}

fn ten() -> u32 {
    10
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The query as given.
    query: String,
    results: Vec<SearchHit>,
    result_count: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// A page that was found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// From 1.
    rank: usize,
    title: String,
    url: String,
    snippet: String,
    /// The publisher, else the host.
    source: String,
    /// Such as `2024-05-03`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    published_at: Option<String>,
}

#[async_trait]
impl TypedTool for QueryWeb {
    type Input = Input;
    type Output = Output;

    fn about(&self) -> About {
        let description = "Searches the web: titles, URLs, snippets, dates.";
        About {
            limits: LIMITS,
            open_world: true,
            ..About::reader(ID, "Search the web", description)
        }
    }

    async fn run(&self, input: Input, job: &Job) -> Result<TypedOutput<Output>, Failure> {
        let research = web_tools(&self.research)?;
        let Input { query, limit, time_range, site, language, country, lens } = input;
        let find =
            Find { limit, time_range, site, language, country, lens, ..Find::new(query.clone()) };
        let found = research.find(find, &call_of(job)).await?;
        Ok(answer(query, found.pages, found.warnings).into())
    }
}

fn answer(query: String, pages: Vec<FoundPage>, warnings: Vec<String>) -> Output {
    let hit = |(at, page): (usize, FoundPage)| SearchHit {
        rank: at + 1,
        title: page.title,
        url: page.url,
        snippet: page.snippet,
        source: page.publisher.unwrap_or(page.host),
        published_at: page.published,
    };
    let results: Vec<_> = pages.into_iter().enumerate().map(hit).collect();
    Output { query, result_count: results.len(), results, warnings }
}

#[cfg(test)]
mod tests;
