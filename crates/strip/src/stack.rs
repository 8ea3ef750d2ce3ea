//! The one order in which every call, whatever its door, passes the guards.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{Code, Digest, Failure, Meta, clean};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::agents::ApprovalRule;
use crate::approval::{Grant, run_to_end};
use crate::catalog::Entry;
use crate::client::{Client, TaskClient, ToolClient};
use crate::guard::approval::{Gate, Passage, check_wanted};
use crate::guard::arguments::Arguments;
use crate::guard::audit::{Begin, Content, Decision, OpenRow};
use crate::guard::idempotency::{CallError, Idempotency, Key, ToolResult};
use crate::guard::{deadline, determinism, shape, size};
use crate::guards::Guards;
use crate::resolve::Resolved;
use crate::runs::{Repeated, RunOf, Ticket, park_questions, repeat};
use crate::stop::Stop;
use crate::{Answer, Door, Job, Output, Park, Reply, Request};

/// How much longer than its caller's timeout a tool that steers may take: it keeps to the timeout itself, and has an answer
/// when it ends.
const GRACE: Duration = Duration::from_secs(5);

/// A call that all guards before idempotency have admitted.
struct Admission {
    entry: Arc<Entry>,
    key: Option<Key>,
    /// Set if a person had to approve the call.
    grant: Option<Arc<Grant>>,
}

/// A call whose audit row is open.
struct Call {
    job: Job,
    entry: Option<Arc<Entry>>,
    forwarder: Option<Arc<Entry>>,
    row: OpenRow,
    ticket: Option<Ticket>,
}

enum Admitted {
    Run(Admission),
    /// The caller is asked for its person's decision.
    Ask(Output),
}

impl Guards {
    /// audit ▸ admit ▸ rate ▸ size-in ▸ public schema ▸ run ▸ approval ▸ re-admit ▸ idempotency
    /// ▸ deadline[ files-in ▸ tool schema ▸ ⟨tool⟩ ▸ schema-out ▸ refs-out ▸ size-out ]
    pub(crate) async fn answer(self: &Arc<Self>, mut job: Job) -> Answer {
        if job.request.park.is_some() && job.request.client.is_none() {
            job.request.client = Some(TaskClient::shared());
        }
        let Resolved { forwarder, found } = self.resolve(&mut job.request).await;
        if let Ok(entry) = &found {
            shape::drop_optional_nulls(entry, &mut job.request.input);
            shape::drop_optional_empty_texts(entry, &mut job.request.input);
        }
        let arguments = Arguments::of(&job.request.input);
        let entry = found.as_ref().ok().map(Arc::clone);
        let mut row = self.audit.open(&job.request, &arguments, entry.as_ref());

        let mut ticket = None;
        let (result, decision, key) = match found {
            _ if self.audit.failing().is_some() => {
                (Err(self.unaccountable()), Decision::Refused, None)
            }
            Err(unknown) => {
                let refusal = self.rate().check(&job.request.principal, None).and(Err(unknown));
                (refusal, Decision::Refused, None)
            }
            Ok(entry) => match self.admit(&mut job, entry, &arguments, &mut ticket).await {
                Err(refusal) => (Err(refusal), Decision::Refused, None),
                Ok(Admitted::Ask(output)) => (Ok(output), Decision::Asked, None),
                Ok(Admitted::Run(admission)) if admission.grant.is_some() => {
                    let call = Call { job, entry, forwarder, row, ticket };
                    // An approval is not spent for nothing: the call goes on even if its caller leaves from here on.
                    let guards = Arc::clone(self);
                    let rest = async move { guards.run_and_close(call, admission).await };
                    return Box::pin(run_to_end(rest)).await;
                }
                Ok(Admitted::Run(admission)) => {
                    let key = admission.key.as_ref().map(Key::digest);
                    let (result, decision) = self.run(&job, admission, &mut row).await;
                    (result, decision, key)
                }
            },
        };
        let call = Call { job, entry, forwarder, row, ticket };
        self.close(call, result, decision, key).await
    }

    async fn run_and_close(&self, mut call: Call, admission: Admission) -> Answer {
        let key = admission.key.as_ref().map(Key::digest);
        let (result, decision) = self.run(&call.job, admission, &mut call.row).await;
        self.close(call, result, decision, key).await
    }

