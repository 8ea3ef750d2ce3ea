use std::sync::Arc;
use std::time::Duration;

use proto::{Principal, TenantId, Via};

use super::*;

const SHARE: Share = Share { all: 10, of_caller: 3, reserved: 2 };

fn caller(tenant: &str, subject: &str, session: &str) -> Caller {
    let principal = Principal {
        tenant: TenantId::new(tenant),
        subject: subject.to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    };
    Caller::new(&Arc::new(principal), None).in_session(session)
}

/// Callers of one tenant that hold one each, all idle or all busy; the first has been idle for longest.
fn crowd(tenant: &str, count: usize, idle: bool) -> Vec<(Caller, Option<Instant>)> {
    let now = Instant::now();
    (0..count)
        .map(|n| {
            let since = idle.then(|| now + Duration::from_secs(n as u64));
            (caller(tenant, &format!("{tenant}-{n}"), ""), since)
        })
        .collect()
}

fn room(
    new: &Caller,
    held: &[(Caller, Option<Instant>)],
) -> Result<Option<Caller>, TransportError> {
    SHARE
        .make_room(new, held.iter().map(|(caller, since)| (caller, *since)))
        .map(|caller| caller.cloned())
}

#[test]
fn a_tenant_leaves_the_last_places_to_tenants_that_have_none() {
    let held = crowd("a", 7, false);
    assert_eq!(room(&caller("a", "new", ""), &held), Ok(None));
    let mut held = crowd("a", 8, false);
    assert_eq!(room(&caller("a", "new", ""), &held), Err(TransportError::AllBusy(10)));
    for tenant in ["b", "c"] {
        assert_eq!(room(&caller(tenant, "new", ""), &held), Ok(None), "{tenant}");
        held.push((caller(tenant, "new", ""), None));
    }
    assert_eq!(
        room(&caller("d", "new", ""), &held),
        Err(TransportError::AllBusy(10)),
        "all are busy"
    );
    held[5].1 = Some(Instant::now());
    assert_eq!(room(&caller("d", "new", ""), &held), Ok(Some(held[5].0.clone())));
}

#[test]
fn the_least_recently_used_idle_one_goes_first() {
    let mut held = crowd("a", 8, true);
    assert_eq!(room(&caller("a", "new", ""), &held), Ok(Some(held[0].0.clone())));
    held[0].1 = None;
    assert_eq!(
        room(&caller("a", "new", ""), &held),
        Ok(Some(held[1].0.clone())),
        "a busy one stays"
    );
}

#[test]
fn one_caller_gets_no_more_than_its_share_and_pays_with_its_own() {
    let now = Instant::now();
    let mut held = crowd("b", 2, true);
    held.extend((0..3).map(|n| (caller("a", "greedy", &n.to_string()), None)));
    let new = caller("a", "greedy", "new");
    assert_eq!(
        room(&new, &held),
        Err(TransportError::CallerLimit(3)),
        "there is room, but not for them"
    );
    held[4].1 = Some(now + Duration::from_secs(60));
    assert_eq!(room(&new, &held), Ok(Some(held[4].0.clone())), "their own, though used later");
}
