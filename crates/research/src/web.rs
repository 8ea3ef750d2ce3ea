//! `web_search`.

use language::ranking::fuse;
use proto::{Code, Failure};
use search::providers::{Age, Kind, Query};
use search::router::{Router, SearchHits};
use search::settings::ProviderName;

use crate::find::FoundPage;
use crate::input::{check_count, invalid};
use crate::lens::Lens;
use crate::research::{Call, Research};
use crate::settings::Settings;
use crate::tools::{SearchResult, TimeRange, WebSearch, WebSearchOutput};

/// The most `site:` operators of one query.
const SITES_PER_QUERY: usize = 10;

/// The most bytes of `site:` operators in one query, of which Brave takes 400 characters.
const MAX_SITES_BYTES: usize = 250;

impl Research {
    /// Searches the web.
    pub async fn web_search(
        &self,
        input: WebSearch,
        call: &Call<'_>,
    ) -> Result<WebSearchOutput, Failure> {
        check_count(input.num_results)?;
        let query = input.query.clone();
        let found = self.find(input.into(), call).await?;
        let results: Vec<_> = found.pages.into_iter().map(result).collect();
        Ok(WebSearchOutput {
            urls: results.iter().map(|result| result.url.clone()).collect(),
            query,
            result_count: results.len(),
            results,
            warnings: found.warnings,
        })
    }

    pub(crate) fn find_lens(&self, name: Option<&str>) -> Result<Option<&Lens>, Failure> {
        let Some(name) = name else { return Ok(None) };
        let Settings { lenses, lens_faults, .. } = self.settings();
        let found = lenses.iter().find(|lens| lens.name.eq_ignore_ascii_case(name.trim()));
        found.map(Some).ok_or_else(|| {
            let names: Vec<_> = lenses.iter().map(|lens| lens.name.as_str()).collect();
            let fault = lens_faults.iter().find_map(|fault| fault.describe_for(name.trim()));
            let why = match fault {
                Some(fault) => fault,
                None if names.is_empty() => {
                    "no lens is set up; put YAML files into the folder that `research.lenses` names"
                        .to_owned()
                }
                None => format!("the lenses are {}", names.join(", ")),
            };
            invalid("lens", format!("there is no lens `{}`; {why}", search::text::clip(name, 100)))
        })
    }

    /// Asks the providers, or those of a lens.
    pub(crate) async fn find_pages(
        self,
        mut query: Query,
        lens: Option<Lens>,
    ) -> Result<SearchHits, Failure> {
        let Some(lens) = lens else { return self.router().search(Kind::Web, &query).await };
        if let Some(cx) = lens.cx {
            return self.engine(&lens.name, &cx)?.search(Kind::Web, &query).await;
        }
        match query.sites.pop() {
            Some(site) if !lens.covers(&site) => {
                let warning = format!("`{site}` is not a domain of the lens `{}`.", lens.name);
                Ok(SearchHits { warnings: vec![warning], ..SearchHits::default() })
            }
            Some(site) => self.search_sites(&query, &[site]).await,
            None => self.search_sites(&query, &lens.domains).await,
        }
    }

    fn engine(&self, lens: &str, cx: &str) -> Result<&Router, Failure> {
        self.engine_router(cx).ok_or_else(|| {
            let message = format!(
                "The lens `{lens}` uses a Google engine, which needs a key. {} Or remove `cx` from the lens: its domains \
                 are then searched with the other providers.",
                ProviderName::Google.setup()
            );
            Failure::new(Code::Unsupported, message)
        })
    }

    /// Searches some domains: at most ten per query, the answers fused. Fails if no query had an answer.
    pub(crate) async fn search_sites(
        &self,
        query: &Query,
        sites: &[String],
    ) -> Result<SearchHits, Failure> {
        let (mut warnings, mut lists): (Vec<String>, Vec<_>) = (Vec::new(), Vec::new());
        let (mut rest, mut failed, mut incomplete) = (sites, None, false);
        // One after the other, because many plans allow one request per second.
        while !rest.is_empty() {
            let (sites, others) = rest.split_at(sites_of_one_query(rest));
            rest = others;
            let query = Query { sites: sites.to_vec(), ..query.clone() };
            let found = self.router().search(Kind::Web, &query).await;
            let new = match found {
                Ok(found) => {
                    lists.push(found.hits);
                    incomplete |= found.incomplete;
                    found.warnings
                }
                Err(failure) => {
                    let sites = sites.join(", ");
                    let warning = format!("{sites} could not be searched: {}", failure.message);
                    failed.get_or_insert(failure);
                    vec![warning]
                }
            };
            for warning in new {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
        match failed {
            Some(failure) if lists.is_empty() => Err(failure),
            failed => {
                let hits = fuse(lists, |hit| hit.url.clone());
                Ok(SearchHits { hits, warnings, incomplete: incomplete || failed.is_some() })
            }
        }
    }
}

/// How many of these domains are searched with one query, whose operators must leave room for its words.
fn sites_of_one_query(sites: &[String]) -> usize {
    let mut bytes = 0;
    let fits = |site: &&String| {
        bytes += "site: OR ".len() + site.len();
        bytes <= MAX_SITES_BYTES
    };
    sites.iter().take(SITES_PER_QUERY).take_while(fits).count().max(1)
}

pub(crate) fn check_terms(field: &str, terms: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(terms) = terms else { return Ok(None) };
    let length = terms.chars().count();
    if length > 200 {
        return Err(invalid(field, format!("has {length} characters; at most 200 are allowed")));
    }
    Ok(Some(terms.trim().to_owned()).filter(|terms| !terms.is_empty()))
}

pub(crate) fn age(range: TimeRange) -> Age {
    match range {
        TimeRange::Day => Age::Day,
        TimeRange::Week => Age::Week,
        TimeRange::Month => Age::Month,
        TimeRange::Year => Age::Year,
    }
}

fn result(page: FoundPage) -> SearchResult {
    let FoundPage { title, url, snippet, host, .. } = page;
    SearchResult { title, url, snippet, display_link: host }
}
