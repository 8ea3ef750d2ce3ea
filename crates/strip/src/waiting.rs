//! Waiting within a call, for a person or for work that takes longer than a client waits: how long, and the
//! progress that its caller is shown.

use std::time::Duration;

use serde_json::Map;
use tokio::time::Instant;

use crate::Job;

/// The longest time that one call waits.
pub const LONGEST: Duration = Duration::from_secs(600);

/// How long a call waits if the caller does not say: clients give up after a minute, and some before.
const WITHOUT_PROGRESS: Duration = Duration::from_secs(25);
const WITH_PROGRESS: Duration = Duration::from_secs(50);

/// How long before the end of a timeout the call answers that there is nothing yet.
const ANSWERING: Duration = Duration::from_secs(1);

/// How often a caller who wants progress is notified that the call still waits.
const BEAT: Duration = Duration::from_secs(5);

/// The caller's options about how long to wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaitOptions {
    /// The caller's client shows the question itself, so its person has all the time.
    pub asks: bool,
    /// The time that the caller asks for, as an argument of the tool.
    pub wait: Option<Duration>,
}

/// How long a call waits: as long as its input asks for, otherwise almost as long as its caller does, where the caller says
/// so, otherwise 25 s, or 50 s with progress. It answers before the caller's timeout and the tool's time limit, and waits
/// [`LONGEST`] at most.
pub fn longest_wait(job: &Job, options: WaitOptions) -> Duration {
    let limit = before_end(job.timeout.unwrap_or(Duration::MAX).min(job.time_limit));
    let progress = job.client.as_ref().is_some_and(|client| client.wants_progress());
    let asked = match (options.wait, job.timeout) {
        (Some(wait), _) => wait,
        (None, Some(_)) => LONGEST,
        (None, None) if options.asks => LONGEST,
        (None, None) if progress => WITH_PROGRESS,
        (None, None) => WITHOUT_PROGRESS,
    };
    asked.min(LONGEST).min(limit)
}

/// The part of a timeout after which an answer must be on its way.
fn before_end(timeout: Duration) -> Duration {
    timeout.saturating_sub(ANSWERING.min(timeout / 4))
}

/// Waits for `done`, for `longest` at most; none if it takes longer. A caller who wants progress gets `message` every five
/// seconds.
pub async fn wait_for<T>(
    job: &Job,
    longest: Duration,
    message: impl Fn() -> String,
    done: impl Future<Output = T>,
) -> Option<T> {
    let client = job.client.as_deref().filter(|client| client.wants_progress());
    let until = Instant::now() + longest;
    let mut done = std::pin::pin!(done);
    loop {
        if let Some(client) = client {
            client.progress(Map::from_iter([
                ("progress".to_owned(), job.next_beat().into()),
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
}

#[cfg(test)]
mod tests;
