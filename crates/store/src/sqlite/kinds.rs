//! What many audit rows have in common is stored once and named by a number.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use proto::{Digest, Principal, digest_of_parts};
use sqlx::sqlite::SqliteConnection;

use crate::AuditRow;
use crate::trail::Entry;

/// More kinds than this are not remembered. Callers can invent names of tools; the memory for them is bounded.
const MAX_REMEMBERED: usize = 8_192;

/// The numbers of the kinds that were written lately.
#[derive(Debug, Default)]
pub(super) struct Kinds(Mutex<HashMap<Kind, i64>>);

/// All that an audit row says about a call but its time, its trace, its arguments and how long it took.
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

/// Numbers that were given out in a transaction, to be remembered only once that is committed.
#[derive(Debug, Default)]
pub(super) struct Given(HashMap<Kind, i64>);

impl Kinds {
    fn known(&self) -> MutexGuard<'_, HashMap<Kind, i64>> {
        // Nothing that runs under the lock can leave the table half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The numbers of the kinds of the entries' rows; new ones are written.
    pub(super) async fn numbers(
        &self,
        connection: &mut SqliteConnection,
        entries: &[Entry],
    ) -> Result<(Vec<Option<i64>>, Given), sqlx::Error> {
        let mut given = Given::default();
        let mut numbers = Vec::with_capacity(entries.len());
        for entry in entries {
            let Some(kind) = entry.row().map(Kind::of) else {
                numbers.push(None);
                continue;
            };
            let known = self.known().get(&kind).or_else(|| given.0.get(&kind)).copied();
            numbers.push(Some(match known {
                Some(number) => number,
                None => {
                    let number = kind.write(connection).await?;
                    given.0.insert(kind, number);
                    number
                }
            }));
        }
        Ok((numbers, given))
    }

    /// Remembers what has been committed.
    pub(super) fn remember(&self, Given(given): Given) {
        if given.is_empty() {
            return;
        }
        let mut known = self.known();
        if known.len() + given.len() > MAX_REMEMBERED {
            known.clear();
        }
        known.extend(given.into_iter().take(MAX_REMEMBERED));
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

    fn sum(&self) -> Digest {
        // A text that is not there is another one than an empty text.
        let optional =
            |text: Option<&str>| text.map_or_else(Vec::new, |text| format!("={text}").into_bytes());
        digest_of_parts([
            self.caller.tenant.as_str().as_bytes(),
            self.caller.subject.as_bytes(),
            &optional(self.caller.agent.as_deref()),
            self.door.as_bytes(),
            self.tool.as_bytes(),
            self.version.as_bytes(),
            self.definition.as_ref().map_or(&[], |sum| sum.as_bytes().as_slice()),
            self.decision.as_bytes(),
            self.outcome.as_bytes(),
            &optional(self.blame.as_deref()),
        ])
    }

    /// Writes the kind, unless an earlier process has, and answers its number.
    async fn write(&self, connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
        let sum = self.sum();
        sqlx::query(
            "INSERT INTO audit_kinds (sum, tenant, owner, agent, door, tool, version, definition, decision, outcome, blame) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (sum) DO NOTHING",
        )
        .bind(sum.as_bytes().as_slice())
        .bind(self.caller.tenant.as_str())
        .bind(&self.caller.subject)
        .bind(self.caller.agent.as_deref())
        .bind(&*self.door)
        .bind(&*self.tool)
        .bind(&*self.version)
        .bind(self.definition.as_ref().map(|sum| sum.as_bytes().as_slice()))
        .bind(&*self.decision)
        .bind(&*self.outcome)
        .bind(self.blame.as_deref())
        .execute(&mut *connection)
        .await?;
        sqlx::query_scalar("SELECT id FROM audit_kinds WHERE sum = ?1")
            .bind(sum.as_bytes().as_slice())
            .fetch_one(connection)
            .await
    }
}
