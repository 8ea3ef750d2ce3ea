//! Polls a future again in place when it woke itself.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// How many times a future is polled in place before other tasks get their turn.
const MAX_POLLS: usize = 8;

/// A future that is polled again in place when it was woken while it was polled.
///
/// A connection is one task, in which reading a body wakes the receiver of that body: the same task. The runtime would
/// treat each such wake-up as a task that yields, and wake a second thread to take it over: two needless thread switches
/// in every call.
pub(super) struct InPlace<F> {
    work: Pin<Box<F>>,
    wakeups: Arc<WakeFlag>,
    /// The flag as the future's waker.
    waker: Waker,
}

/// Wakes the task of the future, except while the future is polled: then the wake-up is only recorded.
#[derive(Default)]
struct WakeFlag {
    task: AtomicWaker,
    /// A combination of `POLLED` and `WOKEN`.
    state: AtomicU8,
}

const POLLED: u8 = 1;
const WOKEN: u8 = 2;

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.fetch_or(WOKEN, Ordering::AcqRel) & POLLED == 0 {
            self.task.wake();
        }
    }
}

impl<F: Future> InPlace<F> {
    pub(super) fn new(work: F) -> Self {
        let wakeups = Arc::<WakeFlag>::default();
        Self { work: Box::pin(work), waker: Arc::clone(&wakeups).into(), wakeups }
    }
}

impl<F: Future> Future for InPlace<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Self { work, wakeups, waker } = self.get_mut();
        wakeups.task.register(cx.waker());
        for _ in 0..MAX_POLLS {
            wakeups.state.store(POLLED, Ordering::Release);
            if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(waker)) {
                return Poll::Ready(done);
            }
            let not_woken =
                wakeups.state.compare_exchange(POLLED, 0, Ordering::AcqRel, Ordering::Acquire);
            if not_woken.is_ok() {
                return Poll::Pending;
            }
        }
        wakeups.state.store(0, Ordering::Release);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
