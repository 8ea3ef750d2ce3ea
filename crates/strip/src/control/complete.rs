use std::sync::Weak;
use std::time::Duration;

use async_trait::async_trait;
use proto::{Code, Descriptor, FileKind, RequestedLimits};
use serde_json::{Value, json};

use super::context::{Context, check, run_of};
use super::sheet::Sheet;
use crate::tool::Part;
use crate::{Failure, Job, Output, Tool};

pub(super) const ID: &str = "powerstrip:complete_workflow";

/// How long no call may have come before a run ends. The calls of one turn of a model come at once, and this one may
/// overtake the others on its way.
const LULL: Duration = Duration::from_millis(60);

/// How long it waits for calls in flight unless the caller has less time.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Ends a run.
pub(super) struct CompleteWorkflow {
    descriptor: Descriptor,
    context: Weak<Context>,
}

impl CompleteWorkflow {
    pub(super) fn new(context: Weak<Context>) -> Self {
        let descriptor = Sheet {
            id: ID,
            title: "Complete the workflow",
            description: "Ends this run with a summary and the ids of its artifacts. Call it once, when all is done: \
                          it waits for the run's calls in flight, and calls after it are refused.",
            input: json!({
                "type": "object",
                "properties": {
                    "summary": {
                        "type": "string",
                        "description": "What was done, for the person who reads it.",
                        "minLength": 1,
                        "maxLength": 20_000,
                    },
                    "artifacts": {
                        "type": "array",
                        "description": "The `file_id`s that store_artifact gave.",
                        "items": {"type": "string", "minLength": 1, "maxLength": 200},
                        "maxItems": 100,
                        "uniqueItems": true,
                        "default": [],
                    },
                },
                "required": ["summary"],
                "additionalProperties": false,
            }),
            limits: RequestedLimits { timeout: Some(TIMEOUT), ..RequestedLimits::default() },
            idempotent: false,
        }
        .descriptor();
        Self { descriptor, context }
    }
}

#[async_trait]
impl Tool for CompleteWorkflow {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn part(&self) -> Part {
        Part::End
    }

    async fn run(&self, job: &Job) -> Result<Output, Failure> {
        let request = &job.request;
        let context = Context::upgrade(&self.context)?;
        let run = run_of(request)?;
        let summary = request.input["summary"].as_str().unwrap_or_default();
        let listed = request.input["artifacts"].as_array().map_or(&[][..], Vec::as_slice);
        let artifacts: Vec<&str> = listed.iter().filter_map(Value::as_str).collect();
        let mut faults = Vec::new();
        for id in &artifacts {
            match context.files.find(&request.principal, id).await {
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
        let timeout = request.timeout.unwrap_or(TIMEOUT).mul_f32(0.9);
        match tokio::time::timeout(timeout, run.complete_when_idle(LULL.min(timeout / 4), summary))
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
        context.runs.completed(run, &artifacts).await?;
        Ok(Output::new(json!({
            "status": "completed",
            "run_id": run.called(),
            "summary": summary,
            "artifacts": artifacts,
            "data_tools": run.data_tools(),
        })))
    }
}
