//! Confirmations. Each change of state is one conditional update, so that of several deciders exactly one wins.

use sqlx::sqlite::{SqliteConnection, SqlitePool, SqliteRow};
use sqlx::{AssertSqlSafe, Connection as _, QueryBuilder, Row as _};

use super::audit::{integer, sum, unsigned};
use super::{Sqlite, settle};
use crate::{ApprovalFilter, ApprovalRow, ApprovalRuleRow, Ruling, StoreError};
use proto::Digest;

/// Longer arguments are left out of lists.
const LISTED_ARGUMENTS: usize = 2_000;

const ALWAYS: &str = "id, tenant, owner, agent, decider, tool, version, definition, arguments_sum, files, fingerprint, \
     trace, run, door, created_ms, deadline_ms, state, decided_by, decided_via, reason, decided_ms, good_until_ms, \
     length(CAST(arguments AS BLOB)), code, idempotency_key";

const RULE: &str = "id, tenant, owner, agent, tool, definition, arguments_sum, arguments, run, created_by, \
     created_ms, expires_ms, uses, code";

impl Sqlite {
    pub(crate) async fn add_approval(
        &self,
        row: &ApprovalRow,
        most: u64,
    ) -> Result<bool, StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = insert(&mut connection, row, most).await;
        settle(connection, result)
    }

    pub(crate) async fn rule_on_approval(
        &self,
        id: &str,
        ruling: &Ruling<'_>,
        standing: Option<&ApprovalRuleRow>,
    ) -> Result<bool, StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = rule_and_stand(&mut connection, id, ruling, standing).await;
        settle(connection, result)
    }

    pub(crate) async fn consume_approval(&self, id: &str, now_ms: u64) -> Result<bool, StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = consume(&mut connection, id, now_ms).await;
        settle(connection, result)
    }

    pub(crate) async fn approval_told(&self, id: &str) -> Result<bool, StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = told(&mut connection, id).await;
        settle(connection, result)
    }

    pub(crate) async fn approvals_alike(
        &self,
        fingerprint: &Digest,
        now_ms: u64,
    ) -> Result<Vec<ApprovalRow>, StoreError> {
        alike(&self.readers, fingerprint, now_ms).await
    }

    pub(crate) async fn approval(
        &self,
        tenant: Option<&str>,
        id: &str,
    ) -> Result<Option<ApprovalRow>, StoreError> {
        one(&self.readers, tenant, id).await
    }

    pub(crate) async fn approvals(
        &self,
        filter: &ApprovalFilter,
    ) -> Result<Vec<ApprovalRow>, StoreError> {
        list(&self.readers, filter).await
    }

    pub(crate) async fn open_approvals(&self) -> Result<Vec<(String, u64, u64)>, StoreError> {
        open(&self.readers).await
    }

    pub(crate) async fn forget_approvals(&self, before_ms: u64) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = forget(&mut connection, before_ms).await;
        settle(connection, result)
    }

    pub(crate) async fn approval_rules(&self) -> Result<Vec<ApprovalRuleRow>, StoreError> {
        rules(&self.readers).await
    }

    pub(crate) async fn remove_approval_rule(&self, id: &str) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = remove_rule(&mut connection, id).await;
        settle(connection, result)
    }

    pub(crate) async fn approval_rule_used(
        &self,
        id: &str,
        now_ms: u64,
    ) -> Result<bool, StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = rule_used(&mut connection, id, now_ms).await;
        settle(connection, result)
    }
}

