//! The tool `research.execute`.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use dag::Dag;
use files::{FileRecord, Reference};
use proto::{Code, Digest, Failure, Principal, RequestedLimits, canonical, digest_of_parts, time};
use serde_json::Value;
use strip::asking::{OpenQuestion, can_ask};
use strip::files::check_storing;
use strip::typed::{About, TypedOutput, TypedTool};
use strip::waiting::{WaitOptions, longest_wait, wait_for};
use strip::{Job, Reply, Strip};
use tokio::time::Instant;
use uuid::Uuid;
use workflow::{Progress, StartOptions, Until, Workflows};

use super::answer::{Outcomes, ResearchOutput, TaskOutcome};
use super::dag::{Setting, dag};
use super::input::Input;
use crate::hitl::ask_caller;

const ID: &str = "research.execute";

/// The longest that one call waits for its report.
const TIMEOUT: Duration = Duration::from_secs(600);
/// How long a call waits after the workflow's own wait.
const LAST_MOMENT: Duration = Duration::from_secs(5);
/// How long a workflow may take to go on after an answer, before its questions are looked at again.
const AFTER_ANSWER: Duration = Duration::from_secs(1);
const MAX_BYTES: usize = 1 << 20;

/// The most reports that callers have not read yet and that a repeated call finds.
const MAX_UNREAD: usize = 10_000;

/// Starts research as a workflow and waits for it.
pub struct Execute {
    strip: Weak<Strip>,
    workflows: Workflows,
    /// The workflows that callers know of, and whose reports they have not read: by caller and request.
    unread: Mutex<HashMap<Digest, Uuid>>,
}

#[async_trait]
impl TypedTool for Execute {
    type Input = Input;
    type Output = ResearchOutput;

    fn about(&self) -> About {
        About {
            id: ID,
            title: "Research a topic",
            description: "Researches a topic and writes a report in which every sentence is cited, with outline, bibliography and \
                          mind map as files. Long work answers `running`: call again with the same topic or see the workflow.",
            deterministic: false,
            read_only: false,
            idempotent: false,
            open_world: true,
            limits: RequestedLimits {
                timeout: Some(TIMEOUT),
                max_input_bytes: Some(MAX_BYTES),
                max_output_bytes: Some(MAX_BYTES),
            },
        }
    }

    fn owns_keys(&self) -> bool {
        true
    }

    fn asks_people(&self) -> bool {
        true
    }

    async fn run(&self, input: Input, job: &Job) -> Result<TypedOutput<ResearchOutput>, Failure> {
        input.check()?;
        let request = job.request();
        let principal = &request.principal;
        check_storing(principal)?;
        // However long a caller waits, it asks for the same report.
        let asked = serde_json::to_value(Input { wait_ms: None, ..input.clone() });
        let asked = asked.map_err(|error| {
            Failure::new(Code::Internal, "the input is not JSON").caused_by(error)
        })?;
        let mark = mark_of(principal, &asked);
        let id = self.start(&input, asked, mark, job).await?;
        // A workflow cannot use the answer `running` of its task.
        let is_task = request.park.is_some();
        let wait = input.wait_ms.filter(|_| !is_task).map(Duration::from_millis);
        let longest = longest_wait(job, WaitOptions { asks: false, wait });
        let message = || format!("Researching (workflow {id})");
        // The workflow's own wait ends first.
        let limit = longest + LAST_MOMENT;
        let waited = wait_for(job, limit, message, self.finish(id, job, longest)).await;
        match waited.transpose()? {
            Some(Finish::Ended(answer)) => {
                self.unread().remove(&mark);
                let outcomes = self.outcomes(principal, id, &answer).await?;
                let data = ResearchOutput::complete(id.to_string(), &input, &outcomes)?;
                let references = self.links(&data, job).await?;
                Ok(TypedOutput { references, ..data.into() })
            }
            Some(Finish::Asks(open)) => {
                self.keep_unread(mark, id);
                Ok(open.output(ResearchOutput::running(id.to_string(), Vec::new())))
            }
            Some(Finish::Running) | None => {
                self.keep_unread(mark, id);
                let waits = self.waits_for(principal, id).await?;
                let data = ResearchOutput::running(id.to_string(), waits);
                Ok(TypedOutput { reply: Reply::Pending, ..data.into() })
            }
        }
    }
}

