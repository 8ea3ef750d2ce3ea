//! Ends streams whose credential is no longer valid: a stream may stay open for longer than its credential.

use std::time::Duration;

/// How often the credential of an open stream is checked. A stream ends within five seconds after its key was revoked or
/// its token has expired.
const CHECK_EVERY: Duration = Duration::from_secs(3);

/// Waits until a credential is no longer valid. It is checked at fixed intervals, however busy the stream is.
pub async fn until_invalid<F: Future<Output = bool>>(is_valid: impl Fn() -> F) {
    check_until_invalid(CHECK_EVERY, is_valid).await;
}

async fn check_until_invalid<F: Future<Output = bool>>(every: Duration, is_valid: impl Fn() -> F) {
    loop {
        tokio::time::sleep(every).await;
        if !is_valid().await {
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
        let is_valid = || {
            left.set(left.get() - 1);
            std::future::ready(left.get() > 0)
        };
        let every = Duration::from_millis(5);
        let busy = stream::unfold((), async |()| {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Some(((), ()))
        });
        let invalid = pin!(check_until_invalid(every, is_valid));
        let items = busy.take_until(invalid).count();
        let items = tokio::time::timeout(Duration::from_secs(10), items).await;
        assert!(items.is_ok_and(|items| items > 0), "it ends, though it is never idle");
        assert_eq!(left.get(), 0);
    }
}
