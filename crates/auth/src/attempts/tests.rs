use super::*;

fn from(address: &str, credential: &str) -> Source {
    Source::new(Some(address.parse().unwrap()), credential)
}

#[test]
fn only_the_source_of_wrong_credentials_has_to_wait() {
    let clock = Clock::manual(1_000_000);
    let attempts = Attempts::new(clock.clone());
    let guesser = from("10.0.0.1", "ps_ann_wrong");
    for _ in 0..MAX_FAILURES {
        assert_eq!(attempts.check(&guesser), Ok(()));
        attempts.note_failure(guesser);
    }
    let wait = attempts.check(&from("10.0.0.1", "ps_ann_other")).unwrap_err();
    assert!(wait <= WINDOW, "{wait:?}");
    for other in [
        from("10.0.0.1", "ps_bob_right"),
        from("10.0.0.2", "ps_ann_right"),
        from("10.0.0.1", "head.claims.signature"),
        Source::new(None, "ps_ann_right"),
    ] {
        assert_eq!(attempts.check(&other), Ok(()), "{other:?}");
    }
    clock.advance(wait);
    assert_eq!(attempts.check(&guesser), Ok(()));
}

#[test]
fn a_host_cannot_escape_by_another_address_of_its_network() {
    let (one, other) = ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9");
    assert_eq!(from(one, "x"), from(other, "y"));
    assert_ne!(from(one, "x"), from("2001:db8:1:3::1", "x"));
    assert_eq!(from("::ffff:10.0.0.1", "x"), from("10.0.0.1", "x"));
}

#[test]
fn the_number_of_sources_is_limited() {
    let clock = Clock::manual(1_000_000);
    let attempts = Attempts::new(clock.clone());
    for n in 0..MAX_SOURCES + 100 {
        clock.advance(Duration::from_millis(1));
        attempts.note_failure(from("10.0.0.1", &format!("ps_{n}_x")));
    }
    assert_eq!(attempts.table().len(), MAX_SOURCES);
}
