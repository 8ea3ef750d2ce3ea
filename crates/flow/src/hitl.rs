//! What people decide: they review outlines and complete lists of questions, as Markdown that they may edit freely.

mod adopt;
mod asked;
mod changes;
mod markdown;
mod merge;
mod merge_tool;
mod regroup;
mod review;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use proto::Failure;
use runs::{Run, Runs};
use strip::asking::{Asked, OpenQuestion, Question, can_ask};
use strip::typed::typed;
use strip::{Job, Tool};

pub use adopt::adopt;
pub use changes::{Change, ChangeOp, changes};
pub use markdown::{Draft, DraftSection, OutlineFault, parse, publish, render};
pub use merge::{MergedQuestion, Origin, merge};

/// Shows the caller's client the open questions of a workflow's run, one after the other. Returns what the caller is asked
/// with the answer to this call, or none if nothing is left to ask or the client cannot show questions.
pub async fn ask_caller(
    runs: &Runs,
    run: &Arc<Run>,
    job: &Job,
) -> Result<Option<OpenQuestion>, Failure> {
    if !can_ask(job) {
        return Ok(None);
    }
    for row in run.open_questions() {
        if let Asked::Open(open) = Question::of_run(runs, run, job, row).wait().await? {
            return Ok(Some(open));
        }
    }
    Ok(None)
}

/// The tools that ask people. From now on runs check the answers to their questions.
pub fn tools(runs: &Runs) -> Vec<Arc<dyn Tool>> {
    asked::register(runs);
    vec![
        typed(review::ReviewOutline { runs: runs.clone() }),
        typed(merge_tool::MergeQuestions { runs: runs.clone() }),
    ]
}
