use super::{Host, Mode, Policy, Tier, TierMissing};

const FULL: Host = Host { landlock_abi: 7, seccomp: true, namespaces: true };

#[test]
fn a_rung_counts_only_when_those_below_hold() {
    assert_eq!(FULL.tier(), Tier::T2);
    assert_eq!(Host { namespaces: false, ..FULL }.tier(), Tier::T1);
    assert_eq!(Host { landlock_abi: 0, ..FULL }.tier(), Tier::T0);
    assert_eq!(Host { seccomp: false, ..FULL }.tier(), Tier::T0);
    assert_eq!(Host::BARE.tier(), Tier::T0);
}

#[test]
fn at_most_never_climbs() {
    for tier in [Tier::T0, Tier::T1, Tier::T2] {
        assert_eq!(FULL.at_most(tier).tier(), tier);
        assert_eq!(Host::BARE.at_most(tier).tier(), Tier::T0);
    }
}

#[test]
fn required_refuses_a_host_that_cannot() {
    let policy = Policy::new().mode(Mode::Required(Tier::T2));
    let refused = policy.on(&FULL.at_most(Tier::T1)).unwrap_err();
    assert_eq!(refused, TierMissing { needed: Tier::T2, offered: Tier::T1 });
    assert_eq!(policy.on(&FULL).unwrap().1, Tier::T2);
}

#[test]
fn mode_off_reports_t0() {
    let (confinement, tier) = Policy::new().mode(Mode::Off).on(&FULL).unwrap();
    assert!(confinement.is_none());
    assert_eq!(tier, Tier::T0);
}

#[test]
fn auto_uses_what_a_poor_host_has_but_claims_no_rung() {
    let host = Host { landlock_abi: 0, ..FULL };
    let (confinement, tier) = Policy::new().on(&host).unwrap();
    assert!(confinement.unwrap().host.seccomp);
    assert_eq!(tier, Tier::T0);
}
