//! The one order in which every call, whatever its door, passes the guards.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{Code, Digest, Meta, clean};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::agents::ApprovalRule;
use crate::approval::Leave;
use crate::catalog::{Entry, Snapshot};
use crate::client::Terse;
use crate::control::Part;
use crate::guard::approval::{Gated, Passage};
use crate::guard::arguments::Arguments;
use crate::guard::audit::{Begin, OpenRow};
use crate::guard::idempotency::{Decision, Idempotency, Key, Unanswered, Worked};
use crate::guard::{deadline, determinism, shape, size};
use crate::runs::Ticket;
use crate::stop::Stop;
use crate::strip::Guards;
use crate::{Answer, Failure, Job, Output, Reply, Request, Strip};

/// How much longer than its caller's timeout a control-flow tool is waited for.
const GRACE: Duration = Duration::from_secs(5);

impl Guards {
    /// audit ▸ admit ▸ rate ▸ size-in ▸ public schema ▸ run ▸ approval ▸ re-admit ▸ idempotency
    /// ▸ deadline[ files-in ▸ tool schema ▸ ⟨tool⟩ ▸ schema-out ▸ refs-out ▸ size-out ]
    pub(crate) async fn pass(&self, strip: &Strip, mut job: Job) -> Answer {
        let view = strip.view(&job.request.principal);
        let found = meant(view.tools(), &mut job.request);
        let arguments = Arguments::of(&job.request.input);
        let entry = found.as_ref().ok().map(|entry| Arc::clone(entry));
        let mut row = self.audit.open(&job.request, &arguments, entry.as_ref());
        let began = row.began();

        let (mut ticket, mut key) = (None, None);
        let (mut result, mut decision) = match found.map(Arc::clone) {
            _ if self.audit.failing().is_some() => (Err(self.unaccountable()), Decision::Refused),
            Err(unknown) => {
                let refusal = self.rate().check(&job.request.principal, None).and(Err(unknown));
                (refusal, Decision::Refused)
            }
            Ok(entry) => match self.let_in(strip, &mut job, entry, &arguments, &mut ticket).await {
                Err(refusal) => (Err(refusal), Decision::Refused),
                Ok(Admitted::Asked(output)) => (Ok(output), Decision::Asked),
                Ok(Admitted::To(place)) => {
                    key = place.key.as_ref().map(Key::sum);
                    match self.begun(&job, place, &mut row).await {
                        Ok((output, decision)) => (Ok(output), decision),
                        Err(Unanswered::Refused(failure)) => (Err(failure), Decision::Refused),
                        Err(Unanswered::Failed(failure)) => (Err(failure), Decision::Failed),
                    }
                }
            },
        };

        let changes = entry.as_ref().is_some_and(|e| e.descriptor.side_effecting());
        let cancelled = result.is_err() && job.request.cancel.is_cancelled();
        if cancelled && self.stop.is_stopping() {
            (result, decision) = (Err(Stop::failure(changes)), Decision::Failed);
        } else if cancelled {
            // Its row says that the caller left.
            drop(row);
            return self.answer(&job.request, entry.as_deref(), began, result);
        }
        let wait = result.is_ok() && changes;
        let failure = result.as_ref().err();
        if let Err(unwritten) = row.close(decision, failure, wait).await {
            // A failed call keeps its own failure: it says more about what happened.
            result = result.and(Err(unwritten));
        }
        if let Some(ticket) = ticket
            && let Some(entry) = &entry
        {
            ticket.close(&job.request, entry.descriptor.id.as_str(), (decision, key), &result);
        }
        if result.is_ok()
            && let Some(entry) = &entry
        {
            self.usage.note(&job.request.principal, &entry.descriptor.id);
        }
        self.answer(&job.request, entry.as_deref(), began, result)
    }

