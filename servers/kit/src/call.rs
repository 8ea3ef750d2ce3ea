//! One call: validated, limited in time and size, with panics caught.

use std::io;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, JsonObject};
use serde::Serialize;
use tracing::Instrument;

use crate::cut::cut_longest_list;
use crate::tool::RegisteredTool;
use crate::{Code, Ctx, Fault, Limits};

/// Runs a tool and renders its result or failure.
pub(crate) async fn run(
    tool: &RegisteredTool,
    arguments: JsonObject,
    ctx: Ctx,
    limits: Limits,
) -> Result<CallToolResponse, ErrorData> {
    let started = Instant::now();
    let span = tracing::info_span!("call", tool = %tool.listing.name, traceparent = ctx.meta().get_traceparent());
    async {
        let outcome = attempt(tool, arguments, &ctx, limits).await;
        let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        match &outcome {
            Ok(_) => tracing::info!(micros, "answered"),
            Err(fault) => tracing::warn!(micros, %fault, "failed"),
        }
        outcome.or_else(|fault| Ok(fault.into_call_result()?.into()))
    }
    .instrument(span)
    .await
}

async fn attempt(
    tool: &RegisteredTool,
    arguments: JsonObject,
    ctx: &Ctx,
    limits: Limits,
) -> Result<CallToolResponse, Fault> {
    let running = tool.start(arguments, ctx.clone())?;
    let mut response = guard(running, ctx, tool.timeout.unwrap_or(limits.timeout)).await?;
    if let (CallToolResponse::Complete(result), Ok(store)) = (&mut response, ctx.references()) {
        let whole = std::mem::take(result);
        *result = cut_longest_list(whole, store).await?;
    }
    within(&response, limits.output_bytes)?;
    Ok(response)
}

/// Stops a handler at its timeout or when the caller cancels, and turns a panic into a failure.
pub(crate) async fn guard<T>(
    handler: impl Future<Output = Result<T, Fault>>,
    ctx: &Ctx,
    timeout: Duration,
) -> Result<T, Fault> {
    tokio::select! {
        biased;
        () = ctx.cancelled() => Err(Fault::new(Code::Unavailable, "the call was cancelled, or the server is stopping")),
        finished = tokio::time::timeout(timeout, AssertUnwindSafe(handler).catch_unwind()) => match finished {
            Ok(Ok(outcome)) => outcome,
            // The panic's text may hold the caller's data: it goes to stderr by the panic hook, not to the caller.
            Ok(Err(_panic)) => Err(Fault::internal("the tool panicked on this input")),
            Err(_elapsed) => Err(Fault::new(Code::Timeout, format!("no answer within {} ms", timeout.as_millis()))),
        },
    }
}

fn within(response: &CallToolResponse, limit: usize) -> Result<(), Fault> {
    let size = match response {
        CallToolResponse::Complete(result) => json_size(result),
        CallToolResponse::InputRequired(result) => json_size(result),
        CallToolResponse::Task(result) => json_size(result),
        _ => return Ok(()),
    }?;
    if size > limit {
        return Err(Fault::internal(format!("the answer has {size} bytes, {limit} are allowed"))
            .details(serde_json::json!({ "size": size, "limit": limit })));
    }
    Ok(())
}

/// Counts what serialising would write, without keeping it.
fn json_size(value: &impl Serialize) -> Result<usize, Fault> {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value)
        .map_err(|error| Fault::internal(format!("the answer is not JSON: {error}")))?;
    Ok(count.0)
}
