#![allow(clippy::unwrap_used, reason = "tests")]

use super::programs;
use crate::sandbox::{Confinement, Host, Network};

/// How many instructions the filters have.
fn size(landlock_abi: u8, network: Network, unix_sockets: bool) -> (usize, usize) {
    let host = Host { landlock_abi, seccomp: true, namespaces: false };
    let (read, write) = (Vec::new(), Vec::new());
    let confinement = Confinement { host, network, unix_sockets, read, write };
    let (refused, unknown) = programs(&confinement, landlock_abi).unwrap();
    (refused.len(), unknown.len())
}

#[test]
fn an_old_landlock_gets_help_against_truncation() {
    let (refused, unknown) = size(3, Network::Denied, false);
    for old in [0, 1, 2] {
        let (more_refused, more_unknown) = size(old, Network::Denied, false);
        assert!(more_refused > refused && more_unknown > unknown);
    }
}

#[test]
fn the_filter_compiles_for_every_policy_and_fits_the_kernel() {
    const MOST: usize = 4096;
    for network in [Network::Denied, Network::Allowed] {
        for unix_sockets in [false, true] {
            let (refused, unknown) = size(1, network, unix_sockets);
            assert!(refused < MOST && unknown < MOST);
        }
    }
}
