#![allow(clippy::unwrap_used, reason = "tests")]

use proto::digest;
use serde_json::json;

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn values_expire_by_the_given_clock() {
    let clock = Clock::manual(1_000);
    let cache = Cache::memory(1 << 20, clock.clone());
    let key = digest(b"key");
    assert_eq!(cache.get(&key).await, None);

    cache.put(key, Arc::new(json!({"answer": 42})), 13, MINUTE).await;
    clock.advance(MINUTE - Duration::from_millis(1));
    assert_eq!(*cache.get(&key).await.unwrap(), json!({"answer": 42}));
    clock.advance(Duration::from_millis(1));
    assert_eq!(cache.get(&key).await, None);
}

#[tokio::test]
async fn what_has_expired_makes_room() {
    let clock = Clock::manual(0);
    let cache = Cache::memory(1 << 20, clock.clone());
    let Kind::Memory(memory) = &cache.0;
    let key = |number: u64| digest(&number.to_le_bytes());
    for number in 0..200 {
        cache.put(key(number), Arc::new(json!(number)), 100, MINUTE).await;
    }
    assert_eq!(memory.held().0, 200);
    clock.advance(MINUTE);
    for number in 200..400 {
        cache.put(key(number), Arc::new(json!(number)), 100, MINUTE).await;
    }
    assert_eq!(memory.held().0, 200, "the first two hundred are gone, unasked");
}

#[tokio::test]
async fn a_value_put_again_is_counted_once() {
    let cache = Cache::memory(1 << 20, Clock::manual(0));
    let Kind::Memory(memory) = &cache.0;
    let key = digest(b"key");
    for number in 0..1_000 {
        cache.put(key, Arc::new(json!(number)), 100, MINUTE).await;
    }
    assert_eq!(memory.held(), (1, 356));
    assert_eq!(*cache.get(&key).await.unwrap(), json!(999));
}

#[tokio::test]
async fn a_later_value_replaces_an_earlier_one_and_its_expiry() {
    let clock = Clock::manual(0);
    let cache = Cache::memory(1 << 20, clock.clone());
    let key = digest(b"key");
    cache.put(key, Arc::new(json!(1)), 1, MINUTE).await;
    clock.advance(MINUTE / 2);
    cache.put(key, Arc::new(json!(2)), 1, MINUTE).await;
    clock.advance(MINUTE / 2);
    assert_eq!(*cache.get(&key).await.unwrap(), json!(2));
}

#[tokio::test]
async fn no_time_to_live_means_never_found_and_an_endless_one_does_not_overflow() {
    let cache = Cache::memory(1 << 20, Clock::manual(5));
    let (never, always) = (digest(b"never"), digest(b"always"));
    cache.put(never, Arc::new(json!(1)), 1, Duration::ZERO).await;
    cache.put(always, Arc::new(json!(1)), 1, Duration::MAX).await;
    assert_eq!(cache.get(&never).await, None);
    assert!(cache.get(&always).await.is_some());
}

#[tokio::test]
async fn the_bytes_are_bounded_and_the_oldest_goes_first() {
    let cache = Cache::memory(200_000, Clock::manual(0));
    let Kind::Memory(memory) = &cache.0;
    let key = |number: u64| digest(&number.to_le_bytes());
    for number in 0..5_000 {
        cache.put(key(number), Arc::new(json!(number)), 1_000, MINUTE).await;
    }
    let (_, bytes) = memory.held();
    assert!((100_000..=200_000).contains(&bytes), "{bytes}");
    assert!(cache.get(&key(4_999)).await.is_some(), "the newest stays");
    assert!(cache.get(&key(1)).await.is_none());
}

#[tokio::test]
async fn what_is_larger_than_the_cache_is_not_kept_and_pushes_nothing_out() {
    let cache = Cache::memory(10_000, Clock::manual(0));
    let (small, large) = (digest(b"small"), digest(b"large"));
    cache.put(small, Arc::new(json!(1)), 1, MINUTE).await;
    cache.put(large, Arc::new(json!(2)), usize::MAX, MINUTE).await;
    assert!(cache.get(&small).await.is_some());
    assert!(cache.get(&large).await.is_none());
}
