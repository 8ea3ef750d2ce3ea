//! The one order in which every call, whatever its door, passes the guards.

use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{Code, Meta};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::catalog::{Entry, Snapshot};
use crate::client::{Client, Thinking};
use crate::control::Part;
use crate::guard::arguments::Arguments;
use crate::guard::idempotency::{Decision, Idempotency, Key, Unanswered, Worked};
use crate::guard::{deadline, determinism, shape, size};
use crate::strip::Guards;
use crate::{Answer, Call, Failure, Output, Reply};

/// How much longer than its caller's patience a control-flow tool is waited for.
const GRACE: Duration = Duration::from_secs(5);

impl Guards {
    /// audit ▸ admit ▸ rate ▸ size-in ▸ schema-in ▸ run ▸ idempotency ▸ deadline[ ⟨tool⟩ ▸ schema-out ▸ size-out ]
    pub(crate) async fn pass(&self, snapshot: &Snapshot, mut call: Call) -> Answer {
        let found = meant(snapshot, &mut call);
        let arguments = Arguments::of(&call.input);
        let entry = found.as_ref().ok().map(|entry| Arc::clone(entry));
        let row = self.audit.open(&call, &arguments, entry.as_ref());
        let began = row.began();

        let mut place = None;
        let (mut result, decision) = match found.map(Arc::clone) {
            _ if self.audit.failing().is_some() => (Err(self.unaccountable()), Decision::Refused),
            Err(unknown) => {
                let refusal = self.rate().check(&call.principal, None).and(Err(unknown));
                (refusal, Decision::Refused)
            }
            Ok(entry) => match self.checked(&call, &entry, &arguments) {
                Err(refusal) => (Err(refusal), Decision::Refused),
                Ok(key) => match self.runs.enter(&mut call, &entry).await {
                    Err(refusal) => (Err(refusal), Decision::Refused),
                    Ok(ticket) => {
                        place = ticket.map(|ticket| (ticket, key.map(|key| key.sum())));
                        match self.answered(&call, &entry, key).await {
                            Ok((output, decision)) => (Ok(output), decision),
                            Err(Unanswered::Refused(failure)) => (Err(failure), Decision::Refused),
                            Err(Unanswered::Failed(failure)) => (Err(failure), Decision::Failed),
                        }
                    }
                },
            },
        };

        let wait = result.is_ok() && entry.as_ref().is_some_and(|e| e.descriptor.side_effecting());
        let failure = result.as_ref().err();
        if let Err(unwritten) = row.close(decision, failure, wait).await {
            // A failed call keeps its own failure: it says more about what happened.
            result = result.and(Err(unwritten));
        }
        if let Some((ticket, key)) = place
            && let Some(entry) = &entry
        {
            ticket.close(&call, entry.descriptor.id.as_str(), (decision, key), &result);
        }
        if result.is_ok()
            && let Some(entry) = &entry
        {
            self.usage.note(&call.principal, &entry.descriptor.id);
        }
        self.answer(&call, entry.as_deref(), began, result)
    }

    fn checked(
        &self,
        call: &Call,
        entry: &Entry,
        arguments: &Arguments,
    ) -> Result<Option<Key>, Failure> {
        self.rate().check(&call.principal, Some(entry))?;
        size::check_input(entry, arguments)?;
        shape::check_input(entry, &call.input)?;
        if call.verify {
            determinism::check_claimed(entry)?;
        }
        Idempotency::key(call, entry, arguments)
    }

    async fn answered(
        &self,
        call: &Call,
        entry: &Arc<Entry>,
        key: Option<Key>,
    ) -> Result<(Output, Decision), Unanswered> {
        let work = async {
            let Some(key) = key else {
                let ran = worked(call.clone(), Arc::clone(entry)).await;
                let (output, _) = ran.map_err(Unanswered::Failed)?;
                return Ok((output, Decision::Ran));
            };
            // Shared work must not end because the caller who began it cancelled.
            let mut unbound = call.clone();
            unbound.cancel = CancellationToken::new();
            if call.resume.is_some() {
                // It was let in as a first call; it goes on where it was interrupted.
                let rest = worked(unbound, Arc::clone(entry));
                let rest = self.idempotency.resumed(key, self.window(), rest).await;
                let (output, _) = rest.map_err(Unanswered::Failed)?;
                return Ok((output, Decision::Ran));
            }
            let begin = || worked(unbound.clone(), Arc::clone(entry));
            let (mut output, mut decision) =
                self.idempotency.once(key, self.window(), begin).await?;
            if decision == Decision::Shared && output.reply != Reply::Done {
                // What another caller was asked says nothing to this one.
                let alone = worked(call.clone(), Arc::clone(entry)).await;
                (output, _) = alone.map_err(Unanswered::Failed)?;
                decision = Decision::Ran;
            }
            if call.verify && output.reply == Reply::Done {
                let again = worked(unbound, Arc::clone(entry)).await;
                let (fresh, _) = again.map_err(Unanswered::Failed)?;
                determinism::check_same(&output.data, &fresh.data).map_err(Unanswered::Failed)?;
            }
            Ok((output, decision))
        };
        // A control-flow tool keeps to the caller's patience itself, and has something to say when it ends.
        let control = Part::of(&entry.descriptor.id).is_control();
        let patience = call.patience.map(|limit| if control { limit + GRACE } else { limit });
        deadline::patient(patience, &call.cancel, work).await
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
        call: &Call,
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
        let result: Result<Arc<Value>, Failure> = match result {
            Ok(output) => {
                warnings.extend(output.warnings);
                native = output.native;
                reply = output.reply;
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
            let source = failure.source.as_ref().map(tracing::field::display);
            tracing::warn!(trace = %call.trace, tool = %call.tool, door = %call.door, code = %failure.code,
                blame = failure.blame.as_str(), source, "{}", failure.message);
        } else {
            tracing::debug!(trace = %call.trace, tool = %call.tool, door = %call.door, ?duration, "call answered");
        }
        Answer {
            result,
            native,
            reply,
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

/// Finds the tool of a call. A call that stands for another becomes that other, once: no tool is a way round a guard.
fn meant<'a>(snapshot: &'a Snapshot, call: &mut Call) -> Result<&'a Arc<Entry>, Failure> {
    let entry = snapshot.resolve(&call.tool)?;
    let Some((tool, input)) = entry.tool.stands_for(&call.input) else { return Ok(entry) };
    call.tool = tool;
    call.input = Arc::new(input);
    snapshot.resolve(&call.tool)
}

/// The innermost part: the tool itself, under its deadline, and the checks on what it hands back. The time that the
/// caller takes to answer a question is not the tool's.
async fn worked(mut call: Call, entry: Arc<Entry>) -> Worked {
    let thinking = call.client.take().map(Thinking::new);
    call.client = thinking.clone().map(|thinking| thinking as Arc<dyn Client>);
    deadline::bound(entry.limits.timeout, thinking.as_deref(), async {
        let output = entry.tool.run(&call).await?;
        if output.reply == Reply::Done {
            shape::check_output(&entry, &output.data)?;
        }
        let size = size::check_output(&entry, &output.data)?;
        Ok((output, size))
    })
    .await
}
