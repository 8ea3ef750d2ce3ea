use proptest::prelude::{Just, prop_assert, prop_oneof, proptest};

use super::*;

/// Admits a request that fails.
fn fail(breaker: &mut Breaker, now: u64) {
    let request = breaker.admit(now).unwrap();
    breaker.fail(request, now);
}

/// Admits a request that has an answer.
fn succeed(breaker: &mut Breaker, now: u64) {
    let request = breaker.admit(now).unwrap();
    breaker.succeed(request);
}

fn wait(breaker: &mut Breaker, now: u64) -> Duration {
    breaker.admit(now).unwrap_err().wait
}

#[test]
fn five_failures_in_a_row_open_it_for_longer_each_time() {
    let mut breaker = Breaker::default();
    for _ in 0..4 {
        fail(&mut breaker, 0);
    }
    succeed(&mut breaker, 0);
    for _ in 0..5 {
        fail(&mut breaker, 0);
    }
    let mut now = 0;
    for expected in [30, 60, 120, 240, 300, 300] {
        let open = breaker.admit(now).unwrap_err();
        assert_eq!(open, Open { wait: Duration::from_secs(expected), limited: false });
        now += expected * 1_000;
        let probe = breaker.admit(now).unwrap();
        assert!(breaker.admit(now).is_err(), "one probe at a time");
        breaker.fail(probe, now);
    }
    now += 300_000;
    succeed(&mut breaker, now);
    breaker.admit(now).unwrap();
    breaker.admit(now).unwrap();
}

#[test]
fn a_limit_opens_it_for_retry_after() {
    let mut breaker = Breaker::default();
    let request = breaker.admit(0).unwrap();
    breaker.limit(request, 0, Some(Duration::from_secs(7)));
    assert_eq!(breaker.admit(0).unwrap_err(), Open { wait: Duration::from_secs(7), limited: true });
    let probe = breaker.admit(7_000).unwrap();
    breaker.abandon(probe);
    breaker.admit(7_000).unwrap();
}

#[test]
fn failures_of_requests_from_before_it_opened_count_once() {
    let mut breaker = Breaker::default();
    let requests: Vec<_> = (0..9).map(|_| breaker.admit(0).unwrap()).collect();
    for request in requests {
        breaker.fail(request, 0);
    }
    assert_eq!(wait(&mut breaker, 0), FIRST_WAIT);
}

#[test]
fn a_late_answer_neither_closes_it_nor_ends_a_probe() {
    let mut breaker = Breaker::default();
    let [limited, answered, shorter, longer, given_up] =
        [(); 5].map(|()| breaker.admit(0).unwrap());
    breaker.limit(limited, 0, Some(Duration::from_secs(60)));
    breaker.succeed(answered);
    breaker.limit(shorter, 0, Some(Duration::from_secs(10)));
    assert_eq!(wait(&mut breaker, 0), Duration::from_secs(60));
    breaker.limit(longer, 0, Some(Duration::from_secs(90)));
    assert_eq!(wait(&mut breaker, 0), Duration::from_secs(90));
    let probe = breaker.admit(90_000).unwrap();
    breaker.abandon(given_up);
    assert!(breaker.admit(90_000).is_err(), "the probe is still on its way");
    breaker.succeed(probe);
    breaker.limit(longer, 90_000, Some(Duration::from_secs(90)));
    breaker.admit(90_000).unwrap();
}

proptest! {
    #[test]
    fn it_is_never_open_for_ever(steps in proptest::collection::vec(
        prop_oneof![Just(0u8), Just(1), Just(2), Just(3)], 0..60)) {
        let (mut breaker, mut now) = (Breaker::default(), 0u64);
        for step in steps {
            match breaker.admit(now) {
                Ok(request) => match step {
                    0 => breaker.succeed(request),
                    1 => breaker.fail(request, now),
                    2 => breaker.limit(request, now, None),
                    _ => breaker.abandon(request),
                },
                Err(open) => {
                    prop_assert!(open.wait <= MAX_WAIT);
                    now += u64::try_from(open.wait.as_millis()).unwrap();
                    prop_assert!(breaker.clone().admit(now).is_ok());
                }
            }
        }
    }
}
