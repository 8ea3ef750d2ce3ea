//! How the web is searched: search providers, and the router that asks them in the order of fallback.
//!
//! The crate knows no tools and no environment: callers pass [`settings::SearchSettings`] and an HTTP client, and
//! variables as a map. Sources of other kinds, such as APIs of publications, ask through the same
//! [`providers::Api`] and [`router::Guard`].

pub mod dates;
pub mod links;
pub mod pace;
pub mod providers;
pub mod router;
pub mod settings;
pub mod text;
