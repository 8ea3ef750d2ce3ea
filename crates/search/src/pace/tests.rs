use proptest::prelude::{Just, Strategy, prop_assert, prop_oneof, proptest};

use super::*;

#[test]
fn the_limit_grows_by_one_and_halves() {
    let mut window = Window::default();
    for _ in 0..100 {
        let cuts = window.enter().expect("room");
        window.leave(cuts, Outcome::Answered);
    }
    assert_eq!(window.limit, MOST);
    let sent: Vec<u64> = (0..8).map(|_| window.enter().expect("room")).collect();
    assert_eq!(window.enter(), None);
    // A burst of refusals is one cut.
    for cuts in sent {
        window.leave(cuts, Outcome::Overloaded);
    }
    assert_eq!(window.limit, MOST / 2.0);
    for _ in 0..20 {
        let cuts = window.enter().expect("room for one");
        window.leave(cuts, Outcome::Overloaded);
    }
    assert_eq!(window.limit, LEAST);
}

#[tokio::test]
async fn a_turn_waits_for_room() {
    let pace = Pace::default();
    let turns = [pace.take().await, pace.take().await, pace.take().await, pace.take().await];
    let mut next = std::pin::pin!(pace.take());
    assert!(futures_util::poll!(&mut next).is_pending());
    drop(turns);
    next.await.end(Outcome::Answered);
    assert_eq!(pace.window().under_way, 0);
}

#[test]
fn idle_hosts_are_forgotten() {
    let hosts = Hosts::default();
    let kept = hosts.of("kept.test");
    for number in 0..MAX_HOSTS * 2 {
        hosts.of(&format!("{number}.test"));
    }
    assert!(hosts.0.lock().unwrap().len() <= MAX_HOSTS);
    assert!(Arc::ptr_eq(&kept, &hosts.of("kept.test")));
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![Just(Outcome::Answered), Just(Outcome::Overloaded), Just(Outcome::Other)]
}

proptest! {
    #[test]
    fn requests_stay_within_the_limit(steps in proptest::collection::vec((proptest::bool::ANY, outcome()), 0..200)) {
        let mut window = Window::default();
        let mut sent = Vec::new();
        for (enters, outcome) in steps {
            if enters {
                sent.extend(window.enter());
            } else if let Some(cuts) = sent.pop() {
                window.leave(cuts, outcome);
            }
            prop_assert!((LEAST..=MOST).contains(&window.limit));
            prop_assert!(window.under_way == sent.len() && sent.len() <= MOST as usize);
        }
    }
}
