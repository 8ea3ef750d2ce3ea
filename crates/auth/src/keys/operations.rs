//! Operations on API keys. Only the operator has them: on the operator's socket, and on a page of the dashboard.

use std::sync::Arc;
use std::time::Duration;

use ::operations::{Caller, NoInput, Operation, OperationError, Table};
use proto::Code;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{DamagedRow, KeyRow};

use super::{KeyFault, KeyKind, KeyService, NewKey, RevokedKey};

/// The operations on keys.
pub fn table(keys: &Arc<KeyService>) -> Table {
    Table::default().with::<AddKey>(keys).with::<ListKeys>(keys).with::<RevokeKey>(keys)
}

/// A key as it is shown.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    pub id: String,
    pub name: String,
    /// `api` or `registration`.
    pub kind: String,
    pub tenant: String,
    pub subject: String,
    pub agent: Option<String>,
    pub scopes: Vec<String>,
    pub created_unix_ms: u64,
    pub expires_unix_ms: Option<u64>,
    pub revoked_unix_ms: Option<u64>,
    /// To the minute.
    pub used_unix_ms: Option<u64>,
    /// The key itself, only when it has just been made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

impl From<KeyRow> for KeyView {
    fn from(row: KeyRow) -> Self {
        Self {
            id: row.id,
            name: row.name,
            kind: row.kind,
            tenant: row.tenant,
            subject: row.subject,
            agent: row.agent,
            scopes: row.scopes,
            created_unix_ms: row.created_unix_ms,
            expires_unix_ms: row.expires_unix_ms,
            revoked_unix_ms: row.revoked_unix_ms,
            used_unix_ms: row.used_unix_ms,
            secret: None,
        }
    }
}

/// All keys without their secrets.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeyList {
    pub keys: Vec<KeyView>,
    /// Keys whose stored rows cannot be read, with the column that is damaged. They authenticate no one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub damaged: Vec<DamagedRow>,
}

/// The key that was revoked.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RevokedView {
    Key(KeyView),
    /// One whose stored row cannot be read.
    Damaged(#[schemars(with = "Map<String, Value>")] DamagedRow),
}

/// The key to make.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AddKeyInput {
    pub name: String,
    #[serde(default)]
    pub registration: bool,
    pub tenant: Option<String>,
    pub subject: Option<String>,
    pub agent: Option<String>,
    #[serde(default)]
    pub scopes: Vec<String>,
    pub lifetime_ms: Option<u64>,
}

pub struct AddKey;

impl Operation for AddKey {
    const NAME: &'static str = "powerstrip.keys.add";
    const SUMMARY: &'static str = "Make a key";
    type Service = KeyService;
    type Input = AddKeyInput;
    type Output = KeyView;

    async fn run(
        keys: Arc<KeyService>,
        caller: Caller,
        input: AddKeyInput,
    ) -> Result<KeyView, OperationError> {
        let new = NewKey {
            name: input.name,
            kind: if input.registration { KeyKind::Registration } else { KeyKind::Api },
            tenant: input.tenant,
            subject: input.subject,
            agent: input.agent,
            scopes: input.scopes,
            lifetime: input.lifetime_ms.map(Duration::from_millis),
        };
        let (row, secret) = keys.add(&caller, new).await?;
        Ok(KeyView { secret: Some(secret.expose().to_owned()), ..row.into() })
    }
}

pub struct ListKeys;

impl Operation for ListKeys {
    const NAME: &'static str = "powerstrip.keys.list";
    const SUMMARY: &'static str = "List all keys without their secrets";
    type Service = KeyService;
    type Input = NoInput;
    type Output = KeyList;

    async fn run(keys: Arc<KeyService>, _: Caller, _: NoInput) -> Result<KeyList, OperationError> {
        let listed = keys.list().map(KeyView::from);
        Ok(KeyList { keys: listed.rows, damaged: listed.damaged })
    }
}

/// Names the key to revoke.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeKeyInput {
    /// The key's name or id; of a damaged key, the id.
    pub key: String,
}

pub struct RevokeKey;

impl Operation for RevokeKey {
    const NAME: &'static str = "powerstrip.keys.revoke";
    const SUMMARY: &'static str = "Revoke a key";
    type Service = KeyService;
    type Input = RevokeKeyInput;
    type Output = RevokedView;

    async fn run(
        keys: Arc<KeyService>,
        caller: Caller,
        RevokeKeyInput { key }: RevokeKeyInput,
    ) -> Result<RevokedView, OperationError> {
        Ok(match keys.revoke(&caller, &key).await? {
            RevokedKey::Key(row) => RevokedView::Key(row.into()),
            RevokedKey::Damaged(row) => RevokedView::Damaged(row),
        })
    }
}

impl From<KeyFault> for OperationError {
    fn from(fault: KeyFault) -> Self {
        let code = match fault {
            KeyFault::Name(_)
            | KeyFault::Word(_)
            | KeyFault::Scope(_)
            | KeyFault::UnknownScope(_)
            | KeyFault::Taken(_) => Code::InvalidInput,
            KeyFault::Unknown(_) => Code::NotFound,
            KeyFault::Randomness | KeyFault::Store(_) => Code::Unavailable,
        };
        Self::new(code, fault.to_string())
    }
}
