//! Names of tools and servers, and the last list of each server.

use crate::sql::{Row, Value, in_transaction, query, value_rows};
use crate::{Database, Listed, StoreError};

/// How many names one statement carries.
const CHUNK: usize = 500;

/// The name of a server that registered itself, and its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerNameRow {
    pub name: String,
    pub tenant: String,
    /// The subject of the registration key.
    pub owner: String,
    /// When it was registered first, in milliseconds since 1970.
    pub claimed_unix_ms: u64,
}

/// A stored wire name that cannot be read, or whose tool cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DamagedName {
    /// The name of the tool with this key.
    NameOf(String),
    /// The tool that has this name.
    ToolOf(String),
}

/// All stored wire names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredWireNames {
    /// Pairs of tool key and wire name, by tool key.
    pub pairs: Vec<(String, String)>,
    pub damaged: Vec<DamagedName>,
}

impl Database {
    /// Every stored pair of tool key and wire name.
    pub async fn wire_names(&self) -> Result<StoredWireNames, StoreError> {
        let select = query("SELECT tool_key, wire_name FROM wire_names ORDER BY tool_key");
        let rows = self.sql.all(select).await?;
        let read = |row: &Row| Ok((row.get("tool_key")?, row.get("wire_name")?));
        let pairs = Listed::read("wire_names", "tool_key", &rows, read)?.rows;
        let damaged = rows.iter().filter_map(|row| {
            match (row.get("tool_key"), row.get::<String>("wire_name")) {
                (Ok(key), Err(_)) => Some(DamagedName::NameOf(key)),
                (Err(_), Ok(name)) => Some(DamagedName::ToolOf(name)),
                _ => None,
            }
        });
        Ok(StoredWireNames { pairs, damaged: damaged.collect() })
    }

    /// Stores pairs of tool key and wire name, all or none; other tools keep the names they have.
    pub async fn save_wire_names(&self, pairs: &[(String, String)]) -> Result<(), StoreError> {
        in_transaction!(self.sql, |transaction| {
            // All old names are deleted first, so that two tools may swap names.
            for some in pairs.chunks(CHUNK) {
                query("DELETE FROM wire_names WHERE tool_key IN ")
                    .push(&value_rows(1, some.len()))
                    .bind_all(some.iter().map(|(key, _)| key.into()))
                    .once()
                    .execute(transaction.connection())
                    .await?;
            }
            for some in pairs.chunks(CHUNK) {
                query("INSERT INTO wire_names (tool_key, wire_name) VALUES ")
                    .push(&value_rows(some.len(), 2))
                    .bind_all(some.iter().flat_map(|(key, name)| [Value::from(key), name.into()]))
                    .once()
                    .execute(transaction.connection())
                    .await?;
            }
        })
    }

    /// Every stored pair of bare name and owners, by name.
    pub async fn bare_names(&self) -> Result<Vec<(String, String)>, StoreError> {
        let select = query("SELECT name, owners FROM bare_names ORDER BY name");
        let read = |row: &Row| Ok((row.get("name")?, row.get("owners")?));
        self.sql.all(select).await?.iter().map(read).collect()
    }

    /// Stores pairs of bare name and owners, all or none, in place of earlier owners. No name occurs twice.
    pub async fn save_bare_names(&self, pairs: &[(String, String)]) -> Result<(), StoreError> {
        in_transaction!(self.sql, |transaction| {
            for some in pairs.chunks(CHUNK) {
                query("INSERT INTO bare_names (name, owners) VALUES ")
                    .push(&value_rows(some.len(), 2))
                    .push(" ON CONFLICT (name) DO UPDATE SET owners = excluded.owners")
                    .bind_all(
                        some.iter().flat_map(|(name, owners)| [Value::from(name), owners.into()]),
                    )
                    .once()
                    .execute(transaction.connection())
                    .await?;
            }
        })
    }

    /// The list that was last stored for a server.
    pub async fn server_list(&self, server: &str) -> Result<Option<String>, StoreError> {
        let select = query("SELECT list FROM server_lists WHERE server = $1").bind(server);
        self.sql.first(select).await?.map(|row| row.get("list")).transpose()
    }

    /// Stores the list of a server, in place of the one before.
    pub async fn save_server_list(&self, server: &str, list: &str) -> Result<(), StoreError> {
        let upsert = query(
            "INSERT INTO server_lists (server, list) VALUES ($1, $2) \
             ON CONFLICT (server) DO UPDATE SET list = excluded.list",
        );
        self.sql.execute(upsert.bind(server).bind(list)).await.map(drop)
    }

    /// Every name of a registered server that has an owner, by name.
    pub async fn server_names(&self) -> Result<Listed<ServerNameRow>, StoreError> {
        let select =
            query("SELECT name, tenant, owner, claimed_ms FROM server_names ORDER BY name");
        let read = |row: &Row| {
            Ok(ServerNameRow {
                name: row.get("name")?,
                tenant: row.get("tenant")?,
                owner: row.get("owner")?,
                claimed_unix_ms: row.get("claimed_ms")?,
            })
        };
        Listed::read("server_names", "name", &self.sql.all(select).await?, read)
    }

    /// Gives a name to its first owner; returns false if it has one.
    pub async fn claim_server_name(&self, row: &ServerNameRow) -> Result<bool, StoreError> {
        let insert = query(
            "INSERT INTO server_names (name, tenant, owner, claimed_ms) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (name) DO NOTHING",
        )
        .bind(&row.name)
        .bind(&row.tenant)
        .bind(&row.owner)
        .bind(row.claimed_unix_ms);
        Ok(self.sql.execute(insert).await? == 1)
    }

    /// Takes a name from its owner.
    pub async fn release_server_name(&self, name: &str) -> Result<(), StoreError> {
        let delete = query("DELETE FROM server_names WHERE name = $1").bind(name);
        self.sql.execute(delete).await.map(drop)
    }
}
