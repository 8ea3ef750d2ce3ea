//! Web research: search, scraping and research sessions as typed functions.
//!
//! The crate knows neither the gateway nor the environment: adapters pass [`Settings`] and one [`Call`] per call.

mod blocks;
pub mod cache;
mod calendar;
mod citation;

mod flights;
pub mod lens;
mod research;
mod robots;
mod sanitize;
mod scores;
mod scrape;
// mod search_and_scrape;
pub mod sessions;
pub mod settings;
mod similar;
mod tiers;
pub mod tools;
mod youtube;

pub use cache::{Caches, MemoryCaches};
pub use lens::Lens;
pub use research::{Call, Parts, Progress, Research};
pub use sessions::{MemorySessions, Sessions};
pub use settings::Settings;
