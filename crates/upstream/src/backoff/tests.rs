use super::*;

#[test]
fn waits_double_up_to_the_longest_and_start_again_after_success() {
    let (first, longest) = (Duration::from_millis(100), Duration::from_secs(1));
    let mut backoff = Backoff::new(first, longest);
    for expected in [100, 200, 400, 800, 1_000, 1_000].map(Duration::from_millis) {
        let wait = backoff.next();
        assert!(wait >= expected / 2 && wait <= expected, "{wait:?} for {expected:?}");
    }
    for _ in 0..100 {
        assert!(backoff.next() <= longest);
    }
    backoff.limit_to(longest / 2);
    assert!(backoff.next() <= longest / 2);
    backoff.reset();
    assert!(backoff.next() <= first);
}
