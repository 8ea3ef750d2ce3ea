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
mod tests {
    use super::*;

    #[test]
    fn listed_domains_and_those_below_need_a_browser() {
        for host in ["x.com", "www.linkedin.com", "de.linkedin.com", "PATENTS.google.com"] {
            assert!(needs_browser(host), "{host}");
        }
        for host in ["google.com", "netflix.com", "x.com.example", "example.com", ""] {
            assert!(!needs_browser(host), "{host}");
        }
    }
}
