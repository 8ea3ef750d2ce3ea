//! Why a page was not rendered.

use std::time::Duration;

use crate::http::{FetchError, Refusal};

/// Why a visit has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrowserError {
    /// There is no Chromium on this machine.
    #[error(
        "no Chromium was found: install it (Debian and Ubuntu: `apt install chromium`, macOS: `brew install chromium`) \
         or set `research.browser` to its path"
    )]
    Missing,
    /// Chromium exists but did not start.
    #[error("Chromium did not start: {why}")]
    Start {
        /// What the system or Chromium said.
        why: String,
    },
    /// The page, or a page that it redirects to, may not be opened; nothing was sent to the refused host.
    #[error("refused: {0}")]
    Refused(#[from] Refusal),
    /// The page could not be reached.
    #[error(transparent)]
    Fetch(FetchError),
    /// Chromium could not load the page.
    #[error("the page did not load: {why}")]
    Load {
        /// Chromium's error, such as `net::ERR_CERT_DATE_INVALID`.
        why: String,
    },
    /// The deadline passed before there was anything to keep.
    #[error("the page did not load within {} ms", after.as_millis())]
    Timeout {
        /// The visit's deadline.
        after: Duration,
    },
    /// Chromium ended during the visit; the next visit starts it again.
    #[error("Chromium crashed while it rendered the page")]
    Crashed,
    /// The browser was closed.
    #[error("the browser is closed")]
    Closed,
}