    /// All that happens before a recorded answer is looked for. A person is asked only about a call that could run.
    async fn let_in(
        &self,
        strip: &Strip,
        job: &mut Job,
        entry: Arc<Entry>,
        arguments: &Arguments,
        ticket: &mut Option<Ticket>,
    ) -> Result<Admitted, Failure> {
        self.checked(&job.request, &entry, arguments)?;
        *ticket = self.runs.enter(&mut job.request, &entry).await?;
        // The gateway's own tools ask people, or ask nothing of them.
        let rule = match Part::of(&entry.descriptor.id).is_control() {
            true => ApprovalRule::Free,
            false => strip.approval_rule(&entry.descriptor.id),
        };
        let (entry, leave) = match rule {
            ApprovalRule::Free => (entry, None),
            ApprovalRule::Asked { timeout } => {
                if job.request.verify {
                    return Err(determinism::refuse_gated());
                }
                let nobody = || {
                    Failure::new(Code::Denied, "the call must be approved, and nobody can be asked")
                };
                let approvals = self.approvals.get().ok_or_else(nobody)?;
                if job.request.idempotency_key.is_some()
                    && let Some(key) = Idempotency::key(&job.request, &entry, arguments)?
                {
                    Box::pin(self.idempotency.check_outcome(&key)).await?;
                }
                job.shown_files = Some(Box::pin(self.bench.shown(&entry, &job.request)).await?);
                // What a reviewer does not see, the tool does not, either.
                job.request.client = job.request.client.take().map(Terse::of);
                let revision = entry.tool.revision();
                let code = Box::pin(code_of(&entry, &job.request)).await?;
                let gated = Gated { approvals, entry: &entry, revision, code, arguments, timeout };
                match Box::pin(gated.passage(job)).await? {
                    Passage::Asked(output) => return Ok(Admitted::Asked(output)),
                    Passage::Granted(leave) => {
                        job.approved_code = code;
                        (readmitted(strip, &job.request, (&entry, revision))?, Some(leave))
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
            // What was once answered about a file is not said again when the file is gone.
            Box::pin(self.bench.shown(&entry, &job.request)).await?;
        }
        Ok(Admitted::To(Place { entry, key, leave }))
    }

    fn checked(&self, call: &Request, entry: &Entry, arguments: &Arguments) -> Result<(), Failure> {
        self.rate().check(&call.principal, Some(entry))?;
        size::check_input(entry, arguments)?;
        shape::check_input(entry, &call.input)?;
        if call.verify {
            determinism::check_claimed(entry)?;
        }
        Ok(())
    }

    /// Notes that a call begins which may change something, and answers it.
    async fn begun(
        &self,
        job: &Job,
        place: Place,
        row: &mut OpenRow<'_>,
    ) -> Result<(Output, Decision), Unanswered> {
        let begin = match &place {
            Place { leave: Some(_), .. } => Some(Begin::Durable),
            Place { key: Some(key), .. } if key.is_durable() => Some(Begin::Queued),
            _ => place.entry.descriptor.side_effecting().then_some(Begin::Trailing),
        };
        if let Some(begin) = begin {
            // Boxed to keep the future of read-only calls small.
            Box::pin(row.begin(begin)).await.map_err(Unanswered::Refused)?;
        }
        self.answered(job, place).await
    }

    async fn answered(&self, job: &Job, place: Place) -> Result<(Output, Decision), Unanswered> {
        let Place { entry, key, leave } = place;
        let worked = |job: Job| self.worked(job, &entry, leave.clone());
        let work = pin!(async {
            match key {
                None => ran(worked(job.clone()).await),
                // Boxed, as is all that few calls need: every call would carry the room for it.
                Some(key) => Box::pin(self.answered_once(job, key, worked)).await,
            }
        });
        // A control-flow tool keeps to the caller's timeout itself, and has something to say when it ends.
        let control = Part::of(&entry.descriptor.id).is_control();
        let timeout = job.request.timeout.map(|limit| if control { limit + GRACE } else { limit });
        deadline::patient(timeout, &job.request.cancel, work).await
    }

    /// The answer of a call that has a key: recorded, shared, or fresh.
    async fn answered_once<W>(
        &self,
        job: &Job,
        key: Key,
        worked: impl Fn(Job) -> W,
    ) -> Result<(Output, Decision), Unanswered>
    where
        W: Future<Output = Worked> + Send + 'static,
    {
        // Shared work must not end because the caller who began it cancelled.
        let mut unbound = job.clone();
        unbound.request.cancel = CancellationToken::new();
        if job.request.resume.is_some() {
            // It was let in as a first call; it goes on where it was interrupted.
            return self.idempotency.alone(key, self.window(), worked(unbound)).await;
        }
        let begin = || worked(unbound.clone());
        let once = self.idempotency.once(key.clone(), self.window(), begin);
        let (mut output, mut decision) = once.await?;
        if decision == Decision::Shared && output.reply != Reply::Done {
            // What another caller was asked says nothing to this one.
            let again = self.idempotency.alone(key, self.window(), worked(job.clone()));
            (output, decision) = again.await?;
        }
        if job.request.verify && output.reply == Reply::Done {
            let (fresh, _) = ran(worked(unbound).await)?;
            determinism::check_same(&output.data, &fresh.data).map_err(Unanswered::Failed)?;
        }
        Ok((output, decision))
    }

    pub(crate) fn unaccountable(&self) -> Failure {
        let why = self.audit.failing().unwrap_or_default();
        Failure::new(
            Code::Unavailable,
            format!("the audit trail cannot be written ({why}), so nothing is run until it can"),
        )
    }

    fn answer(
        &self,
        call: &Request,
        entry: Option<&Entry>,
        began: Instant,
        result: Result<Output, Failure>,
    ) -> Answer {
        let duration = began.elapsed();
        let mut warnings = Vec::new();
        if let Some(entry) = entry
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
                native = failure.native.take();
                Err(failure)
            }
        };
        let outcome = result.as_ref().map_or_else(|failure| failure.code.as_str(), |_| "OK");
        self.meter.count(entry, call.door, outcome, duration);
        if let Err(failure) = &result {
            // A caller's or a server's words may be in all of them.
            let source = failure.source.as_ref().map(|source| clean::line(&source.to_string()));
            let source = source.as_ref().map(tracing::field::display);
            tracing::warn!(trace = %call.trace, tool = %clean::line(&call.tool), door = %call.door,
                code = %failure.code, blame = failure.blame.as_str(), source,
                "{}", clean::line(&failure.message));
        } else {
            tracing::debug!(trace = %call.trace, tool = %clean::line(&call.tool), door = %call.door, ?duration, "call answered");
        }
        Answer {
            result,
            native,
            reply,
            references,
            meta: Meta {
                tool: entry.map_or_else(
                    || call.tool.as_str().into(),
                    |entry| entry.descriptor.id.shared(),
                ),
                version: entry.map(|entry| Arc::clone(&entry.version)).unwrap_or_default(),
                duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
                trace_id: call.trace,
                warnings,
            },
        }
    }
}

/// The outcome of work that was done for this call alone.
fn ran(worked: Worked) -> Result<(Output, Decision), Unanswered> {
    let (output, _) = worked.map_err(Unanswered::Failed)?;
    Ok((output, Decision::Ran))
}

/// Finds the tool of a call. A call that stands for another becomes that other, once: no tool is a way round a guard.
fn meant<'a>(snapshot: &'a Snapshot, call: &mut Request) -> Result<&'a Arc<Entry>, Failure> {
    let entry = snapshot.resolve(&call.tool)?;
    let Some((tool, input)) = entry.tool.stands_for(&call.input) else { return Ok(entry) };
    call.tool = tool;
    call.input = Arc::new(input);
    snapshot.resolve(&call.tool)
}

/// A call that got as far as its tool, and what it brings.
struct Place {
    entry: Arc<Entry>,
    key: Option<Key>,
    /// A person's leave, where one is needed.
    leave: Option<Arc<Leave>>,
}

enum Admitted {
    To(Place),
    /// The caller is asked for its person's decision.
    Asked(Output),
}

/// The digest of the code that the call would run, within the tool's own time.
async fn code_of(entry: &Entry, call: &Request) -> Result<Option<Digest>, Failure> {
    deadline::bound(entry.limits.timeout, None, pin!(entry.tool.code_digest(call))).await
}

/// The tool once more, after a person has thought: it must still be there for this caller, and be what they saw.
fn readmitted(
    strip: &Strip,
    call: &Request,
    (seen, revision): (&Entry, u64),
) -> Result<Arc<Entry>, Failure> {
    let view = strip.view(&call.principal);
    let entry = view.tools().resolve(&call.tool)?;
    if entry.definition != seen.definition || entry.tool.revision() != revision {
        let message = "the tool changed while a person thought about the call, so it was not run; call again to ask anew";
        return Err(Failure::new(Code::Denied, message).retryable(true));
    }
    Ok(Arc::clone(entry))
}
