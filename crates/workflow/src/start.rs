//! Starts workflows: nothing runs before the DAG is committed.

use std::sync::Arc;
use std::time::Duration;

use dag::PlanNotes;
use dag::core::{Rules, State};
use dag::paths::graph_of;
use dag::plan::{Plan, Reading};
use proto::{Digest, Failure, Principal, canonical, digest};
use serde_json::{Value, json};
use store::{
    Crashes, Receipt, RowChange, StoreError, WorkflowChange, WorkflowEventRow, WorkflowPhase,
    WorkflowRow,
};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::catalog_tools::CatalogTools;
use crate::driver::{DrivenWorkflow, Driver, LEASE_MS};
use crate::failures::{
    bad_dag, is_damage, key_reused, not_found, stopping, too_many_active, unavailable,
};
use crate::outage::{RETRIES, read};
use crate::results::{Results, to_json};
use crate::service::{Live, Starting};
use crate::workflows::{Workflows, owner_of, run_id};

/// How often a start is tried before its caller gets an error.
const TRIES: usize = RETRIES + 1;

const FIRST_RETRY: Duration = Duration::from_millis(50);
const LAST_RETRY: Duration = Duration::from_secs(1);

/// What a workflow is started with.
pub(crate) struct Start {
    pub(crate) dag: Reading,
    pub(crate) per_layer: bool,
    pub(crate) client_key: Option<String>,
    /// What the DAG was planned for.
    pub(crate) intent: Option<String>,
    /// What the caller gets to read before anything runs, if the plan waits for it.
    pub(crate) planned: Option<Box<PlanNotes>>,
    /// Its id, unless a new one will do.
    pub(crate) id: Option<Uuid>,
    /// The request that the DAG was made from, by which a repetition is known.
    pub(crate) request: Option<Value>,
}

impl Start {
    /// The digest of what is started, however long the caller waits.
    fn digest(&self) -> Digest {
        if let Some(request) = &self.request {
            return digest(&canonical::bytes(&json!({"request": request})));
        }
        // The same intent may be planned otherwise by now.
        if let Some(intent) = &self.intent {
            let started = json!({"intent": intent, "per_layer": self.per_layer});
            return digest(&canonical::bytes(&started));
        }
        let mut started = json!({"dag": {"tasks": self.dag.tasks}, "per_layer": self.per_layer});
        if let Some(name) = &self.dag.name {
            started["dag"]["name"] = name.as_str().into();
        }
        digest(&canonical::bytes(&started))
    }

    /// The digest, if a repetition can be known by a key.
    fn start_digest(&self) -> Option<Digest> {
        self.client_key.is_some().then(|| self.digest())
    }
}

/// A workflow that was started.
pub(crate) enum Started {
    Now(Arc<Live>),
    /// With the same idempotency key, before.
    Before(Uuid),
}

/// A workflow that is not committed yet.
struct NewWorkflow {
    /// Inserts its row.
    change: WorkflowChange,
    principal: Arc<Principal>,
    plan: Plan,
    state: State,
    created_unix_ms: u64,
    expires_unix_ms: u64,
}

impl NewWorkflow {
    fn has_client_key(&self) -> bool {
        matches!(&self.change.row, Some(RowChange::Insert(row)) if row.client_key.is_some())
    }
}

impl Workflows {
    /// The workflow that was started with the same idempotency key.
    pub(crate) async fn earlier(
        &self,
        principal: &Arc<Principal>,
        start: &Start,
    ) -> Result<Option<Uuid>, Failure> {
        match &start.client_key {
            Some(key) => self.started_with(principal, key, start.start_digest()).await,
            None => Ok(None),
        }
    }

    /// Starts a workflow, or finds the one that was started with the same idempotency key.
    pub(crate) async fn start(
        &self,
        principal: &Arc<Principal>,
        start: Start,
    ) -> Result<Started, Failure> {
        if self.service().draining.is_cancelled() {
            return Err(stopping());
        }
        if let Some(id) = self.earlier(principal, &start).await? {
            return Ok(Started::Before(id));
        }
        let start_digest = start.start_digest();
        let service = self.service();
        let settings = **service.settings.load();
        let strip = &service.strip;
        let tools = CatalogTools::of(strip, principal);
        let plan = strip::run_blocking(usize::MAX, || Plan::of(start.dag, &tools))
            .map_err(|faults| bad_dag(&faults))?;
        let tenant = principal.tenant.as_str();
        let admit = || service.active.admit(&service.database, tenant, settings.max_active);
        if !read(admit).await? {
            return Err(too_many_active(settings.max_active));
        }
        let id = start.id.unwrap_or_else(Uuid::new_v4);
        let rules = Rules { per_layer: start.per_layer, parallel: settings.parallel_tasks.max(1) };
        let mut state = State::new(Arc::new(graph_of(&plan)), rules);
        state.planned = start.planned;
        let now = service.now();
        let row = WorkflowRow {
            id,
            run: run_id(id),
            tenant: principal.tenant.as_str().to_owned(),
            subject: principal.subject.clone(),
            agent: principal.agent.clone(),
            principal: to_json(&**principal),
            client_key: start.client_key.clone(),
            start_digest,
            dag: to_json(&plan),
            intent: start.intent.clone(),
            config: json!({"per_layer_validation": start.per_layer}).to_string(),
            state: to_json(&state.saved()),
            phase: WorkflowPhase::Running,
            control_calls: "[]".to_owned(),
            created_unix_ms: now,
            updated_unix_ms: now,
            expires_unix_ms: service.expiry(now),
            lease_owner: Some(service.process.clone()),
            lease_until_unix_ms: now.saturating_add(LEASE_MS),
            fence: 1,
            crashes: Crashes::default(),
        };
        let expires_unix_ms = row.expires_unix_ms;
        let new = NewWorkflow {
            change: insertion(row),
            principal: Arc::clone(principal),
            plan,
            state,
            created_unix_ms: now,
            expires_unix_ms,
        };
        let (reply, started) = oneshot::channel();
        let starting = service.begin_start(id);
        // In a task of its own, because the caller may disconnect.
        tokio::spawn(self.clone().commit_and_drive(new, starting, reply));
        match started.await {
            Ok(Ok(live)) => Ok(Started::Now(live)),
            Ok(Err(StoreError::Fenced)) => {
                // An equal call was faster.
                let key = start.client_key.as_deref().unwrap_or_default();
                let before = self.started_with(principal, key, start_digest).await?;
                before.map(Started::Before).ok_or_else(|| not_found(id))
            }
            Ok(Err(error)) => Err(unavailable(error)),
            Err(_) => Err(stopping()),
        }
    }

