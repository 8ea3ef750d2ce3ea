//! All workflows: starts them, passes commands on, resumes them after a restart, and removes those that have expired.

use std::sync::Arc;
use std::time::Duration;

use dag::core::{CellStage, Phase, Saved, Verdict, rebuild};
use dag::paths::graph_of;
use dag::plan::Plan;
use proto::{Clock, Failure, Principal, canonical, time};
use serde_json::{Value, json};
use store::{WorkflowOwner, WorkflowPhase, WorkflowRow};
use strip::waiting::{WaitOptions, longest_wait, wait_for};
use strip::{Job, Output, Reply, Strip};
use uuid::Uuid;

use crate::driver::{DrivenWorkflow, Driver};
use crate::failures::{damaged, no_checkpoint, not_found, stopping, unavailable};
use crate::fit::{Fitting, MAX_ANSWER, cut};
use crate::listing;
use crate::outage::{read, retry};
use crate::results::Results;
use crate::service::{Accepted, Command, Live, Service, Settings, Snapshot};

/// How long a call waits for its workflow once the process stops. It is answered before the calls of doors are cut off,
/// because a caller learns only from an answer the workflow's id.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// How often a command is sent again to a workflow that leaves memory at that moment.
const SENDS: usize = 4;

/// The workflows of a gateway.
#[derive(Clone)]
pub struct Workflows(Arc<Service>);

/// How long a caller waits for an answer, and for which.
pub(crate) struct Wait<'a> {
    pub(crate) longest: Option<Duration>,
    /// The version that the caller has seen, if it waits for another.
    pub(crate) seen: Option<u64>,
    /// Approvals that were decided just now: a checkpoint that still waits for one of them is over.
    pub(crate) settled: &'a [String],
}

/// The columns by which the database knows a caller.
pub(crate) fn owner_of(principal: &Principal) -> WorkflowOwner<'_> {
    WorkflowOwner {
        tenant: principal.tenant.as_str(),
        subject: &principal.subject,
        agent: principal.agent.as_deref(),
    }
}

/// The id of a workflow's run.
pub(crate) fn run_id(workflow: Uuid) -> String {
    format!("run_{}", workflow.simple())
}

impl Workflows {
    pub fn new(strip: &Arc<Strip>, clock: Clock, settings: Settings) -> Self {
        Self(Arc::new(Service::new(strip, clock, settings)))
    }

    /// Sets what makes plans of intents.
    pub fn set_planner(&self, planner: Arc<dyn crate::Planner>) {
        self.0.set_planner(planner);
    }

    pub(crate) fn service(&self) -> &Arc<Service> {
        &self.0
    }

    pub(crate) fn of(service: &Arc<Service>) -> Self {
        Self(Arc::clone(service))
    }

    /// Applies other settings at once.
    pub fn set_settings(&self, settings: Settings) {
        self.0.settings.store(Arc::new(settings));
    }

    /// A workflow with its driver, from memory or the database; none if it has ended or never was.
    pub(crate) async fn load(&self, id: Uuid) -> Result<Option<Arc<Live>>, Failure> {
        let Some(live) = retry(|| self.find_or_drive(id)).await? else { return Ok(None) };
        // A driver that has just begun first applies what was committed. It may end meanwhile.
        let _ = live.published.clone().wait_for(|snapshot| snapshot.version > 0).await;
        Ok(Some(live))
    }

    async fn find_or_drive(&self, id: Uuid) -> Result<Option<Arc<Live>>, Failure> {
        let known = || self.0.live().get(&id).cloned();
        if let Some(live) = known() {
            return Ok(Some(live));
        }
        self.0.wait_for_start(id).await;
        let _one = self.0.loading.lock().await;
        if let Some(live) = known() {
            return Ok(Some(live));
        }
        if self.0.draining.is_cancelled() {
            return Err(stopping());
        }
        match self.claim(id).await.map_err(unavailable)? {
            Some(row) => self.drive(row).await.map(Some),
            None => Ok(None),
        }
    }

