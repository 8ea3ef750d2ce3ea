//! People who start and steer workflows on pages. Their commands are calls of the workflow tools, so the guards and the
//! audit of all calls apply.

use std::time::Duration;

use dag::Dag;
use dag::plan::Plan;
use operations::workflows::{WorkflowCommand, WorkflowDefinition};
use operations::{Caller, OperationError};
use proto::{ADMIN, Code};
use serde::{Deserialize, Serialize, de};
use serde_json::{Value, json};
use strip::Door;
use uuid::Uuid;

use crate::failures::{damaged, not_found};
use crate::inputs::{
    Abort, Continue, Execute, ExecuteConfig, RetryTask, SkipTask, SteeringInput, ToolInput,
};
use crate::operations::request_of;
use crate::outage::read;
use crate::views::last_snapshot;
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
        let (tool, input) = call_of(id, command);
        let mut request = request_of(caller, Door::Dashboard, tool, input);
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
        let wait_ms = Some(FIRST_WAIT_MS);
        let config = ExecuteConfig { per_layer_validation, wait_ms, ..ExecuteConfig::default() };
        let input = Execute { workflow: Some(dag), config: Some(config), ..Execute::default() };
        let request = request_of(caller, Door::Dashboard, Execute::TOOL, json!(input));
        let answer = self.send_request(request).await?;
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
        self.check_tenant(caller, id).await?;
        if let Some(row) = read(|| self.service().database.workflow(id)).await? {
            let plan: Plan = serde_json::from_str(&row.dag).map_err(damaged)?;
            let StoredConfig { per_layer_validation } =
                serde_json::from_str(&row.config).map_err(damaged)?;
            return Ok(WorkflowDefinition { dag: json!(plan.dag()), per_layer_validation });
        }
        self.run_of(caller, id).await?;
        let rows = read(|| self.service().database.last_workflow_events(id, LAST_ROWS)).await?;
        if rows.is_empty() {
            return Err(not_found(id).into());
        }
        let StoredDefinition { dag, per_layer_validation } =
            last_snapshot(&rows).map_err(damaged)?;
        match (dag, per_layer_validation) {
            (Some(dag), Some(per_layer_validation)) => {
                Ok(WorkflowDefinition { dag: json!(dag), per_layer_validation })
            }
            // Workflows that ended before a DAG was kept have none.
            (None, None) => {
                Err(OperationError::not_found("the DAG of this workflow is no longer stored"))
            }
            _ => Err(damaged(de::Error::custom(
                "the journal has a DAG without its config, or the other way round",
            ))
            .into()),
        }
    }
}

/// How the row of a workflow says that it was started.
#[derive(Deserialize)]
struct StoredConfig {
    per_layer_validation: bool,
}

/// How the journal of an ended workflow says that it was started.
#[derive(Deserialize)]
struct StoredDefinition {
    dag: Option<Dag>,
    per_layer_validation: Option<bool>,
}

/// The tool that carries out a command, and its input.
fn call_of(id: Uuid, command: WorkflowCommand) -> (&'static str, Value) {
    match command {
        WorkflowCommand::Continue { checkpoint_id } => {
            with_id(id, Continue { checkpoint_id, ..Continue::default() })
        }
        WorkflowCommand::Release => with_id(id, Continue { force: true, ..Continue::default() }),
        WorkflowCommand::Abort { reason } => with_id(id, Abort { reason }),
        WorkflowCommand::RetryTask { task_id } => {
            with_id(id, RetryTask { task_id, arguments: None })
        }
        WorkflowCommand::SkipTask { task_id } => with_id(id, SkipTask { task_id, reason: None }),
    }
}

fn with_id<I: SteeringInput + Serialize>(id: Uuid, input: I) -> (&'static str, Value) {
    (I::TOOL, json!(ToolInput { workflow_id: id.to_string(), input }))
}
