#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::{Just, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::*;

#[test]
fn five_failures_in_a_row_open_it_for_longer_each_time() {
    let mut breaker = Breaker::default();
    for _ in 0..4 {
        breaker.admit(0).unwrap();
        breaker.fail(0);
    }
    breaker.succeed();
    for _ in 0..5 {
        breaker.admit(0).unwrap();
        breaker.fail(0);
    }
    let mut now = 0;
    for expected in [30, 60, 120, 240, 300, 300] {
        let open = breaker.admit(now).unwrap_err();
        assert_eq!(open, Open { wait: Duration::from_secs(expected), limited: false });
        now += expected * 1_000;
        breaker.admit(now).unwrap();
        assert!(breaker.admit(now).is_err(), "one probe at a time");
        breaker.fail(now);
    }
    now += 300_000;
    breaker.admit(now).unwrap();
    breaker.succeed();
    breaker.admit(now).unwrap();
    breaker.admit(now).unwrap();
}

#[test]
fn a_limit_opens_it_for_retry_after() {
    let mut breaker = Breaker::default();
    breaker.admit(0).unwrap();
    breaker.limit(0, Some(Duration::from_secs(7)));
    assert_eq!(breaker.admit(0).unwrap_err(), Open { wait: Duration::from_secs(7), limited: true });
    breaker.admit(7_000).unwrap();
    breaker.abandon();
    breaker.admit(7_000).unwrap();
}

proptest! {
    #[test]
    fn it_is_never_open_for_ever(steps in proptest::collection::vec(
        prop_oneof![Just(0u8), Just(1), Just(2), Just(3)], 0..60)) {
        let (mut breaker, mut now) = (Breaker::default(), 0u64);
        for step in steps {
            match breaker.admit(now) {
                Ok(()) => match step {
                    0 => breaker.succeed(),
                    1 => breaker.fail(now),
                    2 => breaker.limit(now, None),
                    _ => breaker.abandon(),
                },
                Err(open) => {
                    prop_assert!(open.wait <= MAX_WAIT);
                    now += u64::try_from(open.wait.as_millis()).unwrap();
                    prop_assert_eq!(breaker.clone().admit(now), Ok(()));
                }
            }
        }
    }
}
