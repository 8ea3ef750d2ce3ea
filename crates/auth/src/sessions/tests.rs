use super::*;
use crate::LocalAccess;

fn sessions() -> (Sessions, Clock) {
    let clock = Clock::manual(1_000_000_000_000);
    (Sessions::new(clock.clone()), clock)
}

fn begin(sessions: &Sessions) -> String {
    sessions.begin(LocalAccess::default().user(), None).unwrap()
}

#[test]
fn a_session_is_found_by_its_cookie_only_and_can_be_ended() {
    let (sessions, _) = sessions();
    let (one, two) = (begin(&sessions), begin(&sessions));
    assert_ne!(one, two);
    assert_eq!(one.len(), 43, "256 bits");
    for wrong in ["", "x", &one[1..], &format!("{one}A")] {
        assert!(sessions.find(wrong).is_none(), "{wrong}");
    }
    let session = sessions.find(&one).unwrap();
    sessions.end(&session);
    assert!(sessions.find(&one).is_none());
    assert!(!sessions.is_valid(&session));
    assert!(sessions.find(&two).is_some(), "others go on");
}

#[test]
fn forms_of_another_session_are_refused() {
    let (sessions, _) = sessions();
    let [one, two] = [begin(&sessions), begin(&sessions)].map(|id| sessions.find(&id).unwrap());
    assert!(one.owns_form(one.csrf()));
    for wrong in ["", two.csrf(), &one.csrf()[1..]] {
        assert!(!one.owns_form(wrong), "{wrong}");
    }
}

#[test]
fn idle_sessions_end_and_busy_ones_end_later() {
    let (sessions, clock) = sessions();
    let (idle, busy) = (begin(&sessions), begin(&sessions));
    let session = sessions.find(&busy).unwrap();
    for hour in 1..24 {
        clock.advance(Duration::from_secs(60 * 60));
        assert!(sessions.find(&busy).is_some(), "hour {hour}");
    }
    assert!(sessions.find(&idle).is_none(), "it was idle");
    clock.advance(Duration::from_secs(60 * 60));
    assert!(!sessions.is_valid(&session), "a day is the most");
    assert!(sessions.find(&busy).is_none());
}

#[test]
fn checking_a_session_does_not_extend_it() {
    let (sessions, clock) = sessions();
    let session = sessions.find(&begin(&sessions)).unwrap();
    clock.advance(Duration::from_secs(100 * 60));
    assert!(sessions.is_valid(&session));
    clock.advance(Duration::from_secs(30 * 60));
    assert!(!sessions.is_valid(&session));
}

#[test]
fn the_number_of_sessions_is_limited() {
    let (sessions, clock) = sessions();
    let first = begin(&sessions);
    for _ in 0..MAX_SESSIONS {
        clock.advance(Duration::from_millis(1));
        begin(&sessions);
    }
    assert!(sessions.find(&first).is_none(), "it was idle for longest");
}
