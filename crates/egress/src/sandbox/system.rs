//! The parts of the system that nearly every program needs to start.

use std::path::{Path, PathBuf};

/// Libraries, interpreters and the few files of `/etc` that loaders, resolvers and TLS read.
/// `/etc` as a whole stays closed: it holds keys and password hashes.
const READABLE: &[&str] = &[
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/nix/store",
    "/run/current-system",
    "/proc",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/debian_version",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/php",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/static",
    "/etc/timezone",
];

/// Devices without memory. `/dev/zero` is none: a shared mapping of it is memory that no limit counts.
const WRITABLE: &[&str] = &["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];

/// Whether every program may read this path.
pub(crate) fn is_system(path: &Path) -> bool {
    READABLE.iter().any(|system| path == Path::new(system))
}

pub(super) fn readable() -> impl Iterator<Item = PathBuf> {
    READABLE.iter().map(PathBuf::from)
}

pub(super) fn writable() -> impl Iterator<Item = PathBuf> {
    WRITABLE.iter().map(PathBuf::from)
}
