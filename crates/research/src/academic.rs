//! `academic_search`: the APIs of publications, and a web search over the sites of publishers.

mod apis;
mod arxiv;
mod crossref;
mod fusion;
mod openalex;
mod pubmed;
mod semantic_scholar;
mod source;
mod title;
mod xml;

use std::time::Duration;

use proto::{Code, Failure};
use search::dates;
use search::links::{display_host, web_url};
use search::providers::{Fault, Hit, Query};
use search::router::SearchHits;
use search::settings::ProviderName;
use serde_json::json;

use crate::cache;
use crate::input::{check_count, check_query, check_years};
use crate::research::{Call, INCOMPLETE_TTL, Research};
use crate::tools::{AcademicSearch, AcademicSearchOutput, AcademicSource, Publication, SortBy};
use apis::ApiAnswer;
use source::Search;

pub(crate) use apis::Academic;

const TTL: Duration = Duration::from_secs(24 * 3_600);

/// The most authors that are listed; some publications have thousands.
const MAX_AUTHORS: usize = 50;

/// The sites that `source: all` searches when a web provider has a key.
const DOMAINS: [&str; 17] = [
    "arxiv.org",
    "pubmed.ncbi.nlm.nih.gov",
    "scholar.google.com",
    "ieeexplore.ieee.org",
    "dl.acm.org",
    "nature.com",
    "sciencedirect.com",
    "link.springer.com",
    "researchgate.net",
    "plos.org",
    "frontiersin.org",
    "mdpi.com",
    "wiley.com",
    "jstor.org",
    "semanticscholar.org",
    "biorxiv.org",
    "medrxiv.org",
];

impl Research {
    /// Searches publications.
    pub async fn academic_search(
        &self,
        input: AcademicSearch,
        call: &Call<'_>,
    ) -> Result<AcademicSearchOutput, Failure> {
        let text = check_query(&input.query)?.to_owned();
        let count = check_count(input.num_results)?;
        check_years(input.year_from, input.year_to)?;
        let key =
            cache::key("academic", None, &json!({"input": input, "route": self.router().route()}));
        let search = Search {
            text,
            // Some will be duplicates, or lack a PDF.
            count: if input.pdf_only { 25 } else { (count * 2).max(10) },
            year_from: input.year_from,
            year_to: input.year_to,
            newest: input.sort_by == SortBy::Date,
            prefix: doi_prefix(input.source),
            pdf_only: input.pdf_only,
        };
        let searching = self.cached_with_ttl(key, |research| async move {
            research.find_publications(search, count, input).await
        });
        call.run(searching).await
    }

    /// The publications, and for how long they are kept.
    async fn find_publications(
        self,
        search: Search,
        count: usize,
        input: AcademicSearch,
    ) -> Result<(AcademicSearchOutput, Duration), Failure> {
        let chosen = |name: ProviderName| match input.source {
            AcademicSource::All => true,
            AcademicSource::Arxiv => name == ProviderName::Arxiv,
            AcademicSource::Pubmed => name == ProviderName::Pubmed,
            AcademicSource::Ieee | AcademicSource::Nature | AcademicSource::Springer => {
                name == ProviderName::Crossref
            }
        };
        let apis = self.academic().search(&search, chosen);
        let (asked, sites) = tokio::join!(apis, self.search_publishers(&search, input.source));
        let (mut lists, mut warnings, mut faults, mut total) =
            (Vec::new(), Vec::new(), Vec::new(), 0);
        let mut has_answer = false;
        for ApiAnswer { name, page } in asked {
            match page {
                Ok(page) => {
                    has_answer = true;
                    total = total.max(page.total);
                    lists.push(page.publications);
                }
                Err(fault) => {
                    warnings.push(format!("{name} did not answer: {}.", fault.why()));
                    faults.push((name, fault));
                }
            }
        }
        let mut incomplete = !faults.is_empty();
        match sites {
            Ok(Some(found)) => {
                incomplete |= found.incomplete;
                let now = self.parts().clock.unix_ms();
                lists
                    .push(found.hits.into_iter().filter_map(|hit| publication(hit, now)).collect());
                warnings.extend(found.warnings);
            }
            Ok(None) => {}
            Err(failure) => {
                incomplete = true;
                warnings.push(format!("The web search failed: {}", failure.message));
            }
        }
        let mut publications = fusion::fuse_publications(lists);
        publications.retain(|publication| fits(publication, &search));
        if publications.is_empty() && !has_answer {
            return Err(failure(&faults));
        }
        if search.newest {
            publications.sort_by_key(|publication| std::cmp::Reverse(publication.year));
        }
        publications.truncate(count);
        for publication in &mut publications {
            publication.authors.truncate(MAX_AUTHORS);
        }
        let found = AcademicSearchOutput {
            query: input.query,
            total_results: total.max(publications.len() as u64),
            result_count: publications.len(),
            publications,
            source: input.source,
            warnings,
        };
        Ok((found, if incomplete { INCOMPLETE_TTL } else { TTL }))
    }

