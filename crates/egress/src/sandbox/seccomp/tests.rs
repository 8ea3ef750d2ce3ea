use super::programs;
use crate::sandbox::{Confinement, Host, Network, UnixSockets};

/// How many instructions the filters have.
fn sizes(
    landlock_abi: u8,
    namespaces: bool,
    network: Network,
    unix_sockets: UnixSockets,
) -> Vec<usize> {
    let host = Host { landlock_abi, seccomp: true, namespaces };
    let (read, write, hidden) = (Vec::new(), Vec::new(), Vec::new());
    let confinement =
        Confinement { host, network, unix_sockets, read, write, private: None, hidden };
    programs(&confinement, landlock_abi).unwrap().iter().map(Vec::len).collect()
}

#[test]
fn an_old_landlock_gets_help_against_truncation() {
    for namespaces in [false, true] {
        let whole = |abi| {
            sizes(abi, namespaces, Network::Denied, UnixSockets::Denied).iter().sum::<usize>()
        };
        for old in [0, 1, 2] {
            assert!(whole(old) > whole(3));
        }
    }
}

#[test]
fn the_filter_compiles_for_every_policy_and_fits_the_kernel() {
    const MOST: usize = 4096;
    for namespaces in [false, true] {
        for network in [Network::Denied, Network::Allowed] {
            for unix_sockets in [UnixSockets::Denied, UnixSockets::Listening, UnixSockets::Allowed]
            {
                let sizes = sizes(1, namespaces, network, unix_sockets);
                assert!(sizes.iter().all(|size| *size < MOST), "{sizes:?}");
            }
        }
    }
}
