//! The names of registered servers in the database.

use std::collections::BTreeMap;

use async_trait::async_trait;
use proto::Clock;
use store::{Database, ServerNameRow};
use upstream::{Holder, NameStore};

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

/// The holder of each name.
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
            Ok(false) => Err("another token holds the name".to_owned()),
            Err(error) => {
                tracing::error!(server = name, %error, "the holder of a server's name could not be stored");
                Err("the name could not be stored".to_owned())
            }
        }
    }

    async fn release(&self, name: &str) -> Result<(), String> {
        self.database.release_server_name(name).await.map_err(|error| error.to_string())
    }
}