    /// Closes the audit row of a call and makes its answer.
    async fn close(
        &self,
        call: Call,
        mut result: Result<Output, Failure>,
        mut decision: Decision,
        key: Option<Digest>,
    ) -> Answer {
        let Call { job, entry, forwarder, row, ticket } = call;
        let began = row.began();
        if job.request.park.is_some()
            && let Ok(output) = &result
            && output.reply != Reply::Done
        {
            result = Box::pin(park_questions(&self.runs, &job.request, output.clone())).await;
        }
        let changes = entry.as_ref().is_some_and(|e| e.descriptor.side_effecting());
        let cancelled = result.is_err() && job.request.cancel.is_cancelled();
        if cancelled && self.stop.is_stopping() {
            (result, decision) = (Err(Stop::failure(changes)), Decision::Failed);
        } else if cancelled {
            // A dropped row says that the caller left.
            drop(row);
            return self.finish(&job.request, entry, forwarder, began, result);
        }
        // A workflow commits the result of its task, after this row and in the same writer.
        let wait = result.is_ok() && changes && job.request.door != Door::Workflow;
        let failure = result.as_ref().err();
        let content = self.audit.keeps_payloads().then(|| Content {
            arguments: &job.request.input,
            result: result.as_ref().ok().map(|output| &*output.data),
        });
        if let Err(unwritten) = row.close(decision, failure, content, wait).await {
            // A failed call keeps its own failure: it says more about what happened.
            result = result.and(Err(unwritten));
        }
        if let Some(entry) = &entry {
            if let Some(ticket) = ticket {
                ticket.close(&job.request, entry, decision, key, &result);
            }
            if result.is_ok() {
                let descriptor = &entry.descriptor;
                self.history.note(&job.request.principal, &descriptor.id);
                if descriptor.ui_resource().is_some()
                    && let Some(server) = entry.server()
                {
                    self.apps.note(&job.request, server);
                }
            }
        }
        self.finish(&job.request, entry, forwarder, began, result)
    }

    /// Everything before the look-up of a recorded answer. A person is asked only about a call that could run.
    async fn admit(
        &self,
        job: &mut Job,
        entry: Arc<Entry>,
        arguments: &Arguments,
        ticket: &mut Option<Ticket>,
    ) -> Result<Admitted, Failure> {
        self.check(&job.request, &entry, arguments)?;
        *ticket = Ticket::enter(&self.runs, &mut job.request, &entry).await?;
        if let Some(park) = job.request.park.clone()
            && let (Some(resume), RunOf::Joined(run)) = (&park.resume, &job.request.run)
        {
            match repeat(&self.runs, run, resume) {
                Repeated::Continue(resume) => job.request.resume = Some(Arc::new(resume)),
                // Its questions count from the first again, so that those that were answered are found.
                Repeated::Begin => {
                    let again = Park { resume: None, ..Park::clone(&park) };
                    job.request.park = Some(Arc::new(again));
                }
                Repeated::Wait(output) => return Ok(Admitted::Ask(output)),
            }
        }
        let rule = if entry.tool.part().steers() {
            ApprovalRule::Free
        } else {
            self.approval_rule(&entry.descriptor.id)
        };
        let rule = match job.request.park.as_ref().and_then(|park| park.timeout) {
            None => rule,
            Some(timeout) => rule.stricter(ApprovalRule::Asked { timeout }),
        };
        let (entry, grant) = match rule {
            ApprovalRule::Free => (entry, None),
            ApprovalRule::Asked { timeout } => {
                if job.request.verify {
                    return Err(determinism::refuse_gated());
                }
                let unavailable = || {
                    Failure::new(
                        Code::Denied,
                        "the call must be approved, and approvals are not set up",
                    )
                };
                let approvals = self.approvals.get().ok_or_else(unavailable)?;
                if job.request.idempotency_key.is_some()
                    && let Some(key) = Idempotency::key(&job.request, &entry, arguments)?
                {
                    Box::pin(self.idempotency.check_outcome(&key)).await?;
                }
                let shown = Box::pin(self.executor.shown_files(&entry, &job.request)).await?;
                job.shown_files = Some(shown);
                if let Some(client) = job.request.client.take() {
                    let client = Arc::new(ToolClient::new(client).trace_only());
                    job.request.client = Some(client as Arc<dyn Client>);
                }
                let revision = entry.tool.revision();
                let code = Box::pin(digest_code(&entry, &job.request)).await?;
                let gate = Gate { approvals, entry: &entry, revision, code, arguments, timeout };
                match Box::pin(gate.pass(job)).await? {
                    Passage::Asked(output) => return Ok(Admitted::Ask(output)),
                    Passage::Granted(grant) => {
                        job.approved_code = code;
                        (self.readmit(&job.request, &entry, revision)?, Some(grant))
                    }
                }
            }
        };
        let key = Idempotency::key(&job.request, &entry, arguments)?;
        if key.is_some()
            && job.request.idempotency_key.is_none()
            && job.shown_files.is_none()
            && entry.files.is_some()
        {
            // A recorded answer about a file is not given again when the file is gone.
            Box::pin(self.executor.shown_files(&entry, &job.request)).await?;
        }
        Ok(Admitted::Run(Admission { entry, key, grant }))
    }

