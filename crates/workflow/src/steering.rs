//! People who start and steer workflows on pages. Their commands are calls of the workflow tools, so the guards and the
//! audit of all calls apply.

use std::sync::Arc;
use std::time::Duration;

use dag::plan::Plan;
use operations::workflows::{WorkflowCommand, WorkflowDefinition};
use operations::{Caller, OperationError};
use proto::{ADMIN, Code};
use serde_json::{Value, json};
use strip::{Door, Request};
use uuid::Uuid;

use crate::failures::{damaged, not_found};
use crate::outage::read;
use crate::workflows::Workflows;

/// How long a page waits for a command; most are carried out by then.
const MOMENT: Duration = Duration::from_millis(1_500);

/// The wait of the first answer: the page of the workflow shows the rest.
const FIRST_WAIT_MS: u64 = 1;

/// How many rows of a journal are searched for what an ended workflow was started with.
const LAST_ROWS: u32 = 50;

impl Workflows {
    /// Gives a command of a person and waits a moment for it. It is carried out even if the person leaves.
    pub(crate) async fn command_from_page(
        &self,
        caller: &Caller,
        id: Uuid,
        command: WorkflowCommand,
    ) -> Result<(), OperationError> {
        let (tool, mut input) = call_of(command);
        input["workflow_id"] = id.to_string().into();
        let mut request = request_of(caller, tool, input);
        if caller.is_operator() || caller.principal.holds(ADMIN) {
            request.on_behalf_of = Some(self.owner(id).await?);
            tracing::info!(workflow_id = %id, command = tool, "the operator acts for the owner of a workflow");
        }
        let workflows = self.clone();
        let sent = tokio::spawn(async move { workflows.send_request(request).await });
        match tokio::time::timeout(MOMENT, sent).await {
            Ok(Ok(answered)) => answered.map(drop),
            Ok(Err(_)) => Err(OperationError::new(Code::Internal, "the command ended early")),
            // The command is carried out later.
            Err(_) => Ok(()),
        }
    }

    /// Starts a workflow for a person and returns its id.
    pub(crate) async fn start_from_page(
        &self,
        caller: &Caller,
        definition: WorkflowDefinition,
    ) -> Result<String, OperationError> {
        let WorkflowDefinition { dag, per_layer_validation } = definition;
        let config =
            json!({"per_layer_validation": per_layer_validation, "wait_ms": FIRST_WAIT_MS});
        let input = json!({"workflow": dag, "config": config});
        let answer = self.send_request(request_of(caller, "execute_dag", input)).await?;
        match answer["workflow_id"].as_str() {
            Some(id) => Ok(id.to_owned()),
            None => Err(OperationError::new(Code::Internal, "the workflow has no id")),
        }
    }

    /// What a workflow was started with, from its row or, after its end, from its journal.
    pub(crate) async fn definition_of(
        &self,
        caller: &Caller,
        id: Uuid,
    ) -> Result<WorkflowDefinition, OperationError> {
        let damaged = |error| damaged(id, error);
        if let Some(row) = read(|| self.service().database.workflow(id)).await? {
            if caller.tenant().is_some_and(|tenant| tenant != row.tenant) {
                return Err(not_found(id).into());
            }
            let plan: Plan = serde_json::from_str(&row.dag).map_err(damaged)?;
            let config: Value = serde_json::from_str(&row.config).map_err(damaged)?;
            let per_layer_validation = config["per_layer_validation"] == true;
            return Ok(WorkflowDefinition { dag: json!(plan.dag()), per_layer_validation });
        }
        self.run_of(caller, id).await?;
        let rows = read(|| self.service().database.last_workflow_events(id, LAST_ROWS)).await?;
        let snapshot = rows.iter().rev().find(|row| row.kind == "snapshot");
        let snapshot = snapshot.map(|row| serde_json::from_str::<Value>(&row.data));
        let snapshot = snapshot.transpose().map_err(damaged)?.unwrap_or_default();
        // Workflows that ended before this was kept have none.
        serde_json::from_value(snapshot)
            .map_err(|_| OperationError::not_found("the DAG of this workflow is no longer stored"))
    }
}

/// The tool that carries out a command, and its input.
fn call_of(command: WorkflowCommand) -> (&'static str, Value) {
    match command {
        WorkflowCommand::Continue { checkpoint_id: Some(id) } => {
            ("continue", json!({"checkpoint_id": id}))
        }
        WorkflowCommand::Continue { checkpoint_id: None } => ("continue", json!({})),
        WorkflowCommand::Release => ("continue", json!({"force": true})),
        WorkflowCommand::Abort { reason } => ("abort", json!({"reason": reason})),
        WorkflowCommand::RetryTask { task_id } => ("retry_task", json!({"task_id": task_id})),
        WorkflowCommand::SkipTask { task_id } => ("skip_task", json!({"task_id": task_id})),
    }
}

/// A call of a workflow tool by a person.
fn request_of(caller: &Caller, tool: &str, input: Value) -> Request {
    let name = format!("powerstrip:{tool}");
    let mut request = Request::new(&name, input, Arc::clone(&caller.principal), Door::Dashboard);
    if let Some(trace) = caller.trace {
        request.trace = trace;
    }
    request.idempotency_key.clone_from(&caller.idempotency_key);
    request
}
