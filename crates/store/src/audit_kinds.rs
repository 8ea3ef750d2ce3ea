//! What many audit rows have in common is stored once, as their kind, and referred to by number.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use proto::{Digest, Principal, digest_of_parts};

use crate::sql::{Connection, query};
use crate::{AuditRow, StoreError};

/// More kinds than this are not cached: callers can invent names of tools.
const MAX_CACHED: usize = 8_192;

/// The numbers of the kinds that were written lately.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    committed: HashMap<Kind, i64>,
    /// Numbers that the current transaction has read; valid once it is committed.
    current: HashMap<Kind, i64>,
}

/// What an audit row says about a call apart from its time, trace, arguments and duration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    caller: Arc<Principal>,
    door: Cow<'static, str>,
    tool: Arc<str>,
    version: Arc<str>,
    definition: Option<Digest>,
    decision: Cow<'static, str>,
    outcome: Cow<'static, str>,
    blame: Option<Cow<'static, str>>,
}

impl Kinds {
    /// Begins a transaction: numbers of one that failed are dropped.
    pub(crate) fn begin(&mut self) {
        self.current.clear();
    }

    /// The number of a row's kind; a new kind is written.
    pub(crate) async fn number(
        &mut self,
        connection: &mut Connection,
        row: &AuditRow,
    ) -> Result<i64, StoreError> {
        let kind = Kind::of(row);
        if let Some(number) = self.committed.get(&kind).or_else(|| self.current.get(&kind)) {
            return Ok(*number);
        }
        let number = kind.write(connection).await?;
        self.current.insert(kind, number);
        Ok(number)
    }

    /// Caches the numbers of the transaction, which is committed.
    pub(crate) fn commit(&mut self) {
        if self.committed.len() + self.current.len() > MAX_CACHED {
            self.committed.clear();
        }
        self.committed.extend(self.current.drain().take(MAX_CACHED));
    }
}

impl Kind {
    fn of(row: &AuditRow) -> Self {
        Self {
            caller: Arc::clone(&row.caller),
            door: row.door.clone(),
            tool: Arc::clone(&row.tool),
            version: Arc::clone(&row.version),
            definition: row.definition,
            decision: row.decision.clone(),
            outcome: row.outcome.clone(),
            blame: row.blame.clone(),
        }
    }

    fn digest(&self) -> Digest {
        // A missing text differs from an empty one.
        let optional =
            |text: Option<&str>| text.map_or_else(Vec::new, |text| format!("={text}").into_bytes());
        digest_of_parts([
            self.caller.tenant.as_str().as_bytes(),
            self.caller.subject.as_bytes(),
            &optional(self.caller.agent.as_deref()),
            self.door.as_bytes(),
            self.tool.as_bytes(),
            self.version.as_bytes(),
            self.definition.as_ref().map_or(&[], |digest| digest.as_bytes().as_slice()),
            self.decision.as_bytes(),
            self.outcome.as_bytes(),
            &optional(self.blame.as_deref()),
        ])
    }

    /// Writes the kind, unless it is there, and returns its number.
    async fn write(&self, connection: &mut Connection) -> Result<i64, StoreError> {
        let digest = self.digest();
        query(
            "INSERT INTO audit_kinds \
                 (digest, tenant, owner, agent, door, tool, version, definition, decision, outcome, blame) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (digest) DO NOTHING",
        )
        .bind(&digest)
        .bind(self.caller.tenant.as_str())
        .bind(&self.caller.subject)
        .bind(self.caller.agent.as_deref())
        .bind(&*self.door)
        .bind(&*self.tool)
        .bind(&*self.version)
        .bind(self.definition.as_ref())
        .bind(&*self.decision)
        .bind(&*self.outcome)
        .bind(self.blame.as_deref())
        .execute(connection)
        .await?;
        let select = query("SELECT id FROM audit_kinds WHERE digest = $1").bind(&digest);
        let rows = select.rows(connection).await?;
        rows.first().map_or(
            Err(StoreError::Unreadable { column: "audit_kinds.id", value: String::new() }),
            |row| row.get("id"),
        )
    }
}