    fn check(
        &self,
        request: &Request,
        entry: &Entry,
        arguments: &Arguments,
    ) -> Result<(), Failure> {
        self.rate().check(&request.principal, Some(entry))?;
        size::check_input(entry, arguments)?;
        shape::check_input(entry, &request.input)?;
        if request.verify {
            determinism::check_claimed(entry)?;
        }
        if request.door == Door::Workflow && !entry.tool.part().is_for_tasks() {
            let message = "a task of a workflow can call data and control-flow tools only";
            return Err(Failure::new(Code::InvalidInput, message));
        }
        Ok(())
    }

    /// Resolves the tool again after a person has decided: this caller must still have it, and it must be what they saw.
    fn readmit(
        &self,
        request: &Request,
        seen: &Entry,
        revision: u64,
    ) -> Result<Arc<Entry>, Failure> {
        let view = self.view_of_request(request);
        let entry = view.tools().resolve(&request.tool)?;
        if entry.definition != seen.definition || entry.tool.revision() != revision {
            let message = "the tool changed while a person decided about the call, so it was not run; call again to ask again";
            return Err(Failure::new(Code::Denied, message).retryable(true));
        }
        Ok(Arc::clone(entry))
    }

    async fn run(
        &self,
        job: &Job,
        admission: Admission,
        row: &mut OpenRow,
    ) -> (Result<Output, Failure>, Decision) {
        match self.begin(job, admission, row).await {
            Ok((output, decision)) => (Ok(output), decision),
            Err(CallError::Refused(failure)) => (Err(failure), Decision::Refused),
            Err(CallError::Failed(failure)) => (Err(failure), Decision::Failed),
        }
    }

    /// Records that a call begins which may change something, and runs it.
    async fn begin(
        &self,
        job: &Job,
        admission: Admission,
        row: &mut OpenRow,
    ) -> Result<(Output, Decision), CallError> {
        let begin = match &admission {
            Admission { grant: Some(_), .. } => Some(Begin::Durable),
            Admission { key: Some(key), .. } if key.is_durable() => Some(Begin::Queued),
            _ => admission.entry.descriptor.side_effecting().then_some(Begin::Trailing),
        };
        if let Some(begin) = begin {
            // Boxed to keep the future of read-only calls small.
            Box::pin(row.begin(begin)).await.map_err(CallError::Refused)?;
        }
        if admission.grant.is_some() {
            // Before the approval is spent: it must not run for a caller that has left.
            check_wanted(&job.request).map_err(CallError::Refused)?;
        }
        self.run_within_timeout(job, admission).await
    }

    async fn run_within_timeout(
        &self,
        job: &Job,
        admission: Admission,
    ) -> Result<(Output, Decision), CallError> {
        let Admission { entry, key, grant } = admission;
        let run = |job: Job| self.executor.run(job, &entry, grant.clone(), self.inline_limits());
        let work = pin!(async {
            match key {
                None => ran(run(job.clone()).await),
                // Boxed to keep the future of calls without a key small.
                Some(key) => Box::pin(self.run_once(job, key, run)).await,
            }
        });
        let grace = if entry.tool.part().steers() { GRACE } else { Duration::ZERO };
        let timeout = job.request.timeout.map(|timeout| timeout + grace);
        // Spending cannot be undone, so the tool runs if its caller cancels in that moment.
        let is_spending = || grant.as_ref().is_some_and(|grant| grant.is_being_spent());
        deadline::wait(timeout, &job.request.cancel, is_spending, work).await
    }

