use std::sync::Arc;
use std::time::Duration;

use proto::Failure;
use serde_json::{Value, json};
use store::WorkflowPhase;
use strip::runs::RunEnd;

use super::{CommandOutcome, Driver};
use crate::core::{EventKind, PauseKind, Refusal, Stage, Verdict};
use crate::failures;
use crate::paths::graph_of;
use crate::plan::{CatalogTools, Plan};
use crate::results::Status;
use crate::service::{Accepted, Command, Message};

const MINUTE_MS: u64 = 60_000;

impl Driver {
    pub(super) async fn command(&mut self, message: Message) {
        let Message { command, reply } = message;
        let (name, reason) = (command.name(), command.reason().map(str::to_owned));
        let is_command = !matches!(command, Command::Flush);
        self.outcome = CommandOutcome::default();
        let result = self.execute(command).await;
        let outcome = match &result {
            Ok(Accepted::Repeats { .. }) => "repeated",
            Ok(_) => "accepted",
            Err(failure) => failure.code.as_str(),
        };
        if !is_command {
            let _ = reply.send(result);
            return;
        }
        tracing::info!(workflow_id = %self.begin.workflow, command = name, reason, outcome, "workflow command");
        // The caller may have left; the command counts anyway.
        let _ = reply.send(result);
    }

    async fn execute(&mut self, command: Command) -> Result<Accepted, Failure> {
        match command {
            Command::Expire => return self.expire().await,
            Command::Flush => {
                self.announce().await;
                return Ok(Accepted::Repeats { version: self.version });
            }
            _ => {}
        }
        let counts = !self.is_free(&command);
        if counts {
            self.check_rate()?;
        }
        let note = json!({"command": command.name(), "reason": command.reason()});
        let event = match command {
            Command::Respond { checkpoint_id } => {
                let ids = self.approvals_of(&checkpoint_id)?;
                self.count_call(note);
                self.submit().await;
                return Ok(Accepted::Approvals { ids, version: self.version });
            }
            Command::Retry { task_id, arguments } => {
                let task = self.position(&task_id)?;
                self.refuse_after_end()?;
                if let Some(arguments) = arguments {
                    self.refuse_unless_failed(task)?;
                    self.replace_arguments(&task_id, arguments)?;
                }
                EventKind::Retry { task }
            }
            Command::Modify { task_id, arguments } => {
                let task = self.position(&task_id)?;
                self.refuse_unless_changeable()?;
                let before = Arc::clone(&self.begin.plan);
                self.replace_arguments(&task_id, arguments)?;
                return self.change_plan(EventKind::Modify { task }, before, note).await;
            }
            Command::Skip { task_id, .. } => {
                let task = self.position(&task_id)?;
                return self.change_plan_with(EventKind::Skip { task }, note).await;
            }
            Command::Inject { tasks } => return self.inject(tasks, note).await,
            other => other.event().ok_or_else(|| failures::invalid("unknown command"))?,
        };
        if counts {
            self.count_call(note);
        }
        if matches!(event, EventKind::Abort { .. }) {
            self.service.strip.runs().reopen_completed(&self.begin.run);
        }
        self.feed(event).await;
        self.accepted()
    }

    /// What the fed command led to.
    fn accepted(&mut self) -> Result<Accepted, Failure> {
        if self.stopped {
            return Err(failures::stopping());
        }
        let outcome = std::mem::take(&mut self.outcome);
        if let Some(refusal) = outcome.refusal {
            return Err(self.refused(refusal));
        }
        let version = self.version;
        Ok(match outcome.repeats {
            true => Accepted::Repeats { version },
            false => Accepted::Proceeds { version },
        })
    }

    fn refused(&self, refusal: Refusal) -> Failure {
        let checkpoint = self.begin.state.pause().map(|pause| pause.checkpoint_id.as_str());
        failures::refused(self.begin.workflow, checkpoint, refusal)
    }

