use std::net::IpAddr;

use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use url::Host;

use super::Target;
use crate::http::address::{Class, classify};
use crate::http::error::Refusal;
use crate::http::policy::{AddressPolicy, literal};
use crate::http::scope::Scope;

fn admit(text: &str) -> Result<Target, Refusal> {
    Target::admit(text, &AddressPolicy::default(), &Scope::everything())
}

#[test]
fn every_spelling_of_a_private_address_is_refused() {
    for host in [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "127.0.1",
        "0",
        "0.0.0.0",
        "2130706433",
        "017700000001",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "0x7F.1",
        "127.0x0.00.1",
        "127。0。0。1",
        "127．0．0．1",
        "127｡0｡0｡1",
        "①②⑦.⓪.⓪.①",
        "１２７.０.０.１",
        "%31%32%37.0.0.1",
        "127.0.0.%31",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b::169.254.169.254]",
        "[2002:7f00:1::]",
        "[2002:a9fe:a9fe::1]",
        "[2001:0:7f00:1::]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "[ff02::1]",
        "[::ffff:8.8.8.8]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "169.254.43518",
        "0xa9fea9fe",
        "2852039166",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
    ] {
        for scheme in ["http", "https", "HTTP"] {
            let refusal = admit(&format!("{scheme}://{host}/")).unwrap_err();
            assert!(matches!(refusal, Refusal::Address { .. }), "{host}: {refusal:?}");
        }
        for url in [
            format!("http://{host}:8080/a?b#c"),
            format!("http:\\\\{host}\\"),
            format!(" http://{host}\n"),
        ] {
            assert!(admit(&url).is_err(), "{url:?}");
        }
    }
}

#[test]
fn texts_that_are_no_addresses_are_not_parsed_as_such() {
    for url in [
        "http://1.2.3.4.5/",
        "http://0x100000000/",
        "http://256.1.1.1/",
        "http://[::1/",
        "http://[fe80::1%25eth0]/",
    ] {
        assert!(matches!(admit(url), Err(Refusal::Url(_))), "{url}");
    }
}

#[test]
fn only_http_and_https_without_userinfo() {
    for url in [
        "file:///etc/passwd",
        "ftp://x.test/",
        "gopher://x.test/",
        "data:text/plain,x",
        "javascript:alert(1)",
        "ws://x.test/",
        "unix:/run/x",
        "blob:http://x.test/y",
    ] {
        assert!(matches!(admit(url), Err(Refusal::Scheme(_))), "{url}");
    }
    for url in [
        "http://user@x.test/",
        "http://user:pw@x.test/",
        "http://:pw@x.test/",
        "http://x.test%40@evil.test/",
        "http://a@b@c.test/",
    ] {
        assert_eq!(admit(url), Err(Refusal::Userinfo), "{url}");
    }
    for url in [
        "",
        "x.test",
        "//x.test/",
        "/path",
        "http://",
        "http:///",
        "https://?x",
        "http://:80/",
        "http://x.test:65536/",
        "http://a..b/",
        "http://../",
        "http://x y/",
    ] {
        assert!(matches!(admit(url), Err(Refusal::Url(_))), "{url}: {:?}", admit(url));
    }
}

#[test]
fn a_good_url_comes_out_in_normal_form() {
    let target = admit("HTTPS://Api.Example.COM.:443/a b?q=1#frag").unwrap();
    assert_eq!(target.url().as_str(), "https://api.example.com/a%20b?q=1");
    assert_eq!((target.host(), target.port()), (&Host::Domain("api.example.com".to_owned()), 443));
    assert_eq!(target.uri(), "https://api.example.com/a%20b?q=1");
    let target = admit("http://93.184.216.34:8080").unwrap();
    assert_eq!(target.uri(), "http://93.184.216.34:8080/");
    let target = admit("http://[2606:4700::1111]/").unwrap();
    assert_eq!(target.uri(), "http://[2606:4700::1111]/");
}

