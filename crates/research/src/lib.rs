//! Web research: search, scraping and research sessions as typed functions.
//!
//! The crate knows neither the gateway nor the environment: adapters pass [`Settings`] and one [`Call`] per call.

mod academic;
pub mod blocks;
pub mod cache;
pub mod citation;
mod dispatch;
pub mod domains;
mod find;
mod flights;
mod images;
mod input;
pub mod lens;
mod lenses;
mod news;
mod patents;
mod research;
mod robots;
mod sanitize;
pub mod scores;
mod scrape;
mod search_and_scrape;
mod sequential;
pub mod sessions;
pub mod settings;
pub mod similar;
mod tiers;
pub mod tools;
mod web;
mod youtube;

pub use cache::{Caches, MemoryCaches};
pub use find::{Find, FoundPage, FoundPages};
pub use lens::{Lens, LensFault};
pub use lenses::read_lenses;
pub use research::{Call, Parts, Progress, Research};
pub use scrape::kind::media_type_of_body;
pub use scrape::text::{PageText, ReadFor};
pub use sessions::{MemorySessions, Sessions};
pub use settings::Settings;
