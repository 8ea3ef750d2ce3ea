use proto::{TenantId, Via, digest};
use serde_json::json;

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

fn caller(subject: &str) -> Principal {
    Principal {
        tenant: TenantId::new("acme"),
        subject: subject.to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    }
}

fn answer(data: Value) -> Recorded {
    Recorded { data: Arc::new(data), native: None, arguments: digest(b"{}") }
}

/// An answer whose text has so many bytes.
fn long(bytes: usize) -> Recorded {
    answer(json!("x".repeat(bytes)))
}

fn numbered(number: u64) -> Digest {
    digest(&number.to_le_bytes())
}

#[tokio::test]
async fn values_expire_by_the_given_clock() {
    let clock = Clock::manual(1_000);
    let cache = Cache::memory(1 << 20, clock.clone());
    let key = digest(b"key");
    assert_eq!(cache.get(&key).await, None);

    let given = answer(json!({"answer": 42}));
    assert!(cache.put(key, &caller("ann"), given.clone(), MINUTE).await);
    clock.advance(MINUTE - Duration::from_millis(1));
    assert_eq!(cache.get(&key).await.unwrap(), given);
    clock.advance(Duration::from_millis(1));
    assert_eq!(cache.get(&key).await, None);
}

#[tokio::test]
async fn expired_answers_make_room() {
    let clock = Clock::manual(0);
    let cache = Cache::memory(1 << 20, clock.clone());
    let Kind::Memory(memory) = &cache.0;
    for number in 0..200 {
        cache.put(numbered(number), &caller("ann"), long(100), MINUTE).await;
    }
    assert_eq!(memory.held().0, 200);
    clock.advance(MINUTE);
    for number in 200..400 {
        cache.put(numbered(number), &caller("ann"), long(100), MINUTE).await;
    }
    assert_eq!(memory.held().0, 200, "the first two hundred are gone, unasked");
}

#[tokio::test]
async fn a_value_put_again_is_counted_once() {
    let cache = Cache::memory(1 << 20, Clock::manual(0));
    let Kind::Memory(memory) = &cache.0;
    let key = digest(b"key");
    for number in 0..1_000 {
        cache.put(key, &caller("ann"), answer(json!(number)), MINUTE).await;
    }
    let (entries, bytes) = memory.held();
    assert_eq!((entries, *cache.get(&key).await.unwrap().data == json!(999)), (1, true));
    assert!(bytes < 1_000, "{bytes}");
    assert!(memory.queued() < 200, "{}", memory.queued());
}

#[tokio::test]
async fn a_later_value_replaces_an_earlier_one_and_its_expiry() {
    let clock = Clock::manual(0);
    let cache = Cache::memory(1 << 20, clock.clone());
    let key = digest(b"key");
    cache.put(key, &caller("ann"), answer(json!(1)), MINUTE).await;
    clock.advance(MINUTE / 2);
    cache.put(key, &caller("ann"), answer(json!(2)), MINUTE).await;
    clock.advance(MINUTE / 2);
    assert_eq!(*cache.get(&key).await.unwrap().data, json!(2));
}

#[tokio::test]
async fn no_time_to_live_means_never_found_and_an_endless_one_does_not_overflow() {
    let cache = Cache::memory(1 << 20, Clock::manual(5));
    let (never, always) = (digest(b"never"), digest(b"always"));
    cache.put(never, &caller("ann"), answer(json!(1)), Duration::ZERO).await;
    cache.put(always, &caller("ann"), answer(json!(1)), Duration::MAX).await;
    assert_eq!(cache.get(&never).await, None);
    assert!(cache.get(&always).await.is_some());
}

#[tokio::test]
async fn the_bytes_are_bounded_for_all_and_for_each_caller() {
    let cache = Cache::memory(400_000, Clock::manual(0));
    let Kind::Memory(memory) = &cache.0;
    let bob = digest(b"bob's");
    cache.put(bob, &caller("bob"), long(1_000), MINUTE).await;
    for number in 0..5_000 {
        assert!(cache.put(numbered(number), &caller("ann"), long(1_000), MINUTE).await);
    }
    let (_, bytes) = memory.held();
    assert!((50_000..=102_000).contains(&bytes), "a quarter is for one caller: {bytes}");
    assert!(cache.get(&bob).await.is_some(), "one caller pushes nothing of another's out");
    assert!(cache.get(&numbered(4_999)).await.is_some(), "the newest stays");
    assert!(cache.get(&numbered(1)).await.is_none());
    for number in 0..5_000 {
        let caller = caller(&format!("caller {}", number % 100));
        cache.put(numbered(number), &caller, long(1_000), MINUTE).await;
    }
    let (entries, bytes) = memory.held();
    assert!((200_000..=400_000).contains(&bytes), "{bytes}");
    assert!(memory.queued() < entries * 8 + 20_000, "{} of {entries}", memory.queued());
}

/// An array of small numbers takes many times its text.
#[tokio::test]
async fn the_cache_counts_memory_and_not_text() {
    let cache = Cache::memory(400_000, Clock::manual(0));
    let (small, large) = (digest(b"small"), digest(b"large"));
    assert!(cache.put(small, &caller("ann"), answer(json!(vec![1; 1_000])), MINUTE).await);
    assert!(!cache.put(large, &caller("ann"), answer(json!(vec![1; 5_000])), MINUTE).await);
    let native = Some(Arc::new(json!("x".repeat(200_000))));
    let of_server = Recorded { native, ..answer(json!({})) };
    assert!(!cache.put(large, &caller("ann"), of_server, MINUTE).await, "its own form counts");
    assert!(cache.get(&small).await.is_some() && cache.get(&large).await.is_none());
}

#[tokio::test]
async fn used_answers_stay_longer() {
    let cache = Cache::memory(400_000, Clock::manual(0));
    let used = digest(b"used");
    cache.put(used, &caller("ann"), long(1_000), MINUTE).await;
    for number in 0..2_000 {
        cache.put(numbered(number), &caller("ann"), long(1_000), MINUTE).await;
        assert!(cache.get(&used).await.is_some(), "{number}");
    }
    assert!(cache.get(&numbered(0)).await.is_none());
}
