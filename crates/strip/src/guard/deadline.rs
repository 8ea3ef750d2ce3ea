//! Ends a tool at its deadline. A tool that panics ends its own call and nothing else.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::time::Duration;

use futures_util::FutureExt as _;
use proto::{Code, Failure};
use serde_json::json;
use tokio::time;
use tokio_util::sync::CancellationToken;

use super::idempotency::CallError;
use crate::client::ToolClient;

#[derive(Debug)]
enum Ended {
    ToolTimeout { limit: Duration },
    CallerTimeout { limit: Duration },
    Cancelled,
    Panicked,
}

/// How often at most the deadline is checked again while the caller answers a question.
const RECHECK: Duration = Duration::from_millis(50);

/// Runs the tool's part of a call. After the deadline the future is dropped, which ends everything that it started. The
/// time that the caller takes to answer questions does not count.
///
/// The work is borrowed, because a future that is moved into another one takes its space twice.
pub(crate) async fn bound<T>(
    limit: Duration,
    client: Option<&ToolClient>,
    work: Pin<&mut impl Future<Output = Result<T, Failure>>>,
) -> Result<T, Failure> {
    let work = AssertUnwindSafe(work).catch_unwind();
    let result = match client {
        None => time::timeout(limit, work).await.ok(),
        Some(client) => without_answering(limit, client, work).await,
    };
    match result {
        Some(Ok(result)) => result,
        Some(Err(_panic)) => Err(Ended::Panicked.into()),
        None => Err(Ended::ToolTimeout { limit }.into()),
    }
}

/// The work's result, or none if it took longer than its limit plus the caller's time for answering questions.
async fn without_answering<T>(
    limit: Duration,
    client: &ToolClient,
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
        let spent = client.time_answering();
        if spent <= granted {
            return None;
        }
        granted = spent.max(granted + RECHECK);
    }
}

/// Waits for an answer until the caller's timeout or until it cancels; the work itself may be shared with others. Where
/// `must_finish` says so at that moment, the work is not dropped.
pub(crate) async fn wait<T>(
    timeout: Option<Duration>,
    cancel: &CancellationToken,
    must_finish: impl Fn() -> bool,
    mut work: Pin<&mut impl Future<Output = Result<T, CallError>>>,
) -> Result<T, CallError> {
    let time_is_up = async {
        match timeout {
            None => std::future::pending().await,
            Some(limit) => {
                time::sleep(limit).await;
                limit
            }
        }
    };
    let ended = tokio::select! {
        result = work.as_mut() => return result,
        limit = time_is_up => Ended::CallerTimeout { limit },
        () = cancel.cancelled() => Ended::Cancelled,
    };
    if must_finish() { work.await } else { Err(CallError::Failed(ended.into())) }
}

impl From<Ended> for Failure {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::ToolTimeout { limit } => Failure::new(
                Code::Timeout,
                format!("the tool did not answer within {} ms and was stopped", limit.as_millis()),
            )
            .details(json!({"timeoutMs": limit.as_millis()})),
            Ended::CallerTimeout { limit } => Failure::new(
                Code::Timeout,
                format!("no answer within the {} ms that the caller gave", limit.as_millis()),
            )
            .details(json!({"timeoutMs": limit.as_millis()})),
            Ended::Cancelled => Failure::new(Code::Unavailable, "the caller cancelled the call"),
            Ended::Panicked => {
                Failure::new(Code::Internal, "the tool crashed; its trace id is in the log")
                    .with_unknown_effect()
            }
        }
    }
}
