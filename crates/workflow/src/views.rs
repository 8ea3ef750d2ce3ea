//! Workflows as people are shown them.

use async_trait::async_trait;
use dag::call_by_tool;
use dag::core::{Address, Phase, Saved};
use dag::plan::Plan;
use futures_util::stream::BoxStream;
use operations::workflows::graph::{self, GraphView};
use operations::workflows::{
    NotUndone, WorkflowCommand, WorkflowConsole, WorkflowDefinition, WorkflowDetails,
    WorkflowEvent, WorkflowList, WorkflowQuery, WorkflowState, WorkflowSummary, WorkflowTask,
};
use operations::{Caller, OperationError};
use proto::{Code, Failure};
use runs::{RunEnd, RunSummary};
use serde::de::DeserializeOwned;
use serde::{Deserialize, de};
use serde_json::{Value, json};
use store::{WorkflowEventRow, WorkflowFilter, WorkflowPhase, WorkflowRow, WorkflowTaskRow};
use strip::Door;
use uuid::Uuid;

use crate::checkpoint::QUARANTINED;
use crate::events::{JournalReader, shown};
use crate::failures::{damaged, not_found};
use crate::fit::MAX_ANSWER;
use crate::listing;
use crate::outage::{read, retry};
use crate::results::shorten;
use crate::workflows::{Workflows, run_id};

/// How many events are shown with a workflow.
const SHOWN_EVENTS: u32 = 50;

/// The outcome of a workflow whose row cannot be read.
const UNREADABLE: &str = "unreadable";

/// How many workflows are listed unless the caller says.
const LISTED: u32 = 50;

/// The last row of the journal of an ended workflow, which only the gateway reads.
#[derive(Deserialize)]
struct LastSnapshot {
    tasks: Vec<WorkflowTask>,
    #[serde(default)]
    not_undone: Vec<NotUndone>,
    layer: Option<usize>,
    expires_unix_ms: Option<u64>,
}

impl Workflows {
    pub(crate) async fn last_events(&self, id: Uuid) -> Result<Vec<WorkflowEvent>, Failure> {
        let rows = read(|| self.service().database.last_workflow_events(id, SHOWN_EVENTS + 1));
        let mut rows = shown(rows.await?)?;
        let more = rows.len().saturating_sub(SHOWN_EVENTS as usize);
        Ok(rows.split_off(more))
    }

    fn summary(row: &WorkflowRow) -> WorkflowSummary {
        let plan = serde_json::from_str::<Plan>(&row.dag);
        let saved = serde_json::from_str::<Saved>(&row.state);
        let (plan, layer, finished, outcome) = match (plan, saved) {
            (Ok(plan), Ok(saved)) => {
                let finished = saved.layer + usize::from(saved.is_layer_over());
                (plan, saved.layer, finished, outcome_of(&saved.phase))
            }
            // A list says so, and shows the others.
            (Err(error), _) | (_, Err(error)) => {
                tracing::error!(workflow_id = %row.id, %error, "the row of a workflow cannot be read");
                (Plan::default(), 0, 0, Some(UNREADABLE.to_owned()))
            }
        };
        WorkflowSummary {
            workflow_id: row.id.to_string(),
            run_id: row.run.clone(),
            name: plan.called(row.created_unix_ms),
            state: row.phase.as_str().to_owned(),
            outcome,
            tenant: row.tenant.clone(),
            owner: row.subject.clone(),
            agent: row.agent.clone(),
            intent: row.intent.clone(),
            layer,
            layers: plan.layers(),
            tasks_done: plan.tasks.iter().filter(|task| task.layer < finished).count(),
            tasks_failed: 0,
            tasks_skipped: 0,
            tasks_total: plan.tasks.len(),
            started_unix_ms: row.created_unix_ms,
            updated_unix_ms: row.updated_unix_ms,
            expires_unix_ms: row.expires_unix_ms,
        }
    }

    /// The summary of a workflow for a list; NOT_FOUND if its run and journal were deleted.
    async fn listed(&self, caller: &Caller, id: Uuid) -> Result<WorkflowSummary, Failure> {
        match read(|| self.service().database.workflow(id)).await? {
            Some(row) => self.counted(&row).await,
            None => Ok(self.ended(caller, id).await?.workflow),
        }
    }

