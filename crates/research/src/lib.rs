//! Web research: search, scraping and research sessions as typed functions.
//!
//! The crate knows neither the gateway nor the environment: adapters pass [`Settings`] and one [`Call`] per call.

pub mod cache;
pub mod lens;
mod research;
pub mod sessions;
pub mod settings;
pub mod tools;

pub use cache::{Caches, MemoryCaches};
pub use lens::Lens;
pub use research::{Call, Parts, Progress, Research};
pub use sessions::{MemorySessions, Sessions};
pub use settings::Settings;
