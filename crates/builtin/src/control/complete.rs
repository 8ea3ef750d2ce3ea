use std::sync::Weak;
use std::time::Duration;

use async_trait::async_trait;
use proto::{Code, Failure, FileKind, RequestedLimits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use strip::asking::run_of;
use strip::files::find_readable;
use strip::typed::{About, TypedOutput, TypedTool};
use strip::{Job, Part, Strip};

use super::faults::check;
use crate::owner::upgrade;

pub(super) const ID: &str = "powerstrip:complete_workflow";

/// How long no call may have come before a run ends. The calls of one turn of a model come at once, and this one may
/// overtake the others on its way.
const LULL: Duration = Duration::from_millis(60);

/// How long it waits for calls in flight unless the caller has less time.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Ends a run.
pub(super) struct CompleteWorkflow {
    pub(super) strip: Weak<Strip>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(min = 1, max = 20_000))]
    summary: String,
    /// `file_id`s
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(min = 1, max = 200)), extend("uniqueItems" = true))]
    artifacts: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct CompletedRun {
    /// `completed`.
    status: &'static str,
    run_id: String,
    summary: String,
    /// The ids of its files.
    artifacts: Vec<String>,
    /// How many data tools completed in the run.
    data_tools: u64,
}

#[async_trait]
impl TypedTool for CompleteWorkflow {
    type Input = Input;
    type Output = CompletedRun;

    fn about(&self) -> About {
        About {
            id: ID,
            title: "Complete the workflow",
            description: "Ends this run. Call it once, when all is done: later calls are refused.",
            deterministic: false,
            read_only: false,
            // A repeated call is refused, and in a workflow it gets the same answer.
            idempotent: true,
            open_world: false,
            limits: RequestedLimits { timeout: Some(TIMEOUT), ..RequestedLimits::default() },
        }
    }

    fn part(&self) -> Part {
        Part::End
    }

    async fn run(
        &self,
        Input { summary, artifacts }: Input,
        job: &Job,
    ) -> Result<TypedOutput<CompletedRun>, Failure> {
        let request = job.request();
        let strip = upgrade(&self.strip)?;
        let run = run_of(job)?;
        let mut faults = Vec::new();
        for id in &artifacts {
            match find_readable(strip.files(), &request.principal, id).await {
                Ok(file) if file.kind == FileKind::Reference => faults.push(format!(
                    "`{id}` is a reference, which is kept for a while only; store_artifact makes a file of it"
                )),
                Ok(_) => {}
                Err(failure) if failure.code == Code::NotFound => faults.push(failure.message),
                Err(failure) => return Err(failure),
            }
        }
        check(&faults)?;

        // A little less than the guards would wait, so that the caller learns which calls are still in flight.
        let timeout = job.timeout.unwrap_or(TIMEOUT).min(job.time_limit).mul_f32(0.9);
        match tokio::time::timeout(timeout, run.complete_when_idle(LULL.min(timeout / 4), &summary))
            .await
        {
            Ok(completed) => completed?,
            Err(_elapsed) => {
                let tools = run.in_flight();
                let message = format!(
                    "calls of the run `{}` were still in flight after {} ms, so it is not completed; wait for them and \
                     call this again",
                    run.called(),
                    timeout.as_millis()
                );
                return Err(
                    Failure::new(Code::Timeout, message).details(json!({"in_flight": tools}))
                );
            }
        }
        let listed: Vec<_> = artifacts.iter().map(String::as_str).collect();
        strip.runs().completed(run, &listed).await?;
        Ok(CompletedRun {
            status: "completed",
            run_id: run.called().to_owned(),
            summary,
            artifacts,
            data_tools: run.data_tools(),
        }
        .into())
    }
}
