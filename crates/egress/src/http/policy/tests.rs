use std::net::SocketAddr;

use url::Host;

use super::{AddressPolicy, Rule};
use crate::http::address::Class;
use crate::http::error::Refusal;
use crate::http::listeners::OwnListeners;

fn policy(rules: &[&str]) -> AddressPolicy {
    AddressPolicy::new(
        rules.iter().map(|rule| rule.parse().unwrap()).collect(),
        OwnListeners::default(),
    )
}

fn admits(rules: &[&str], host: &str, address: &str) -> bool {
    policy(rules).check(&Host::parse(host).unwrap(), address.parse().unwrap()).is_ok()
}

#[test]
fn without_rules_only_global_addresses_pass() {
    assert!(admits(&[], "example.com", "93.184.216.34:443"));
    for address in ["127.0.0.1:80", "10.0.0.1:80", "169.254.169.254:80", "[::1]:80", "[fd00::1]:80"]
    {
        assert!(!admits(&[], "example.com", address), "{address}");
    }
}

#[test]
fn an_address_rule_admits_that_address_only() {
    assert!(admits(&["127.0.0.1"], "127.0.0.1", "127.0.0.1:80"));
    assert!(!admits(&["127.0.0.1"], "127.0.0.2", "127.0.0.2:80"));
    assert!(!admits(&["127.0.0.1"], "[::1]", "[::1]:80"));
    assert!(!admits(&["127.0.0.1"], "[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]:80"));
    assert!(admits(&["[::1]:80"], "[::1]", "[::1]:80"));
    assert!(!admits(&["[::1]:80"], "[::1]", "[::1]:81"));
    assert!(admits(&["127.0.0.1:80"], "name.test", "127.0.0.1:80"));
    assert!(!admits(&["127.0.0.1:80"], "127.0.0.1", "127.0.0.1:81"));
}

#[test]
fn a_network_rule_admits_its_network_only() {
    assert!(admits(&["10.1.0.0/16"], "10.1.255.255", "10.1.255.255:80"));
    assert!(admits(&["10.1.7.7/16"], "10.1.0.1", "10.1.0.1:80"));
    assert!(!admits(&["10.1.0.0/16"], "10.2.0.1", "10.2.0.1:80"));
    assert!(admits(&["fd00::/8"], "[fd00::1]", "[fd00::1]:80"));
}

#[test]
fn a_network_that_swallows_other_kinds_is_no_rule_or_opens_none_of_them() {
    for entry in [
        "0.0.0.0/0",
        "::/0",
        "0.0.0.0",
        "::",
        "224.0.0.1",
        "::ffff:127.0.0.1",
        "64.0.0.0/2",
        "10.0.0.0/7",
    ] {
        assert!(entry.parse::<Rule>().is_err(), "{entry}");
    }
    // Both ends of 160.0.0.0/3 are global; the private networks in between stay closed.
    for address in ["169.254.169.254:80", "172.16.0.1:80"] {
        assert!(!admits(&["160.0.0.0/3"], "x.test", address), "{address}");
    }
}

#[test]
fn names_lead_into_private_networks_but_not_to_this_machine_or_metadata() {
    assert!(admits(&["db.corp"], "db.corp", "10.0.0.1:80"));
    assert!(admits(&["db.corp"], "db.corp", "[fd00::1]:80"));
    assert!(admits(&["*.corp"], "db.corp", "192.168.0.1:80"));
    assert!(!admits(&["db.corp"], "web.corp", "10.0.0.1:80"));
    assert!(!admits(&["db.corp"], "db.corp", "127.0.0.1:80"));
    assert!(!admits(&["db.corp"], "db.corp", "169.254.169.254:80"));
    assert!(!admits(&["db.corp:80"], "db.corp", "169.254.169.254:80"));
    assert!(!admits(&["db.corp:80"], "db.corp", "0.0.0.0:80"));
    assert!(admits(&["db.corp:80"], "db.corp", "127.0.0.1:80"));
    assert!(!admits(&["db.corp:80"], "db.corp", "127.0.0.1:81"));
    assert!(admits(&["localhost"], "localhost", "127.0.0.1:80"));
    assert!(admits(&["localhost"], "localhost", "[::1]:80"));
    assert!(admits(&["*.localhost"], "app.localhost", "127.0.0.1:80"));
    assert!(!admits(&["localhost"], "evil.test", "127.0.0.1:80"));
    assert!(!admits(&["localhost"], "127.0.0.1", "127.0.0.1:80"));
}