/// How the wait for a workflow ends.
enum Finish {
    Ended(Value),
    /// The caller's client has to ask its person.
    Asks(OpenQuestion),
    Running,
}

impl Execute {
    pub(crate) fn new(strip: Weak<Strip>, workflows: Workflows) -> Self {
        Self { strip, workflows, unread: Mutex::default() }
    }

    fn unread(&self) -> MutexGuard<'_, HashMap<Digest, Uuid>> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep_unread(&self, mark: Digest, id: Uuid) {
        let mut unread = self.unread();
        if unread.len() < MAX_UNREAD {
            unread.insert(mark, id);
        }
    }

    /// The artifacts as links, by which MCP clients read them.
    async fn links(&self, output: &ResearchOutput, job: &Job) -> Result<Vec<Reference>, Failure> {
        let Some(strip) = self.strip.upgrade() else { return Ok(Vec::new()) };
        let mut links = Vec::new();
        for artifact in output.report.iter().flat_map(|report| &report.artifacts) {
            let file = match strip.find_result(job, &artifact.file_id).await {
                Ok(file) => file,
                // An artifact may have expired since.
                Err(failure) if failure.code == Code::NotFound => continue,
                Err(failure) => return Err(failure),
            };
            let FileRecord { id, name, media_type, size, .. } = file;
            links.push(Reference { id, name, media_type, size });
        }
        Ok(links)
    }

    /// Where people answer what an unfinished workflow asks.
    async fn waits_for(&self, principal: &Principal, id: Uuid) -> Result<Vec<String>, Failure> {
        let Some(run) = self.workflows.run_of_unfinished(principal, id).await? else {
            return Ok(Vec::new());
        };
        if run.open_questions().is_empty() {
            return Ok(Vec::new());
        }
        let run = run.id();
        Ok(vec![format!(
            "It waits for a person's answer: on the page /dashboard/runs/{run} or with `powerstrip runs answer {run}`. \
             The same call goes on then."
        )])
    }

    /// Waits for the end of a workflow, and lets the caller's client show its questions meanwhile.
    async fn finish(&self, id: Uuid, job: &Job, longest: Duration) -> Result<Finish, Failure> {
        let strip = self.strip.upgrade().ok_or_else(stopping)?;
        let principal = &job.request().principal;
        let end = Instant::now() + longest;
        let asks = can_ask(job);
        let mut until = if asks { Until::Pause } else { Until::End };
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let wait = if asks && until == Until::End { left.min(AFTER_ANSWER) } else { left };
            match self.workflows.wait_for(principal, id, until, wait).await? {
                Progress::Ended(answer) => return Ok(Finish::Ended(answer)),
                _ if left.is_zero() => return Ok(Finish::Running),
                Progress::Running(_) => until = Until::Pause,
                Progress::Paused(_) => {
                    if let Some(run) = self.workflows.run_of_unfinished(principal, id).await?
                        && let Some(open) = ask_caller(strip.runs(), &run, job).await?
                    {
                        return Ok(Finish::Asks(open));
                    }
                    // The workflow needs a moment to take up an answer.
                    until = Until::End;
                }
            }
        }
    }

    /// The workflow of a request: the one that the caller knows of, one that is unfinished, or a new one.
    async fn start(
        &self,
        input: &Input,
        asked: Value,
        mark: Digest,
        job: &Job,
    ) -> Result<Uuid, Failure> {
        let strip = self.strip.upgrade().ok_or_else(stopping)?;
        let request = job.request();
        let id = Uuid::new_v4();
        let accessed = time::rfc3339(strip.clock().unix_ms());
        let (accessed, _) = accessed.split_once('T').unwrap_or((&accessed, ""));
        let collection = format!("run_{}", id.simple());
        let dag = dag(input, &Setting { collection: &collection, accessed });
        check_view(&strip, &request.principal, &dag)?;
        // The keys of other workflows are names of another kind.
        if let Some(key) = &request.idempotency_key {
            let key = Some(format!("{ID}/{key}"));
            let options = StartOptions { id: Some(id), idempotency_key: key, request: Some(asked) };
            return self.workflows.start_dag(&request.principal, dag, options).await;
        }
        let known = self.unread().get(&mark).copied();
        if let Some(known) = known {
            let now = Duration::ZERO;
            match self.workflows.wait_for(&request.principal, known, Until::Pause, now).await {
                // It has expired, or its answer has: the same request starts a new one.
                Err(failure) if failure.code == Code::NotFound => {
                    self.unread().remove(&mark);
                }
                _ => return Ok(known),
            }
        }
        let kind = format!("{ID} joined");
        self.workflows.start_or_join(&request.principal, dag, id, &kind, asked).await
    }

    /// What the tasks of an ended workflow have made.
    async fn outcomes(
        &self,
        principal: &Principal,
        id: Uuid,
        answer: &Value,
    ) -> Result<Outcomes, Failure> {
        let status = answer["status"].as_str().unwrap_or_default();
        let results = answer["results"].as_array().map(Vec::as_slice).unwrap_or_default();
        if status != "complete" {
            return Err(failed(id, status, results));
        }
        let mut outcomes = Outcomes::new();
        for result in results {
            let Some(task) = result["task_id"].as_str() else { continue };
            let items = result["items"].as_array().into_iter().flatten();
            let errors = items.chain(std::iter::once(result)).filter_map(error_of).collect();
            let output = self.workflows.task_output(principal, id, task).await?;
            outcomes.insert(task.to_owned(), TaskOutcome { output, errors });
        }
        Ok(outcomes)
    }
}

