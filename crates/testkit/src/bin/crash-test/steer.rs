//! The client of one workflow: starts it, steers it, and carries on after every crash.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::record::Record;
use crate::spec::{Spec, TaskSpec};
use crate::{approvals, operator, questions};

/// How long a call may wait in the gateway. Short, so that clients see `running`, too.
const WAIT_MS: u64 = 2_000;

/// How soon a call that was refused for a moment is made again.
const RETRY: Duration = Duration::from_millis(50);

/// What all clients of a session share.
pub(crate) struct World {
    pub(crate) client: reqwest::Client,
    pub(crate) url: String,
    pub(crate) folder: PathBuf,
    /// Whether a gateway serves clients at the moment.
    pub(crate) up: watch::Sender<bool>,
}

/// One workflow.
pub(crate) struct Steered {
    pub(crate) spec: Spec,
    record: Mutex<Record>,
}

enum Outcome {
    Answer(Value),
    /// The gateway was killed, or refused for a moment.
    Again,
    /// Only an operator may continue the workflow.
    Quarantined,
}

impl World {
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    pub(crate) fn admin_token(&self) -> String {
        let token = std::fs::read_to_string(self.folder.join(".powerstrip/admin.token"));
        token.unwrap_or_default().trim().to_owned()
    }

    async fn wait_until_up(&self) -> Result<(), String> {
        let mut up = self.up.subscribe();
        up.wait_for(|up| *up).await.map(drop).map_err(|error| error.to_string())
    }

    /// Calls a tool of workflows through the HTTP envelope.
    async fn call(&self, tool: &str, input: &Value, key: Option<&str>) -> Result<Outcome, String> {
        self.wait_until_up().await?;
        let mut request =
            self.client.post(self.url(&format!("/mcp/tool/powerstrip:{tool}"))).json(input);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let Ok(answer) = request.send().await else { return Ok(Outcome::Again) };
        let Ok(envelope) = answer.json::<Value>().await else { return Ok(Outcome::Again) };
        if envelope["ok"] == true {
            return Ok(Outcome::Answer(envelope["data"].clone()));
        }
        let error = &envelope["errors"][0];
        let passing = ["UNAVAILABLE", "RATE_LIMIT"];
        if error["code"].as_str().is_some_and(|code| passing.contains(&code)) {
            sleep(RETRY).await;
            return Ok(Outcome::Again);
        }
        let message = error["message"].as_str().unwrap_or_default();
        if error["code"] == "INVALID_INPUT" && message.contains("quarantined") {
            return Ok(Outcome::Quarantined);
        }
        Err(format!("{tool} {input}: {error}"))
    }
}

impl Steered {
    pub(crate) fn new(spec: Spec) -> Self {
        Self { spec, record: Mutex::default() }
    }

    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Steers the workflow until it has ended.
    pub(crate) async fn run(&self, world: &World) -> Result<(), String> {
        let key = format!("start-{}", self.spec.name);
        let mut input = self.spec.input();
        input["config"]["wait_ms"] = json!(WAIT_MS);
        self.ask(world, "execute_dag", &input, Some(&key)).await?;
        let mut checkpoints = 0;
        let mut last_checkpoint = Value::Null;
        loop {
            let (ended, answer) = {
                let record = self.record();
                (record.ended, record.last.clone())
            };
            if ended {
                return Ok(());
            }
            let id = answer["workflow_id"].clone();
            let checkpoint = answer["checkpoint_id"].clone();
            if !checkpoint.is_null() && checkpoint != last_checkpoint {
                checkpoints += 1;
                last_checkpoint = checkpoint.clone();
            }
            let abort = self.spec.abort_at.is_some_and(|at| checkpoints > at);
            if abort || answer["status"] == "rejected" {
                let input = json!({"workflow_id": id, "reason": "the crash test says so"});
                self.record().aborting = true;
                self.ask(world, "abort", &input, None).await?;
                continue;
            }
            if answer["checkpoint_type"] == "quarantined" {
                self.release(world, &id).await?;
                self.ask(world, "continue", &json!({"workflow_id": id, "wait_ms": WAIT_MS}), None)
                    .await?;
                continue;
            }
            if answer["checkpoint_type"] == "approval_required" {
                self.decide(world, &answer).await?;
            }
            if answer["checkpoint_type"] == "input_required" {
                self.reply(world, &answer).await?;
            }
            let mut input = json!({"workflow_id": id, "wait_ms": WAIT_MS});
            // Without it, a repeated call after a crash would skip a checkpoint.
            if !checkpoint.is_null() {
                input["checkpoint_id"] = checkpoint;
            }
            self.ask(world, "continue", &input, None).await?;
        }
    }

    /// Has a quarantined workflow continue, as an operator does.
    async fn release(&self, world: &World, id: &Value) -> Result<(), String> {
        world.wait_until_up().await?;
        let answer = operator::release(&world.folder, id.as_str().unwrap_or_default()).await;
        match answer {
            Some(answer) if answer.get("result").is_some() => self.record().quarantined += 1,
            // Refused for a moment, or the gateway was killed: the client asks again.
            _ => sleep(RETRY).await,
        }
        Ok(())
    }

    /// Asks for the last answer of a workflow that is complete; it must be the same.
    pub(crate) async fn repeat(&self, world: &World) -> Result<(), String> {
        let (id, last) = {
            let record = self.record();
            (record.id.clone(), record.last.clone())
        };
        if last["status"] != "complete" {
            return Ok(());
        }
        self.ask(world, "continue", &json!({"workflow_id": id}), None).await?;
        let record = self.record();
        if record.last["results"] == last["results"] {
            return Ok(());
        }
        Err(format!("{}: the last answer was {last} and is {}", self.spec.name, record.last))
    }

    async fn decide(&self, world: &World, answer: &Value) -> Result<(), String> {
        for decision in answer["decisions"].as_array().into_iter().flatten() {
            let Some(id) = decision["approval_id"].as_str() else { continue };
            world.wait_until_up().await?;
            let approve = !self.spec.reject;
            if let Some(requested) = self.record().approvals.get_mut(id) {
                requested.decided = true;
                requested.approved = approve;
            }
            approvals::decide(world, id, approve).await?;
        }
        Ok(())
    }

    async fn reply(&self, world: &World, answer: &Value) -> Result<(), String> {
        let workflow = answer["workflow_id"].as_str().unwrap_or_default();
        for question in answer["questions"].as_array().into_iter().flatten() {
            let asks = |task: &&TaskSpec| question["task_id"] == task.id.as_str();
            let Some(task) = self.spec.tasks.iter().find(asks) else {
                return Err(format!("{}: an unknown task asks: {question}", self.spec.name));
            };
            world.wait_until_up().await?;
            let id = question["question_id"].as_str().unwrap_or_default();
            if let Some(asked) = self.record().questions.get_mut(id) {
                asked.answered = true;
            }
            questions::answer(world, workflow, question, &task.reply()).await?;
        }
        Ok(())
    }

    /// Calls a tool until it answers, and notes the answer.
    async fn ask(
        &self,
        world: &World,
        tool: &str,
        input: &Value,
        key: Option<&str>,
    ) -> Result<(), String> {
        loop {
            let outcome = world.call(tool, input, key).await;
            let outcome = outcome.map_err(|error| format!("{}: {error}", self.spec.name))?;
            match outcome {
                Outcome::Answer(answer) => return self.record().observe(&self.spec, &answer),
                Outcome::Quarantined => self.release(world, &input["workflow_id"]).await?,
                Outcome::Again => {}
            }
            // A killed gateway is noticed before it is announced.
            sleep(Duration::from_millis(5)).await;
        }
    }
}
