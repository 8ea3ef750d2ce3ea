//! The names of registered servers and of tools in the database.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use proto::Clock;
use store::{Database, ServerNameRow};
use strip::Strip;
use tokio_util::sync::CancellationToken;
use upstream::{Holder, NameStore};

use super::quarantine::Quarantine;

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

/// Stores new wire names and newly trusted definitions whenever the catalog changes.
pub(super) async fn store_names(
    strip: Arc<Strip>,
    database: Database,
    quarantine: Arc<Quarantine>,
    ending: CancellationToken,
) {
    let mut changes = strip.catalog().changes();
    loop {
        changes.borrow_and_update();
        quarantine.store_new_pins().await;
        let new = strip.catalog().take_new_names();
        if !new.is_empty()
            && let Err(error) = database.save_wire_names(&new).await
        {
            tracing::error!(%error, "the names of tools could not be stored");
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = ending.cancelled() => {
                quarantine.store_new_pins().await;
                let last = strip.catalog().take_new_names();
                if !last.is_empty() {
                    let _ = database.save_wire_names(&last).await;
                }
                return;
            }
        }
    }
}
