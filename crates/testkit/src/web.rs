//! The web on loopback: sites and videos that a test reads, and listeners that must not be reached.

mod canary;
mod site;
mod youtube;

pub use canary::Canary;
pub use site::{Site, SitePage, SiteRequest};
pub use youtube::{Captions, YouTube};
