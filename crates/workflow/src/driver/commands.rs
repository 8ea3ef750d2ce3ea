use std::sync::Arc;
use std::time::Duration;

use dag::Task;
use dag::core::{Action, Event, EventKind, PauseKind, Refusal, Stage, Verdict, step};
use dag::paths::graph_of;
use dag::plan::{Plan, Present, Reading};
use proto::{Code, Failure};
use runs::RunEnd;
use serde_json::json;
use store::WorkflowPhase;
use strip::Parked;

use super::Driver;
use crate::catalog_tools::CatalogTools;
use crate::checkpoint;
use crate::failures;
use crate::listing::tasks_of;
use crate::queue::Message;
use crate::results::{Status, error_of};
use crate::service::{Accepted, Arguments, Command};

const MINUTE_MS: u64 = 60_000;

/// What an accepted command leads to.
enum Work {
    Change(Change),
    /// The caller decides about these approvals.
    Decide(Vec<String>),
}

/// An event that the core accepts, and what changes with it.
struct Change {
    event: EventKind,
    /// It has no effect: the workflow is past it, or waits.
    repeats: bool,
    plan: Option<Plan>,
    /// The tasks that the plan has in addition.
    added: Option<Vec<Task>>,
}

impl Driver {
    pub(super) async fn command(&mut self, message: Message) {
        let Message { command, reply, place: _place } = message;
        let result = match command {
            Command::Flush => {
                self.announce().await;
                Ok(Accepted::Repeats { version: self.version })
            }
            // The process that takes the workflow over carries the command out.
            _ if self.service.draining.is_cancelled() => Err(failures::stopping()),
            Command::Expire => self.expire().await,
            command => self.control(command).await,
        };
        // The caller may have left; the command counts anyway.
        let _ = reply.send(result);
    }

    /// Accepts or refuses a caller's command. Either is a row of the journal, unless it has no effect, and a log line.
    async fn control(&mut self, command: Command) -> Result<Accepted, Failure> {
        let (name, reason) = (command.name(), command.reason().map(str::to_owned));
        let waits = self.only_waits(&command);
        let accepted = self.accept(command, waits);
        let repeats = matches!(&accepted, Ok(Work::Change(Change { repeats: true, .. })));
        let outcome = match &accepted {
            Ok(_) if repeats => "repeated",
            Ok(_) => "accepted",
            Err(failure) => failure.code.as_str(),
        };
        tracing::info!(workflow_id = %self.workflow.id, command = name, reason, outcome, "workflow command");
        // Aborts are not limited: only the first one may add to the journal.
        let repeated_abort = repeats && name == "abort";
        if !waits && !repeated_abort {
            self.note("command", json!({"command": name, "reason": reason, "outcome": outcome}));
        }
        match accepted {
            Ok(work) => self.carry_out(work).await,
            Err(failure) => {
                self.submit_state().await;
                Err(failure)
            }
        }
    }

    /// Whether a command is a `continue` that only waits, which is free.
    fn only_waits(&self, command: &Command) -> bool {
        let Command::Continue { checkpoint_id, .. } = command else { return false };
        if self.check_known(checkpoint_id.as_deref()).is_err() {
            return false;
        }
        let event = EventKind::Continue { checkpoint_id: checkpoint_id.clone() };
        self.foresee(event).is_ok_and(|change| change.repeats)
    }

    /// Fails if this workflow has no checkpoint of this id, and never had one.
    fn check_known(&self, checkpoint_id: Option<&str>) -> Result<(), Failure> {
        let current = self.workflow.state.pause().map(|pause| pause.checkpoint_id.as_str());
        match checkpoint_id {
            Some(id) if current != Some(id) && !checkpoint::is_of(self.workflow.id, id) => {
                Err(failures::wrong_checkpoint(self.workflow.id, current, id))
            }
            _ => Ok(()),
        }
    }

    fn is_quarantined_while_ending(&self) -> bool {
        self.workflow.state.is_quarantined() && self.workflow.state.ending.is_some()
    }