    /// Whether a command has no effect but waiting, or may never be refused.
    fn is_free(&self, command: &Command) -> bool {
        match command {
            Command::Abort { .. } | Command::Expire | Command::Flush => true,
            Command::Continue { checkpoint_id, .. } => match self.begin.state.pause() {
                Some(pause) => {
                    let proceeds = matches!(pause.kind, PauseKind::Layer | PauseKind::TaskFailed);
                    let stale = checkpoint_id.as_ref().is_some_and(|id| *id != pause.checkpoint_id);
                    !proceeds || stale
                }
                None => true,
            },
            _ => false,
        }
    }

    fn check_rate(&mut self) -> Result<(), Failure> {
        let most = self.service.settings.load().control_calls_per_minute;
        let now = self.service.now();
        self.begin.control_calls.retain(|at| now.saturating_sub(*at) < MINUTE_MS);
        let count = self.begin.control_calls.len();
        if count < most as usize {
            return Ok(());
        }
        let oldest = self.begin.control_calls.first().copied().unwrap_or(now);
        let wait = (oldest + MINUTE_MS).saturating_sub(now).max(1);
        Err(failures::too_many(self.begin.workflow, most, Duration::from_millis(wait)))
    }

    fn count_call(&mut self, note: Value) {
        let now = self.service.now();
        self.begin.control_calls.push(now);
        self.note("command", note);
    }

    fn position(&self, task_id: &str) -> Result<usize, Failure> {
        self.begin.plan.position(task_id).ok_or_else(|| {
            let shown: String = task_id.chars().take(100).collect();
            failures::invalid(format!("the workflow has no task `{shown}`"))
                .details(json!({"workflow_id": self.begin.workflow.to_string()}))
        })
    }

    fn refuse_unless_failed(&self, task: usize) -> Result<(), Failure> {
        self.refuse_unless_changeable()?;
        let address = crate::core::Address::task(task);
        let status = self.begin.results.task(&address).map(|result| result.status.shown());
        match status {
            Some("failed") => Ok(()),
            _ => Err(self.refused(Refusal::NotFailed)),
        }
    }

    fn refuse_unless_changeable(&self) -> Result<(), Failure> {
        match self.begin.state.pause().map(|pause| &pause.kind) {
            Some(PauseKind::Layer | PauseKind::TaskFailed | PauseKind::Rejected) => Ok(()),
            Some(_) => Err(self.refused(Refusal::Waits)),
            None => Err(self.refused(Refusal::NotPaused)),
        }
    }

    /// Nothing can be called any more once a task has ended the run.
    fn refuse_after_end(&self) -> Result<(), Failure> {
        let mut tasks = self.begin.plan.tasks.iter().zip(&self.begin.state.root.tasks);
        let has_ended = tasks
            .any(|(task, state)| task.ends_run && state.stage == Stage::Ended(Verdict::Success));
        if has_ended { Err(self.refused(Refusal::Completed)) } else { Ok(()) }
    }

    fn tools(&self) -> CatalogTools {
        let strip = &self.service.strip;
        CatalogTools {
            tools: Arc::clone(strip.view(&self.begin.principal).tools()),
            prompts: strip.prompts().snapshot(),
        }
    }

    fn replace_arguments(
        &mut self,
        task_id: &str,
        arguments: crate::service::Arguments,
    ) -> Result<(), Failure> {
        let plan = self.begin.plan.with_arguments(task_id, arguments, &self.tools());
        let plan = plan.map_err(|faults| failures::bad_dag(&faults))?;
        self.use_plan(plan);
        Ok(())
    }

    fn use_plan(&mut self, plan: Plan) {
        self.begin.plan = Arc::new(plan);
        self.plan_changed = true;
        self.evaluated.clear();
    }

    /// Applies a change whose plan is in place already, and takes the plan back if the change is refused.
    async fn change_plan(
        &mut self,
        event: EventKind,
        before: Arc<Plan>,
        note: Value,
    ) -> Result<Accepted, Failure> {
        let result = self.change_plan_with(event, note).await;
        if result.is_err() && !self.stopped {
            self.begin.plan = before;
            self.plan_changed = false;
        }
        result
    }