    /// What the run of a workflow says about it, nothing else of which can be read.
    async fn unreadable(&self, caller: &Caller, id: Uuid) -> Result<WorkflowSummary, Failure> {
        let run = match self.run_of(caller, id).await {
            // The run is damaged, too: only the id is known.
            Err(failure) if failure.code == Code::Internal => {
                return Ok(WorkflowSummary {
                    workflow_id: id.to_string(),
                    run_id: run_id(id),
                    name: run_id(id),
                    state: "ended".to_owned(),
                    outcome: Some(UNREADABLE.to_owned()),
                    ..WorkflowSummary::default()
                });
            }
            run => run?,
        };
        let goes_on = ["open", "waiting"].contains(&run.state.as_str());
        let outcome = Some(UNREADABLE.to_owned());
        let state = if goes_on { "running" } else { "ended" }.to_owned();
        Ok(WorkflowSummary { state, outcome, ..summary_of_run(id, run, "workflow") })
    }

    /// The summary; of a workflow that waits for a decision about a failed task, with the tasks that failed.
    async fn counted(&self, row: &WorkflowRow) -> Result<WorkflowSummary, Failure> {
        let mut summary = Self::summary(row);
        if !matches!(summary.outcome.as_deref(), Some("task_failed" | "rejected")) {
            return Ok(summary);
        }
        let plan: Plan = serde_json::from_str(&row.dag).map_err(|error| damaged(row.id, error))?;
        let results = read(|| self.service().database.workflow_tasks(row.id)).await?;
        let is_whole = |result: &&WorkflowTaskRow| {
            result.item < 0 && plan.tasks.iter().any(|task| task.task.id == result.task)
        };
        let states = results.iter().filter(is_whole).map(|result| match result.status.as_str() {
            "rejected" => "failed",
            status => status,
        });
        summary.count(states);
        Ok(summary)
    }

    /// The id that a text names: a workflow's or its run's.
    pub(crate) fn parse(id: &str) -> Result<Uuid, OperationError> {
        let hex = id.strip_prefix("run_").unwrap_or(id);
        Uuid::parse_str(hex).map_err(|_| {
            OperationError::invalid(
                "the id is neither a workflow's, which is a UUID, nor its run's",
            )
        })
    }

    /// NOT_FOUND for a workflow of another tenant. Compared before the row is read: an error about damage would show that it
    /// exists.
    pub(crate) async fn check_tenant(&self, caller: &Caller, id: Uuid) -> Result<(), Failure> {
        let Some(tenant) = caller.tenant() else { return Ok(()) };
        let database = &self.service().database;
        if read(|| database.is_workflow_of_another(id, tenant)).await? {
            return Err(not_found(id));
        }
        Ok(())
    }

    /// A workflow that has not ended.
    async fn details(&self, row: WorkflowRow) -> Result<WorkflowDetails, OperationError> {
        let id = row.id;
        let mut summary = Self::summary(&row);
        let live = self.load(id).await?.ok_or_else(|| not_found(id))?;
        let snapshot = live.published.borrow().clone();
        let moment = live.moment(&snapshot);
        let mut tasks = listing::tasks_of(&moment);
        // The output of items and sub-workflows is composed when it is asked for.
        for (place, task) in snapshot.plan.tasks.iter().enumerate() {
            let composed = task.workflow.is_some() || task.task.for_each.is_some();
            if let Some(shown) =
                tasks.get_mut(place).filter(|shown| composed && shown.status == "success")
            {
                let address = Address::task(place);
                let output = read(|| live.results.output(&snapshot.plan, &address)).await?;
                shown.output = Some(small(&output));
            }
        }
        summary.count(tasks.iter().map(|task| task.status.as_str()));
        let mut checkpoint = if snapshot.is_running() {
            None
        } else {
            Some(self.answer_of(&live, &snapshot, MAX_ANSWER).await?)
        };
        if let Some(checkpoint) = &mut checkpoint {
            listing::add_reasons(checkpoint, &snapshot.plan);
        }
        let events = self.last_events(id).await?;
        let not_undone = moment.not_undone(false);
        Ok(WorkflowDetails { workflow: summary, not_undone, checkpoint, tasks, events })
    }

    /// The run of a workflow that has ended.
    pub(crate) async fn run_of(&self, caller: &Caller, id: Uuid) -> Result<RunSummary, Failure> {
        let runs = self.service().strip.runs();
        let name = run_id(id);
        match retry(|| runs.show(caller.tenant(), &name)).await {
            Ok(found) => Ok(found.run),
            Err(failure) if failure.code == Code::NotFound => Err(not_found(id)),
            Err(failure) => Err(failure),
        }
    }

    /// A workflow that has ended, from its run and its journal.
    async fn ended(&self, caller: &Caller, id: Uuid) -> Result<WorkflowDetails, Failure> {
        let run = self.run_of(caller, id).await?;
        self.ended_with_run(id, run).await
    }

