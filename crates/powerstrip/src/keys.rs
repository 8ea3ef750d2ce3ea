//! Keys, as commands ask for them: by method, so that the same question goes to the owner of the data folder or, where
//! there is none, is answered here.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use auth::{ApiKeys, KeyKind, NewKey};
use config::Loaded;
use doors::Operator;
use proto::Clock;
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::{DataFolder, Database};

use crate::owner::{OwnerProcess, Ownership, claim_or_connect};

pub(crate) const ADD: &str = "powerstrip.keys.add";
pub(crate) const LIST: &str = "powerstrip.keys.list";
pub(crate) const REVOKE: &str = "powerstrip.keys.revoke";

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct AddParams {
    name: String,
    #[serde(default)]
    registration: bool,
    tenant: Option<String>,
    subject: Option<String>,
    agent: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
    lifetime_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RevokeParams {
    key: String,
}

/// Answers questions about keys.
pub(crate) struct KeyErrands(pub(crate) Arc<ApiKeys>);

impl KeyErrands {
    async fn add(&self, params: Value) -> Result<Value, String> {
        let params: AddParams = read(params)?;
        let new = NewKey {
            name: params.name,
            kind: if params.registration { KeyKind::Registration } else { KeyKind::Api },
            tenant: params.tenant,
            subject: params.subject,
            agent: params.agent,
            scopes: params.scopes,
            lifetime: params.lifetime_ms.map(Duration::from_millis),
        };
        let (row, secret) = self.0.add(new).await.map_err(|fault| fault.to_string())?;
        let mut told = json!(row);
        told["secret"] = secret.expose_secret().into();
        Ok(told)
    }

    async fn revoke(&self, params: Value) -> Result<Value, String> {
        let RevokeParams { key } = read(params)?;
        let row = self.0.revoke(&key).await.map_err(|fault| fault.to_string())?;
        Ok(json!(row))
    }
}

#[async_trait]
impl Operator for KeyErrands {
    async fn ask(&self, method: &str, params: Value) -> Option<Result<Value, String>> {
        Some(match method {
            ADD => self.add(params).await,
            LIST => Ok(json!(self.0.list())),
            REVOKE => self.revoke(params).await,
            _ => return None,
        })
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, String> {
    serde_json::from_value(params).map_err(|error| format!("the params cannot be read: {error}"))
}

/// Where keys are asked for: the process that owns the data folder, or the folder itself.
pub(crate) enum KeyDesk {
    Owner(Box<OwnerProcess>),
    Here { errands: KeyErrands, database: Database, _folder: DataFolder },
}

impl KeyDesk {
    /// Reaches the keys of a configuration's data folder; no tool and no server is started for it.
    pub(crate) async fn open(loaded: &Loaded) -> anyhow::Result<Self> {
        match claim_or_connect(&loaded.config.data_dir, None).await? {
            Ownership::Other(owner) => Ok(Self::Owner(Box::new(owner))),
            Ownership::Ours(folder) => {
                let database = Database::open(folder.path()).await?;
                let ring = ApiKeys::open(database.clone(), Clock::default()).await?;
                let errands = KeyErrands(Arc::new(ring));
                Ok(Self::Here { errands, database, _folder: folder })
            }
        }
    }

    /// Asks, wherever the answer is.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> anyhow::Result<Value> {
        match self {
            Self::Owner(owner) => owner.operate(method, params).await,
            Self::Here { errands, .. } => {
                let answer = errands.ask(method, params).await;
                answer.context("there is no such question about keys")?.map_err(anyhow::Error::msg)
            }
        }
    }

    /// Lets go.
    pub(crate) async fn close(self) {
        if let Self::Here { database, .. } = self {
            database.close().await;
        }
    }
}
