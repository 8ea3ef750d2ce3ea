//! Says that a call waits for approval, and ends the wait when the caller's time is up.

use std::sync::Arc;
use std::time::Duration;

use gateway::waiting::{FindWaiting, MadeCall, WaitingCall};
use proto::{Code, Envelope, Failure, Meta, TraceId};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use crate::access::Access;
use remote::Invocation;
use terminal::{Style, shown, time};

/// When the gateway is first asked whether the call waits; most calls are answered before.
const FIRST_LOOK: Duration = Duration::from_millis(300);

/// The longest time between two looks.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// How long after its time a call that does not wait for approval may be answered: the gateway ends it itself.
const GRACE: Duration = Duration::from_secs(3);

/// Prints where to decide about the call if it waits for approval. Ends only when the caller's time is up, with the
/// answer that the caller gets instead.
pub(super) async fn watch(access: &Access, invocation: &Invocation, style: Style) -> Envelope {
    let began = Instant::now();
    let deadline = invocation.timeout.map(|timeout| began + timeout);
    let mut found: Option<WaitingCall> = None;
    let mut pause = FIRST_LOOK;
    loop {
        let last = deadline.map(|deadline| match found {
            Some(_) => deadline,
            None if Instant::now() < deadline => deadline,
            None => deadline + GRACE,
        });
        let next = Instant::now() + pause;
        sleep_until(last.map_or(next, |last| last.min(next))).await;
        pause = (pause * 2).min(MAX_PAUSE);
        if found.is_none() {
            found = look(access, invocation).await;
            if let Some(waiting) = &found {
                announce(waiting, style);
            }
        }
        let Some(deadline) = deadline.filter(|deadline| Instant::now() >= *deadline) else {
            continue;
        };
        let failure = match &found {
            Some(waiting) => waited(waiting, began.elapsed()),
            None if Instant::now() >= deadline + GRACE => {
                let message = format!("no answer within {} ms", began.elapsed().as_millis());
                Failure::new(Code::Timeout, message)
            }
            None => continue,
        };
        return envelope(invocation, &failure, began);
    }
}

/// The approval that the call waits for. A gateway that cannot be asked is not: the call itself goes on.
async fn look(access: &Access, invocation: &Invocation) -> Option<WaitingCall> {
    let call = MadeCall { tool: invocation.tool.clone(), input: invocation.input.clone() };
    access.run_unsettled::<FindWaiting>(&call).await.ok().flatten()
}

fn announce(waiting: &WaitingCall, style: Style) {
    let (tool, id) = (shown(&waiting.tool), shown(&waiting.id));
    let left = time::left(waiting.deadline_unix_ms);
    let waits = style.doubtful("waiting for approval");
    terminal::note(format_args!("{waits} of {tool}: without a decision it is rejected in {left}"));
    if let Some(url) = &waiting.url {
        terminal::note(format_args!("  decide at   {}", shown(url)));
    }
    let brief = id.get(..8).unwrap_or(&id);
    terminal::note(format_args!("  or run      powerstrip approvals approve {brief}"));
    terminal::note(format_args!("              powerstrip approvals reject {brief}"));
}

fn waited(waiting: &WaitingCall, after: Duration) -> Failure {
    let message = format!(
        "no person decided about the call within {} ms, so it was not run; its approval {} stays pending: once it is \
         approved, the same call runs without asking again",
        after.as_millis(),
        waiting.id
    );
    Failure::new(Code::Timeout, message)
        .retryable(true)
        .details(json!({"approval": waiting.id, "url": waiting.url}))
}

fn envelope(invocation: &Invocation, failure: &Failure, began: Instant) -> Envelope {
    Envelope {
        ok: false,
        data: Arc::new(Value::Null),
        meta: Meta {
            tool: invocation.tool.as_str().into(),
            version: Arc::default(),
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            trace_id: TraceId::random(),
            warnings: Vec::new(),
        },
        errors: vec![failure.item()],
    }
}
