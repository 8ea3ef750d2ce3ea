//! The names of registered servers and of tools in the database.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use proto::Clock;
use store::{Database, Listed, ServerNameRow, StoreError};
use strip::{Catalog, Strip};
use tokio_util::sync::CancellationToken;
use upstream::{Holder, NameStore};

use super::quarantine::Quarantine;

/// The names in the gateway's database.
pub(super) struct StoredNames {
    database: Database,
    clock: Clock,
    catalog: Arc<Catalog>,
}

impl StoredNames {
    pub(super) fn new(database: &Database, clock: &Clock, strip: &Strip) -> Self {
        let catalog = Arc::clone(strip.catalog());
        Self { database: database.clone(), clock: clock.clone(), catalog }
    }
}

/// The holder of each name. A damaged row keeps its name for a holder that no token is, so that no other one takes it.
pub(super) fn holders(names: Listed<ServerNameRow>) -> BTreeMap<String, Holder> {
    let holder = |row: ServerNameRow| (row.name, Holder { tenant: row.tenant, owner: row.owner });
    let unknown = || Holder { tenant: String::new(), owner: String::new() };
    let damaged = names.damaged.into_iter().map(|row| (row.id, unknown()));
    names.rows.into_iter().map(holder).chain(damaged).collect()
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
            Ok(true) => {
                self.catalog.add_registered([name]);
                Ok(())
            }
            Ok(false) => Err("another token holds the name".to_owned()),
            Err(error) => {
                tracing::error!(server = name, %error, "the holder of a server's name could not be stored");
                Err("the name could not be stored".to_owned())
            }
        }
    }

    async fn release(&self, name: &str) -> Result<(), String> {
        self.database.release_server_name(name).await.map_err(|error| error.to_string())?;
        self.catalog.release_server(name);
        Ok(())
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
    let mut own_changes = strip.catalog().own_changes();
    loop {
        changes.borrow_and_update();
        own_changes.borrow_and_update();
        quarantine.store_new_pins().await;
        save_names(&strip, &database).await;
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            changed = own_changes.changed() => if changed.is_err() { return },
            () = ending.cancelled() => {
                quarantine.store_new_pins().await;
                save_names(&strip, &database).await;
                return;
            }
        }
    }
}

/// Stores the names that were assigned since the last time.
async fn save_names(strip: &Strip, database: &Database) {
    let report =
        |error: StoreError| tracing::error!(%error, "the names of tools could not be stored");
    let wire = strip.catalog().take_new_names();
    if !wire.is_empty() {
        database.save_wire_names(&wire).await.unwrap_or_else(report);
    }
    let bare = strip.catalog().take_new_bare_names();
    if !bare.is_empty() {
        database.save_bare_names(&bare).await.unwrap_or_else(report);
    }
}

#[cfg(test)]
mod tests {
    use store::DamagedRow;

    use super::*;

    #[test]
    fn a_damaged_name_stays_taken_for_no_token() {
        let damaged = DamagedRow {
            id: "words".to_owned(),
            tenant: Some("acme".to_owned()),
            column: "owner".to_owned(),
        };
        let found = holders(Listed { rows: Vec::new(), damaged: vec![damaged], next: None });
        let holder = found.get("words").expect("the name");
        assert!(holder.tenant.is_empty() && holder.owner.is_empty());
    }
}
