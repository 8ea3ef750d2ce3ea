use std::future::poll_fn;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use tokio::sync::mpsc;

use super::*;

/// Counts how often a task is woken.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A future that wakes itself `times` times, and how often it was polled.
fn self_waking(times: usize) -> (InPlace<impl Future<Output = ()>>, Arc<AtomicUsize>) {
    let polls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&polls);
    let work = poll_fn(move |cx| {
        if counted.fetch_add(1, Ordering::SeqCst) == times {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    });
    (InPlace::new(work), polls)
}

#[test]
fn a_self_waking_future_is_polled_again_without_the_runtime() {
    let woken = Arc::<Count>::default();
    let waker = Waker::from(Arc::clone(&woken));
    let (mut work, polls) = self_waking(MAX_POLLS - 1);
    assert!(Pin::new(&mut work).poll(&mut Context::from_waker(&waker)).is_ready());
    assert_eq!((polls.load(Ordering::SeqCst), woken.0.load(Ordering::SeqCst)), (MAX_POLLS, 0));
}

#[test]
fn a_future_that_always_wakes_itself_yields_and_continues_later() {
    let woken = Arc::<Count>::default();
    let waker = Waker::from(Arc::clone(&woken));
    let (mut work, polls) = self_waking(MAX_POLLS);
    assert!(Pin::new(&mut work).poll(&mut Context::from_waker(&waker)).is_pending());
    assert_eq!((polls.load(Ordering::SeqCst), woken.0.load(Ordering::SeqCst)), (MAX_POLLS, 1));
    assert!(Pin::new(&mut work).poll(&mut Context::from_waker(&waker)).is_ready());
}

#[test]
fn a_wake_up_between_polls_wakes_the_latest_task() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let mut work = InPlace::new(async move { receiver.recv().await });
    let [first, second] = [Arc::<Count>::default(), Arc::default()];
    for woken in [&first, &second] {
        let waker = Waker::from(Arc::clone(woken));
        assert!(Pin::new(&mut work).poll(&mut Context::from_waker(&waker)).is_pending());
    }
    sender.send(7).unwrap();
    assert_eq!((first.0.load(Ordering::SeqCst), second.0.load(Ordering::SeqCst)), (0, 1));
    let done = Pin::new(&mut work).poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(done, Poll::Ready(Some(7)));
}

#[tokio::test]
async fn a_future_without_budget_is_not_polled_again_in_place() {
    const BUDGETS: usize = 1_000;
    let polls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&polls);
    let mut work = Box::pin(async {
        for _ in 0..128 * BUDGETS {
            tokio::task::coop::consume_budget().await;
        }
    });
    let working = InPlace::new(poll_fn(move |cx| {
        counted.fetch_add(1, Ordering::SeqCst);
        work.as_mut().poll(cx)
    }));
    tokio::time::timeout(Duration::from_secs(30), tokio::spawn(working)).await.unwrap().unwrap();
    let polls = polls.load(Ordering::SeqCst);
    assert!((BUDGETS..=BUDGETS + 2).contains(&polls), "{polls} polls for {BUDGETS} budgets");
}

/// Wake-ups from other threads may come at any moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_wake_up_from_another_thread_is_lost() {
    const SENT: usize = 50_000;
    let (sender, mut receiver) = mpsc::channel(1);
    let reading = tokio::spawn(InPlace::new(async move {
        let mut seen = 0;
        while receiver.recv().await.is_some() {
            seen += 1;
        }
        seen
    }));
    let sending = async move {
        for n in 0..SENT {
            sender.send(n).await.unwrap();
        }
    };
    let both = async { tokio::join!(sending, reading).1 };
    let seen = tokio::time::timeout(Duration::from_secs(30), both).await;
    assert_eq!(seen.unwrap().unwrap(), SENT);
}
