use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

use super::*;

#[test]
fn addresses_of_one_page_are_equal() {
    let canonical = "https://example.com/a?id=1";
    for same in [
        "https://example.com/a?id=1",
        "https://www.example.com/a?id=1#top",
        "https://EXAMPLE.com:443/a?utm_source=x&id=1&fbclid=y",
        " https://example.com/a?id=1& ",
    ] {
        assert_eq!(canonical_url(same).unwrap(), canonical, "{same}");
    }
    assert_eq!(canonical_url("http://example.com?gclid=1").unwrap(), "http://example.com/");
}

#[test]
fn other_pages_stay_different() {
    let pages = [
        "https://example.com/a?id=1",
        "https://example.com/a?id=2",
        "https://example.com/b?id=1",
        "https://sub.example.com/a?id=1",
        "https://example.com:8443/a?id=1",
        "https://www.com/a?id=1",
    ];
    let canonical: std::collections::BTreeSet<_> =
        pages.iter().map(|page| canonical_url(page).unwrap()).collect();
    assert_eq!(canonical.len(), pages.len());
}

#[test]
fn only_web_addresses_are_kept() {
    for other in ["javascript:alert(1)", "ftp://x.org/", "https://me:pw@x.org/", "x", "data:,x"] {
        assert_eq!(canonical_url(other), None, "{other}");
    }
}

#[test]
fn domains_are_read_as_people_write_them() {
    for text in ["example.com", "https://www.Example.com/path?x", "example.com.", " example.com/"] {
        assert_eq!(parse_domain(text).as_deref(), Some("example.com"), "{text}");
    }
    for text in ["", "localhost", "a b.com", "site:x.com", "x.com OR y.com", "[::1]"] {
        assert_eq!(parse_domain(text), None, "{text}");
    }
}

#[test]
fn subdomains_belong_to_a_site() {
    let of = |url: &str| is_of_site(&web_url(url).unwrap(), "example.com");
    assert!(of("https://www.example.com/") && of("http://docs.example.com/x"));
    assert!(!of("https://badexample.com/") && !of("https://example.com.evil.org/"));
}

proptest! {
    #[test]
    fn canonical_urls_are_stable(
        host in "(www\\.)?[a-z]{1,8}\\.(com|org)",
        path in "(/[a-z0-9%._-]{0,6}){0,3}",
        query in "(utm_[a-z]{1,4}=[a-z]|[a-z]{1,3}=[a-z0-9]{0,3})(&(fbclid=x|[a-z]=[0-9])){0,3}",
    ) {
        let url = format!("https://{host}{path}?{query}#f");
        let once = canonical_url(&url).unwrap();
        prop_assert_eq!(canonical_url(&once).unwrap(), once.clone());
        prop_assert!(!once.contains("utm_") && !once.contains("fbclid") && !once.contains('#'));
    }

    #[test]
    fn no_text_panics(text in ".{0,80}") {
        canonical_url(&text);
        parse_domain(&text);
    }
}
