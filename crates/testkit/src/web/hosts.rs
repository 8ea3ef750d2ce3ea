//! Hosts that no guarded request may reach, as URLs may write them.

/// Spellings of this machine.
const LOOPBACK_HOSTS: [&str; 26] = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "017700000001",
    "0177.0.0.1",
    "0x7f.1",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "127．0．0．1",
    "127｡0｡0｡1",
    "１２７.0.0.1",
    "%31%32%37.0.0.1",
    "0",
    "0.0.0.0",
    "127.0.0.2",
    "127.255.255.255",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
];

/// An address of each network that is not public.
const PRIVATE_HOSTS: [&str; 17] = [
    "10.0.0.1",
    "100.64.0.1",
    "169.254.1.1",
    "172.16.0.1",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[64:ff9b:1::a00:1]",
    "[2001:db8::1]",
    "[fc00::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
];

/// Metadata services of clouds, which give credentials to anyone on the machine.
pub const METADATA_HOSTS: [&str; 12] = [
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
    "[fd00:c1::a9fe:a9fe]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
];

/// All of them, of this machine, private networks and metadata services.
pub fn forbidden_hosts() -> impl Iterator<Item = &'static str> {
    LOOPBACK_HOSTS.into_iter().chain(PRIVATE_HOSTS).chain(METADATA_HOSTS)
}
