//! Operations on approvals: list them, show one, decide, and manage standing rules.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ::operations::scope::APPROVALS_READ;
use ::operations::{Caller, NoInput, Operation, OperationError, Route, Table};
use proto::{APPROVALS_DECIDE, Code};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{ApprovalFilter, ApprovalState, DamagedRow, StoreError};

use crate::{
    ApprovalView, Approvals, Damage, DecideError, Decider, Decision, RuleView, Standing, Verdict,
};

const DEFAULT_PAGE: u32 = 50;
const MAX_PAGE: u32 = 200;

/// How long `WaitForChange` waits before it answers that nothing happened.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(20);

/// The operator may name an approval by this many first characters of its id; fewer are easily mistyped.
const MIN_PREFIX: usize = 8;

/// How many approvals are searched for an id that begins so.
const SEARCHED: u32 = 1_000;

/// The operations on approvals.
pub fn table(approvals: &Arc<Approvals>) -> Table {
    Table::default()
        .with::<ListApprovals>(approvals)
        .with::<ShowApproval>(approvals)
        .with::<Decide>(approvals)
        .with::<ListRules>(approvals)
        .with::<RemoveRule>(approvals)
        .with::<WaitForChange>(approvals)
}

/// Which approvals to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalQuery {
    /// A state, or `all`; `pending` by default.
    #[schemars(extend("enum" = ["pending", "approved", "rejected", "expired", "consumed", "cancelled", "all"]))]
    pub state: Option<String>,
    /// The `next` of the page before.
    pub after: Option<String>,
    /// The most approvals on the page.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
}

impl ApprovalQuery {
    fn filter(self, caller: &Caller) -> Result<ApprovalFilter, OperationError> {
        let state = match self.state.as_deref() {
            None => Some(ApprovalState::Pending),
            Some("all") => None,
            Some(state) => {
                let unknown = |()| OperationError::invalid(format!("there is no state `{state}`"));
                Some(state.parse().map_err(unknown)?)
            }
        };
        let after = self.after.map(|text| {
            let cursor = text
                .split_once('_')
                .and_then(|(created, id)| Some((created.parse().ok()?, id.to_owned())));
            cursor.ok_or_else(|| OperationError::invalid("`after` must be the `next` of a page"))
        });
        Ok(ApprovalFilter {
            tenant: caller.tenant().map(str::to_owned),
            state,
            after: after.transpose()?,
            limit: self.limit.unwrap_or(DEFAULT_PAGE).clamp(1, MAX_PAGE),
        })
    }
}

/// A page of approvals.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalPage {
    pub approvals: Vec<ApprovalView>,
    /// Approvals whose stored rows cannot be read, with the column that is damaged. They can only be rejected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub damaged: Vec<DamagedRow>,
    /// Names the next page; null on the last one.
    pub next: Option<String>,
}

/// Names one approval or rule.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ById {
    pub id: String,
}

pub struct ListApprovals;

impl Operation for ListApprovals {
    const NAME: &'static str = "powerstrip.approvals.list";
    const SUMMARY: &'static str = "List calls that wait for approval";
    const ROUTE: Option<Route> =
        Some(Route::get("/v1/approvals", APPROVALS_READ, "approvals.list"));
    type Service = Approvals;
    type Input = ApprovalQuery;
    type Output = ApprovalPage;

    async fn run(
        approvals: Arc<Approvals>,
        caller: Caller,
        query: ApprovalQuery,
    ) -> Result<ApprovalPage, OperationError> {
        let filter = query.filter(&caller)?;
        let listed = approvals.list(&filter).await.map_err(unavailable)?;
        let next = listed.next.as_ref().map(|(created, id)| format!("{created}_{id}"));
        let listed = listed.map(ApprovalView::from);
        Ok(ApprovalPage { approvals: listed.rows, damaged: listed.damaged, next })
    }
}

pub struct ShowApproval;

impl Operation for ShowApproval {
    const NAME: &'static str = "powerstrip.approvals.show";
    const SUMMARY: &'static str = "Show one approval with its whole arguments";
    const ROUTE: Option<Route> =
        Some(Route::get("/v1/approvals/{id}", APPROVALS_READ, "approvals.show"));
    type Service = Approvals;
    type Input = ById;
    type Output = ApprovalView;

    async fn run(
        approvals: Arc<Approvals>,
        caller: Caller,
        ById { id }: ById,
    ) -> Result<ApprovalView, OperationError> {
        let id = resolve(&approvals, &caller, id).await?;
        let row = approvals.get(caller.tenant(), &id).await;
        let row = row.map_err(|error| unreadable(error, &id))?;
        row.map(ApprovalView::from).ok_or_else(|| unknown("approval", &id))
    }
}

/// A decision about one approval.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideInput {
    pub id: String,
    pub decision: Verdict,
    /// The reason that the caller gets.
    pub reason: Option<String>,
    /// Makes an approval hold for later calls as well.
    pub standing: Option<Standing>,
}

pub struct Decide;

impl Operation for Decide {
    const NAME: &'static str = "powerstrip.approvals.decide";
    const SUMMARY: &'static str =
        "Approve or reject a waiting call; needs `approvals:decide` or the admin token";
    const ROUTE: Option<Route> =
        Some(Route::post("/v1/approvals/{id}", APPROVALS_DECIDE, "approvals.decide"));
    type Service = Approvals;
    type Input = DecideInput;
    type Output = ApprovalView;

