//! How the tools are listed.

use std::time::Duration;

use proto::{Annotations, RequestedLimits};
use schemars::JsonSchema;
use serde_json::Value;

use super::academic_search::{AcademicSearch, AcademicSearchOutput};
use super::image_search::{ImageSearch, ImageSearchOutput};
use super::news_search::{NewsSearch, NewsSearchOutput};
use super::patent_search::{PatentSearch, PatentSearchOutput};
use super::schema;
use super::scrape_page::{ScrapePage, ScrapePageOutput};
use super::search_and_scrape::{SearchAndScrape, SearchAndScrapeOutput};
use super::sequential_search::{SequentialSearch, SequentialSearchOutput};
use super::web_search::{WebSearch, WebSearchOutput};

/// The server part of the tools' ids: `web-research:web_search`.
pub const SERVER: &str = "web-research";

/// A tool as it is listed.
#[derive(Clone, Debug)]
pub struct Listing {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub input_schema: Value,
    pub output_schema: Value,
    pub limits: RequestedLimits,
    pub annotations: Annotations,
}

const KB: usize = 1024;

/// All tools, in the order in which they are listed. `total` is the time that one call may take.
pub fn all(total: Duration) -> Vec<Listing> {
    let listing = Lister { total };
    vec![
        listing.reader::<WebSearch, WebSearchOutput>(
            "web_search",
            "Search the web",
            "Searches the web; returns titles, URLs, snippets. scrape_page reads pages.",
            256 * KB,
        ),
        listing.reader::<ScrapePage, ScrapePageOutput>(
            "scrape_page",
            "Read a web page",
            "Reads a web page, PDF, Office file or YouTube transcript as text. `preview`: headings and first 2 KB.",
            512 * KB,
        ),
        listing.reader::<SearchAndScrape, SearchAndScrapeOutput>(
            "search_and_scrape",
            "Search and read",
            "Searches the web and reads the pages found; returns sources, best first, and their content.",
            KB * KB,
        ),
        listing.reader::<ImageSearch, ImageSearchOutput>(
            "image_search",
            "Search images",
            "Searches images; returns links, thumbnails and sizes.",
            256 * KB,
        ),
        listing.reader::<NewsSearch, NewsSearchOutput>(
            "news_search",
            "Search news",
            "Searches recent news articles.",
            256 * KB,
        ),
        listing.reader::<AcademicSearch, AcademicSearchOutput>(
            "academic_search",
            "Search publications",
            "Searches publications; returns abstracts, authors, DOIs, PDF links.",
            256 * KB,
        ),
        listing.reader::<PatentSearch, PatentSearchOutput>(
            "patent_search",
            "Search patents",
            "Searches Google Patents: prior_art (words), specific (phrase or number), landscape (newest first).",
            256 * KB,
        ),
        listing.tracker::<SequentialSearch, SequentialSearchOutput>(
            "sequential_search",
            "Track research steps",
            "Tracks research: call it once per step with what you did, a source and the open gap. Step 1 opens a session.",
            KB * KB,
        ),
    ]
}

struct Lister {
    total: Duration,
}

impl Lister {
    fn reader<I: JsonSchema, O: JsonSchema>(
        &self,
        name: &'static str,
        title: &'static str,
        description: &'static str,
        max_output_bytes: usize,
    ) -> Listing {
        let listing = self.tracker::<I, O>(name, title, description, max_output_bytes);
        let annotations = Annotations {
            read_only_hint: Some(true),
            idempotent_hint: Some(true),
            ..listing.annotations
        };
        Listing { annotations, ..listing }
    }

    fn tracker<I: JsonSchema, O: JsonSchema>(
        &self,
        name: &'static str,
        title: &'static str,
        description: &'static str,
        max_output_bytes: usize,
    ) -> Listing {
        Listing {
            name,
            title,
            description,
            input_schema: schema::of_input::<I>(),
            output_schema: schema::of_output::<O>(),
            limits: RequestedLimits {
                timeout: Some(self.total),
                max_input_bytes: None,
                max_output_bytes: Some(max_output_bytes),
            },
            annotations: Annotations {
                title: Some(title.to_owned()),
                read_only_hint: Some(false),
                destructive_hint: Some(false),
                idempotent_hint: Some(false),
                open_world_hint: Some(true),
            },
        }
    }
}

#[cfg(test)]
mod tests;