    /// Checks a command as a whole. It changes nothing but the number of calls.
    fn accept(&mut self, command: Command, waits: bool) -> Result<Work, Failure> {
        if !waits && !matches!(command, Command::Abort { .. }) {
            self.count_call()?;
        }
        let change = match command {
            Command::Respond { checkpoint_id } => {
                return Ok(Work::Decide(self.approvals_of(&checkpoint_id)?));
            }
            Command::Continue { checkpoint_id, .. } => {
                self.check_known(checkpoint_id.as_deref())?;
                self.refuse_missing()?;
                self.foresee(EventKind::Continue { checkpoint_id })?
            }
            Command::Release { .. } if self.workflow.state.is_quarantined() => {
                self.foresee(EventKind::Release)?
            }
            Command::Release { .. } => self.foresee(EventKind::Continue { checkpoint_id: None })?,
            // The workflow is being undone already, and only the quarantine stops that: leaving it is enough.
            Command::Abort { .. } if self.is_quarantined_while_ending() => {
                self.foresee(EventKind::Release)?
            }
            Command::Abort { reason } => self.foresee(EventKind::Abort { reason })?,
            Command::Retry { task_id, arguments } => {
                let task = self.position(&task_id)?;
                self.refuse_after_end()?;
                let change = self.foresee(EventKind::Retry { task })?;
                let plan = arguments.map(|arguments| self.with_arguments(&task_id, arguments));
                Change { plan: plan.transpose()?, ..change }
            }
            Command::Modify { task_id, arguments } => {
                let task = self.position(&task_id)?;
                let change = self.foresee(EventKind::Modify { task })?;
                Change { plan: Some(self.with_arguments(&task_id, arguments)?), ..change }
            }
            Command::Skip { task_id, .. } => {
                let task = self.position(&task_id)?;
                self.foresee(EventKind::Skip { task })?
            }
            Command::Inject { tasks, .. } => self.inject(tasks)?,
            Command::Expire | Command::Flush => return Err(failures::invalid("unknown command")),
        };
        Ok(Work::Change(change))
    }

    /// What the core would do with an event, or why it refuses it.
    fn foresee(&self, event: EventKind) -> Result<Change, Failure> {
        let kind = event.clone();
        let tried = Event { at_unix_ms: self.service.now(), new_id: String::new(), kind };
        let (_, actions) = step(self.workflow.state.clone(), tried);
        let refusal = actions.iter().find_map(|action| match action {
            Action::Refuse(refusal) => Some(*refusal),
            _ => None,
        });
        match refusal {
            Some(refusal) => Err(self.refused(refusal)),
            None => {
                let repeats = actions.contains(&Action::Repeat);
                Ok(Change { event, repeats, plan: None, added: None })
            }
        }
    }

    async fn carry_out(&mut self, work: Work) -> Result<Accepted, Failure> {
        let change = match work {
            Work::Change(change) => change,
            Work::Decide(ids) => {
                self.submit().await;
                return Ok(Accepted::Approvals { ids, version: self.version });
            }
        };
        if let Some(plan) = change.plan {
            self.workflow.plan = Arc::new(plan);
            self.plan_changed = true;
            self.evaluated.clear();
        }
        if let Some(added) = &change.added {
            let ids: Vec<_> = added.iter().map(|task| &task.id).collect();
            self.note("replanned", json!({"tasks": ids}));
        }
        self.forgives_crashes |= matches!(change.event, EventKind::Release);
        self.feed(change.event).await;
        if self.stopped {
            return Err(failures::stopping());
        }
        let version = self.version;
        Ok(match change.added {
            Some(tasks) => Accepted::Extended { tasks },
            None if change.repeats => Accepted::Repeats { version },
            None => Accepted::Proceeds { version },
        })
    }

    fn refused(&self, refusal: Refusal) -> Failure {
        let checkpoint = self.workflow.state.pause().map(|pause| pause.checkpoint_id.as_str());
        failures::refused(self.workflow.id, checkpoint, refusal)
    }

    /// Counts a call, whatever comes of it; one too many in a minute is refused.
    fn count_call(&mut self) -> Result<(), Failure> {
        let most = self.service.settings.load().control_calls_per_minute;
        let now = self.service.now();
        self.workflow.control_calls = calls_of_minute(&self.workflow.control_calls, now);
        let count = self.workflow.control_calls.len();
        if count < most as usize {
            self.workflow.control_calls.push(now);
            return Ok(());
        }
        let oldest = self.workflow.control_calls.first().copied().unwrap_or(now);
        let wait = (oldest + MINUTE_MS).saturating_sub(now).max(1);
        Err(failures::too_many(self.workflow.id, most, Duration::from_millis(wait)))
    }

    fn position(&self, task_id: &str) -> Result<usize, Failure> {
        self.workflow.plan.position(task_id).ok_or_else(|| {
            let shown: String = task_id.chars().take(100).collect();
            failures::invalid(format!("the workflow has no task `{shown}`"))
                .details(json!({"workflow_id": self.workflow.id.to_string()}))
        })
    }

    /// Nothing runs while an argument is still to be given.
    fn refuse_missing(&self) -> Result<(), Failure> {
        let Some(pause) = self.workflow.state.pause() else { return Ok(()) };
        let missing = self.moment().missing();
        if missing.is_empty() {
            return Ok(());
        }
        Err(failures::missing(self.workflow.id, &pause.checkpoint_id, &missing))
    }

    /// Nothing can be called any more once a task has ended the run.
    fn refuse_after_end(&self) -> Result<(), Failure> {
        let mut tasks = self.workflow.plan.tasks.iter().zip(&self.workflow.state.root.tasks);
        let has_ended = tasks
            .any(|(task, state)| task.ends_run && state.stage == Stage::Ended(Verdict::Success));
        if has_ended { Err(self.refused(Refusal::Completed)) } else { Ok(()) }
    }