/// The request of a caller, among those of all callers.
fn mark_of(principal: &Principal, asked: &Value) -> Digest {
    let agent = principal.agent.as_deref().unwrap_or_default();
    let caller = [principal.tenant.as_str(), principal.subject.as_str(), agent];
    digest_of_parts([
        caller[0].as_bytes(),
        caller[1].as_bytes(),
        caller[2].as_bytes(),
        &canonical::bytes(asked),
    ])
}

fn error_of(result: &Value) -> Option<String> {
    result["error"]["message"].as_str().map(str::to_owned)
}

/// The failure of a workflow that has no report.
fn failed(id: Uuid, status: &str, results: &[Value]) -> Failure {
    let first = results.iter().find(|result| !result["error"].is_null());
    let task = first.map_or("", |result| result["task_id"].as_str().unwrap_or_default());
    let error = first.and_then(error_of).unwrap_or_default();
    let code = first.and_then(|result| {
        // may fail: the code of another version is unknown here.
        serde_json::from_value(result["error"]["code"].clone()).ok()
    });
    let message = match first {
        Some(_) => format!("the research {status} at `{task}`: {error}"),
        None => format!("the research was {status}"),
    };
    let details = serde_json::json!({"workflow_id": id.to_string(), "task_id": task});
    Failure::new(code.unwrap_or(Code::Unavailable), message).details(details).retryable(false)
}

/// Checks that the caller may use every tool of the workflow.
fn check_view(strip: &Strip, principal: &Principal, dag: &Dag) -> Result<(), Failure> {
    let view = strip.view(principal);
    let mut missing: Vec<&str> = dag
        .tasks
        .iter()
        .filter_map(|task| task.tool.as_deref())
        .filter(|tool| view.tools().resolve_without_hint(tool).is_err())
        .collect();
    missing.dedup();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!(
        "research needs tools that this caller may not use: {}; the guide's page on research has a skill with all of them",
        missing.join(", ")
    );
    let details = serde_json::json!({"missing": missing});
    Err(Failure::new(Code::Unsupported, message).details(details))
}

fn stopping() -> Failure {
    Failure::new(Code::Unavailable, "the gateway is stopping")
}
