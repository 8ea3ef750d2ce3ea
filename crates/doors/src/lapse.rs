//! Streams that stay open, and the credentials that opened them, which may not.

use std::time::Duration;

/// How often the credential of an open stream is checked. A stream ends within five seconds after its key was revoked or
/// its token has expired.
pub(crate) const LOOK: Duration = Duration::from_secs(3);

/// Ends when they no longer may. It is asked in fixed steps, however busy the stream beside it is.
pub(crate) async fn lapsed<S: Future<Output = bool>>(every: Duration, stands: impl Fn() -> S) {
    loop {
        tokio::time::sleep(every).await;
        if !stands().await {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;

    use futures_util::{StreamExt as _, stream};

    use super::*;

    #[tokio::test]
    async fn a_busy_stream_ends_with_its_credential() {
        let left = Cell::new(3);
        let stands = || {
            left.set(left.get() - 1);
            std::future::ready(left.get() > 0)
        };
        let every = Duration::from_millis(5);
        let busy = stream::unfold((), async |()| {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Some(((), ()))
        });
        let ends = pin!(lapsed(every, stands));
        let heard = busy.take_until(ends).count();
        let heard = tokio::time::timeout(Duration::from_secs(10), heard).await;
        assert!(heard.is_ok_and(|heard| heard > 0), "it ends, though it never falls silent");
        assert_eq!(left.get(), 0);
    }
}
