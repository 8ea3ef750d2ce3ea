//! `search_and_scrape`: searches, reads the results, and puts the best of them together.

mod combine;
mod rank;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use proto::{Code, Failure};
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

use self::combine::{combine, size_of, source_id};
use self::rank::{Candidate, Ranked, rank};
use crate::input::invalid;
use crate::research::{Call, Progress, Research};
use crate::robots;
use crate::scrape::fetch::Deadline;
use crate::scrape::page::Page;
use crate::settings::Robots;
use crate::tools::{
    ScrapeFailure, ScrapeMode, ScrapedSource, SearchAndScrape, SearchAndScrapeOutput, SearchResult,
    SourceContent, Summary, WebSearch,
};

/// Pages that are read at the same time.
const AT_ONCE: usize = 5;
/// The time for one page.
const PER_PAGE: Duration = Duration::from_secs(15);
/// How long another page is waited for once half of them are read.
const FOR_THE_LAST: Duration = Duration::from_secs(5);
/// Pages of one host that are read at the same time.
const PER_HOST: usize = 2;

impl Research {
    /// Searches the web, reads the results and combines them, best first.
    pub async fn search_and_scrape(
        &self,
        input: SearchAndScrape,
        call: &Call<'_>,
    ) -> Result<SearchAndScrapeOutput, Failure> {
        let started = Instant::now();
        let lengths = [
            ("max_length_per_source", input.max_length_per_source),
            ("total_max_length", input.total_max_length),
        ];
        if let Some((name, _)) = lengths.iter().find(|(_, bytes)| *bytes == 0) {
            return Err(invalid(name, "must be at least 1"));
        }
        let deadline = Deadline::after(self.parts().settings.timeouts.total);
        let search = WebSearch { num_results: input.num_results, ..WebSearch::new(&input.query) };
        let found = self.web_search(search, call).await?;
        let mut warnings = found.warnings;
        let searched = found.results.len();
        let (candidates, failures) =
            self.scrape_all(found.results, &input, deadline, call, &mut warnings).await;
        let scraped = candidates.len();
        let today = i64::try_from(self.parts().clock.unix_ms() / 86_400_000).unwrap_or_default();
        let Ranked { sources, filtered } = rank(candidates, &input, today, &mut warnings);
        let most = self.limit(
            "total_max_length",
            input.total_max_length,
            self.parts().settings.sizes.combined,
            &mut warnings,
        );
        let has_texts = input.include_sources && input.content != SourceContent::Combined;
        let (combined_content, cut_short) = match input.content {
            SourceContent::Sources => (String::new(), false),
            SourceContent::Both | SourceContent::Combined => combine(&sources, most),
        };
        let truncated = cut_short || sources.iter().any(|source| source.truncated);
        let summary = Summary {
            urls_searched: searched,
            urls_scraped: scraped,
            processing_time_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            failures,
            filtered,
        };
        Ok(SearchAndScrapeOutput {
            query: input.query,
            size_metadata: size_of(&combined_content, truncated),
            sources: sources
                .into_iter()
                .enumerate()
                .map(|(at, source)| listed(at + 1, source, has_texts))
                .collect(),
            combined_content,
            summary,
            warnings,
        })
    }

    /// The asked number of bytes, or the maximum with a warning.
    fn limit(&self, name: &str, asked: u64, most: u64, warnings: &mut Vec<String>) -> usize {
        // The default is the maximum of the source; a smaller one is the operator's choice.
        if asked > most && asked != default_of(name) {
            warnings.push(format!("`{name}` is at most {most} bytes; {most} are used."));
        }
        usize::try_from(asked.min(most)).unwrap_or(usize::MAX)
    }

