//! Waiting within a call, for a person or for work that takes longer than a client waits: how long, and the
//! progress that its caller is shown.

use std::time::Duration;

use serde_json::Map;
use tokio::time::Instant;

use crate::{Job, Request};

/// The longest time that one call waits.
pub const LONGEST: Duration = Duration::from_secs(600);

/// How long a call waits if the caller does not say: clients give up after a minute, and some before.
const WITHOUT_PROGRESS: Duration = Duration::from_secs(25);
const WITH_PROGRESS: Duration = Duration::from_secs(50);

/// How long before the end of a timeout the call answers that there is nothing yet.
const ANSWERING: Duration = Duration::from_secs(1);

/// How often a caller who wants progress is notified that the call still waits.
const BEAT: Duration = Duration::from_secs(5);

/// What the caller's side says about how long to wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patience {
    /// The caller's client shows the question itself, so its person has all the time.
    pub asks: bool,
    /// The time that the caller asks for, as an argument of the tool.
    pub wait: Option<Duration>,
}

/// How long a call waits: as long as its input asks for, otherwise almost as long as its caller does, where the caller says
/// so, otherwise 25 s, or 50 s with progress. It answers before the caller's timeout and the tool's time limit, and waits
/// [`LONGEST`] at most.
pub fn longest_wait(job: &Job, patience: Patience) -> Duration {
    let request = &job.request;
    let limit = before_end(request.timeout.unwrap_or(Duration::MAX).min(job.time_limit));
    let progress = request.client.as_ref().is_some_and(|client| client.wants_progress());
    let wanted = match (patience.wait, request.timeout) {
        (Some(wait), _) => wait,
        (None, Some(_)) => LONGEST,
        (None, None) if patience.asks => LONGEST,
        (None, None) if progress => WITH_PROGRESS,
        (None, None) => WITHOUT_PROGRESS,
    };
    wanted.min(LONGEST).min(limit)
}

/// The part of a timeout after which an answer must be on its way.
fn before_end(timeout: Duration) -> Duration {
    timeout.saturating_sub(ANSWERING.min(timeout / 10))
}

/// Waits for `done`, for `longest` at most; none if it takes longer. A caller who wants progress gets `message` every five
/// seconds.
pub async fn wait_for<T>(
    request: &Request,
    longest: Duration,
    message: impl Fn() -> String,
    done: impl Future<Output = T>,
) -> Option<T> {
    let client = request.client.as_deref().filter(|client| client.wants_progress());
    let until = Instant::now() + longest;
    let mut done = std::pin::pin!(done);
    for beats in 0_u32.. {
        if let Some(client) = client {
            client.progress(Map::from_iter([
                ("progress".to_owned(), beats.into()),
                ("message".to_owned(), message().into()),
            ]));
        }
        let pause = (Instant::now() + BEAT).min(until);
        if let Ok(result) = tokio::time::timeout_at(pause, &mut done).await {
            return Some(result);
        }
        if Instant::now() >= until {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proto::{Principal, TenantId, Via};
    use serde_json::Value;

    use super::*;
    use crate::Door;

    fn job(timeout: Option<Duration>) -> Job {
        let tenant = TenantId::new("acme");
        let (subject, scopes) = ("ann".to_owned(), Vec::new());
        let ann = Arc::new(Principal { tenant, subject, agent: None, scopes, via: Via::Local });
        let mut request = Request::new("t", Value::Null, ann, Door::Http);
        request.timeout = timeout;
        Job { time_limit: LONGEST, ..Job::new(request) }
    }

    #[test]
    fn the_timeout_of_the_caller_is_used_up() {
        let seconds = Duration::from_secs;
        let unasked = Patience::default();
        for (timeout, waits) in [
            (None, seconds(25)),
            (Some(seconds(5)), Duration::from_millis(4_500)),
            (Some(seconds(120)), seconds(119)),
            (Some(seconds(7_200)), seconds(599)),
        ] {
            assert_eq!(longest_wait(&job(timeout), unasked), waits, "{timeout:?}");
        }
        let asks = Patience { asks: true, wait: None };
        assert_eq!(longest_wait(&job(Some(seconds(60))), asks), seconds(59));
        assert_eq!(longest_wait(&job(None), asks), seconds(599));
    }

    #[test]
    fn the_time_that_the_input_asks_for_ends_before_every_timeout() {
        let seconds = Duration::from_secs;
        let wait = |asked: u64| Patience { asks: false, wait: Some(seconds(asked)) };
        assert_eq!(longest_wait(&job(None), wait(3)), seconds(3));
        assert_eq!(longest_wait(&job(Some(seconds(10))), wait(60)), seconds(9));
        assert_eq!(longest_wait(&job(None), wait(6_000)), seconds(599));
        let short = Job { time_limit: seconds(20), ..job(None) };
        assert_eq!(longest_wait(&short, Patience::default()), seconds(19));
    }

    #[tokio::test]
    async fn waiting_ends_with_the_work_or_after_the_longest_wait() {
        let (job, message) = (job(None), || "waiting".to_owned());
        let ready = wait_for(&job.request, LONGEST, message, async { 1 });
        assert_eq!(ready.await, Some(1));
        let never =
            wait_for(&job.request, Duration::from_millis(5), message, std::future::pending::<()>());
        assert_eq!(never.await, None);
    }
}
