//! Tools that wait for approval: told, compared with what was trusted, and approved, all by the operator alone.

use std::sync::Arc;

use async_trait::async_trait;
use dashboard::QuarantinedTool;
use doors::Operator;
use proto::{Digest, clean};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{Database, PinnedDefinition, StoreError};
use strip::Strip;
use strip::catalog::{Change, Quarantined, changes};

/// Lists what waits; with a tool named, that one and all that has changed in it.
pub(crate) const QUARANTINE: &str = "powerstrip.quarantine";

/// Trusts definitions as they were shown.
pub(crate) const APPROVE: &str = "powerstrip.approve";

/// What the operator sees and does.
pub(crate) struct Quarantine {
    strip: Arc<Strip>,
    database: Database,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    tool: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Approval {
    tools: Vec<Seen>,
}

/// A tool, and the sum of the definition that the operator was shown.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Seen {
    tool: String,
    definition: Digest,
}

impl Quarantine {
    pub(super) fn new(strip: &Arc<Strip>, database: &Database) -> Self {
        Self { strip: Arc::clone(strip), database: database.clone() }
    }

    /// Stores what was trusted at first use, so that it outlives this process.
    pub(super) async fn keep(&self) {
        let new = self.strip.catalog().take_new_pins();
        if !new.is_empty()
            && let Err(error) = self.database.add_pins(&new).await
        {
            tracing::error!(%error, "the definitions of tools could not be pinned");
        }
    }

    async fn list(&self, wanted: Wanted) -> Result<Value, String> {
        let snapshot = self.strip.catalog().snapshot();
        let Some(name) = wanted.tool else {
            return Ok(snapshot.quarantined().iter().map(|held| told(held)).collect());
        };
        let held = snapshot.waiting(&name).ok_or_else(|| self.not_waiting(&name))?;
        let (changes, left_out) = self.changes(held).await?;
        let mut told = told(held);
        told["changes"] = json!(changes);
        told["moreChanges"] = json!(left_out);
        Ok(json!([told]))
    }

    /// A tool that waits, with all that has changed in it.
    pub(super) async fn compared(&self, tool: &str) -> Result<QuarantinedTool, String> {
        let snapshot = self.strip.catalog().snapshot();
        let held = snapshot.waiting(tool).ok_or_else(|| self.not_waiting(tool))?;
        let (changes, left_out) = self.changes(held).await?;
        let (reason, definition) = (held.reason(), held.definition.to_string());
        Ok(QuarantinedTool { reason, definition, changes, left_out })
    }

    async fn changes(&self, held: &Quarantined) -> Result<(Vec<Change>, usize), String> {
        self.keep().await;
        let stored = self.database.pinned_definition(&held.server, &held.tool).await;
        let pinned = stored.map_err(unreadable)?;
        let before = pinned.as_deref().map(serde_json::from_str).transpose();
        let before: Option<Value> =
            before.map_err(|error| format!("the pin is damaged: {error}"))?;
        Ok(changes(before.as_ref().unwrap_or(&Value::Null), &held.says()))
    }

    async fn approve(&self, approval: Approval) -> Result<Value, String> {
        let snapshot = self.strip.catalog().snapshot();
        let mut approved = Vec::new();
        let mut pins: Vec<PinnedDefinition> = Vec::new();
        for Seen { tool, definition } in &approval.tools {
            let held = snapshot.waiting(tool).ok_or_else(|| self.not_waiting(tool))?;
            if held.definition != *definition {
                return Err(format!(
                    "`{tool}` has changed again since it was shown; look at it once more with \
                     `powerstrip tools diff {tool}`"
                ));
            }
            approved.push(held.id.to_string());
            pins.push(held.pin());
        }
        self.keep().await;
        // Stored before it holds: an approval that was confirmed is not forgotten.
        self.database.approve_pins(&pins).await.map_err(unreadable)?;
        self.strip.catalog().approve(pins.iter().map(|pinned| &pinned.pin));
        for tool in &approved {
            tracing::info!(tool, "a tool's definition is approved");
        }
        Ok(json!({"approved": approved}))
    }

    fn not_waiting(&self, name: &str) -> String {
        let shown: String = clean::visible(name).chars().take(200).collect();
        match self.strip.catalog().snapshot().resolve(name) {
            Ok(_) => format!("`{shown}` is served: there is nothing to approve"),
            Err(failure) => failure.message,
        }
    }
}

fn unreadable(error: StoreError) -> String {
    error.to_string()
}

fn told(held: &Quarantined) -> Value {
    json!({
        "name": held.id,
        "server": held.server,
        "reason": held.reason(),
        "changed": held.changed,
        "definition": held.definition,
    })
}

#[async_trait]
impl Operator for Quarantine {
    async fn ask(&self, method: &str, params: Value) -> Option<Result<Value, String>> {
        fn read<T: for<'de> Deserialize<'de>>(params: Value) -> Result<T, String> {
            serde_json::from_value(params).map_err(|error| format!("the params: {error}"))
        }
        Some(match method {
            QUARANTINE => match read(params) {
                Ok(wanted) => self.list(wanted).await,
                Err(why) => Err(why),
            },
            APPROVE => match read(params) {
                Ok(approval) => self.approve(approval).await,
                Err(why) => Err(why),
            },
            _ => return None,
        })
    }
}
