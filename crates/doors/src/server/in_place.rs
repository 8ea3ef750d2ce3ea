//! Work that wakes itself goes on in place.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// So often work may go on in place before others get their turn.
const TURNS: usize = 8;

/// A future that is polled again in place when it was woken while it was polled.
///
/// One connection is one task: what reads a body in it wakes what receives that body, which is the same task. To the
/// runtime this looks like a task that gives way to others, and for each it wakes a second thread to take it over: two
/// thread switches in every call for nothing.
pub(super) struct InPlace<F> {
    work: Pin<Box<F>>,
    bell: Arc<Bell>,
    /// The bell, as the work is given it.
    waker: Waker,
}

/// What the work rings. While it is polled that is only noted.
#[derive(Default)]
struct Bell {
    task: AtomicWaker,
    /// Which of the two below hold.
    state: AtomicU8,
}

const POLLED: u8 = 1;
const RUNG: u8 = 2;

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.fetch_or(RUNG, Ordering::AcqRel) & POLLED == 0 {
            self.task.wake();
        }
    }
}

impl<F: Future> InPlace<F> {
    pub(super) fn new(work: F) -> Self {
        let bell = Arc::<Bell>::default();
        Self { work: Box::pin(work), waker: Arc::clone(&bell).into(), bell }
    }
}

impl<F: Future> Future for InPlace<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Self { work, bell, waker } = self.get_mut();
        bell.task.register(cx.waker());
        for _ in 0..TURNS {
            bell.state.store(POLLED, Ordering::Release);
            if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(waker)) {
                return Poll::Ready(done);
            }
            let quiet = bell.state.compare_exchange(POLLED, 0, Ordering::AcqRel, Ordering::Acquire);
            if quiet.is_ok() {
                return Poll::Pending;
            }
        }
        bell.state.store(0, Ordering::Release);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
