mod approvals;
mod calls;
mod files;
mod references;

use std::path::Path;

use crate::audit::{AuditCount, AuditFilter, AuditPage, AuditRow};
use crate::sqlite::Sqlite;
use crate::trail::Entry;
use crate::vault::{VaultPlace, VaultRow};
use crate::{
    KeyRow, Pin, PinnedDefinition, QuestionRow, RunCallRow, RunFilter, RunName, RunRow,
    ServerNameRow, Settlement, StoreError, folder,
};

/// The database of a gateway.
#[derive(Clone, Debug)]
pub struct Database(Engine);

#[derive(Clone, Debug)]
enum Engine {
    Sqlite(Sqlite),
}

impl Database {
    /// Opens the database in a data folder, creates both if need be, and brings the schema up to date.
    pub async fn open(data_dir: &Path) -> Result<Self, StoreError> {
        folder::prepare(data_dir)?;
        Ok(Self(Engine::Sqlite(Sqlite::open(data_dir).await?)))
    }

    /// Every stored pair of tool key and wire name, by tool key.
    pub async fn wire_names(&self) -> Result<Vec<(String, String)>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.wire_names().await
    }

    /// Stores pairs of tool key and wire name, all or none; other tools keep the names they have.
    pub async fn save_wire_names(&self, pairs: &[(String, String)]) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.save_wire_names(pairs).await
    }

    /// What was last stored as the list of a server.
    pub async fn server_list(&self, server: &str) -> Result<Option<String>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.server_list(server).await
    }

    /// Stores the list of a server, in place of the one before.
    pub async fn save_server_list(&self, server: &str, list: &str) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.save_server_list(server, list).await
    }

    /// Every key that was ever given out, oldest first.
    pub async fn keys(&self) -> Result<Vec<KeyRow>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.keys().await
    }

    /// Keeps a new key; says no if another one that is not revoked bears its name.
    pub async fn add_key(&self, key: &KeyRow) -> Result<bool, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.add_key(key).await
    }

    /// Notes that a key opens nothing from this time on.
    pub async fn revoke_key(&self, id: &str, at_unix_ms: u64) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.revoke_key(id, at_unix_ms).await
    }

    /// Notes when a key was last used.
    pub async fn key_used(&self, id: &str, at_unix_ms: u64) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.key_used(id, at_unix_ms).await
    }

    /// Every name of a registered server that is somebody's, by name.
    pub async fn server_names(&self) -> Result<Vec<ServerNameRow>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.server_names().await
    }

    /// Makes a name somebody's; says no if it is taken, whoever has it.
    pub async fn hold_server_name(&self, row: &ServerNameRow) -> Result<bool, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.hold_server_name(row).await
    }

    /// Makes a name nobody's.
    pub async fn release_server_name(&self, name: &str) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.release_server_name(name).await
    }

    /// Every pin, without the definitions.
    pub async fn pins(&self) -> Result<Vec<Pin>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.pins().await
    }

    /// The definition that is pinned for a server's tool, as JSON.
    pub async fn pinned_definition(
        &self,
        server: &str,
        tool: &str,
    ) -> Result<Option<String>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.pinned_definition(server, tool).await
    }

    /// Stores pins of tools that were seen for the first time, all or none; a tool that has one keeps it.
    pub async fn add_pins(&self, pins: &[PinnedDefinition]) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.save_pins(pins, false).await
    }

    /// Stores pins that somebody approved, all or none, in place of those before.
    pub async fn approve_pins(&self, pins: &[PinnedDefinition]) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.save_pins(pins, true).await
    }

    /// What is kept sealed for a server, the newest first.
    pub async fn vault_rows(
        &self,
        kind: &'static str,
        server: &str,
    ) -> Result<Vec<VaultRow>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.vault_rows(kind, server).await
    }

    /// Keeps a sealed row, in place of the one that lay there.
    pub async fn save_vault_row(&self, row: &VaultRow) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.save_vault_row(row).await
    }

    /// Takes a sealed row out, if there is one.
    pub async fn remove_vault_row(&self, place: &VaultPlace) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.remove_vault_row(place).await
    }

    /// The audit rows that a filter lets through, newest first.
    pub async fn audit_rows(&self, filter: AuditFilter) -> Result<Vec<AuditRow>, StoreError> {
        self.audit_page(filter).await.map(|page| page.rows)
    }

    /// The same, and where the next page begins.
    pub async fn audit_page(&self, filter: AuditFilter) -> Result<AuditPage, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.audit_page(filter).await
    }

    /// How many calls of a tenant, or of all, began in each stretch since a time. Of very many only the newest count.
    pub async fn audit_counts(
        &self,
        tenant: Option<&str>,
        since_unix_ms: u64,
        stretch_ms: u64,
    ) -> Result<Vec<AuditCount>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.audit_counts(tenant, since_unix_ms, stretch_ms).await
    }

    /// Writes runs as they stand, and calls of theirs that have ended, all or none. A completed run stays completed, and
    /// counts only grow.
    pub async fn save_runs(&self, runs: &[RunRow], calls: &[RunCallRow]) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.save_runs(runs, calls).await
    }

    /// Stores a question together with its run.
    pub async fn ask_question(
        &self,
        run: &RunRow,
        question: &QuestionRow,
    ) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.ask_question(run, question).await
    }

    /// Ends a question; says no if it has ended before.
    pub async fn settle_question(&self, settlement: Settlement<'_>) -> Result<bool, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.settle_question(settlement).await
    }

    /// Forgets runs that nobody has touched since a moment; tells how many.
    pub async fn forget_runs(&self, before_unix_ms: u64) -> Result<u64, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.forget_runs(before_unix_ms).await
    }

    /// The newest run of this name.
    pub async fn run_named(&self, name: RunName<'_>) -> Result<Option<RunRow>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.run_named(name).await
    }

    /// The run of this id.
    pub async fn run(&self, id: &str) -> Result<Option<RunRow>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.run(id).await
    }

    /// The runs that a filter lets through, the last touched first.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.runs(filter).await
    }

    /// The last calls of a run, in the order in which they ended.
    pub async fn run_calls(&self, run: &str) -> Result<Vec<RunCallRow>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.run_calls(run).await
    }

    /// What a run asks or asked people, oldest first.
    pub async fn run_questions(&self, run: &str) -> Result<Vec<QuestionRow>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.run_questions(run).await
    }

    /// Ends all use of the database, once what is under way has finished.
    pub async fn close(&self) {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.close().await;
    }

    /// Commits entries and, with them, that `writer` has now written `written` entries in all.
    pub(crate) async fn append_entries(
        &self,
        entries: &[Entry],
        writer: &str,
        written: u64,
    ) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.append_entries(entries, writer, written).await
    }

    /// How many entries of a writer are committed.
    pub(crate) async fn audit_written(&self, writer: &str) -> Result<u64, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.audit_written(writer).await
    }
}

#[cfg(test)]
impl Database {
    pub(crate) fn sqlite(&self) -> &Sqlite {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite
    }
}