    fn tools(&self) -> CatalogTools {
        CatalogTools::of(&self.service.strip, &self.workflow.principal)
    }

    fn with_arguments(&self, task_id: &str, arguments: Arguments) -> Result<Plan, Failure> {
        let plan = self.workflow.plan.with_arguments(task_id, arguments, &self.tools());
        plan.map_err(|faults| failures::bad_dag(&faults))
    }

    fn inject(&self, tasks: Reading) -> Result<Change, Failure> {
        self.foresee(EventKind::Extend { graph: Arc::clone(&self.workflow.state.graph) })?;
        self.refuse_after_end()?;
        let ids: Vec<String> = tasks.tasks.iter().map(|task| task.id.clone()).collect();
        let state = &self.workflow.state;
        let present = Present { size: state.size(), from_layer: state.root.layer + 1 };
        let extend = || self.workflow.plan.extend(tasks, present, &self.tools());
        let plan = strip::run_blocking(usize::MAX, extend);
        let plan = plan.map_err(|faults| failures::bad_dag(&faults))?;
        let added = plan.tasks.iter().filter(|task| ids.contains(&task.task.id));
        let added = added.map(|task| task.definition()).collect();
        let event = EventKind::Extend { graph: Arc::new(graph_of(&plan)) };
        Ok(Change { event, repeats: false, plan: Some(plan), added: Some(added) })
    }

    /// The approvals that the current checkpoint waits for.
    fn approvals_of(&self, checkpoint_id: &str) -> Result<Vec<String>, Failure> {
        let workflow = self.workflow.id;
        let Some(pause) = self.workflow.state.pause() else {
            let message = "the workflow waits for no approval: call continue to see what it does";
            return Err(failures::at_checkpoint(workflow, None, message));
        };
        let current = Some(pause.checkpoint_id.as_str());
        if pause.checkpoint_id != checkpoint_id {
            return Err(failures::wrong_checkpoint(workflow, current, checkpoint_id));
        }
        if pause.kind != PauseKind::Approval {
            let message = "this checkpoint waits for no approval";
            return Err(failures::at_checkpoint(workflow, current, message));
        }
        Ok(self.approval_ids())
    }

    pub(super) fn approval_ids(&self) -> Vec<String> {
        let approval = |(_, parked)| match parked {
            Parked::Approval { approval_id, .. } => Some(approval_id),
            Parked::Questions { .. } => None,
        };
        self.moment().waiting().into_iter().filter_map(approval).collect()
    }

    /// Ends a paused workflow whose time is over.
    async fn expire(&mut self) -> Result<Accepted, Failure> {
        // A decision that came in time counts.
        self.read_decisions().await;
        let late = self.service.now() >= self.workflow.expires_unix_ms;
        if !late || self.workflow.state.pause().is_none() {
            return Ok(Accepted::Repeats { version: self.version });
        }
        self.withdraw("the workflow has expired").await;
        if self.is_approved().await {
            self.read_decisions().await;
            return Ok(Accepted::Repeats { version: self.version });
        }
        let rejected = self.workflow.state.pause().is_some_and(|p| p.kind == PauseKind::Rejected);
        tracing::info!(workflow_id = %self.workflow.id, "a workflow has expired");
        self.end_run(if rejected { RunEnd::Rejected } else { RunEnd::Expired }).await;
        self.note("expired", json!({}));
        let mut tasks = tasks_of(&self.moment());
        for task in tasks.iter_mut().filter(|task| ["waiting", "running"].contains(&&*task.status))
        {
            let message = "the workflow expired before a person decided or answered";
            task.error = Some(error_of(&Failure::new(Code::Denied, message)));
            task.status = Status::Ended(Verdict::Failed).shown().to_owned();
        }
        self.note_snapshot(&tasks);
        let mut change = self.change(WorkflowPhase::Paused);
        change.delete_control = true;
        if self.commit(change).await {
            self.service.announce(self.workflow.id);
        }
        self.stopped = true;
        Ok(Accepted::Proceeds { version: self.version })
    }
}

/// The calls within the minute before now. Those of the future were made before the clock was set back: they would count
/// until the clock is there again.
fn calls_of_minute(calls: &[u64], now: u64) -> Vec<u64> {
    let is_recent = |at: &u64| now.checked_sub(*at).is_some_and(|age| age < MINUTE_MS);
    calls.iter().copied().filter(is_recent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_clock_that_was_set_back_do_not_count() {
        let now = 10 * MINUTE_MS;
        let calls = [now - MINUTE_MS, now - MINUTE_MS + 1, now, now + 1, now + 120 * MINUTE_MS];
        assert_eq!(calls_of_minute(&calls, now), [now - MINUTE_MS + 1, now]);
    }
}