#[test]
fn origins_differ_by_scheme_host_and_port() {
    let at = |url| Target::parse(url).unwrap();
    assert!(at("http://x.test/a").same_origin(&at("http://x.test.:80/b")));
    for other in [
        "https://x.test/",
        "http://y.test/",
        "http://x.test:81/",
        "https://x.test:80/",
        "http://www.x.test/",
    ] {
        assert!(!at("http://x.test/").same_origin(&at(other)), "{other}");
    }
}

#[test]
fn a_location_is_checked_like_a_first_url() {
    let (policy, scope) = (AddressPolicy::default(), Scope::everything());
    let from = Target::parse("https://x.test/a/b").unwrap();
    assert_eq!(from.join("../c", &policy, &scope).unwrap().url().as_str(), "https://x.test/c");
    for location in [
        "http://127.0.0.1/",
        "//127.0.0.1/",
        "///127.1",
        "\\\\0x7f.1\\",
        "file:///etc/passwd",
        "//u@x.test/",
    ] {
        assert!(from.join(location, &policy, &scope).is_err(), "{location}");
    }
    let narrow = Scope::parse(["x.test"]).unwrap();
    assert!(matches!(from.join("https://y.test/", &policy, &narrow), Err(Refusal::Scope { .. })));
}

/// Text that looks enough like a URL to reach the corners of the parsers.
fn hostile_url() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        one_of(&[
            "http", "https", "://", ":", "/", "\\", "@", "#", "?", ".", "。", "[", "]", "%", "::",
            "0x", "0", "1"
        ]),
        one_of(&[
            "127",
            "7f",
            "①",
            "２",
            "localhost",
            "ffff:",
            "64:ff9b::",
            "2002:",
            "%2e",
            "\t",
            "\n",
            " ",
            "\0",
            "xn--"
        ]),
        any::<char>().prop_map(|c| c.to_string()),
        any::<u32>().prop_map(|n| n.to_string()),
        any::<u16>().prop_map(|n| format!("{n:x}:")),
    ];
    (
        prop::sample::select(vec!["", "http://", "https://", "http:/", "http:"]),
        prop::collection::vec(piece, 0..12),
    )
        .prop_map(|(front, rest)| front.to_owned() + &rest.concat())
}

fn one_of(list: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(list).prop_map(str::to_owned)
}

proptest! {
    #[test]
    fn the_guard_never_panics_and_admits_no_private_literal(text in hostile_url()) {
        if let Ok(target) = admit(&text) {
            prop_assert!(matches!(target.url().scheme(), "http" | "https"));
            prop_assert!(target.url().username().is_empty() && target.url().password().is_none());
            if let Some(ip) = literal(target.host()) {
                prop_assert_eq!(classify(ip), Class::Global);
            }
            // What hyper will be given reads the same to our parser: no host hides from the second reading.
            let again = admit(&target.uri().to_string()).map_err(|e| proptest::test_runner::TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(again.host(), target.host());
            prop_assert_eq!(again.port(), target.port());
        }
    }

    #[test]
    fn every_numeric_spelling_of_an_address_gets_the_verdict_of_the_address(bits in any::<u32>(), style in 0..6_u8) {
        let [a, b, c, d] = bits.to_be_bytes();
        let host = match style {
            0 => format!("{bits}"),
            1 => format!("{bits:#x}"),
            2 => format!("0{bits:o}"),
            3 => format!("{a:#x}.{b}.0{c:o}.{d}"),
            4 => format!("{a}.{}", bits & 0x00ff_ffff),
            _ => format!("{a}。{b}｡{c}．{d}."),
        };
        let admitted = admit(&format!("http://{host}/")).is_ok();
        prop_assert_eq!(admitted, classify(IpAddr::V4(bits.into())) == Class::Global, "{}", host);
    }

    #[test]
    fn every_v6_literal_gets_the_verdict_of_the_address(bits in any::<u128>(), embed in any::<bool>()) {
        let ip = std::net::Ipv6Addr::from(if embed { bits & 0xffff_ffff | 0xffff_0000_0000 } else { bits });
        let admitted = admit(&format!("http://[{ip}]/")).is_ok();
        prop_assert_eq!(admitted, classify(IpAddr::V6(ip)) == Class::Global, "{}", ip);
    }
}