    async fn run(
        approvals: Arc<Approvals>,
        caller: Caller,
        input: DecideInput,
    ) -> Result<ApprovalView, OperationError> {
        let id = resolve(&approvals, &caller, input.id).await?;
        let decider = if caller.is_operator() {
            Decider::Operator
        } else {
            Decider::Person(Arc::clone(&caller.principal))
        };
        let DecideInput { decision, reason, standing, .. } = input;
        let decided =
            approvals.decide(&id, &decider, Decision { decision, reason, standing }).await;
        decided.map(ApprovalView::from).map_err(|why| undecided(why, &id))
    }
}

/// The standing rules.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Rules {
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub rules: Vec<RuleView>,
    /// Rules whose stored rows cannot be read, with the column that is damaged. They allow nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub damaged: Vec<DamagedRow>,
}

pub struct ListRules;

impl Operation for ListRules {
    const NAME: &'static str = "powerstrip.approvals.rules";
    const SUMMARY: &'static str = "List standing approval rules";
    const ROUTE: Option<Route> =
        Some(Route::get("/v1/approvals/rules", APPROVALS_READ, "approvals.rules"));
    type Service = Approvals;
    type Input = NoInput;
    type Output = Rules;

    async fn run(
        approvals: Arc<Approvals>,
        caller: Caller,
        _: NoInput,
    ) -> Result<Rules, OperationError> {
        let listed = approvals.rules(caller.tenant()).map(RuleView::from);
        Ok(Rules { rules: listed.rows, damaged: listed.damaged })
    }
}

/// Which rule was removed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Removed {
    pub removed: String,
}

pub struct RemoveRule;

impl Operation for RemoveRule {
    const NAME: &'static str = "powerstrip.approvals.rules.remove";
    const SUMMARY: &'static str = "Remove a standing approval rule";
    const ROUTE: Option<Route> =
        Some(Route::delete("/v1/approvals/rules/{id}", APPROVALS_DECIDE, "approvals.removeRule"));
    type Service = Approvals;
    type Input = ById;
    type Output = Removed;

    async fn run(
        approvals: Arc<Approvals>,
        caller: Caller,
        ById { id }: ById,
    ) -> Result<Removed, OperationError> {
        let removed = approvals.remove_rule(caller.tenant(), &id).await;
        if removed.map_err(unavailable)? {
            Ok(Removed { removed: id })
        } else {
            Err(unknown("standing rule", &id))
        }
    }
}

pub struct WaitForChange;

impl Operation for WaitForChange {
    const NAME: &'static str = "powerstrip.approvals.next";
    const SUMMARY: &'static str = "Wait until an approval changes, for a while";
    type Service = Approvals;
    type Input = NoInput;
    type Output = bool;

    async fn run(approvals: Arc<Approvals>, _: Caller, _: NoInput) -> Result<bool, OperationError> {
        let mut events = approvals.events();
        Ok(tokio::time::timeout(CHANGE_TIMEOUT, events.recv()).await.is_ok())
    }
}

/// The whole id. Only the operator may abbreviate it, where the first characters name one approval.
async fn resolve(
    approvals: &Approvals,
    caller: &Caller,
    id: String,
) -> Result<String, OperationError> {
    if !caller.is_operator() {
        return Ok(id);
    }
    match approvals.get(None, &id).await {
        Ok(None) => {}
        Ok(Some(_)) | Err(StoreError::Unreadable { .. }) => return Ok(id),
        Err(error) => return Err(unavailable(error)),
    }
    if id.len() < MIN_PREFIX {
        return Err(OperationError::not_found(format!(
            "there is no approval `{id}`; at least {MIN_PREFIX} characters of an id are needed"
        )));
    }
    // Decided ones count as well: the operator may mean one of them, and a pending one may begin alike.
    let mut ids = BTreeSet::new();
    for state in [Some(ApprovalState::Pending), None] {
        let filter = ApprovalFilter { state, limit: SEARCHED, ..ApprovalFilter::default() };
        let listed = approvals.list(&filter).await.map_err(unavailable)?;
        let damaged = listed.damaged.into_iter().map(|row| row.id);
        let found = listed.rows.into_iter().map(|row| row.id).chain(damaged);
        ids.extend(found.filter(|other| other.starts_with(&id)));
    }
    match (ids.pop_first(), ids.is_empty()) {
        (Some(id), true) => Ok(id),
        (Some(_), false) => {
            Err(OperationError::invalid(format!("several approvals begin with `{id}`")))
        }
        (None, _) => Err(unknown("approval", &id)),
    }
}

fn unknown(what: &str, id: &str) -> OperationError {
    let shown: String = id.chars().take(100).collect();
    OperationError::not_found(format!("there is no {what} `{shown}`"))
}

/// The error for one approval: if its row is damaged, trying again does not help.
fn unreadable(error: StoreError, id: &str) -> OperationError {
    let Some(column) = error.damaged_column() else { return unavailable(error) };
    tracing::warn!(%error, approval = id, "an approval cannot be read");
    undecided(Damage::Row { column }.into(), id)
}

fn unavailable(error: StoreError) -> OperationError {
    tracing::warn!(%error, "approvals cannot be read");
    OperationError::new(Code::Unavailable, "the store cannot be read")
}

fn undecided(why: DecideError, id: &str) -> OperationError {
    let message = why.to_string();
    match why {
        DecideError::Unknown(_) => unknown("approval", id),
        DecideError::Invalid(_) => OperationError::invalid(message),
        DecideError::Damaged(_) => {
            let error = OperationError::new(Code::Internal, format!("approval `{id}`: {message}"));
            OperationError { details: Some(json!({"approval": id})), ..error }
        }
        DecideError::Store(error) => unavailable(error),
        DecideError::Over(row) => {
            let details = json!({"state": row.state, "decidedBy": row.decided_by});
            OperationError::conflict(message, details)
        }
        DecideError::Agent | DecideError::OwnCall => OperationError::new(Code::Denied, message),
    }
}

#[cfg(test)]
mod tests;
