//! A tool has its time and no more; a tool that panics ends its own call and nothing else.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::time::Duration;

use futures_util::FutureExt as _;
use proto::Code;
use serde_json::json;
use tokio::time;
use tokio_util::sync::CancellationToken;

use super::idempotency::Unanswered;
use crate::Failure;
use crate::client::Thinking;

#[derive(Debug)]
enum Ended {
    OutOfTime { limit: Duration },
    OutOfPatience { limit: Duration },
    Cancelled,
    Panicked,
}

/// So often at most a deadline is looked at again while the caller thinks.
const GLANCE: Duration = Duration::from_millis(50);

/// Runs the tool's part of a call, which its caller drops when the deadline has passed: that ends whatever it started.
/// While the caller thinks about a question the tool's time stands still.
///
/// The work is lent: a future that is handed on takes its room once more in the one that takes it.
pub(crate) async fn bound<T>(
    limit: Duration,
    thinking: Option<&Thinking>,
    work: Pin<&mut impl Future<Output = Result<T, Failure>>>,
) -> Result<T, Failure> {
    let work = AssertUnwindSafe(work).catch_unwind();
    let worked = match thinking {
        None => time::timeout(limit, work).await.ok(),
        Some(thinking) => patiently(limit, thinking, work).await,
    };
    match worked {
        Some(Ok(result)) => result,
        Some(Err(_panic)) => Err(Ended::Panicked.into()),
        None => Err(Ended::OutOfTime { limit }.into()),
    }
}

/// The work's result, or none when it took longer than its limit without the caller's thinking.
async fn patiently<T>(
    limit: Duration,
    thinking: &Thinking,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = pin!(work);
    let began = time::Instant::now();
    let mut granted = Duration::ZERO;
    loop {
        let done = time::timeout_at(began + limit + granted, &mut work).await;
        if let Ok(result) = done {
            return Some(result);
        }
        let spent = thinking.spent();
        if spent <= granted {
            return None;
        }
        granted = spent.max(granted + GLANCE);
    }
}

/// Waits for an answer as long as this caller wants it; the work itself may be shared with others.
pub(crate) async fn patient<T>(
    timeout: Option<Duration>,
    cancel: &CancellationToken,
    work: Pin<&mut impl Future<Output = Result<T, Unanswered>>>,
) -> Result<T, Unanswered> {
    let waited = async {
        match timeout {
            None => work.await,
            Some(limit) => time::timeout(limit, work).await.unwrap_or_else(|_elapsed| {
                Err(Unanswered::Failed(Ended::OutOfPatience { limit }.into()))
            }),
        }
    };
    tokio::select! {
        result = waited => result,
        () = cancel.cancelled() => Err(Unanswered::Failed(Ended::Cancelled.into())),
    }
}

impl From<Ended> for Failure {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::OutOfTime { limit } => Failure::new(
                Code::Timeout,
                format!("the tool did not answer within {} ms and was stopped", limit.as_millis()),
            )
            .details(json!({"timeoutMs": limit.as_millis()})),
            Ended::OutOfPatience { limit } => Failure::new(
                Code::Timeout,
                format!("no answer within the {} ms that the caller gave", limit.as_millis()),
            )
            .details(json!({"timeoutMs": limit.as_millis()})),
            Ended::Cancelled => Failure::new(Code::Unavailable, "the caller cancelled the call"),
            Ended::Panicked => {
                Failure::new(Code::Internal, "the tool crashed; its trace id is in the log")
            }
        }
    }
}