    async fn scrape_all(
        &self,
        results: Vec<SearchResult>,
        input: &SearchAndScrape,
        deadline: Deadline,
        call: &Call<'_>,
        warnings: &mut Vec<String>,
    ) -> (Vec<Candidate>, Vec<ScrapeFailure>) {
        let turns = Turns::new(&results);
        let total = results.len();
        let mut running: FuturesUnordered<_> = results
            .iter()
            .enumerate()
            .map(|(order, result)| {
                let turns = &turns;
                async move { (order, self.scrape_one(result, turns, deadline, call).await) }
            })
            .collect();
        let mut read: Vec<(usize, Result<Arc<Page>, Failure>)> = Vec::with_capacity(total);
        let (mut pages, mut until) = (0, deadline.at());
        while let Ok(Some((order, outcome))) = timeout_at(until, running.next()).await {
            pages += usize::from(outcome.is_ok());
            if pages * 2 >= total {
                until = deadline.at_most(FOR_THE_LAST).at();
            }
            let url = &results[order].url;
            let message = match &outcome {
                Ok(_) => format!("Read {url}"),
                Err(failure) => format!("Could not read {url}: {}", failure.message),
            };
            read.push((order, outcome));
            (call.progress)(Progress { done: read.len(), total: Some(total), message });
        }
        drop(running);
        let is_read: HashSet<usize> = read.iter().map(|(order, _)| *order).collect();
        let late = (0..total).filter(|order| !is_read.contains(order));
        read.extend(late.map(|order| (order, Err(late_page()))));
        read.sort_by_key(|(order, _)| *order);
        let (mut candidates, mut failures) = (Vec::new(), Vec::new());
        let asked = input.max_length_per_source;
        let page_most = self.limit(
            "max_length_per_source",
            asked,
            self.parts().settings.sizes.transcript,
            warnings,
        );
        for (order, outcome) in read {
            let SearchResult { title, url, .. } = &results[order];
            match outcome {
                Ok(page) => {
                    warnings
                        .extend(page.warnings.iter().map(|warning| format!("{url}: {warning}")));
                    let most = page_most.min(self.most_bytes(&page));
                    candidates.push(Candidate::new(url, title, page, most));
                }
                Err(failure) => failures.push(ScrapeFailure {
                    url: url.clone(),
                    code: failure.code,
                    retry_after_ms: failure
                        .retry_after
                        .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
                    message: failure.message,
                }),
            }
        }
        (candidates, failures)
    }

    async fn scrape_one(
        &self,
        result: &SearchResult,
        turns: &Turns,
        deadline: Deadline,
        call: &Call<'_>,
    ) -> Result<Arc<Page>, Failure> {
        let request = self.check_url(&result.url, ScrapeMode::Full, call)?;
        let _turn = turns.take(&request.host()).await;
        let deadline = deadline.at_most(PER_PAGE);
        let work = async {
            if self.parts().settings.robots != Robots::Off {
                robots::check(self, &request, deadline).await?;
            }
            self.page(request, deadline, call).await
        };
        match timeout_at(deadline.at(), work).await {
            Ok(outcome) => outcome,
            Err(_) => Err(late_page()),
        }
    }
}

fn late_page() -> Failure {
    Failure::new(
        Code::Timeout,
        "the page was not read in the time that a page has here; `scrape_page` has more",
    )
}

/// The value that a caller who says nothing asks for.
fn default_of(name: &str) -> u64 {
    let defaults = SearchAndScrape::new("");
    if name == "total_max_length" {
        defaults.total_max_length
    } else {
        defaults.max_length_per_source
    }
}

fn listed(number: usize, source: Candidate, with_content: bool) -> ScrapedSource {
    let citation = source.page.citation();
    ScrapedSource {
        id: source_id(number),
        author: source.page.author.clone(),
        date: source.page.date.clone(),
        citation: Some(citation.formatted.apa),
        url: source.url,
        title: source.title,
        content: if with_content { source.text } else { String::new() },
        content_type: source.content_type,
        scores: Some(source.scores),
    }
}

/// Limits on how many pages are read at once, in total and of one host.
struct Turns {
    all: Semaphore,
    hosts: HashMap<String, Semaphore>,
}

impl Turns {
    fn new(results: &[SearchResult]) -> Self {
        let host =
            |result: &SearchResult| Some(url::Url::parse(&result.url).ok()?.host_str()?.to_owned());
        let hosts = results.iter().filter_map(host).map(|host| (host, Semaphore::new(PER_HOST)));
        Self { all: Semaphore::new(AT_ONCE), hosts: hosts.collect() }
    }

    /// Waits for a turn: first of the host, so that pages of one host do not take the turns of others.
    async fn take(&self, host: &str) -> Turn<'_> {
        let of_host = match self.hosts.get(host) {
            Some(turns) => turns.acquire().await.ok(),
            None => None,
        };
        Turn { _of_host: of_host, _of_all: self.all.acquire().await.ok() }
    }
}

struct Turn<'a> {
    _of_host: Option<tokio::sync::SemaphorePermit<'a>>,
    _of_all: Option<tokio::sync::SemaphorePermit<'a>>,
}