    async fn ended_with_run(&self, id: Uuid, run: RunSummary) -> Result<WorkflowDetails, Failure> {
        let rows = read(|| self.service().database.last_workflow_events(id, SHOWN_EVENTS + 1));
        let rows = rows.await?;
        if rows.is_empty() {
            return Err(not_found(id));
        }
        let damaged = |error| damaged(id, error);
        let LastSnapshot { mut tasks, not_undone, layer, expires_unix_ms } =
            last_snapshot(&rows).map_err(damaged)?;
        let now = self.service().now();
        let answer = read(|| self.service().database.workflow_answer(id, now)).await?;
        let answer = answer.map(|answer| serde_json::from_str::<Value>(&answer.answer));
        let checkpoint = answer.transpose().map_err(damaged)?;
        add_outputs(&mut tasks, checkpoint.as_ref());
        let events = shown(rows)?;
        let last = events.iter().rev().find(|event| event.is_last());
        let layers = tasks.iter().map(|task| task.layer + 1).max().unwrap_or(0);
        let updated_unix_ms = last.map_or(run.touched_unix_ms, |event| event.at_unix_ms);
        let rejected = run.state == RunEnd::Rejected.as_str();
        let first_tool = tasks.first().map_or("workflow", |task| task.tool.as_str());
        let mut workflow = WorkflowSummary {
            state: "ended".to_owned(),
            outcome: if rejected {
                Some(run.state.clone())
            } else {
                last.map(|event| event.kind.clone())
            },
            layer: layer.unwrap_or(layers.saturating_sub(1)),
            layers,
            tasks_total: tasks.len(),
            updated_unix_ms,
            expires_unix_ms: expires_unix_ms.unwrap_or(updated_unix_ms),
            ..summary_of_run(id, run, first_tool)
        };
        workflow.count(tasks.iter().map(|task| task.status.as_str()));
        Ok(WorkflowDetails { workflow, not_undone, checkpoint, tasks, events })
    }
}

/// The last row of the journal of an ended workflow: all that end write one.
pub(crate) fn last_snapshot<T: DeserializeOwned>(
    rows: &[WorkflowEventRow],
) -> serde_json::Result<T> {
    match rows.iter().rev().find(|row| row.kind == "snapshot") {
        Some(row) => serde_json::from_str(&row.data),
        None => Err(de::Error::custom("the journal of an ended workflow has no snapshot")),
    }
}

/// What a run says about its workflow.
fn summary_of_run(id: Uuid, run: RunSummary, first_tool: &str) -> WorkflowSummary {
    let name = run.name.unwrap_or_else(|| call_by_tool(first_tool, run.created_unix_ms));
    WorkflowSummary {
        workflow_id: id.to_string(),
        run_id: run.id,
        name,
        tenant: run.tenant,
        owner: run.owner,
        agent: run.agent,
        started_unix_ms: run.created_unix_ms,
        updated_unix_ms: run.touched_unix_ms,
        expires_unix_ms: run.touched_unix_ms,
        ..WorkflowSummary::default()
    }
}

/// The largest output of a task that is shown.
const MAX_SHOWN: usize = 64 * 1024;

fn small(output: &Value) -> Value {
    shorten(output, MAX_SHOWN).unwrap_or_else(|| output.clone())
}

/// Adds the outputs that only the last answer has: those of items and sub-workflows, and large ones or their references.
fn add_outputs(tasks: &mut [WorkflowTask], answer: Option<&Value>) {
    let results =
        ["results", "partial_results"].iter().find_map(|name| answer?.get(name)?.as_array());
    for task in tasks {
        let is_large = |output: &Value| output["large"] == true;
        if task.output.as_ref().is_some_and(|output| !is_large(output)) {
            continue;
        }
        let result =
            results.into_iter().flatten().find(|result| result["task_id"] == *task.task_id);
        let output = result.and_then(|result| result.get("output")).map(small);
        task.output = output.or(task.output.take());
    }
}

/// Why a workflow is paused.
fn outcome_of(phase: &Phase) -> Option<String> {
    use dag::core::PauseKind;
    let Phase::Paused(pause) = phase else { return None };
    let kind = match pause.kind {
        PauseKind::Planned => "planned",
        PauseKind::Layer => "layer_complete",
        PauseKind::TaskFailed => "task_failed",
        PauseKind::Approval => "approval_required",
        PauseKind::Input => "input_required",
        PauseKind::OwnerGone { .. } => "owner_gone",
        PauseKind::Rejected => "rejected",
        PauseKind::Quarantined { .. } => QUARANTINED,
    };
    Some(kind.to_owned())
}

