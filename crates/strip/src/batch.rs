//! A batch of calls: a whole turn of a model at once. Calls that do not depend on each other run concurrently, each
//! enters at the top of the stack, and the call that ends the run comes last whatever its position.

mod plan;

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use proto::{Blame, Code, Failure, Meta, TraceId};
use serde_json::json;

use plan::Plan;
pub use plan::{Batch, BatchCall, MAX_CALLS};

use crate::runs::RunOf;
use crate::servers::ClientIdentity;
use crate::{Answer, Reply, Request, Strip};

/// How many calls of a batch run at once.
const MAX_CONCURRENT: usize = 8;

/// The answers of a batch.
#[derive(Debug)]
pub struct BatchAnswer {
    /// The name or id of the run that the calls belong to.
    pub run: String,
    /// The answers in the order of the calls, each with its call's id.
    pub answers: Vec<(String, Answer)>,
}

/// The state of one call of a batch.
enum Progress {
    Waits,
    Runs,
    Done(Box<Answer>),
}

impl Strip {
    /// Runs a batch. The frame has the principal, the door and the run of all calls; each call gets its own trace. The
    /// whole batch is checked before anything runs.
    pub fn call_batch(
        &self,
        batch: Batch,
        frame: Request,
    ) -> BoxFuture<'_, Result<BatchAnswer, Failure>> {
        Box::pin(self.run_batch(batch, frame))
    }

    async fn run_batch(&self, batch: Batch, frame: Request) -> Result<BatchAnswer, Failure> {
        let view = self.view_of(&ClientIdentity::of(&frame));
        let plan = Plan::of(batch, view.tools())?;
        let mut frame = frame;
        let run = match &frame.run {
            RunOf::Alone => {
                let run = self.runs().begin_batch(&frame.principal, frame.trace.to_string());
                let called = run.called().to_owned();
                frame.run = RunOf::Joined(run);
                called
            }
            RunOf::Named(name) => name.to_string(),
            RunOf::Joined(run) => run.called().to_owned(),
            RunOf::Session(_) | RunOf::Current => String::new(),
        };
        let answers = self.run_plan(&plan, &frame).await;
        Ok(BatchAnswer { run, answers: plan.ids().zip(answers).collect() })
    }

    async fn run_plan(&self, plan: &Plan, frame: &Request) -> Vec<Answer> {
        let mut progress: Vec<_> = plan.calls.iter().map(|_| Progress::Waits).collect();
        let mut running = FuturesUnordered::new();
        let mut stopped = None;
        loop {
            // A call that is skipped may make others ready.
            while let Some((place, ready)) = plan.next(&progress, stopped) {
                match ready {
                    Err(because) => {
                        let answer = skipped(plan, place, because);
                        progress[place] = Progress::Done(Box::new(answer));
                    }
                    Ok(()) if running.len() < MAX_CONCURRENT => {
                        progress[place] = Progress::Runs;
                        let call = plan.calls[place].within(frame);
                        running.push(async move { (place, self.call(call).await) });
                    }
                    Ok(()) => break,
                }
            }
            let Some((place, answer)) = running.next().await else { break };
            let answer: Answer = answer;
            if answer.result.is_err() && plan.stop_on_error {
                stopped.get_or_insert(place);
            }
            progress[place] = Progress::Done(Box::new(answer));
        }
        let answers = progress.into_iter().enumerate().map(|(place, progress)| match progress {
            Progress::Done(answer) => *answer,
            // Not reached: the plan has no cycles, so every call is run or skipped.
            Progress::Waits | Progress::Runs => skipped(plan, place, place),
        });
        answers.collect()
    }
}

/// The answer of a call that was not run because of another.
fn skipped(plan: &Plan, place: usize, because: usize) -> Answer {
    let (call, cause) = (&plan.calls[place], &plan.calls[because].id);
    let depends = call.depends_on.contains(&because);
    let message = if depends {
        format!("not run: call `{cause}`, on which it depends, failed")
    } else {
        format!("not run: call `{cause}` failed, and the batch stops on errors")
    };
    let failure = Failure::new(Code::Unavailable, message)
        .blame(Blame::Caller)
        .retryable(false)
        .details(json!({"skipped": true, "because": cause}));
    Answer {
        result: Err(failure),
        native: None,
        reply: Reply::Done,
        references: Vec::new(),
        entry: None,
        meta: Meta {
            tool: call.tool.as_str().into(),
            version: Arc::default(),
            duration_ms: 0,
            trace_id: TraceId::random(),
            warnings: Vec::new(),
        },
    }
}
