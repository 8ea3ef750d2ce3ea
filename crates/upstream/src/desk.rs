//! What one server's callers left with us: sealed states and task ids, and calls that wait for a person.

use std::time::Duration;

use proto::{Clock, Code, Principal};
use serde_json::{Map, Value, json};
use strip::Failure;

use crate::Deps;
use crate::parked::Parked;
use crate::seal::{Purpose, Seal};

/// How long a person may take to answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// What a task's id is good for, whatever request it comes with.
const TASKS: &[u8] = b"tasks";

/// The seal and the waiting calls of one server.
pub(crate) struct Desk {
    seal: Seal,
    clock: Clock,
    pub(crate) parked: Parked,
}

impl Desk {
    pub(crate) fn new(deps: &Deps) -> Self {
        Self { seal: Seal::new(), clock: deps.clock.clone(), parked: Parked::default() }
    }

    /// Seals a state that comes back with the same request.
    pub(crate) fn close(&self, purpose: Purpose<'_>, state: &str) -> String {
        let patience = u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX);
        self.seal.close(purpose, self.clock.unix_ms().saturating_add(patience), state)
    }

    /// Opens a state; a foreign, altered or expired one is refused.
    pub(crate) fn open(&self, purpose: Purpose<'_>, sealed: &str) -> Result<String, Failure> {
        self.seal.open(purpose, self.clock.unix_ms(), sealed).map_err(|refused| {
            Failure::new(Code::InvalidInput, format!("the `requestState` is refused: {refused}"))
                .details(json!({"server": purpose.server, "code": -32602}))
        })
    }

    /// Turns a server's task id into one that only its owner can use.
    pub(crate) fn seal_task(&self, server: &str, principal: &Principal, task: &mut Value) {
        let Some(id) = task["taskId"].as_str() else { return };
        let purpose = Purpose { server, principal, request: TASKS };
        let sealed = self.seal.close(purpose, u64::MAX, id);
        task["taskId"] = format!("{server}.{sealed}").into();
    }

    /// Turns a task id of ours back into the server's, for its owner.
    pub(crate) fn open_task(
        &self,
        server: &str,
        principal: &Principal,
        params: &mut Map<String, Value>,
    ) -> Result<(), Failure> {
        let unknown = || {
            Failure::new(Code::NotFound, "there is no such task")
                .details(json!({"server": server, "code": -32602}))
        };
        let given = params.get("taskId").and_then(Value::as_str).ok_or_else(unknown)?;
        let sealed = given.strip_prefix(server).and_then(|rest| rest.strip_prefix('.'));
        let purpose = Purpose { server, principal, request: TASKS };
        let id = sealed
            .and_then(|sealed| self.seal.open(purpose, self.clock.unix_ms(), sealed).ok())
            .ok_or_else(unknown)?;
        params.insert("taskId".to_owned(), id.into());
        Ok(())
    }
}