#[async_trait]
impl WorkflowConsole for Workflows {
    async fn list(
        &self,
        caller: &Caller,
        query: WorkflowQuery,
    ) -> Result<WorkflowList, OperationError> {
        let phase = query.state.map(|state| match state {
            WorkflowState::Running => WorkflowPhase::Running,
            WorkflowState::Paused | WorkflowState::Quarantined => WorkflowPhase::Paused,
            WorkflowState::Ended => WorkflowPhase::Ended,
        });
        let filter = WorkflowFilter {
            tenant: caller.tenant().map(str::to_owned),
            phase,
            quarantined: query.state == Some(WorkflowState::Quarantined),
            run_prefix: query.id.map(|id| {
                let hex = id.strip_prefix("run_").unwrap_or(&id).replace('-', "");
                format!("run_{}", hex.to_lowercase())
            }),
            limit: Some(query.limit.unwrap_or(LISTED)),
            offset: query.offset,
        };
        let mut workflows = Vec::new();
        for id in read(|| self.service().database.workflows(&filter)).await? {
            let summary = match self.listed(caller, id).await {
                // A list says so, and shows the others.
                Err(failure) if failure.code == Code::Internal => {
                    tracing::error!(workflow_id = %id, cause = ?failure.source, "a workflow cannot be read");
                    self.unreadable(caller, id).await
                }
                summary => summary,
            };
            match summary {
                Ok(summary) => workflows.push(summary),
                // Its run and journal were deleted meanwhile.
                Err(failure) if failure.code == Code::NotFound => {}
                Err(failure) => return Err(failure.into()),
            }
        }
        Ok(WorkflowList { workflows })
    }

    async fn show(&self, caller: &Caller, id: &str) -> Result<WorkflowDetails, OperationError> {
        let id = Self::parse(id)?;
        self.check_tenant(caller, id).await?;
        let row = read(|| self.service().database.workflow(id)).await?;
        match row {
            Some(row) => {
                let expired = row.phase == WorkflowPhase::Paused
                    && row.expires_unix_ms <= self.service().now();
                if expired && self.expire(id).await? {
                    return Ok(self.ended(caller, id).await?);
                }
                self.details(row).await
            }
            None => Ok(self.ended(caller, id).await?),
        }
    }

    async fn events(
        &self,
        caller: &Caller,
        id: &str,
        after: i64,
    ) -> Result<BoxStream<'static, Result<WorkflowEvent, OperationError>>, OperationError> {
        let id = Self::parse(id)?;
        self.check_tenant(caller, id).await?;
        if read(|| self.service().database.workflow(id)).await?.is_none() {
            self.run_of(caller, id).await?;
        }
        let after = u64::try_from(after).unwrap_or(0);
        JournalReader::new(self.service(), id, after).follow().await
    }

    async fn plan(&self, caller: &Caller, intent: &str) -> Result<Value, OperationError> {
        let none = serde_json::Map::new();
        let proposal = self.plan_for(caller, Door::Dashboard, intent.to_owned(), none).await?;
        Ok(json!(proposal))
    }

    async fn draw(&self, caller: &Caller, id: &str) -> Result<String, OperationError> {
        let details = self.show(caller, id).await?;
        Ok(graph::svg(&GraphView::from(&details)))
    }

    async fn definition(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<WorkflowDefinition, OperationError> {
        self.definition_of(caller, Self::parse(id)?).await
    }

    async fn steer(
        &self,
        caller: &Caller,
        id: &str,
        command: WorkflowCommand,
    ) -> Result<(), OperationError> {
        self.command_from_page(caller, Self::parse(id)?, command).await
    }

    async fn start(
        &self,
        caller: &Caller,
        definition: WorkflowDefinition,
    ) -> Result<String, OperationError> {
        self.start_from_page(caller, definition).await
    }
}

impl Workflows {
    /// What `workflow_status` answers about a workflow that has ended.
    pub(crate) async fn ended_report(
        &self,
        principal: &proto::Principal,
        id: Uuid,
    ) -> Result<Value, Failure> {
        let caller = Caller::local(std::sync::Arc::new(principal.clone()));
        let run = self.run_of(&caller, id).await?;
        let own = run.tenant == principal.tenant.as_str()
            && run.owner == principal.subject
            && run.agent == principal.agent;
        if !own {
            return Err(not_found(id));
        }
        let details = self.ended_with_run(id, run).await?;
        let WorkflowSummary { run_id, expires_unix_ms, .. } = &details.workflow;
        let mut report = json!({
            "status": "report",
            "workflow_id": id.to_string(),
            "state": "ended",
            "run_id": run_id,
            "expires_at": proto::time::rfc3339(*expires_unix_ms),
            "tasks": listing::short(&details.tasks),
            "events": details.events,
        });
        if !details.not_undone.is_empty() {
            report["not_undone"] = json!(details.not_undone);
        }
        if let Some(answer) = details.checkpoint {
            report["checkpoint"] = answer;
        }
        Ok(report)
    }
}

#[cfg(test)]
mod tests;