#[test]
fn only_a_rule_for_its_address_opens_a_metadata_service() {
    for (network, url, address) in [
        ("100.64.0.0/10", "http://100.100.100.200/", "100.100.100.200:80"),
        ("192.0.0.0/24", "http://192.0.0.192/", "192.0.0.192:80"),
        ("168.0.0.0/8", "http://168.63.129.16/", "168.63.129.16:80"),
        ("fd00::/8", "http://[fd00:ec2::254]/", "[fd00:ec2::254]:80"),
        ("fd00::/8", "http://[fd20:ce::254]/", "[fd20:ce::254]:80"),
        ("160.0.0.0/3", "http://169.254.169.254/", "169.254.169.254:80"),
    ] {
        let host = url.trim_start_matches("http://").trim_end_matches('/');
        assert!(!admits(&[network, "*.corp", "db.corp:80"], host, address), "{network}");
        assert!(!admits(&[network, "*.corp", "db.corp:80"], "db.corp", address), "{network}");
        let named = policy(&[]).allowing(Rule::for_url(url).unwrap());
        let (parsed, socket) = (Host::parse(host).unwrap(), address.parse().unwrap());
        assert!(named.check(&parsed, socket).is_err(), "{url}");
        assert!(admits(&[host], host, address), "{host}");
    }
}

#[test]
fn own_listeners_win_over_every_rule() {
    let own = OwnListeners::default();
    let policy = AddressPolicy::new(vec!["127.0.0.0/8".parse().unwrap()], own.clone());
    let (host, address) =
        (Host::parse("127.0.0.1").unwrap(), SocketAddr::from(([127, 0, 0, 1], 8080)));
    assert_eq!(policy.check(&host, address), Ok(()));
    own.register(address);
    assert_eq!(policy.check(&host, address), Err(Refusal::OwnListener { address }));
}

#[test]
fn a_configured_server_is_reachable_on_its_own_port_only() {
    let policy = policy(&[]).allowing(Rule::for_url("http://127.0.0.1:3000/mcp").unwrap());
    let host = Host::parse("127.0.0.1").unwrap();
    assert!(policy.check(&host, "127.0.0.1:3000".parse().unwrap()).is_ok());
    assert!(policy.check(&host, "127.0.0.1:3001".parse().unwrap()).is_err());
    let named = policy.allowing(Rule::for_url("https://tools.corp/mcp").unwrap());
    let host = Host::parse("tools.corp").unwrap();
    assert!(named.check(&host, "10.0.0.9:443".parse().unwrap()).is_ok());
    assert!(named.check(&host, "10.0.0.9:80".parse().unwrap()).is_err());
    assert!(Rule::for_url("http://0.0.0.0:80/").is_err());
    assert!(Rule::for_url("ftp://host/").is_err());
}

#[test]
fn rules_come_from_configuration_text() {
    let rules: Vec<Rule> =
        serde_json::from_str(r#"["127.0.0.1", "10.1.0.0/16", "localhost", "db.corp:5432"]"#)
            .unwrap();
    assert_eq!(rules.len(), 4);
    let error = serde_json::from_str::<Vec<Rule>>(r#"["10.1.0.0/99"]"#).unwrap_err();
    assert!(error.to_string().contains("`10.1.0.0/99`: not a network"), "{error}");
}

#[test]
fn the_refusal_names_host_address_and_kind() {
    let host = Host::parse("evil.test").unwrap();
    let refusal = policy(&[]).check(&host, "127.0.0.1:80".parse().unwrap()).unwrap_err();
    let expected = Refusal::Address {
        host: "evil.test".to_owned(),
        address: [127, 0, 0, 1].into(),
        class: Class::Loopback,
    };
    assert_eq!(refusal, expected);
    assert!(refusal.to_string().starts_with("evil.test is at 127.0.0.1, a loopback address"));
    let host = Host::parse("127.0.0.1").unwrap();
    let refusal = policy(&[]).check(&host, "127.0.0.1:80".parse().unwrap()).unwrap_err();
    assert!(refusal.to_string().starts_with("127.0.0.1 is a loopback address; "), "{refusal}");
}
