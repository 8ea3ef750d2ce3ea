use super::*;

#[test]
fn requests_beyond_the_quota_wait_for_the_next_period() {
    let mut counter = QuotaCounter::new("2/1m".parse().unwrap());
    counter.take(1_000).unwrap();
    counter.take(2_000).unwrap();
    assert_eq!(counter.take(3_000), Err(Duration::from_secs(58)));
    counter.take(61_000).unwrap();
    counter.take(61_000).unwrap();
    assert!(counter.take(61_000).is_err());
}

#[test]
fn a_quota_of_none_admits_nothing() {
    let mut counter = QuotaCounter::new("0/1d".parse().unwrap());
    assert_eq!(counter.take(0), Err(Duration::from_secs(86_400)));
}
