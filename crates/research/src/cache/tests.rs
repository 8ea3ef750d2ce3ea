use std::time::Duration;

use bytes::Bytes;
use proto::Clock;
use serde_json::json;

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn values_expire_and_large_ones_are_not_kept() {
    let clock = Clock::manual(1_000);
    let caches = MemoryCaches::new(clock.clone(), 10_000_000);
    let (small, large) = (key("web", None, &"small"), key("web", None, &"large"));
    caches.put(&small, Bytes::from_static(b"x"), MINUTE).await;
    caches.put(&large, vec![0; MAX_VALUE_BYTES + 1].into(), MINUTE).await;
    assert_eq!(caches.get(&small).await.unwrap(), "x");
    assert!(caches.get(&large).await.is_none());
    clock.advance(MINUTE);
    assert!(caches.get(&small).await.is_none());
    assert_eq!(caches.bytes(), 0);
}

#[tokio::test]
async fn the_least_recently_used_value_makes_room() {
    let caches = MemoryCaches::new(Clock::manual(0), 3_000);
    let keys: Vec<_> = (0..4).map(|number| key("web", None, &number)).collect();
    for key in &keys[..3] {
        caches.put(key, vec![0; 700].into(), MINUTE).await;
    }
    assert!(caches.get(&keys[0]).await.is_some());
    caches.put(&keys[3], vec![0; 700].into(), MINUTE).await;
    assert!(caches.get(&keys[1]).await.is_none());
    for kept in [0, 2, 3] {
        assert!(caches.get(&keys[kept]).await.is_some(), "{kept}");
    }
    assert!(caches.bytes() <= 3_000);
}

#[test]
fn keys_differ_by_kind_tenant_and_request() {
    let request = json!({"query": "rust", "num": 5});
    let same = json!({"num": 5, "query": "rust"});
    let one = key("web", None, &request);
    assert_eq!(one, key("web", None, &same));
    assert_ne!(one, key("news", None, &request));
    assert_ne!(one, key("web", Some("a"), &request));
    assert_ne!(one, key("web", None, &json!({"query": "rust", "num": 6})));
}