    /// The workflow that was started with a key; fails if it was started with something else.
    async fn started_with(
        &self,
        principal: &Principal,
        key: &str,
        start_digest: Option<Digest>,
    ) -> Result<Option<Uuid>, Failure> {
        match self.by_key(principal, key).await? {
            Some((id, Some(before))) if Some(before) != start_digest => Err(key_reused(id)),
            found => Ok(found.map(|(id, _)| id)),
        }
    }

    /// The workflow that was started with a key, and the digest of what was started.
    pub(crate) async fn by_key(
        &self,
        principal: &Principal,
        key: &str,
    ) -> Result<Option<(Uuid, Option<Digest>)>, Failure> {
        let owner = owner_of(principal);
        read(|| self.service().database.workflow_by_client_key(owner, key)).await
    }

    /// Commits a new workflow and gives it a driver. After a few tries the caller gets an error, but what the writer has
    /// accepted is written once it can be. With an idempotency key the workflow then runs, because a retry of the caller
    /// finds it; without one it is deleted, because a retry starts another.
    async fn commit_and_drive(
        self,
        new: NewWorkflow,
        _starting: Starting,
        reply: oneshot::Sender<Result<Arc<Live>, StoreError>>,
    ) {
        let service = self.service();
        let id = new.change.workflow;
        let mut reply = Some(reply);
        let mut receipt: Option<Receipt> = None;
        let (mut pause, mut tries) = (FIRST_RETRY, 0);
        loop {
            let written = match &receipt {
                Some(receipt) => receipt.committed().await,
                None => match service.save(new.change.clone()).await {
                    Ok(accepted) => receipt.insert(accepted).committed().await,
                    Err(error) => Err(error),
                },
            };
            let error = match written {
                Ok(()) => break,
                Err(error) => error,
            };
            tries += 1;
            let is_final = matches!(error, StoreError::Fenced) || is_damage(&error);
            if (is_final || tries == TRIES)
                && let Some(reply) = reply.take()
            {
                // The caller may have left.
                let _ = reply.send(Err(error));
            }
            if is_final || (tries >= TRIES && receipt.is_none()) {
                return;
            }
            tokio::select! {
                () = service.stopping.cancelled() => return,
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(LAST_RETRY),
            }
        }
        if reply.is_none() && !new.has_client_key() {
            return self.take_back(id).await;
        }
        if service.stopping.is_cancelled() {
            // The next start drives it.
            return;
        }
        tracing::info!(workflow_id = %id, command = "execute_dag", outcome = "accepted", "workflow command");
        let name = new.plan.called(new.created_unix_ms);
        let live = Driver::start(
            service,
            DrivenWorkflow {
                id,
                run: service.strip.runs().begin_workflow(&new.principal, id, &name),
                principal: new.principal,
                fence: 1,
                plan: Arc::new(new.plan),
                state: new.state,
                results: Arc::new(Results::new(id, service.database.clone())),
                control_calls: Vec::new(),
                expires_unix_ms: new.expires_unix_ms,
                last_event: 1,
                crashed: false,
            },
        );
        if let Some(reply) = reply {
            let _ = reply.send(Ok(live));
        }
    }

    /// Deletes a workflow whose start was reported as failed.
    async fn take_back(&self, id: Uuid) {
        let change =
            WorkflowChange { workflow: id, fence: 1, delete_control: true, ..Default::default() };
        while !self.service().stopping.is_cancelled() {
            let written = async { self.service().save(change.clone()).await?.committed().await };
            if matches!(written.await, Ok(()) | Err(StoreError::Fenced)) {
                return;
            }
            tokio::time::sleep(LAST_RETRY).await;
        }
    }
}

/// The change that writes a new workflow and the first row of its journal.
fn insertion(row: WorkflowRow) -> WorkflowChange {
    let event = WorkflowEventRow {
        workflow: row.id,
        number: 1,
        at_unix_ms: row.created_unix_ms,
        kind: "command".to_owned(),
        data: json!({"command": "execute_dag", "outcome": "accepted"}).to_string(),
    };
    WorkflowChange {
        workflow: row.id,
        fence: row.fence,
        row: Some(RowChange::Insert(Box::new(row))),
        events: vec![event],
        ..WorkflowChange::default()
    }
}