    /// Gives a stored workflow a driver.
    async fn drive(&self, row: WorkflowRow) -> Result<Arc<Live>, Failure> {
        let service = &self.0;
        let damaged = |error| damaged(row.id, error);
        let plan: Plan = serde_json::from_str(&row.dag).map_err(damaged)?;
        let saved: Saved = serde_json::from_str(&row.state).map_err(damaged)?;
        let principal: Principal = serde_json::from_str(&row.principal).map_err(damaged)?;
        if matches!(saved.phase, Phase::Paused(_)) {
            let checkpoint = service.database.workflow_checkpoint(row.id).await;
            checkpoint.map_err(unavailable)?.ok_or_else(|| no_checkpoint(row.id))?;
        }
        let control_calls = serde_json::from_str(&row.control_calls).map_err(damaged)?;
        let tasks = service.database.workflow_tasks(row.id).await.map_err(unavailable)?;
        let last = service.database.last_workflow_events(row.id, 1).await.map_err(unavailable)?;
        let results = Arc::new(Results::new(row.id, service.database.clone()));
        let records = results.read(&plan, tasks).map_err(damaged)?;
        let state = rebuild(Arc::new(graph_of(&plan)), saved, records);
        let principal = Arc::new(principal);
        let crashed = row.phase == WorkflowPhase::Running && row.crashes.in_a_row > 0;
        let done = state.count(|stage| *stage == CellStage::Ended(Verdict::Success)) as u64;
        let name = plan.called(row.created_unix_ms);
        let run = service.strip.runs().resume_workflow(&principal, row.id, &name, done).await?;
        Ok(Driver::start(
            service,
            DrivenWorkflow {
                id: row.id,
                principal,
                run,
                fence: row.fence,
                plan: Arc::new(plan),
                state,
                results,
                control_calls,
                expires_unix_ms: row.expires_unix_ms,
                last_event: last.last().map_or(0, |event| event.number),
                crashed,
            },
        ))
    }

    /// The caller's own workflow; none if it has ended, expired or never was, NOT_FOUND if it is another caller's.
    pub(crate) async fn own(
        &self,
        principal: &Principal,
        id: Uuid,
    ) -> Result<Option<Arc<Live>>, Failure> {
        self.check_owner(principal, id).await?;
        let Some(live) = self.load(id).await? else { return Ok(None) };
        // It may have been stored since.
        if !live.owner.is_same_caller(principal) {
            return Err(not_found(id));
        }
        Ok((!self.is_over(&live).await?).then_some(live))
    }

    /// NOT_FOUND for a stored workflow of another caller. Compared before it is read: an error about damage would show that
    /// it exists.
    pub(crate) async fn check_owner(&self, principal: &Principal, id: Uuid) -> Result<(), Failure> {
        // What is in memory could be read.
        if self.0.live().contains_key(&id) {
            return Ok(());
        }
        let (database, owner) = (&self.0.database, owner_of(principal));
        if read(|| database.is_workflow_of_another_caller(id, owner)).await? {
            return Err(not_found(id));
        }
        Ok(())
    }

    /// Whether the time of a paused workflow is over, which ends it before the next sweep does.
    pub(crate) async fn is_over(&self, live: &Live) -> Result<bool, Failure> {
        let expired = {
            let snapshot = live.published.borrow();
            !snapshot.is_running() && snapshot.expires_unix_ms <= self.0.now()
        };
        Ok(expired && self.expire(live.workflow).await?)
    }

    /// Ends a paused workflow whose time is over; false if it goes on, because a person decided in time.
    pub(crate) async fn expire(&self, id: Uuid) -> Result<bool, Failure> {
        let sent = self.send(id, || Command::Expire).await?;
        Ok(!matches!(sent, Some((_, Accepted::Repeats { .. }))))
    }

    /// Sends a command to the caller's own workflow; none if that has ended or never was.
    pub(crate) async fn command(
        &self,
        principal: &Principal,
        id: Uuid,
        command: impl Fn() -> Command,
    ) -> Result<Option<(Arc<Live>, Accepted)>, Failure> {
        match self.own(principal, id).await? {
            Some(_) => self.send(id, command).await,
            None => Ok(None),
        }
    }

    /// Sends a command to a workflow that the caller may command.
    pub(crate) async fn send(
        &self,
        id: Uuid,
        command: impl Fn() -> Command,
    ) -> Result<Option<(Arc<Live>, Accepted)>, Failure> {
        for _ in 0..SENDS {
            let Some(live) = self.load(id).await? else { return Ok(None) };
            if let Some(accepted) = live.send(command()).await {
                return accepted.map(|accepted| Some((live, accepted)));
            }
            // The driver has ended, so the entry is stale.
            self.0.live().retain(|other, known| *other != id || !Arc::ptr_eq(known, &live));
        }
        Err(stopping())
    }

