//! Starts workflows: nothing runs before the DAG is committed.

use std::sync::Arc;
use std::time::Duration;

use proto::{Digest, Failure, Principal, canonical, digest};
use serde_json::json;
use store::{
    RowChange, StoreError, WorkflowChange, WorkflowEventRow, WorkflowOwner, WorkflowPhase,
    WorkflowRow,
};
use uuid::Uuid;

use crate::core::{Rules, State};
use crate::driver::{Begin, Driver, LEASE_MS};
use crate::failures::{bad_dag, key_reused, not_found, too_many_active, unavailable};
use crate::outage::{RETRIES, read};
use crate::paths::graph_of;
use crate::plan::{CatalogTools, Plan, Reading};
use crate::results::Results;
use crate::service::Live;
use crate::workflows::{Workflows, run_id};

/// What a workflow is started with.
pub(crate) struct Start {
    pub(crate) dag: Reading,
    pub(crate) per_layer: bool,
    pub(crate) client_key: Option<String>,
}

impl Start {
    /// The digest of what is started, however long the caller waits.
    fn sum(&self) -> Digest {
        digest(&canonical::bytes(
            &json!({"dag": {"tasks": self.dag.tasks}, "per_layer": self.per_layer}),
        ))
    }
}

/// A workflow that was started.
pub(crate) enum Started {
    Now(Arc<Live>),
    /// With the same idempotency key, before.
    Before(Uuid),
}

impl Workflows {
    /// Starts a workflow, or finds the one that was started with the same idempotency key.
    pub(crate) async fn start(
        &self,
        principal: &Arc<Principal>,
        start: Start,
    ) -> Result<Started, Failure> {
        let start_sum = start.client_key.is_some().then(|| start.sum());
        if let Some(key) = &start.client_key
            && let Some(id) = self.started_with(principal, key, start_sum).await?
        {
            return Ok(Started::Before(id));
        }
        let service = self.service();
        let settings = **service.settings.load();
        let strip = &service.strip;
        let tools = CatalogTools {
            tools: Arc::clone(strip.view(principal).tools()),
            prompts: strip.prompts().snapshot(),
        };
        let plan = Plan::of(start.dag, &tools).map_err(|faults| bad_dag(&faults))?;
        let tenant = principal.tenant.as_str();
        let admit = || service.active.admit(&service.database, tenant, settings.max_active);
        if !read(admit).await? {
            return Err(too_many_active(settings.max_active));
        }
        let id = Uuid::new_v4();
        let rules = Rules { per_layer: start.per_layer, parallel: settings.parallel_tasks.max(1) };
        let state = State::new(Arc::new(graph_of(&plan)), rules);
        let now = service.now();
        let row = WorkflowRow {
            id,
            run: run_id(id),
            tenant: principal.tenant.as_str().to_owned(),
            subject: principal.subject.clone(),
            agent: principal.agent.clone(),
            principal: serde_json::to_string(&**principal).unwrap_or_default(),
            client_key: start.client_key.clone(),
            start_sum,
            dag: serde_json::to_string(&plan).unwrap_or_default(),
            intent: None,
            config: json!({"per_layer_validation": start.per_layer}).to_string(),
            state: serde_json::to_string(&state.saved()).unwrap_or_default(),
            phase: WorkflowPhase::Running,
            control_calls: "[]".to_owned(),
            created_unix_ms: now,
            updated_unix_ms: now,
            expires_unix_ms: service.expiry(now),
            lease_owner: Some(service.process.clone()),
            lease_until_unix_ms: now.saturating_add(LEASE_MS),
            fence: 1,
        };
        let expires_unix_ms = row.expires_unix_ms;
        match self.insert(row).await {
            Ok(()) => {}
            Err(StoreError::Fenced) => {
                // An equal call was faster.
                let key = start.client_key.as_deref().unwrap_or_default();
                let before = self.started_with(principal, key, start_sum).await?;
                return before.map(Started::Before).ok_or_else(|| not_found(id));
            }
            Err(error) => return Err(unavailable(error)),
        }
        tracing::info!(workflow_id = %id, command = "execute_dag", outcome = "accepted", "workflow command");
        let live = Driver::start(
            service,
            Begin {
                workflow: id,
                principal: Arc::clone(principal),
                run: strip.runs().begin_workflow(principal, id),
                fence: 1,
                plan: Arc::new(plan),
                state,
                results: Arc::new(Results::new(id, service.database.clone())),
                control_calls: Vec::new(),
                expires_unix_ms,
                last_event: 1,
            },
        );
        Ok(Started::Now(live))
    }

    /// The workflow that was started with a key; fails if it was started with something else.
    async fn started_with(
        &self,
        principal: &Principal,
        key: &str,
        start_sum: Option<Digest>,
    ) -> Result<Option<Uuid>, Failure> {
        let owner = WorkflowOwner {
            tenant: principal.tenant.as_str(),
            subject: &principal.subject,
            agent: principal.agent.as_deref(),
        };
        match read(|| self.service().database.workflow_by_client_key(owner, key)).await? {
            Some((id, Some(before))) if Some(before) != start_sum => Err(key_reused(id)),
            found => Ok(found.map(|(id, _)| id)),
        }
    }

    /// Commits a new workflow.
    async fn insert(&self, row: WorkflowRow) -> Result<(), StoreError> {
        let id = row.id;
        let event = WorkflowEventRow {
            workflow: id,
            number: 1,
            at_unix_ms: row.created_unix_ms,
            kind: "command".to_owned(),
            data: json!({"command": "execute_dag", "outcome": "accepted"}).to_string(),
        };
        let change = WorkflowChange {
            workflow: id,
            fence: row.fence,
            row: Some(RowChange::Insert(Box::new(row))),
            events: vec![event],
            ..WorkflowChange::default()
        };
        let mut pause = Duration::from_millis(50);
        let mut failed = None;
        for _ in 0..=RETRIES {
            let written = async {
                self.service().trail.save_workflow(change.clone()).await?.committed().await
            };
            match written.await {
                Ok(()) => return Ok(()),
                // An earlier try was written after all.
                Err(StoreError::Fenced) if failed.is_some() && self.exists(id).await => {
                    return Ok(());
                }
                Err(StoreError::Fenced) => return Err(StoreError::Fenced),
                Err(error) => failed = Some(error),
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        // The writer may still write it, but its caller gets the error that it has not started.
        tokio::spawn(self.clone().take_back(id));
        Err(failed.unwrap_or(StoreError::Fenced))
    }

    async fn exists(&self, id: Uuid) -> bool {
        matches!(self.service().database.workflow(id).await, Ok(Some(_)))
    }

    /// Deletes a workflow whose start was reported as failed.
    async fn take_back(self, id: Uuid) {
        let change =
            WorkflowChange { workflow: id, fence: 1, delete_control: true, ..Default::default() };
        while !self.service().stopping.is_cancelled() {
            let written = async {
                self.service().trail.save_workflow(change.clone()).await?.committed().await
            };
            if matches!(written.await, Ok(()) | Err(StoreError::Fenced)) {
                return;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}
