//! Which addresses belong to the public internet, and why the others do not.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// What kind of network an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// An ordinary host on the public internet.
    Global,
    /// "This host": `0.0.0.0/8` and `::`.
    Unspecified,
    /// This machine.
    Loopback,
    /// RFC 1918 networks.
    Private,
    /// Carrier-grade NAT, `100.64.0.0/10`.
    Shared,
    /// IPv6 unique local, `fc00::/7`.
    UniqueLocal,
    /// Link-local, where cloud metadata services live.
    LinkLocal,
    /// A cloud metadata service outside the link-local range. Only a rule for the address itself opens it.
    Metadata,
    /// Reserved by the IETF for protocols.
    Protocol,
    /// For examples in documents.
    Documentation,
    /// For benchmarks, `198.18.0.0/15`.
    Benchmark,
    /// One-to-many addresses.
    Multicast,
    /// An IPv4 address inside an IPv6 one.
    EmbeddedV4,
    /// A translator or tunnel to an IPv4 address that the sender chooses.
    Tunnel,
    /// Reserved, or not assigned.
    Reserved,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Global => "a public address",
            Self::Unspecified => "an unspecified address",
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::Shared => "a carrier-internal address",
            Self::UniqueLocal => "a unique local address",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "a cloud metadata address",
            Self::Protocol => "an address set aside for protocols",
            Self::Documentation => "a documentation address",
            Self::Benchmark => "a benchmark address",
            Self::Multicast => "a multicast address",
            Self::EmbeddedV4 => "an IPv4 address in IPv6 clothing",
            Self::Tunnel => "a tunnel to an IPv4 address",
            Self::Reserved => "a reserved address",
        })
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(a: u16, b: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), prefix)
}

/// One address, from its first two and last two groups.
const fn v6_address(a: u16, b: u16, g: u16, h: u16) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, g, h), 128)
}

/// The first network that contains the address decides its class; an address in none is global.
const V4: [(Ipv4Net, Class); 18] = [
    // Metadata services of Alibaba, Azure (it looks public) and Oracle, within networks of other kinds.
    (v4(100, 100, 100, 200, 32), Class::Metadata),
    (v4(168, 63, 129, 16, 32), Class::Metadata),
    (v4(192, 0, 0, 192, 32), Class::Metadata),
    (v4(0, 0, 0, 0, 8), Class::Unspecified),
    (v4(10, 0, 0, 0, 8), Class::Private),
    (v4(100, 64, 0, 0, 10), Class::Shared),
    (v4(127, 0, 0, 0, 8), Class::Loopback),
    (v4(169, 254, 0, 0, 16), Class::LinkLocal),
    (v4(172, 16, 0, 0, 12), Class::Private),
    (v4(192, 0, 0, 0, 24), Class::Protocol),
    (v4(192, 0, 2, 0, 24), Class::Documentation),
    // Retired 6to4 relays: a packet sent here may surface anywhere.
    (v4(192, 88, 99, 0, 24), Class::Tunnel),
    (v4(192, 168, 0, 0, 16), Class::Private),
    (v4(198, 18, 0, 0, 15), Class::Benchmark),
    (v4(198, 51, 100, 0, 24), Class::Documentation),
    (v4(203, 0, 113, 0, 24), Class::Documentation),
    (v4(224, 0, 0, 0, 4), Class::Multicast),
    (v4(240, 0, 0, 0, 4), Class::Reserved),
];

/// Checked in order; an address in none is global only inside `2000::/3`, the only range assigned to hosts.
const V6: [(Ipv6Net, Class); 16] = [
    // Metadata services of AWS, Google and Oracle.
    (v6_address(0xfd00, 0xec2, 0, 0x254), Class::Metadata),
    (v6_address(0xfd20, 0xce, 0, 0x254), Class::Metadata),
    (v6_address(0xfd00, 0xc1, 0xa9fe, 0xa9fe), Class::Metadata),
    // All of `::/96` that is neither `::` nor `::1`, and `::ffff:0:0/96`, carries an IPv4 address;
    // the rest of `::/8` was never assigned.
    (v6(0, 0, 64), Class::EmbeddedV4),
    (v6(0x64, 0xff9b, 32), Class::Tunnel),
    (v6(0x100, 0, 64), Class::Reserved),
    // Teredo first, then the rest of the block that the IETF keeps for protocols.
    (v6(0x2001, 0, 32), Class::Tunnel),
    (v6(0x2001, 0, 23), Class::Protocol),
    (v6(0x2001, 0x0db8, 32), Class::Documentation),
    (v6(0x2002, 0, 16), Class::Tunnel),
    (v6(0x3fff, 0, 20), Class::Documentation),
    (v6(0x5f00, 0, 16), Class::Reserved),
    (v6(0xfc00, 0, 7), Class::UniqueLocal),
    (v6(0xfe80, 0, 10), Class::LinkLocal),
    (v6(0xfec0, 0, 10), Class::Private),
    (v6(0xff00, 0, 8), Class::Multicast),
];

const GLOBAL_UNICAST: Ipv6Net = v6(0x2000, 0, 3);

/// Says whether an address is on the public internet, or which special network it belongs to.
pub fn classify(ip: IpAddr) -> Class {
    match ip {
        IpAddr::V4(ip) => {
            V4.iter().find(|(net, _)| net.contains(&ip)).map_or(Class::Global, |(_, class)| *class)
        }
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Class::Unspecified,
        IpAddr::V6(Ipv6Addr::LOCALHOST) => Class::Loopback,
        IpAddr::V6(ip) => match V6.iter().find(|(net, _)| net.contains(&ip)) {
            Some((_, class)) => *class,
            None if GLOBAL_UNICAST.contains(&ip) => Class::Global,
            None => Class::Reserved,
        },
    }
}

#[cfg(test)]
mod tests;