    /// The last answer of an ended workflow of this caller.
    pub(crate) async fn last_answer(
        &self,
        principal: &Principal,
        id: Uuid,
    ) -> Result<Option<Value>, Failure> {
        let found = read(|| self.0.database.workflow_answer(id, self.0.now())).await?;
        let own = found.filter(|row| {
            row.tenant == principal.tenant.as_str()
                && row.subject == principal.subject
                && row.agent == principal.agent
        });
        let answer = own.map(|row| serde_json::from_str(&row.answer));
        answer.transpose().map_err(|error| damaged(id, error))
    }

    /// The answer of a workflow, with references in place of its largest outputs if it is longer than `most`.
    pub(crate) async fn answer_of(
        &self,
        live: &Live,
        snapshot: &Snapshot,
        most: usize,
    ) -> Result<Value, Failure> {
        let answer = match &snapshot.answer {
            Some(answer) => (**answer).clone(),
            None => live.moment(snapshot).answer().await?,
        };
        let fitting = Fitting {
            strip: &self.0.strip,
            principal: &live.owner,
            run: &live.run,
            results: &live.results,
        };
        Ok(fitting.fit(answer, most).await)
    }

    /// Waits until a workflow pauses or ends.
    pub(crate) async fn wait(
        &self,
        live: &Live,
        job: &Job,
        wait: Wait<'_>,
    ) -> Result<Output, Failure> {
        let ready = |snapshot: &Snapshot| {
            !snapshot.is_running()
                && Some(snapshot.version) != wait.seen
                && (wait.settled.is_empty() || !live.awaits(snapshot, wait.settled))
        };
        let longest = longest_wait(job, WaitOptions { asks: false, wait: wait.longest });
        let message = || format!("workflow {} is running", live.workflow);
        let done = wait_for(job, longest, message, self.changed(live, ready)).await;
        let (snapshot, data) = self.current_answer(live, done).await?;
        let reply = if snapshot.is_running() { Reply::Pending } else { Reply::Done };
        Ok(Output { reply, ..Output::new(data) })
    }

    /// Waits until a workflow is as a caller waits for; false if the process stops before that.
    pub(crate) async fn changed(&self, live: &Live, ready: impl Fn(&Snapshot) -> bool) -> bool {
        let mut published = live.published.clone();
        let ends = async {
            self.0.draining.cancelled().await;
            tokio::time::sleep(LAST_WAIT).await;
        };
        tokio::select! {
            changed = published.wait_for(|snapshot| ready(snapshot)) => changed.is_ok(),
            () = ends => false,
        }
    }

    /// What a caller is answered after a wait, and the state that the answer is about.
    pub(crate) async fn current_answer(
        &self,
        live: &Live,
        done: Option<bool>,
    ) -> Result<(Arc<Snapshot>, Value), Failure> {
        let snapshot = live.published.borrow().clone();
        // The workflow goes on at the next start, and the caller needs its id.
        let continues = self.0.draining.is_cancelled();
        if done == Some(false) && snapshot.is_running() && !continues {
            return Err(stopping());
        }
        let data = self.answer_of(live, &snapshot, MAX_ANSWER).await?;
        if snapshot.is_running() {
            // The caller may only learn of states that are on disk.
            live.send(Command::Flush).await;
        }
        Ok((snapshot, data))
    }

    /// The state of a workflow of this caller.
    pub(crate) async fn report(&self, principal: &Principal, id: Uuid) -> Result<Value, Failure> {
        let Some(live) = self.own(principal, id).await? else {
            return self.ended_report(principal, id).await;
        };
        let snapshot = live.published.borrow().clone();
        let tasks = listing::tasks_of(&live.moment(&snapshot));
        let mut report = json!({
            "status": "report",
            "workflow_id": id.to_string(),
            "state": if snapshot.is_running() { "running" } else { "paused" },
            "run_id": run_id(id),
            "expires_at": time::rfc3339(snapshot.expires_unix_ms),
            "tasks": listing::short(&tasks),
            "events": self.last_events(id).await?,
        });
        if !snapshot.is_running() {
            // The outputs of the checkpoint become references rather than marks.
            cut(&mut report, MAX_ANSWER / 2);
            let left = MAX_ANSWER - canonical::len(&report) - r#","checkpoint":"#.len();
            report["checkpoint"] = self.answer_of(&live, &snapshot, left).await?;
        }
        Ok(report)
    }
}
