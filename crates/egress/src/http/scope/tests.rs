use super::Scope;
use crate::http::error::Refusal;
use crate::http::target::Target;

fn holds(entries: &[&str], url: &str) -> bool {
    Scope::parse(entries).unwrap().check(&Target::parse(url).unwrap()).is_ok()
}

#[test]
fn an_empty_list_allows_nothing() {
    for url in ["http://example.com", "https://example.com", "http://127.0.0.1"] {
        assert!(!holds(&[], url));
    }
    assert_eq!(Scope::default(), Scope::nothing());
    assert!(Scope::everything().check(&Target::parse("http://x.test:81").unwrap()).is_ok());
}

#[test]
fn schemes_open_every_host() {
    assert!(holds(&["https"], "https://anything.test:8443/x"));
    assert!(!holds(&["https"], "http://anything.test/"));
    assert!(holds(&["http", "https"], "http://anything.test/"));
}

#[test]
fn a_host_entry_allows_both_schemes() {
    assert!(holds(&["api.example.com"], "https://api.example.com/"));
    assert!(holds(&["api.example.com"], "http://API.example.com.:8080/"));
    assert!(!holds(&["api.example.com"], "https://example.com/"));
    assert!(holds(&["*.example.com"], "https://a.b.example.com/"));
    assert!(!holds(&["*.example.com"], "https://example.com/"));
    assert!(holds(&["host:8443"], "https://host:8443/"));
    assert!(!holds(&["host:8443"], "https://host/"));
    assert!(holds(&["host:443"], "https://host/"));
    assert!(holds(&["127.0.0.1"], "http://2130706433/"));
}

#[test]
fn schemes_and_hosts_together_narrow_each_other() {
    let both = ["https", "api.example.com"];
    assert!(holds(&both, "https://api.example.com/"));
    assert!(!holds(&both, "http://api.example.com/"));
    assert!(!holds(&both, "https://other.example.com/"));
}

#[test]
fn an_origin_is_a_host_over_one_scheme() {
    let origin = ["https://api.example.com", "http://localhost:3000"];
    assert!(holds(&origin, "https://api.example.com:8443/"));
    assert!(!holds(&origin, "http://api.example.com/"));
    assert!(holds(&origin, "http://localhost:3000/"));
    assert!(!holds(&origin, "https://localhost:3000/"));
    let with_scheme = ["https", "http://localhost:3000"];
    assert!(holds(&with_scheme, "http://localhost:3000/"));
    assert!(!holds(&with_scheme, "https://api.example.com/"));
}

#[test]
fn entries_that_mean_nothing_are_refused() {
    for entry in ["", "*", "ftp://host", "https://", "https://host/path", "user@host", "https:"] {
        assert!(Scope::parse([entry]).is_err(), "{entry}");
    }
    assert!(serde_json::from_str::<Scope>(r#"["https", "*.example.com"]"#).is_ok());
    assert!(serde_json::from_str::<Scope>(r#"["a b"]"#).is_err());
}

#[test]
fn the_refusal_names_the_requested_host() {
    let refusal =
        Scope::nothing().check(&Target::parse("https://x.test/secret?k=v").unwrap()).unwrap_err();
    assert_eq!(
        refusal,
        Refusal::Scope { scheme: "https".into(), host: "x.test".into(), port: 443 }
    );
    assert!(!refusal.to_string().contains("secret"));
}
