//! The dashboard: pages for people, rendered on the server and part of the binary. Every page has a stable address and
//! works without scripts where it can; a small script of our own keeps open pages up to date.

#![expect(clippy::result_large_err, reason = "the error of a page is another page")]

mod admitted;
mod agents;
mod approvals;
mod assets;
mod calls;
mod catalog;
mod chart;
mod confirm;
mod connect;
mod console;
mod curl;
mod diff;
mod files;
mod form;
mod headers;
mod images;
mod keys;
mod layout;
mod live;
mod log;
mod overview;
mod paths;
mod plans;
mod posted;
mod prompts;
mod provider;
mod research;
mod routes;
mod runs;
mod secrets;
mod servers;
mod service;
mod settings;
mod sign_in;
mod snippet;
mod state;
mod theme;
mod time;
mod tool;
mod tries;
mod unreadable;
mod vault;
mod viewer;
mod words;

pub use routes::ROUTES;
pub use service::{Checkup, ClientSetup, DashboardService, OwnSecret, QuarantinedTool};
pub use state::Parts;

use std::sync::Arc;

use doors::Pages;

/// The pages of the dashboard, for the HTTP door.
pub fn pages(parts: Parts) -> Arc<dyn Pages> {
    Arc::new(state::Dashboard::new(parts))
}
