//! T1 in the process that becomes the program: privileges, files, signals, system calls.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, NetPort,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
    Scope, path_beneath_rules,
};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::orders::{Confinement, Failure, Step};
use super::{Network, seccomp};

/// The newest Landlock ABI that our tests have met; newer rights are left to a newer release.
const NEWEST: ABI = ABI::V7;

/// Puts the confinement in force, with `own` writable too, and returns the Landlock ABI that
/// holds, 0 for none.
pub(super) fn confine(confinement: &Confinement, own: &[PathBuf]) -> Result<u8, Failure> {
    rustix::thread::set_no_new_privs(true).map_err(Failure::at(Step::Session))?;
    let landlock_abi = match confinement.host.landlock_abi {
        0 => 0,
        _ => fence_files(confinement, own)?,
    };
    drop_capabilities().map_err(Failure::at(Step::Session))?;
    if confinement.host.seccomp {
        seccomp::filter(confinement, landlock_abi)?;
    }
    Ok(landlock_abi)
}

fn fence_files(confinement: &Confinement, own: &[PathBuf]) -> Result<u8, Failure> {
    let status = restrict(confinement, own).map_err(Failure::at(Step::Landlock))?;
    match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) | (_, LandlockStatus::NotEnabled) => {
            Err(Failure::at(Step::Landlock)("the kernel does not enforce Landlock"))
        }
        (_, LandlockStatus::Available { effective_abi, .. }) => Ok(effective_abi as u8),
        (_, LandlockStatus::NotImplemented) => {
            Err(Failure::at(Step::Landlock)("the kernel has no Landlock"))
        }
    }
}

fn restrict(confinement: &Confinement, own: &[PathBuf]) -> Result<RestrictionStatus, RulesetError> {
    let writable = confinement.write.iter().chain(own);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    if confinement.network != Network::Allowed {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let all = AccessFs::from_all(NEWEST);
    let port = match confinement.network {
        Network::Port(port) => {
            Some(Ok::<_, RulesetError>(NetPort::new(port, AccessNet::ConnectTcp)))
        }
        Network::Denied | Network::Allowed => None,
    };
    ruleset
        .create()?
        .add_rules(port)?
        .add_rules(path_beneath_rules(&confinement.read, AccessFs::from_read(NEWEST)))?
        .add_rules(path_beneath_rules(writable, all))?
        .add_rules(path_beneath_rules(&confinement.private, all & !AccessFs::Execute))?
        .restrict_self()
}

/// Drops root's capabilities, which a gateway that runs as root must not pass on; `no_new_privs` keeps them dropped.
fn drop_capabilities() -> rustix::io::Result<()> {
    let none = CapabilitySet::empty();
    rustix::thread::clear_ambient_capability_set()?;
    rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    )
}