    async fn change_plan_with(
        &mut self,
        event: EventKind,
        note: Value,
    ) -> Result<Accepted, Failure> {
        let events = self.events.len();
        self.count_call(note);
        self.feed(event).await;
        let refused = self.outcome.refusal.is_some();
        if refused {
            self.begin.control_calls.pop();
            self.begin.last_event -= (self.events.len() - events) as u64;
            self.events.truncate(events);
        }
        self.accepted()
    }

    async fn inject(&mut self, tasks: Vec<crate::Task>, note: Value) -> Result<Accepted, Failure> {
        self.refuse_unless_changeable()?;
        self.refuse_after_end()?;
        let before = Arc::clone(&self.begin.plan);
        let ids: Vec<String> = tasks.iter().map(|task| task.id.clone()).collect();
        let from_layer = self.begin.state.root.layer + 1;
        let plan = before.extend(tasks, from_layer, &self.tools());
        let plan = plan.map_err(|faults| failures::bad_dag(&faults))?;
        let graph = Arc::new(graph_of(&plan));
        self.use_plan(plan);
        self.note("replanned", json!({"tasks": ids}));
        self.change_plan(EventKind::Extend { graph }, before, note).await?;
        let added = self.begin.plan.tasks.iter().filter(|task| ids.contains(&task.task.id));
        Ok(Accepted::Extended { tasks: added.map(|task| task.definition()).collect() })
    }

    /// The approvals that the current checkpoint waits for.
    fn approvals_of(&self, checkpoint_id: &str) -> Result<Vec<String>, Failure> {
        let details = |current: Option<&str>| {
            json!({
                "workflow_id": self.begin.workflow.to_string(),
                "checkpoint_id": current,
            })
        };
        let Some(pause) = self.begin.state.pause() else {
            let message = "the workflow waits for no approval: call continue to see what it does";
            return Err(failures::invalid(message).details(details(None)));
        };
        if pause.checkpoint_id != checkpoint_id {
            let message = format!(
                "`{}` is not the current checkpoint, which is `{}`",
                checkpoint_id.chars().take(100).collect::<String>(),
                pause.checkpoint_id
            );
            return Err(failures::invalid(message).details(details(Some(&pause.checkpoint_id))));
        }
        if pause.kind != PauseKind::Approval {
            let message = "this checkpoint waits for no approval";
            return Err(failures::invalid(message).details(details(Some(&pause.checkpoint_id))));
        }
        Ok(self.approval_ids())
    }

    pub(super) fn approval_ids(&self) -> Vec<String> {
        let waiting = self.moment().waiting().into_iter();
        let parked = waiting.filter(|(_, result)| result.status == Status::Parked);
        parked
            .filter_map(|(_, result)| Some(result.note.waits?["approval_id"].as_str()?.to_owned()))
            .collect()
    }

    /// Ends a paused workflow whose time is over.
    async fn expire(&mut self) -> Result<Accepted, Failure> {
        // A decision that came in time counts.
        self.read_decisions().await;
        let late = self.service.now() >= self.begin.expires_unix_ms;
        if !late || self.begin.state.pause().is_none() {
            return Ok(Accepted::Repeats { version: self.version });
        }
        self.withdraw("the workflow has expired").await;
        if self.is_approved().await {
            self.read_decisions().await;
            return Ok(Accepted::Repeats { version: self.version });
        }
        let rejected = self.begin.state.pause().is_some_and(|p| p.kind == PauseKind::Rejected);
        self.end_run(if rejected { RunEnd::Rejected } else { RunEnd::Expired }).await;
        self.note("expired", json!({}));
        let tasks = crate::listing::tasks_of(&self.moment());
        self.note("snapshot", json!({"tasks": tasks}));
        let mut change = self.change(WorkflowPhase::Paused);
        change.delete_control = true;
        if self.commit(change).await {
            self.service.announce(self.begin.workflow);
        }
        self.stopped = true;
        Ok(Accepted::Proceeds { version: self.version })
    }
}
