use proto::Clock;

use super::*;

fn owner(tenant: &str, subject: &str) -> Owner {
    Owner { tenant: tenant.to_owned(), subject: subject.to_owned() }
}

fn session(id: &str, owner: Owner) -> Session {
    Session {
        id: id.to_owned(),
        owner,
        question: "why?".to_owned(),
        total_steps_estimate: 1,
        estimate_given: false,
        steps: Vec::new(),
        sources: Vec::new(),
        gaps: Vec::new(),
        started_at: String::new(),
        completed_at: None,
        version: 0,
    }
}

#[tokio::test]
async fn only_the_owner_sees_a_session() {
    let sessions = MemorySessions::new(Clock::manual(0));
    sessions.open(session("one", owner("a", "ann"))).await.unwrap();
    assert!(sessions.load(&owner("a", "ann"), "one").await.is_some());
    for other in [owner("a", "bob"), owner("b", "ann")] {
        assert!(sessions.load(&other, "one").await.is_none());
        assert!(sessions.latest_open(&other).await.is_none());
        let stolen = Session { owner: other, version: 1, ..session("one", owner("", "")) };
        assert_eq!(sessions.save(stolen).await, Err(NotStored::Stale));
    }
}

#[tokio::test]
async fn sessions_expire_without_changes_and_are_swept() {
    let clock = Clock::manual(0);
    let sessions = MemorySessions::new(clock.clone());
    let ann = owner("a", "ann");
    sessions.open(session("one", ann.clone())).await.unwrap();
    sessions.open(session("two", ann.clone())).await.unwrap();
    clock.advance(Duration::from_secs(29 * 60));
    let changed = Session { version: 1, ..session("one", ann.clone()) };
    sessions.save(changed).await.unwrap();
    clock.advance(Duration::from_secs(60));
    assert!(sessions.load(&ann, "two").await.is_none());
    assert!(sessions.load(&ann, "one").await.is_some());
    clock.advance(SWEEP);
    assert_eq!(sessions.len(), 1);
    clock.advance(TTL);
    sessions.sweep().await;
    assert!(sessions.is_empty());
}

#[tokio::test]
async fn two_changes_of_one_version_do_not_overwrite_each_other() {
    let sessions = MemorySessions::new(Clock::manual(0));
    let ann = owner("a", "ann");
    sessions.open(session("one", ann.clone())).await.unwrap();
    let changed = Session { version: 1, ..session("one", ann) };
    assert_eq!(sessions.save(changed.clone()).await, Ok(()));
    assert_eq!(sessions.save(changed).await, Err(NotStored::Stale));
}

#[tokio::test]
async fn one_tenant_has_at_most_half_while_others_are_active() {
    let clock = Clock::manual(0);
    let sessions = MemorySessions::with_limits(clock.clone(), TTL, 6);
    sessions.open(session("b", owner("b", "bob"))).await.unwrap();
    for number in 0..3 {
        sessions.open(session(&number.to_string(), owner("a", "ann"))).await.unwrap();
    }
    let full = sessions.open(session("3", owner("a", "ann"))).await;
    assert_eq!(full, Err(NotStored::Full { wait: TTL }));
    for number in 0..2 {
        sessions.open(session(&format!("b{number}"), owner("b", "bob"))).await.unwrap();
    }
    assert!(sessions.open(session("b2", owner("b", "bob"))).await.is_err());
    clock.advance(TTL);
    for number in 0..6 {
        sessions.open(session(&number.to_string(), owner("a", "ann"))).await.unwrap();
    }
    assert!(sessions.open(session("7th", owner("a", "ann"))).await.is_err());
}

#[tokio::test]
async fn a_new_tenant_takes_the_place_of_the_oldest_session_of_the_largest() {
    let sessions = MemorySessions::with_limits(Clock::manual(0), TTL, 4);
    let (ann, bob, cid) = (owner("a", "ann"), owner("b", "bob"), owner("c", "cid"));
    for id in ["a0", "a1", "a2", "a3"] {
        sessions.open(session(id, ann.clone())).await.unwrap();
    }
    sessions.save(Session { version: 1, ..session("a0", ann.clone()) }).await.unwrap();
    sessions.open(session("b0", bob.clone())).await.unwrap();
    assert!(sessions.load(&ann, "a1").await.is_none(), "changed least recently");
    sessions.open(session("b1", bob.clone())).await.unwrap();
    assert!(sessions.load(&ann, "a2").await.is_none());
    for full in [session("a4", ann.clone()), session("b2", bob.clone())] {
        let outcome = sessions.open(full).await;
        assert!(matches!(outcome, Err(NotStored::Full { .. })), "both have half: {outcome:?}");
    }
    sessions.open(session("c0", cid.clone())).await.unwrap();
    assert!(sessions.load(&ann, "a3").await.is_none(), "of the largest two, the oldest");
    assert!(sessions.open(session("c1", cid)).await.is_err(), "the largest has no more than two");
    assert_eq!(sessions.len(), 4);
    assert!(sessions.load(&ann, "a0").await.is_some());
}

#[tokio::test]
async fn a_complete_session_is_reopened_if_there_is_room() {
    let sessions = MemorySessions::with_limits(Clock::manual(0), TTL, 2);
    let ann = owner("a", "ann");
    let complete = |session| Session { completed_at: Some(String::new()), ..session };
    let changed = |id: &str| Session { version: 1, ..session(id, ann.clone()) };
    sessions.open(complete(session("one", ann.clone()))).await.unwrap();
    for id in ["two", "three"] {
        sessions.open(session(id, ann.clone())).await.unwrap();
    }
    let outcome = sessions.save(changed("one")).await;
    assert!(matches!(outcome, Err(NotStored::Full { .. })), "{outcome:?}");
    sessions.save(complete(changed("two"))).await.unwrap();
    sessions.save(changed("one")).await.unwrap();
}

#[tokio::test]
async fn complete_sessions_stay_readable_and_leave_room() {
    let sessions = MemorySessions::with_limits(Clock::manual(0), TTL, 2);
    let ann = owner("a", "ann");
    for number in 0..4 {
        let completed_at = Some(String::new());
        let complete = Session { completed_at, ..session(&number.to_string(), ann.clone()) };
        sessions.open(complete).await.unwrap();
    }
    assert!(sessions.load(&ann, "3").await.is_some());
    assert_eq!(sessions.len(), 2);
    assert!(sessions.latest_open(&ann).await.is_none());
}
