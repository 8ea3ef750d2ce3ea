//! The web tools against fake providers and sites.
#![allow(clippy::unwrap_used, reason = "helpers of tests are not inside a test function")]

mod scrape;
mod search;
mod source_tables;
