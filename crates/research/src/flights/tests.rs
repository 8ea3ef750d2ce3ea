use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proto::digest;

use super::*;

#[tokio::test]
async fn equal_work_at_one_time_is_done_once() {
    let (flights, runs) = (Flights::default(), Arc::new(AtomicUsize::new(0)));
    let start = || {
        let runs = Arc::clone(&runs);
        async move {
            tokio::task::yield_now().await;
            runs.fetch_add(1, Ordering::SeqCst) + 1
        }
        .boxed()
    };
    let (a, b, other) = tokio::join!(
        flights.join(digest(b"a"), start),
        flights.join(digest(b"a"), start),
        flights.join(digest(b"b"), start),
    );
    assert_eq!((a, b), (1, 1));
    assert_eq!(other, 2);
    assert_eq!(flights.join(digest(b"a"), start).await, 3, "what has ended is not shared");
}

#[tokio::test]
async fn work_without_anyone_who_waits_is_dropped() {
    let flights: Flights<()> = Flights::default();
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let mut waiting = Box::pin(flights.join(digest(b"a"), || {
        async move {
            let _held = held;
            std::future::pending::<()>().await;
        }
        .boxed()
    }));
    assert!(futures_util::poll!(&mut waiting).is_pending());
    assert_eq!(Arc::strong_count(&alive), 2);
    drop(waiting);
    assert_eq!(Arc::strong_count(&alive), 1);
}
