use super::*;

#[test]
fn three_failures_in_a_row_open_it() {
    let now = Instant::now();
    let mut health = Health::default();
    assert!(!health.record_failure(now) && !health.record_failure(now));
    health.record_answer();
    assert!(!health.record_failure(now) && !health.record_failure(now) && health.admits(now));
    assert!(health.record_failure(now), "the third in a row opens it");
    assert!(!health.admits(now));
}

#[test]
fn one_request_is_let_through_after_the_pause() {
    let now = Instant::now();
    let mut health = Health::default();
    for _ in 0..3 {
        health.record_failure(now);
    }
    let later = now + FIRST_PAUSE;
    assert!(health.admits(later));
    health.record_start(later);
    assert!(!health.admits(later), "only one");
    assert!(!health.record_failure(later), "it was open already");
    assert!(!health.admits(later + FIRST_PAUSE), "the pause has doubled");
    let last = later + FIRST_PAUSE * 2;
    health.record_start(last);
    health.record_answer();
    assert!(health.admits(last));
    assert!(!health.record_failure(last) && !health.record_failure(last), "it starts afresh");
}

#[test]
fn a_trial_without_outcome_does_not_block_the_next() {
    let now = Instant::now();
    let mut health = Health::default();
    for _ in 0..3 {
        health.record_failure(now);
    }
    let later = now + FIRST_PAUSE;
    health.record_start(later);
    health.record_unknown();
    assert!(health.admits(later));
    health.record_start(later);
    assert!(health.admits(later + TRIAL), "a trial that was lost");
}

#[test]
fn a_high_failure_rate_opens_it_and_pauses_are_limited() {
    let now = Instant::now();
    let mut flaky = Health::default();
    let opened = (0..60).any(|round| {
        if round % 3 == 2 {
            flaky.record_answer();
            return false;
        }
        flaky.record_failure(now)
    });
    assert!(opened, "two of three fail");
    for _ in 0..50 {
        flaky.record_failure(now);
    }
    assert!(flaky.admits(now + LONGEST_PAUSE));
}
