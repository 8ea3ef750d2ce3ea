//! Names of registered servers: kept in the database, told to the operator, and released by the operator alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use doors::Operator;
use proto::{Clock, clean};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{Database, ServerNameRow};
use upstream::{Holder, NameStore, Registry};

/// Lists whose each name is.
pub(crate) const NAMES: &str = "powerstrip.names";

/// Makes a name nobody's.
pub(crate) const RELEASE: &str = "powerstrip.release";

/// The names in the gateway's database.
pub(super) struct StoredNames {
    database: Database,
    clock: Clock,
}

impl StoredNames {
    pub(super) fn new(database: &Database, clock: &Clock) -> Self {
        Self { database: database.clone(), clock: clock.clone() }
    }
}

/// Whose each name is.
pub(super) fn holders(rows: Vec<ServerNameRow>) -> BTreeMap<String, Holder> {
    let holder = |row: ServerNameRow| (row.name, Holder { tenant: row.tenant, owner: row.owner });
    rows.into_iter().map(holder).collect()
}

#[async_trait]
impl NameStore for StoredNames {
    async fn hold(&self, name: &str, holder: &Holder) -> Result<(), String> {
        let row = ServerNameRow {
            name: name.to_owned(),
            tenant: holder.tenant.clone(),
            owner: holder.owner.clone(),
            claimed_unix_ms: self.clock.unix_ms(),
        };
        match self.database.claim_server_name(&row).await {
            Ok(true) => Ok(()),
            Ok(false) => Err("the database has it as somebody else's".to_owned()),
            Err(error) => {
                tracing::error!(server = name, %error, "whose a server's name is could not be stored");
                Err("the database does not take it".to_owned())
            }
        }
    }

    async fn release(&self, name: &str) -> Result<(), String> {
        self.database.release_server_name(name).await.map_err(|error| error.to_string())
    }
}

/// What the operator sees of names, and does about them.
pub(super) struct NameDesk(pub(super) Arc<Registry>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Released {
    name: String,
}

impl NameDesk {
    fn list(&self) -> Value {
        let leases = self.0.leases();
        let told = |(name, holder): (String, Holder)| {
            let served = leases.contains_key(&name);
            json!({"name": name, "tenant": holder.tenant, "owner": holder.owner, "served": served})
        };
        self.0.names().into_iter().map(told).collect()
    }

    async fn release(&self, params: Value) -> Result<Value, String> {
        let Released { name } =
            serde_json::from_value(params).map_err(|error| format!("the params: {error}"))?;
        let released = self.0.release(&name).await.map_err(|fault| fault.to_string())?;
        let Some(holder) = released else {
            let shown: String = clean::visible(&name).chars().take(200).collect();
            return Err(format!("nobody holds the name `{shown}`"));
        };
        tracing::info!(server = name, "the operator released a name");
        Ok(json!({"name": name, "tenant": holder.tenant, "owner": holder.owner}))
    }
}

#[async_trait]
impl Operator for NameDesk {
    async fn ask(&self, method: &str, params: Value) -> Option<Result<Value, String>> {
        match method {
            NAMES => Some(Ok(self.list())),
            RELEASE => Some(self.release(params).await),
            _ => None,
        }
    }
}
