//! `scrape_page` and `search_and_scrape` over real sockets, with real readers.

mod batch;
mod cache;
mod documents;
mod errors;
mod hostile;
mod ssrf;
mod support;
mod tiers;
mod youtube;
