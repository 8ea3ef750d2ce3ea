//! Sites that show nothing without a script.

use crate::scores::within;

/// These domains and those below them are read by the browser at once.
const DOMAINS: [&str; 9] = [
    "patents.google.com",
    "scholar.google.com",
    "news.google.com",
    "trends.google.com",
    "twitter.com",
    "x.com",
    "linkedin.com",
    "facebook.com",
    "instagram.com",
];

/// Whether pages of this host need a browser.
pub(crate) fn needs_browser(host: &str) -> bool {
    within(&host.to_ascii_lowercase(), &DOMAINS)
}

#[cfg(test)]
mod tests;