/// Keeps a confirmation unless its caller has so many that wait. Counted and kept in one step: calls that come at once
/// are counted, too.
async fn insert(
    connection: &mut SqliteConnection,
    row: &ApprovalRow,
    most: u64,
) -> Result<bool, sqlx::Error> {
    let done = sqlx::query(
        "INSERT INTO approvals (id, tenant, owner, agent, decider, tool, version, definition, arguments, \
         arguments_sum, files, fingerprint, trace, run, door, created_ms, deadline_ms, state, \
         code, idempotency_key) \
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?20, ?21 \
         WHERE (SELECT count(*) FROM approvals \
         WHERE state = 'pending' AND tenant = ?2 AND owner = ?3 AND agent IS ?4) < ?19",
    )
    .bind(&row.id)
    .bind(&row.tenant)
    .bind(&row.owner)
    .bind(row.agent.as_deref())
    .bind(row.decider)
    .bind(&row.tool)
    .bind(&row.version)
    .bind(row.definition.as_bytes().as_slice())
    .bind(row.arguments.as_deref().unwrap_or_default())
    .bind(row.arguments_sum.as_bytes().as_slice())
    .bind(&row.files)
    .bind(row.fingerprint.as_bytes().as_slice())
    .bind(&row.trace)
    .bind(row.run.as_deref())
    .bind(&row.door)
    .bind(integer(row.created_unix_ms))
    .bind(integer(row.deadline_unix_ms))
    .bind(row.state.as_str())
    .bind(integer(most))
    .bind(row.code.as_ref().map(|code| code.as_bytes().to_vec()))
    .bind(row.idempotency_key.as_deref())
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Decides, and keeps the standing rule that the decision asks for: both or neither.
async fn rule_and_stand(
    connection: &mut SqliteConnection,
    id: &str,
    ruling: &Ruling<'_>,
    standing: Option<&ApprovalRuleRow>,
) -> Result<bool, sqlx::Error> {
    let Some(standing) = standing else { return rule(connection, id, ruling).await };
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let ruled = rule(&mut transaction, id, ruling).await?;
    if ruled {
        add_rule(&mut transaction, standing).await?;
    }
    transaction.commit().await?;
    Ok(ruled)
}

/// Decides, if nobody has; says whether this was the decision.
async fn rule(
    connection: &mut SqliteConnection,
    id: &str,
    ruling: &Ruling<'_>,
) -> Result<bool, sqlx::Error> {
    let done = sqlx::query(
        "UPDATE approvals SET state = ?2, decided_by = ?3, decided_via = ?4, reason = ?5, decided_ms = ?6, \
         good_until_ms = ?7 WHERE id = ?1 AND state = 'pending' AND (deadline_ms > ?6 OR NOT ?8)",
    )
    .bind(id)
    .bind(ruling.state.as_str())
    .bind(ruling.by)
    .bind(ruling.via)
    .bind(ruling.reason)
    .bind(integer(ruling.at_unix_ms))
    .bind(ruling.good_until_unix_ms.map(integer))
    .bind(ruling.in_time)
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Uses an approval up; says no if it is not there to be used, or not any more.
async fn consume(
    connection: &mut SqliteConnection,
    id: &str,
    now_ms: u64,
) -> Result<bool, sqlx::Error> {
    let done = sqlx::query(
        "UPDATE approvals SET state = 'consumed', told = 1 \
         WHERE id = ?1 AND state = 'approved' AND good_until_ms > ?2",
    )
    .bind(id)
    .bind(integer(now_ms))
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Notes that a caller has heard of a rejection; says no if it had before.
async fn told(connection: &mut SqliteConnection, id: &str) -> Result<bool, sqlx::Error> {
    let done = sqlx::query("UPDATE approvals SET told = 1 WHERE id = ?1 AND told = 0")
        .bind(id)
        .execute(connection)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// What there is about an equal call that may still matter, oldest first.
async fn alike(
    readers: &SqlitePool,
    fingerprint: &Digest,
    now_ms: u64,
) -> Result<Vec<ApprovalRow>, StoreError> {
    let query = format!(
        "SELECT {ALWAYS}, arguments FROM approvals WHERE fingerprint = ?1 AND \
         state IN ('pending', 'approved', 'rejected') AND (state = 'pending' OR \
         (state = 'approved' AND good_until_ms > ?2) OR (state = 'rejected' AND told = 0 AND good_until_ms > ?2)) \
         ORDER BY created_ms, id LIMIT 200"
    );
    let rows = sqlx::query(AssertSqlSafe(query))
        .bind(fingerprint.as_bytes().as_slice())
        .bind(integer(now_ms))
        .fetch_all(readers)
        .await?;
    rows.iter().map(row).collect()
}

async fn one(
    readers: &SqlitePool,
    tenant: Option<&str>,
    id: &str,
) -> Result<Option<ApprovalRow>, StoreError> {
    let query = format!(
        "SELECT {ALWAYS}, arguments FROM approvals WHERE id = ?1 AND (?2 IS NULL OR tenant = ?2)"
    );
    let found =
        sqlx::query(AssertSqlSafe(query)).bind(id).bind(tenant).fetch_optional(readers).await?;
    found.as_ref().map(row).transpose()
}

async fn list(
    readers: &SqlitePool,
    filter: &ApprovalFilter,
) -> Result<Vec<ApprovalRow>, StoreError> {
    let oldest_first = filter.state == Some(crate::ApprovalState::Pending);
    let mut query = QueryBuilder::new(format!(
        "SELECT {ALWAYS}, CASE WHEN length(CAST(arguments AS BLOB)) <= {LISTED_ARGUMENTS} THEN arguments END \
         FROM approvals WHERE true"
    ));
    match filter.state {
        // Written out, so that the index over what waits is used.
        Some(crate::ApprovalState::Pending) => {
            query.push(" AND state = 'pending'");
        }
        Some(state) => {
            query.push(" AND state = ").push_bind(state.as_str());
        }
        None => {}
    }
    if let Some(tenant) = &filter.tenant {
        query.push(" AND tenant = ").push_bind(tenant);
    }
    if let Some((created, id)) = &filter.after {
        let beyond =
            if oldest_first { " AND (created_ms, id) > (" } else { " AND (created_ms, id) < (" };
        query.push(beyond).push_bind(integer(*created)).push(", ").push_bind(id).push(")");
    }
    let order = if oldest_first { "created_ms, id" } else { "created_ms DESC, id DESC" };
    query.push(format!(" ORDER BY {order} LIMIT ")).push_bind(i64::from(filter.limit));
    query.build().fetch_all(readers).await?.iter().map(row).collect()
}

/// Ids and times of all that wait: created, deadline.
async fn open(readers: &SqlitePool) -> Result<Vec<(String, u64, u64)>, StoreError> {
    let rows: Vec<(String, i64, i64)> =
        sqlx::query_as("SELECT id, created_ms, deadline_ms FROM approvals WHERE state = 'pending'")
            .fetch_all(readers)
            .await?;
    Ok(rows.into_iter().map(|(id, a, b)| (id, unsigned(a), unsigned(b))).collect())
}

/// Forgets confirmations that were decided long ago.
async fn forget(connection: &mut SqliteConnection, before_ms: u64) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM approvals WHERE created_ms < ?1 AND state <> 'pending'")
        .bind(integer(before_ms))
        .execute(&mut *connection)
        .await?;
    sqlx::query("DELETE FROM approval_rules WHERE expires_ms < ?1")
        .bind(integer(before_ms))
        .execute(connection)
        .await
        .map(drop)
}

async fn add_rule(
    connection: &mut SqliteConnection,
    rule: &ApprovalRuleRow,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO approval_rules (id, tenant, owner, agent, tool, definition, arguments_sum, arguments, run, \
         created_by, created_ms, expires_ms, uses, code) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )
    .bind(&rule.id)
    .bind(&rule.tenant)
    .bind(&rule.owner)
    .bind(rule.agent.as_deref())
    .bind(&rule.tool)
    .bind(rule.definition.as_bytes().as_slice())
    .bind(rule.arguments_sum.as_ref().map(|sum| sum.as_bytes().to_vec()))
    .bind(rule.arguments.as_deref())
    .bind(rule.run.as_deref())
    .bind(&rule.created_by)
    .bind(integer(rule.created_unix_ms))
    .bind(integer(rule.expires_unix_ms))
    .bind(integer(rule.uses))
    .bind(rule.code.as_ref().map(|code| code.as_bytes().to_vec()))
    .execute(connection)
    .await
    .map(drop)
}

async fn rules(readers: &SqlitePool) -> Result<Vec<ApprovalRuleRow>, StoreError> {
    let query = format!("SELECT {RULE} FROM approval_rules ORDER BY created_ms, id");
    let rows = sqlx::query(AssertSqlSafe(query)).fetch_all(readers).await?;
    rows.iter().map(rule_row).collect()
}

async fn remove_rule(connection: &mut SqliteConnection, id: &str) -> Result<(), sqlx::Error> {
    let query = sqlx::query("DELETE FROM approval_rules WHERE id = ?1").bind(id);
    query.execute(connection).await.map(drop)
}

async fn rule_used(
    connection: &mut SqliteConnection,
    id: &str,
    now_ms: u64,
) -> Result<bool, sqlx::Error> {
    let query = "UPDATE approval_rules SET uses = uses + 1 WHERE id = ?1 AND expires_ms > ?2";
    let done = sqlx::query(query).bind(id).bind(integer(now_ms)).execute(connection).await?;
    Ok(done.rows_affected() == 1)
}

fn row(row: &SqliteRow) -> Result<ApprovalRow, StoreError> {
    let state: String = row.try_get(16)?;
    let state = state
        .parse()
        .map_err(|()| StoreError::Unreadable { column: "an approval's state", value: state })?;
    let time = |column| Ok::<_, sqlx::Error>(row.try_get::<Option<i64>, _>(column)?.map(unsigned));
    Ok(ApprovalRow {
        id: row.try_get(0)?,
        tenant: row.try_get(1)?,
        owner: row.try_get(2)?,
        agent: row.try_get(3)?,
        decider: row.try_get(4)?,
        tool: row.try_get(5)?,
        version: row.try_get(6)?,
        definition: sum(row.try_get(7)?)?,
        arguments_sum: sum(row.try_get(8)?)?,
        files: row.try_get(9)?,
        fingerprint: sum(row.try_get(10)?)?,
        trace: row.try_get(11)?,
        run: row.try_get(12)?,
        door: row.try_get(13)?,
        created_unix_ms: unsigned(row.try_get(14)?),
        deadline_unix_ms: unsigned(row.try_get(15)?),
        state,
        decided_by: row.try_get(17)?,
        decided_via: row.try_get(18)?,
        reason: row.try_get(19)?,
        decided_unix_ms: time(20)?,
        good_until_unix_ms: time(21)?,
        arguments_bytes: unsigned(row.try_get(22)?),
        code: row.try_get::<Option<&[u8]>, _>("code")?.map(sum).transpose()?,
        idempotency_key: row.try_get("idempotency_key")?,
        arguments: row.try_get(25)?,
    })
}

fn rule_row(row: &SqliteRow) -> Result<ApprovalRuleRow, StoreError> {
    Ok(ApprovalRuleRow {
        id: row.try_get(0)?,
        tenant: row.try_get(1)?,
        owner: row.try_get(2)?,
        agent: row.try_get(3)?,
        tool: row.try_get(4)?,
        definition: sum(row.try_get(5)?)?,
        arguments_sum: row.try_get::<Option<&[u8]>, _>(6)?.map(sum).transpose()?,
        arguments: row.try_get(7)?,
        run: row.try_get(8)?,
        created_by: row.try_get(9)?,
        created_unix_ms: unsigned(row.try_get(10)?),
        expires_unix_ms: unsigned(row.try_get(11)?),
        uses: unsigned(row.try_get(12)?),
        code: row.try_get::<Option<&[u8]>, _>("code")?.map(sum).transpose()?,
    })
}
