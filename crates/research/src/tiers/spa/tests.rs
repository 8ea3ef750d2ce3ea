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