    /// The answer of a call that has a key: recorded, shared, or fresh.
    async fn run_once<W>(
        &self,
        job: &Job,
        key: Key,
        run: impl Fn(Job) -> W,
    ) -> Result<(Output, Decision), CallError>
    where
        W: Future<Output = ToolResult> + Send + 'static,
    {
        // Shared work must not end because the caller who began it cancelled.
        let mut unbound = job.clone();
        unbound.request.cancel = CancellationToken::new();
        if job.request.resume.is_some() {
            // A call that continues after a question is never answered from a record.
            return self.idempotency.alone(key, self.window(), run(unbound)).await;
        }
        let begin = || run(unbound.clone());
        let once = self.idempotency.once(key.clone(), self.window(), begin);
        let (mut output, mut decision) = once.await?;
        if decision == Decision::Shared && output.reply != Reply::Done {
            // A question to another caller is no answer to this one.
            let again = self.idempotency.alone(key, self.window(), run(job.clone()));
            (output, decision) = again.await?;
        }
        if job.request.verify && output.reply == Reply::Done {
            let (fresh, _) = ran(run(unbound).await)?;
            determinism::check_same(&output.data, &fresh.data).map_err(CallError::Failed)?;
        }
        Ok((output, decision))
    }

    /// Makes the answer, and counts and logs the call.
    fn finish(
        &self,
        request: &Request,
        entry: Option<Arc<Entry>>,
        forwarder: Option<Arc<Entry>>,
        began: Instant,
        result: Result<Output, Failure>,
    ) -> Answer {
        let duration = began.elapsed();
        let mut warnings = Vec::new();
        if let Some(entry) = &entry
            && let Some(newer) = entry.superseded_by
        {
            warnings.push(format!(
                "{} {} is deprecated; major {newer} replaces it",
                entry.descriptor.id, entry.descriptor.version
            ));
        }
        let native;
        let mut reply = Reply::Done;
        let mut references = Vec::new();
        let result: Result<Arc<Value>, Failure> = match result {
            Ok(output) => {
                warnings.extend(output.warnings);
                native = output.native;
                reply = output.reply;
                references = output.references;
                Ok(output.data)
            }
            Err(mut failure) => {
                let own =
                    |failure: &Failure| entry.as_ref()?.tool.native_failure(failure).map(Arc::new);
                native = failure.native.take().or_else(|| own(&failure));
                Err(failure)
            }
        };
        let outcome = result.as_ref().map_or_else(|failure| failure.code.as_str(), |_| "OK");
        self.metrics.count(entry.as_deref(), request.door, outcome, duration);
        if let Err(failure) = &result {
            // All of these texts may come from a caller or a server.
            let source = failure.source.as_ref().map(|source| clean::line(&source.to_string()));
            let source = source.as_ref().map(tracing::field::display);
            tracing::warn!(trace = %request.trace, tool = %clean::line(&request.tool), door = %request.door,
                code = %failure.code, blame = failure.blame.as_str(), source,
                "{}", clean::line(&failure.message));
        } else {
            tracing::debug!(trace = %request.trace, tool = %clean::line(&request.tool), door = %request.door, ?duration, "call answered");
        }
        let (tool, version) = match &entry {
            Some(entry) => (entry.descriptor.id.shared(), Arc::clone(&entry.version)),
            None => (request.tool.as_str().into(), Arc::default()),
        };
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let meta = Meta { tool, version, duration_ms, trace_id: request.trace, warnings };
        Answer { result, native, reply, references, entry: forwarder.or(entry), meta }
    }
}

/// The outcome of a run for this call alone.
fn ran(result: ToolResult) -> Result<(Output, Decision), CallError> {
    let (output, _) = result.map_err(CallError::Failed)?;
    Ok((output, Decision::Ran))
}

/// The digest of the code that the call would run, computed within the tool's timeout.
async fn digest_code(entry: &Entry, request: &Request) -> Result<Option<Digest>, Failure> {
    deadline::bound(entry.limits.timeout, None, pin!(entry.tool.code_digest(request))).await
}
