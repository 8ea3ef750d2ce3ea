//! Calls that wait for a person, as the operator's commands see and decide about them.

mod webhook;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use config::Config;
use doors::Operator;
use proto::Clock;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::{ApprovalFilter, ApprovalState, AuditTrail, Database, StoreError};
use strip::Strip;
use strip::approval::{Approvals, Decider, Decision, Terms, view};
use tokio_util::sync::CancellationToken;

pub(crate) use webhook::Webhook;

pub(crate) const LIST: &str = "powerstrip.approvals.list";
pub(crate) const SHOW: &str = "powerstrip.approvals.show";
pub(crate) const DECIDE: &str = "powerstrip.approvals.decide";
pub(crate) const RULES: &str = "powerstrip.approvals.rules";
pub(crate) const REMOVE_RULE: &str = "powerstrip.approvals.rules.remove";
/// Answers when something has happened, or after a while.
pub(crate) const NEXT: &str = "powerstrip.approvals.next";

/// How long a command waits for something to happen before it asks again.
const PATIENCE: Duration = Duration::from_secs(20);

/// Fewer letters of an id than this are too soon mistyped into another's.
const LETTERS: usize = 8;

/// So many are listed at once.
const PAGE: u32 = 100;

/// Sets up who is asked about calls that need it.
pub(super) async fn open(
    config: &Config,
    strip: &Strip,
    (database, clock, audit): (&Database, &Clock, &AuditTrail),
    ending: &CancellationToken,
) -> Result<Arc<Approvals>, StoreError> {
    let approvals = Approvals::open(database.clone(), clock.clone(), audit.clone()).await?;
    approvals.set_terms(terms(config, None));
    strip.set_approvals(Arc::clone(&approvals));
    let (tended, ending) = (Arc::clone(&approvals), ending.clone());
    tokio::spawn(async move { ending.run_until_cancelled(tended.tend()).await });
    Ok(approvals)
}

/// What the config says about deciding; the dashboard is where callers are sent.
pub(crate) fn terms(config: &Config, dashboard: Option<String>) -> Terms {
    let elicitation = config.auth.is_none() && config.approvals.elicitation.is_on();
    Terms { elicitation, dashboard, ..Terms::default() }
}

/// Answers the operator's questions about calls that wait.
pub(super) struct ApprovalErrands(pub(super) Arc<Approvals>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListParams {
    #[serde(default)]
    all: bool,
    after: Option<(u64, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    id: String,
}

#[derive(Deserialize)]
struct DecideParams {
    id: String,
    #[serde(flatten)]
    decision: Decision,
}

impl ApprovalErrands {
    async fn list(&self, params: ListParams) -> Result<Value, String> {
        let filter = ApprovalFilter {
            state: (!params.all).then_some(ApprovalState::Pending),
            after: params.after,
            limit: PAGE,
            ..ApprovalFilter::default()
        };
        let rows = self.0.list(&filter).await.map_err(|error| error.to_string())?;
        Ok(rows.iter().map(view).collect())
    }

    /// The first letters of an id are enough for a person, where they name one.
    async fn found(&self, id: &str) -> Result<String, String> {
        let told = |error: StoreError| error.to_string();
        if self.0.get(None, id).await.map_err(told)?.is_some() {
            return Ok(id.to_owned());
        }
        if id.len() < LETTERS {
            return Err(format!(
                "there is no confirmation `{id}`; at least {LETTERS} letters of an id are needed"
            ));
        }
        // Also among those that are decided: the one that was meant may be over, and another one begin like it.
        let mut begun = BTreeSet::new();
        for state in [Some(ApprovalState::Pending), None] {
            let filter = ApprovalFilter { state, limit: 1_000, ..ApprovalFilter::default() };
            let rows = self.0.list(&filter).await.map_err(told)?;
            begun.extend(rows.into_iter().map(|row| row.id).filter(|other| other.starts_with(id)));
        }
        match (begun.pop_first(), begun.is_empty()) {
            (Some(id), true) => Ok(id),
            (Some(_), false) => Err(format!("several confirmations begin with `{id}`")),
            (None, _) => Err(format!("there is no confirmation `{id}`")),
        }
    }

    async fn show(&self, One { id }: One) -> Result<Value, String> {
        let id = self.found(&id).await?;
        let row = self.0.get(None, &id).await.map_err(|error| error.to_string())?;
        row.as_ref().map(view).ok_or_else(|| format!("there is no confirmation `{id}`"))
    }

    async fn decide(&self, DecideParams { id, decision }: DecideParams) -> Result<Value, String> {
        let id = self.found(&id).await?;
        let decided = self.0.decide(&id, &Decider::Operator, decision).await;
        decided.as_ref().map(view).map_err(ToString::to_string)
    }

    async fn remove_rule(&self, One { id }: One) -> Result<Value, String> {
        match self.0.remove_rule(None, &id).await {
            Ok(true) => Ok(json!({"removed": id})),
            Ok(false) => Err(format!("there is no standing rule `{id}`")),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn next(&self) -> Value {
        let mut events = self.0.events();
        json!(tokio::time::timeout(PATIENCE, events.recv()).await.is_ok())
    }
}

#[async_trait]
impl Operator for ApprovalErrands {
    async fn ask(&self, method: &str, params: Value) -> Option<Result<Value, String>> {
        Some(match method {
            LIST => match read(params) {
                Ok(params) => self.list(params).await,
                Err(fault) => Err(fault),
            },
            SHOW => match read(params) {
                Ok(params) => self.show(params).await,
                Err(fault) => Err(fault),
            },
            DECIDE => match read(params) {
                Ok(params) => self.decide(params).await,
                Err(fault) => Err(fault),
            },
            RULES => Ok(json!(self.0.rules(None))),
            REMOVE_RULE => match read(params) {
                Ok(params) => self.remove_rule(params).await,
                Err(fault) => Err(fault),
            },
            NEXT => Ok(self.next().await),
            _ => return None,
        })
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, String> {
    serde_json::from_value(params).map_err(|error| format!("the params cannot be read: {error}"))
}

#[cfg(test)]
mod tests;
