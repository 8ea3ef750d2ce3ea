//! The web on loopback: sites, videos and search providers that a test reads, and listeners that must not be reached.

mod canary;
mod hosts;
mod providers;
mod site;
mod youtube;

pub use canary::Canary;
pub use hosts::{METADATA_HOSTS, forbidden_hosts};
pub use providers::{Behaviour, ProviderRequest, ProviderResult, Providers};
pub use site::{Site, SitePage, SiteRequest};
pub use youtube::{Captions, YouTube};
