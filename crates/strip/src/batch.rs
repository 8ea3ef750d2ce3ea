//! A batch of calls: whole turns of a model at once. Calls that do not depend on each other run side by side, each
//! enters at the top of the stack, and what ends the run comes last wherever it stood.

mod plan;

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use proto::{Blame, Code, Meta, TraceId};
use serde_json::json;

use plan::Plan;
pub use plan::{Batch, BatchCall, MAX_CALLS};

use crate::runs::RunOf;
use crate::{Answer, Failure, Reply, Request, Strip};

/// So many calls of a batch run at once.
const MAX_ABREAST: usize = 8;

/// What became of a batch.
#[derive(Debug)]
pub struct BatchAnswer {
    /// What the run that the calls belong to can be named by.
    pub run: String,
    /// The answers in the order in which the calls were asked, each with its call's id.
    pub answers: Vec<(String, Answer)>,
}

/// How far a call of the batch is.
enum Progress {
    Waits,
    Runs,
    Done(Box<Answer>),
}

impl Strip {
    /// Runs a batch. The call given with it says who asks, by which door, in which run, and under which trace: each call
    /// has one of its own. All that is wrong with the batch is told before anything runs.
    pub async fn call_batch(&self, batch: Batch, frame: Request) -> Result<BatchAnswer, Failure> {
        let view = self.view(&frame.principal);
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
        let answers = self.carried_out(&plan, &frame).await;
        Ok(BatchAnswer { run, answers: plan.ids().zip(answers).collect() })
    }

    async fn carried_out(&self, plan: &Plan, frame: &Request) -> Vec<Answer> {
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
                    Ok(()) if running.len() < MAX_ABREAST => {
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
            // The plan has no circles, so every call comes to its turn.
            Progress::Waits | Progress::Runs => skipped(plan, place, place),
        });
        answers.collect()
    }
}

/// The answer to a call that was not begun because of another.
fn skipped(plan: &Plan, place: usize, because: usize) -> Answer {
    let (call, cause) = (&plan.calls[place], &plan.calls[because].id);
    let depends = call.depends_on.contains(&because);
    let message = match depends {
        true => format!("not run: call `{cause}`, on which it depends, failed"),
        false => format!("not run: call `{cause}` failed, and the batch stops on errors"),
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
