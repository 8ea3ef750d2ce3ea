use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::{Class, classify};

fn class(text: &str) -> Class {
    classify(text.parse().unwrap())
}

#[test]
fn first_and_last_address_of_every_denied_network() {
    let denied = [
        ("0.0.0.0", "0.255.255.255", Class::Unspecified),
        ("10.0.0.0", "10.255.255.255", Class::Private),
        ("100.64.0.0", "100.127.255.255", Class::Shared),
        ("127.0.0.0", "127.255.255.255", Class::Loopback),
        ("169.254.0.0", "169.254.255.255", Class::LinkLocal),
        ("172.16.0.0", "172.31.255.255", Class::Private),
        ("192.0.0.0", "192.0.0.255", Class::Protocol),
        ("192.0.2.0", "192.0.2.255", Class::Documentation),
        ("192.88.99.0", "192.88.99.255", Class::Tunnel),
        ("192.168.0.0", "192.168.255.255", Class::Private),
        ("198.18.0.0", "198.19.255.255", Class::Benchmark),
        ("198.51.100.0", "198.51.100.255", Class::Documentation),
        ("203.0.113.0", "203.0.113.255", Class::Documentation),
        ("224.0.0.0", "239.255.255.255", Class::Multicast),
        ("240.0.0.0", "255.255.255.255", Class::Reserved),
        ("::", "::", Class::Unspecified),
        ("::1", "::1", Class::Loopback),
        ("::2", "::ffff:ffff", Class::EmbeddedV4),
        ("::ffff:0:0", "::ffff:255.255.255.255", Class::EmbeddedV4),
        ("64:ff9b::", "64:ff9b::ffff:ffff", Class::Tunnel),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", Class::Tunnel),
        ("100::", "100::ffff:ffff:ffff:ffff", Class::Reserved),
        ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", Class::Tunnel),
        ("2001:10::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", Class::Protocol),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Class::Documentation),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Class::Tunnel),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", Class::Documentation),
        ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Class::Reserved),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Class::UniqueLocal),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Class::LinkLocal),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Class::Private),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Class::Multicast),
        ("4000::", "5eff::", Class::Reserved),
    ];
    for (first, last, expected) in denied {
        assert_eq!(class(first), expected, "{first}");
        assert_eq!(class(last), expected, "{last}");
    }
}

#[test]
fn addresses_next_to_denied_networks_are_global() {
    for text in [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "203.0.112.255",
        "223.255.255.255",
        "8.8.8.8",
        "93.184.216.34",
        "2000::",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2003::1",
        "2606:4700::1111",
    ] {
        assert_eq!(class(text), Class::Global, "{text}");
    }
}

#[test]
fn metadata_services_of_the_clouds_have_a_class_of_their_own() {
    for text in [
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fd00:c1::a9fe:a9fe",
    ] {
        assert_eq!(class(text), Class::Metadata, "{text}");
    }
    assert_eq!(
        (class("169.254.169.254"), class("169.254.170.2")),
        (Class::LinkLocal, Class::LinkLocal)
    );
    assert_eq!(
        (class("100.100.100.201"), class("fd00:ec2::253")),
        (Class::Shared, Class::UniqueLocal)
    );
}

proptest! {
    /// The standard library knows part of the list: whatever it calls special must be special here.
    #[test]
    fn never_more_generous_than_the_standard_library_v4(bits in any::<u32>()) {
        let ip = Ipv4Addr::from(bits);
        let special = ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_broadcast()
            || ip.is_documentation() || ip.is_multicast() || ip.is_unspecified();
        prop_assert!(!(special && classify(IpAddr::V4(ip)) == Class::Global));
    }

    #[test]
    fn global_v6_lies_in_global_unicast_and_hides_no_v4(bits in any::<u128>()) {
        let ip = Ipv6Addr::from(bits);
        if classify(IpAddr::V6(ip)) == Class::Global {
            prop_assert_eq!(ip.segments()[0] >> 13, 1);
            prop_assert!(ip.to_ipv4().is_none());
        }
    }

    /// No way to write an IPv4 address inside an IPv6 one is global, whatever the IPv4 address is.
    #[test]
    fn embedded_v4_is_never_global(bits in any::<u32>(), low in any::<[u16; 5]>()) {
        let (high, last) = ((bits >> 16) as u16, bits as u16);
        for ip in [
            Ipv4Addr::from(bits).to_ipv6_mapped(),
            Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, last),
            Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, last),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, last),
            Ipv6Addr::new(0x64, 0xff9b, 1, low[0], low[1], low[2], high, last),
            Ipv6Addr::new(0x2002, high, last, low[0], low[1], low[2], low[3], low[4]),
            Ipv6Addr::new(0x2001, 0, low[0], low[1], low[2], low[3], high, last),
        ] {
            prop_assert!(classify(IpAddr::V6(ip)) != Class::Global, "{}", ip);
        }
    }
}