    /// Searches the sites of publishers, if a web provider has a key.
    async fn search_publishers(
        &self,
        search: &Search,
        source: AcademicSource,
    ) -> Result<Option<SearchHits>, Failure> {
        let sites: Vec<String> = match source {
            AcademicSource::All => DOMAINS.iter().map(|domain| (*domain).to_owned()).collect(),
            AcademicSource::Ieee => vec!["ieeexplore.ieee.org".to_owned()],
            AcademicSource::Nature => vec!["nature.com".to_owned()],
            AcademicSource::Springer => vec!["link.springer.com".to_owned()],
            AcademicSource::Arxiv | AcademicSource::Pubmed => return Ok(None),
        };
        if !self.router().has_keyed_provider() {
            return Ok(None);
        }
        let query =
            Query { text: search.text.clone(), count: search.count.min(20), ..Query::default() };
        self.search_sites(&query, &sites).await.map(Some)
    }
}

/// The DOI prefix of a publisher.
fn doi_prefix(source: AcademicSource) -> Option<&'static str> {
    match source {
        AcademicSource::Ieee => Some("10.1109"),
        AcademicSource::Nature => Some("10.1038"),
        AcademicSource::Springer => Some("10.1007"),
        _ => None,
    }
}

/// Whether a publication is of the years asked for; one without a year only if none are.
fn fits(publication: &Publication, search: &Search) -> bool {
    let from =
        search.year_from.is_none_or(|from| publication.year.is_some_and(|year| year >= from));
    let to = search.year_to.is_none_or(|to| publication.year.is_some_and(|year| year <= to));
    from && to && (!search.pdf_only || publication.pdf_url.is_some())
}

/// A publication as a web search shows it.
fn publication(hit: Hit, now: u64) -> Option<Publication> {
    let url = web_url(&hit.url)?;
    let pdf_url = if url.path().to_ascii_lowercase().ends_with(".pdf") {
        Some(url.to_string())
    } else {
        source::arxiv_id(&url).map(|id| format!("https://arxiv.org/pdf/{id}"))
    };
    let source = display_host(&url);
    let year =
        hit.published.as_deref().and_then(|text| dates::parse(text, now)).and_then(dates::year);
    Some(Publication {
        title: title::undecorated(&hit.title, &source),
        source,
        url: url.into(),
        summary: hit.snippet,
        authors: Vec::new(),
        year,
        doi: None,
        pdf_url,
    })
}

fn failure(faults: &[(ProviderName, Fault)]) -> Failure {
    let list = faults.iter().map(|(name, fault)| format!("{name}: {}", fault.why()));
    let list = list.collect::<Vec<_>>().join("; ");
    let providers: Vec<_> = faults
        .iter()
        .map(|(name, fault)| json!({"provider": name.as_str(), "message": fault.why()}))
        .collect();
    let waits = faults.iter().filter_map(|(_, fault)| match fault {
        Fault::Limited { wait, .. } => Some(wait.unwrap_or(Duration::from_secs(30))),
        _ => None,
    });
    let waits: Vec<_> = waits.collect();
    match waits.iter().min() {
        Some(wait) if waits.len() == faults.len() => {
            let message =
                format!("All sources of publications are limited ({list}). Try again later.");
            let details = json!({"retryAfterMs": wait.as_millis() as u64, "providers": providers});
            Failure::new(Code::RateLimit, message).retry_after(*wait).details(details)
        }
        _ => {
            let message = format!("No source of publications answered ({list}). Try again later.");
            Failure::new(Code::Unavailable, message).details(json!({"providers": providers}))
        }
    }
}
