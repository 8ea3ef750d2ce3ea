//! Tools in quarantine: listed, compared with the definition that was trusted, and approved. Only the operator has these
//! operations.

use std::sync::Arc;

use dashboard::QuarantinedTool;
use operations::{Caller, Operation, OperationError, Table};
use proto::diff::{Change, changes};
use proto::{Code, Digest, clean};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{Database, PinnedDefinition, StoreError};
use strip::Strip;
use strip::catalog::Quarantined;

/// The operations on tools in quarantine.
pub(super) fn table(quarantine: &Arc<Quarantine>) -> Table {
    Table::default().with::<ListQuarantined>(quarantine).with::<ApproveDefinitions>(quarantine)
}

/// The tools whose definitions wait for the operator's approval.
pub struct Quarantine {
    strip: Arc<Strip>,
    database: Database,
}

/// Which tools to list: one with its changes, or all without.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuarantineQuery {
    pub tool: Option<String>,
}

/// A tool in quarantine.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuarantineEntry {
    pub name: String,
    pub server: String,
    pub reason: String,
    /// The parts of the definition that have changed.
    pub changed: Vec<String>,
    #[schemars(with = "String")]
    pub definition: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Map<String, Value>>>")]
    pub changes: Option<Vec<Change>>,
    /// How many changes are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_changes: Option<usize>,
}

impl QuarantineEntry {
    fn of(held: &Quarantined) -> Self {
        Self {
            name: held.id.to_string(),
            server: held.server.clone(),
            reason: held.reason(),
            changed: held.changed.iter().map(|part| (*part).to_owned()).collect(),
            definition: held.definition,
            changes: None,
            more_changes: None,
        }
    }
}

pub struct ListQuarantined;

impl Operation for ListQuarantined {
    const NAME: &'static str = "powerstrip.quarantine";
    const SUMMARY: &'static str = "List tools in quarantine, or show the changes of one";
    type Service = Quarantine;
    type Input = QuarantineQuery;
    type Output = Vec<QuarantineEntry>;

    async fn run(
        quarantine: Arc<Quarantine>,
        _: Caller,
        QuarantineQuery { tool }: QuarantineQuery,
    ) -> Result<Vec<QuarantineEntry>, OperationError> {
        let catalog = quarantine.strip.catalog();
        let Some(name) = tool else {
            return Ok(catalog
                .quarantined()
                .iter()
                .map(|held| QuarantineEntry::of(held))
                .collect());
        };
        let held = catalog.waiting(&name).ok_or_else(|| quarantine.not_waiting(&name))?;
        let (changes, left_out) = quarantine.changes(&held).await?;
        let entry = QuarantineEntry::of(&held);
        Ok(vec![QuarantineEntry { changes: Some(changes), more_changes: Some(left_out), ..entry }])
    }
}

/// The definitions to approve.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproveInput {
    pub tools: Vec<ShownDefinition>,
}

/// A tool, and the digest of the definition that the operator was shown.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShownDefinition {
    pub tool: String,
    #[schemars(with = "String")]
    pub definition: Digest,
}

/// The tools that are served from now on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Approved {
    pub approved: Vec<String>,
}

pub struct ApproveDefinitions;

impl Operation for ApproveDefinitions {
    const NAME: &'static str = "powerstrip.approve";
    const SUMMARY: &'static str = "Approve definitions of tools as they were shown";
    type Service = Quarantine;
    type Input = ApproveInput;
    type Output = Approved;

    async fn run(
        quarantine: Arc<Quarantine>,
        _: Caller,
        input: ApproveInput,
    ) -> Result<Approved, OperationError> {
        quarantine.approve(&input.tools).await
    }
}

impl Quarantine {
    pub(super) fn new(strip: &Arc<Strip>, database: &Database) -> Self {
        Self { strip: Arc::clone(strip), database: database.clone() }
    }

    /// Stores definitions that were trusted at first use.
    pub(super) async fn store_new_pins(&self) {
        let new = self.strip.catalog().take_new_pins();
        if !new.is_empty()
            && let Err(error) = self.database.add_pins(&new).await
        {
            tracing::error!(%error, "the definitions of tools could not be pinned");
        }
    }

    /// A tool in quarantine with its changes, for the dashboard.
    pub(super) async fn compare(&self, tool: &str) -> Result<QuarantinedTool, OperationError> {
        let held = self.strip.catalog().waiting(tool).ok_or_else(|| self.not_waiting(tool))?;
        let (changes, left_out) = self.changes(&held).await?;
        let (reason, definition) = (held.reason(), held.definition.to_string());
        Ok(QuarantinedTool { reason, definition, changes, left_out })
    }

    async fn changes(&self, held: &Quarantined) -> Result<(Vec<Change>, usize), OperationError> {
        self.store_new_pins().await;
        let stored = self.database.pinned_definition(&held.server, &held.tool).await;
        let pinned = match stored {
            // A person must be able to look at the tool and approve it: compared with nothing, all of it is new.
            Err(error) if error.damaged_column().is_some() => {
                tracing::error!(%error, server = held.server, tool = held.tool, "a stored pin is damaged");
                None
            }
            stored => stored.map_err(unreadable)?,
        };
        let before = pinned.as_deref().map(serde_json::from_str).transpose();
        let before: Option<Value> = before.map_err(|error| {
            OperationError::new(Code::Internal, format!("the pin is damaged: {error}"))
        })?;
        Ok(changes(before.as_ref().unwrap_or(&Value::Null), &held.says()))
    }

    /// Approves definitions, if each is still the one that was shown.
    pub(super) async fn approve(
        &self,
        shown: &[ShownDefinition],
    ) -> Result<Approved, OperationError> {
        let catalog = self.strip.catalog();
        let mut approved = Vec::new();
        let mut pins: Vec<PinnedDefinition> = Vec::new();
        for ShownDefinition { tool, definition } in shown {
            let held = catalog.waiting(tool).ok_or_else(|| self.not_waiting(tool))?;
            if held.definition != *definition {
                return Err(OperationError::invalid(format!(
                    "`{tool}` has changed again since it was shown; look at it once more with \
                     `powerstrip tools diff {tool}`"
                )));
            }
            approved.push(held.id.to_string());
            pins.push(held.pin());
        }
        self.store_new_pins().await;
        // Stored first, so that an approval that was confirmed survives a crash.
        self.database.approve_pins(&pins).await.map_err(unreadable)?;
        self.strip.catalog().approve(pins.iter().map(|pinned| &pinned.pin));
        for tool in &approved {
            tracing::info!(tool, "a tool's definition is approved");
        }
        Ok(Approved { approved })
    }

    fn not_waiting(&self, name: &str) -> OperationError {
        let shown: String = clean::visible(name).chars().take(200).collect();
        match self.strip.catalog().snapshot().resolve(name) {
            Ok(_) => {
                OperationError::invalid(format!("`{shown}` is served: there is nothing to approve"))
            }
            Err(failure) => failure.into(),
        }
    }
}

fn unreadable(error: StoreError) -> OperationError {
    OperationError::new(Code::Unavailable, error.to_string())
}
