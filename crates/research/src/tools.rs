//! The eight tools: their inputs and outputs, and how they are listed.

mod academic_search;
mod common;
mod image_search;
mod listing;
mod news_search;
mod patent_search;
mod schema;
mod scrape_page;
mod search_and_scrape;
mod sequential_search;
mod text;
mod web_search;

pub use academic_search::{AcademicSearch, AcademicSearchOutput, AcademicSource, Publication};
pub use common::SortBy;
pub use image_search::{Image, ImageSearch, ImageSearchOutput};
pub use listing::{Listing, SERVER, all};
pub use news_search::{Article, Freshness, NewsSearch, NewsSearchOutput};
pub use patent_search::{Patent, PatentOffice, PatentSearch, PatentSearchOutput, PatentSearchType};
pub use scrape_page::{
    Citation, CitationFormats, CitationMetadata, ContentType, DocumentMetadata, ScrapeMode,
    ScrapePage, ScrapePageOutput, SizeCategory,
};
pub use search_and_scrape::{
    QualityScores, ScrapeFailure, ScrapedSource, SearchAndScrape, SearchAndScrapeOutput,
    SizeMetadata, SourceContent, Summary,
};
pub use sequential_search::{
    KnowledgeGap, ResearchSource, ResearchStep, SequentialSearch, SequentialSearchOutput,
    SourceInput,
};
pub use text::text_for_models;
pub use web_search::{SearchResult, TimeRange, WebSearch, WebSearchOutput};
