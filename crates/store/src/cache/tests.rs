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

    let Kind::Memory(memory) = &cache.0;
    assert!(!memory.entries.contains_key(&key), "an expired value that was asked for is let go");
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
async fn the_bytes_are_bounded_and_the_least_recent_goes_first() {
    let cache = Cache::memory(100_000, Clock::manual(0));
    let Kind::Memory(memory) = &cache.0;
    let key = |number: u64| digest(&number.to_le_bytes());
    for number in 0..500 {
        cache.put(key(number), Arc::new(json!(number)), 1_000, MINUTE).await;
        // Eviction is lazy; the order of use is what this test is about, not its timing.
        memory.entries.run_pending_tasks();
        cache.get(&key(0)).await;
    }
    memory.entries.run_pending_tasks();
    assert!((50_000..=100_000).contains(&memory.entries.weighted_size()));
    assert!(cache.get(&key(0)).await.is_some(), "the one in use stays");
    assert!(cache.get(&key(499)).await.is_some(), "the newest stays");
    assert!(cache.get(&key(1)).await.is_none());
}

#[tokio::test]
async fn what_is_larger_than_the_cache_is_not_kept_and_pushes_nothing_out() {
    let cache = Cache::memory(10_000, Clock::manual(0));
    let Kind::Memory(memory) = &cache.0;
    let (small, large) = (digest(b"small"), digest(b"large"));
    cache.put(small, Arc::new(json!(1)), 1, MINUTE).await;
    cache.put(large, Arc::new(json!(2)), usize::MAX, MINUTE).await;
    memory.entries.run_pending_tasks();
    assert!(cache.get(&small).await.is_some());
    assert!(cache.get(&large).await.is_none());
}
