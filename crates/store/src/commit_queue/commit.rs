//! Commits groups of changes, each in one transaction.

use std::collections::HashSet;

use proto::Clock;
use uuid::Uuid;

use super::change::Change;
use crate::audit::NewRow;
use crate::audit_kinds::Kinds;
use crate::calls::{self, ANSWER_BUDGET, BegunRow};
use crate::sql::{Connection, query};
use crate::{Database, StoreError, audit, runs, workflows};

/// The lifetime of a writer's notes. Only its own retries use them, and those do not come days later.
const WRITER_NOTE_MS: u64 = 24 * 60 * 60 * 1000;

/// After so many bytes of new answers the budget is enforced again.
const TRIM_AFTER: usize = 4 << 20;

/// Writes groups of changes to the database.
pub(super) struct Committer {
    database: Database,
    /// Names this process in the database.
    writer: String,
    kinds: Kinds,
    /// The highest count that earlier tries may have noted.
    tried: u64,
    /// Bytes of answers that were written since their budget was last enforced.
    untrimmed: usize,
}

impl Committer {
    pub(super) fn new(database: Database) -> Self {
        Self::of_writer(database, Uuid::new_v4().to_string(), 0)
    }

    /// Goes on with what a writer of an earlier process has not committed, as far as that is known: it may have noted any
    /// count up to `tried`.
    pub(super) fn of_writer(database: Database, writer: String, tried: u64) -> Self {
        Self { database, writer, kinds: Kinds::default(), tried, untrimmed: 0 }
    }

    /// Names this writer in the database.
    pub(super) fn writer(&self) -> &str {
        &self.writer
    }

    /// Commits changes and, with them, that this writer has now written `written` changes in all. Does nothing if that is
    /// noted already: an error does not always mean that nothing was committed. The note comes first, because it waits for
    /// a transaction of an earlier try that the database has not ended yet.
    pub(super) async fn append(
        &mut self,
        changes: &[Change],
        written: u64,
    ) -> Result<(), StoreError> {
        let mut transaction = self.database.sql.begin().await?;
        let connection = transaction.connection();
        if !self.note_written(connection, changes.len() as u64, written).await? {
            return transaction.commit().await;
        }
        self.kinds.begin();
        let mut kinds = Vec::with_capacity(changes.len());
        for change in changes {
            kinds.push(match change.row() {
                Some(row) => Some(self.kinds.number(connection, row).await?),
                None => None,
            });
        }
        let rows: Vec<_> = changes.iter().zip(&kinds).filter_map(ended_row).collect();
        audit::insert(connection, &rows).await?;
        self.note_begun(connection, changes, &kinds).await?;
        let (mut run_rows, mut run_calls, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for change in changes {
            match change {
                Change::Row { .. } | Change::Begun { .. } => {}
                Change::Call(change) => calls::apply(connection, change).await?,
                Change::Runs(changes) => {
                    run_rows.extend(&changes.runs);
                    run_calls.extend(&changes.calls);
                }
                Change::Workflow(step) => steps.push(&**step),
            }
        }
        runs::save(connection, &run_rows, &run_calls).await?;
        workflows::apply(connection, &steps).await?;
        transaction.commit().await?;
        self.kinds.commit();
        self.trim(changes).await;
        Ok(())
    }

    /// Writes which calls have begun and which have ended. A call that does both in one transaction needs no row.
    async fn note_begun(
        &self,
        connection: &mut Connection,
        changes: &[Change],
        kinds: &[Option<i64>],
    ) -> Result<(), StoreError> {
        let ends = |change: &Change| match change {
            Change::Row { ends, .. } => *ends,
            _ => None,
        };
        let mut ended: HashSet<u64> = changes.iter().filter_map(ends).collect();
        for (change, kind) in changes.iter().zip(kinds) {
            if let (Change::Begun { number, row }, Some(kind)) = (change, kind)
                && !ended.remove(number)
            {
                let (writer, number, kind) = (&*self.writer, *number, *kind);
                calls::insert_begun(connection, &BegunRow { writer, number, row, kind }).await?;
            }
        }
        for number in ended {
            calls::delete_begun(connection, &self.writer, number).await?;
        }
        Ok(())
    }

    /// Notes how much this writer has written, `count` of it in this group; false if that was noted before.
    async fn note_written(
        &mut self,
        connection: &mut Connection,
        count: u64,
        written: u64,
    ) -> Result<bool, StoreError> {
        let (now, before) = (Clock::default().unix_ms(), written.saturating_sub(count));
        let tried = self.tried;
        self.tried = tried.max(written);
        let noted = query(
            "INSERT INTO audit_writers (writer, written, at_ms) VALUES ($1, $2, $3) \
             ON CONFLICT (writer) DO UPDATE SET written = excluded.written, at_ms = excluded.at_ms \
             WHERE audit_writers.written = $4",
        )
        .bind(&self.writer)
        .bind(written)
        .bind(now)
        .bind(before)
        .execute(connection)
        .await?;
        if before == 0 {
            query("DELETE FROM audit_writers WHERE at_ms < $1")
                .bind(now.saturating_sub(WRITER_NOTE_MS))
                .execute(connection)
                .await?;
        }
        Ok(noted == 1 || !self.is_noted(connection, written, tried).await?)
    }

    /// Whether the note says that a group is committed. A damaged note is replaced, unless an earlier try may have
    /// committed the group: nothing else says whether it did.
    async fn is_noted(
        &self,
        connection: &mut Connection,
        written: u64,
        tried: u64,
    ) -> Result<bool, StoreError> {
        let rows =
            query("SELECT CAST(written AS TEXT) AS written FROM audit_writers WHERE writer = $1")
                .bind(&self.writer)
                .rows(connection)
                .await?;
        let noted: Option<String> = rows.first().map(|row| row.get("written")).transpose()?;
        let noted = noted.unwrap_or_default();
        if noted.parse().is_ok_and(|noted| (written..=tried).contains(&noted)) {
            return Ok(true);
        }
        if tried >= written {
            return Err(StoreError::Unreadable { column: "written", value: noted });
        }
        tracing::error!(%noted, written, "the note of what is committed is damaged, and is replaced");
        query("UPDATE audit_writers SET written = $2 WHERE writer = $1")
            .bind(&self.writer)
            .bind(written)
            .execute(connection)
            .await?;
        Ok(false)
    }

    /// Enforces the budget of recorded answers when enough new ones were committed.
    async fn trim(&mut self, changes: &[Change]) {
        self.untrimmed += changes.iter().map(Change::answer_bytes).sum::<usize>();
        if self.untrimmed < TRIM_AFTER {
            return;
        }
        self.untrimmed = 0;
        if let Err(error) = self.database.trim_answers(&ANSWER_BUDGET).await {
            tracing::warn!(%error, "recorded answers exceed their budget; the next sweep tries again");
        }
    }
}

fn ended_row<'a>((change, kind): (&'a Change, &Option<i64>)) -> Option<NewRow<'a>> {
    match change {
        Change::Row { row, detail, .. } => {
            Some(NewRow { row, kind: (*kind)?, detail: detail.as_deref() })
        }
        Change::Begun { .. } | Change::Call(_) | Change::Runs(_) | Change::Workflow(_) => None,
    }
}
