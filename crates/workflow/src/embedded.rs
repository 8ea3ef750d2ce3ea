//! Workflows that another part of the gateway starts and waits for, as `execute_dag` does for its callers.

use std::sync::Arc;
use std::time::Duration;

use dag::Dag;
use dag::core::{Address, PauseKind, Phase};
use dag::plan::Reading;
use proto::{Failure, Principal, canonical, digest};
use runs::Run;
use serde::de;
use serde_json::Value;
use uuid::Uuid;

use crate::failures::{damaged, not_found};
use crate::outage::read;
use crate::service::{Live, Snapshot};
use crate::start::{Start, Started};
use crate::workflows::Workflows;

/// The largest output of a task that is read back.
const MAX_OUTPUT: u64 = 16 << 20;

/// How many equal requests of a caller are kept apart; later ones are not joined.
const MOST_TURNS: u32 = 100;

/// How a DAG is started.
#[derive(Clone, Debug, Default)]
pub struct StartOptions {
    /// The id of the new workflow, where its tasks must name it; a random one unless set.
    pub id: Option<Uuid>,
    /// A start with the same key by the same caller finds the workflow that was started before, also under another `id`.
    /// It shares its names with the keys of `execute_dag`.
    pub idempotency_key: Option<String>,
    /// What the caller asked for. With the same key, another request fails; the DAG is compared unless this is set.
    pub request: Option<Value>,
}

/// The event to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// A pause, such as a question to a person, or the end.
    Pause,
    /// The end; a workflow that waits for a person goes on once there is an answer.
    End,
}

/// How far a workflow has come, with the answer that `execute_dag` would give.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// `{status: "running", layer_index, done, total}`.
    Running(Value),
    /// It waits for a person or a command: `{status: "layer_complete", checkpoint_type, questions, …}`.
    Paused(Value),
    /// `{status: "complete" | "failed" | "aborted", results: [{task_id, status, output?, error?}], …}`. Outputs that do not
    /// fit are references; [`Workflows::task_output`] reads them.
    Ended(Value),
}

impl Workflows {
    /// Starts a DAG under the caller's view, limits and gates, and returns its id. The workflow goes on if the caller leaves.
    pub async fn start_dag(
        &self,
        principal: &Arc<Principal>,
        dag: Dag,
        options: StartOptions,
    ) -> Result<Uuid, Failure> {
        let start = Start {
            dag: Reading::from(dag),
            per_layer: false,
            client_key: options.idempotency_key,
            intent: None,
            planned: None,
            id: options.id,
            request: options.request,
        };
        Ok(match self.start(principal, start).await? {
            Started::Now(live) => live.workflow,
            Started::Before(id) => id,
        })
    }

    /// Starts a DAG that was made from a request, unless a workflow of this caller for an equal request is unfinished: then that
    /// one is joined. `kind` keeps the requests of one part of the gateway apart from those of others.
    pub async fn start_or_join(
        &self,
        principal: &Arc<Principal>,
        dag: Dag,
        id: Uuid,
        kind: &str,
        request: Value,
    ) -> Result<Uuid, Failure> {
        let asked = digest(&canonical::bytes(&request));
        let mut options =
            StartOptions { id: Some(id), request: Some(request), ..Default::default() };
        for turn in 0..MOST_TURNS {
            let key = format!("{kind}/{asked}/{turn}");
            let Some((before, _)) = self.by_key(principal, &key).await? else {
                options.idempotency_key = Some(key);
                break;
            };
            let live = self.own(principal, before).await?;
            let ended =
                |live: &Live| matches!(live.published.borrow().state.phase, Phase::Ended(_));
            if live.is_some_and(|live| !ended(&live)) {
                return Ok(before);
            }
        }
        self.start_dag(principal, dag, options).await
    }

    /// Waits for a workflow of this caller, for `longest` at most. A workflow that has ended is known as long as its answer is
    /// kept, also after a restart; then it is NOT_FOUND.
    pub async fn wait_for(
        &self,
        principal: &Principal,
        id: Uuid,
        until: Until,
        longest: Duration,
    ) -> Result<Progress, Failure> {
        let Some(live) = self.own(principal, id).await? else {
            let answer = self.last_answer(principal, id).await?;
            return answer.map(Progress::Ended).ok_or_else(|| not_found(id));
        };
        let ready = |snapshot: &Snapshot| match until {
            Until::Pause => match snapshot.state.pause() {
                // Once its questions are answered, it goes on in a moment.
                Some(pause) if pause.kind == PauseKind::Input => {
                    !live.run.open_questions().is_empty()
                }
                _ => !snapshot.is_running(),
            },
            Until::End => matches!(snapshot.state.phase, Phase::Ended(_)),
        };
        let done = tokio::time::timeout(longest, self.changed(&live, ready)).await.ok();
        let (snapshot, answer) = self.current_answer(&live, done).await?;
        Ok(match &snapshot.state.phase {
            Phase::Ended(_) => Progress::Ended(answer),
            Phase::Paused(_) => Progress::Paused(answer),
            _ => Progress::Running(answer),
        })
    }

    /// The output of a task of this caller's workflow, whole: a list for `for_each`, null if the task has none.
    pub async fn task_output(
        &self,
        principal: &Principal,
        id: Uuid,
        task: &str,
    ) -> Result<Value, Failure> {
        if let Some(live) = self.own(principal, id).await? {
            let plan = Arc::clone(&live.published.borrow().plan);
            let Some(place) = plan.position(task) else { return Ok(Value::Null) };
            let address = Address::task(place);
            let output = read(|| live.results.output(&plan, &address)).await?;
            return Ok(Arc::unwrap_or_clone(output));
        }
        let answer = self.last_answer(principal, id).await?.ok_or_else(|| not_found(id))?;
        let lists = ["results", "partial_results"].map(|list| answer[list].as_array());
        let mut results = lists.into_iter().flatten().flatten();
        let result = results.find(|result| result["task_id"] == task);
        let output = result.and_then(|result| result.get("output")).cloned().unwrap_or_default();
        match output["ref_id"].as_str().filter(|_| output["truncated"] == true) {
            Some(reference) => self.read_reference(principal, id, reference).await,
            None => Ok(output),
        }
    }

    /// An output that was stored because the answer would have been too long with it.
    async fn read_reference(
        &self,
        principal: &Principal,
        id: Uuid,
        reference: &str,
    ) -> Result<Value, Failure> {
        let files = self.service().strip.files();
        let record = files.find(principal, reference).await?;
        let bytes = files.bytes(&record, MAX_OUTPUT).await?;
        let read = || match record.media_type.as_str() {
            "application/json" => serde_json::from_slice(&bytes),
            // An output that is a text is stored as it is.
            _ => std::str::from_utf8(&bytes).map(Value::from).map_err(de::Error::custom),
        };
        strip::run_blocking(bytes.len(), read).map_err(|error| damaged(id, error))
    }

    /// The run of this caller's unfinished workflow, whose questions may be asked elsewhere; none once it has ended.
    pub async fn run_of_unfinished(
        &self,
        principal: &Principal,
        id: Uuid,
    ) -> Result<Option<Arc<Run>>, Failure> {
        Ok(self.own(principal, id).await?.map(|live| Arc::clone(&live.run)))
    }
}

#[cfg(test)]
mod tests;
