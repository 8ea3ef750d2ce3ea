use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnection, SqlitePool, SqliteRow};
use sqlx::{Connection as _, Row as _};

use super::audit::{integer, trace, unsigned};
use crate::{QuestionRow, RunCallRow, RunFilter, RunName, RunRow, Settlement, StoreError};

const RUN: &str = "id, tenant, owner, agent, kind, name, state, summary, artifacts, data_tools, created_ms, touched_ms";
const QUESTION: &str = "id, run, tenant, slot_id, slot_type, prompt, options, state, answer, answered_by, asked_ms, settled_ms";

/// No list is longer, whatever is asked for.
const MAX_LISTED: u32 = 500;

/// Writes runs as they stand now, and calls that have ended. A run that is completed stays so, and nothing is counted
/// back: what is written here may be older than what another statement wrote meanwhile.
pub(super) async fn save(
    connection: &mut SqliteConnection,
    runs: &[RunRow],
    calls: &[RunCallRow],
) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    for run in runs {
        save_run(&mut transaction, run).await?;
    }
    for call in calls {
        sqlx::query(
            "INSERT INTO run_calls (run, trace, tool, started_ms, ended_ms, outcome, made, used) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )
        .bind(&call.run)
        .bind(call.trace.as_bytes().as_slice())
        .bind(&call.tool)
        .bind(integer(call.started_unix_ms))
        .bind(integer(call.ended_unix_ms))
        .bind(&call.outcome)
        .bind(json!(call.made).to_string())
        .bind(json!(call.used).to_string())
        .execute(&mut *transaction)
        .await?;
    }
    transaction.commit().await
}

async fn save_run(connection: &mut SqliteConnection, run: &RunRow) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO runs \
             (id, tenant, owner, agent, kind, name, state, summary, artifacts, data_tools, created_ms, touched_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
         ON CONFLICT (id) DO UPDATE SET \
             state = CASE WHEN runs.state = 'completed' THEN runs.state ELSE excluded.state END, \
             summary = COALESCE(excluded.summary, runs.summary), \
             artifacts = CASE WHEN json_array_length(excluded.artifacts) < json_array_length(runs.artifacts) \
                 THEN runs.artifacts ELSE excluded.artifacts END, \
             data_tools = MAX(excluded.data_tools, runs.data_tools), \
             touched_ms = MAX(excluded.touched_ms, runs.touched_ms)",
    )
    .bind(&run.id)
    .bind(&run.tenant)
    .bind(&run.subject)
    .bind(run.agent.as_deref())
    .bind(&run.kind)
    .bind(run.name.as_deref())
    .bind(&run.state)
    .bind(run.summary.as_deref())
    .bind(json!(run.artifacts).to_string())
    .bind(integer(run.data_tools))
    .bind(integer(run.created_unix_ms))
    .bind(integer(run.touched_unix_ms))
    .execute(connection)
    .await
    .map(drop)
}

/// Stores a question together with its run.
pub(super) async fn ask(
    connection: &mut SqliteConnection,
    run: &RunRow,
    question: &QuestionRow,
) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    save_run(&mut transaction, run).await?;
    sqlx::query(
        "INSERT INTO run_questions \
             (id, run, tenant, slot_id, slot_type, prompt, options, state, answer, answered_by, asked_ms, settled_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )
    .bind(&question.id)
    .bind(&question.run)
    .bind(&question.tenant)
    .bind(&question.slot_id)
    .bind(&question.slot_type)
    .bind(&question.prompt)
    .bind(json!(question.options).to_string())
    .bind(&question.state)
    .bind(question.answer.as_ref().map(Value::to_string))
    .bind(question.answered_by.as_deref())
    .bind(integer(question.asked_unix_ms))
    .bind(question.settled_unix_ms.map(integer))
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await
}

/// Ends a question that is still open; says no if it is not.
pub(super) async fn settle_question(
    connection: &mut SqliteConnection,
    settlement: Settlement<'_>,
) -> Result<bool, sqlx::Error> {
    sqlx::query(
        "UPDATE run_questions SET state = ?2, answer = ?3, answered_by = ?4, settled_ms = ?5 \
         WHERE id = ?1 AND state = 'open'",
    )
    .bind(settlement.question)
    .bind(settlement.state)
    .bind(settlement.answer.map(Value::to_string))
    .bind(settlement.by)
    .bind(integer(settlement.at_unix_ms))
    .execute(connection)
    .await
    .map(|done| done.rows_affected() > 0)
}

/// Forgets runs that nobody has touched since a moment, with all that belongs to them.
pub(super) async fn forget(
    connection: &mut SqliteConnection,
    before_unix_ms: u64,
) -> Result<u64, sqlx::Error> {
    let before = integer(before_unix_ms);
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    for table in ["run_calls", "run_questions"] {
        let query =
            format!("DELETE FROM {table} WHERE run IN (SELECT id FROM runs WHERE touched_ms < ?1)");
        sqlx::query(sqlx::AssertSqlSafe(query)).bind(before).execute(&mut *transaction).await?;
    }
    let gone = sqlx::query("DELETE FROM runs WHERE touched_ms < ?1")
        .bind(before)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(gone.rows_affected())
}

pub(super) async fn by_name(
    readers: &SqlitePool,
    name: RunName<'_>,
) -> Result<Option<RunRow>, StoreError> {
    let query = format!(
        "SELECT {RUN} FROM runs WHERE tenant = ?1 AND owner = ?2 AND agent IS ?3 AND kind = ?4 AND name IS ?5 \
         ORDER BY created_ms DESC, rowid DESC LIMIT 1"
    );
    let found = sqlx::query(sqlx::AssertSqlSafe(query))
        .bind(name.tenant)
        .bind(name.subject)
        .bind(name.agent)
        .bind(name.kind)
        .bind(name.name)
        .fetch_optional(readers)
        .await?;
    found.as_ref().map(run_row).transpose()
}

pub(super) async fn by_id(readers: &SqlitePool, id: &str) -> Result<Option<RunRow>, StoreError> {
    let query = format!("SELECT {RUN} FROM runs WHERE id = ?1");
    let found = sqlx::query(sqlx::AssertSqlSafe(query)).bind(id).fetch_optional(readers).await?;
    found.as_ref().map(run_row).transpose()
}

pub(super) async fn list(
    readers: &SqlitePool,
    filter: &RunFilter,
) -> Result<Vec<RunRow>, StoreError> {
    let query = format!(
        "SELECT {RUN} FROM runs WHERE (?1 IS NULL OR tenant = ?1) AND (?2 IS NULL OR state = ?2) \
         ORDER BY touched_ms DESC, rowid DESC LIMIT ?3 OFFSET ?4"
    );
    let limit = filter.limit.unwrap_or(MAX_LISTED).min(MAX_LISTED);
    sqlx::query(sqlx::AssertSqlSafe(query))
        .bind(filter.tenant.as_deref())
        .bind(filter.state.as_deref())
        .bind(i64::from(limit))
        .bind(i64::from(filter.offset))
        .fetch_all(readers)
        .await?
        .iter()
        .map(run_row)
        .collect()
}

pub(super) async fn calls(readers: &SqlitePool, run: &str) -> Result<Vec<RunCallRow>, StoreError> {
    sqlx::query(
        "SELECT run, trace, tool, started_ms, ended_ms, outcome, made, used FROM run_calls \
         WHERE run = ?1 ORDER BY seq DESC LIMIT ?2",
    )
    .bind(run)
    .bind(i64::from(MAX_LISTED))
    .fetch_all(readers)
    .await?
    .iter()
    .rev()
    .map(call_row)
    .collect()
}

pub(super) async fn questions(
    readers: &SqlitePool,
    run: &str,
) -> Result<Vec<QuestionRow>, StoreError> {
    let query =
        format!("SELECT {QUESTION} FROM run_questions WHERE run = ?1 ORDER BY asked_ms, rowid");
    sqlx::query(sqlx::AssertSqlSafe(query))
        .bind(run)
        .fetch_all(readers)
        .await?
        .iter()
        .map(question_row)
        .collect()
}

fn texts(column: &'static str, value: String) -> Result<Vec<String>, StoreError> {
    serde_json::from_str(&value).map_err(|_| StoreError::Unreadable { column, value })
}

fn run_row(row: &SqliteRow) -> Result<RunRow, StoreError> {
    Ok(RunRow {
        id: row.try_get(0)?,
        tenant: row.try_get(1)?,
        subject: row.try_get(2)?,
        agent: row.try_get(3)?,
        kind: row.try_get(4)?,
        name: row.try_get(5)?,
        state: row.try_get(6)?,
        summary: row.try_get(7)?,
        artifacts: texts("the artifacts", row.try_get(8)?)?,
        data_tools: unsigned(row.try_get(9)?),
        created_unix_ms: unsigned(row.try_get(10)?),
        touched_unix_ms: unsigned(row.try_get(11)?),
    })
}

fn call_row(row: &SqliteRow) -> Result<RunCallRow, StoreError> {
    Ok(RunCallRow {
        run: row.try_get(0)?,
        trace: trace(row.try_get(1)?)?,
        tool: row.try_get(2)?,
        started_unix_ms: unsigned(row.try_get(3)?),
        ended_unix_ms: unsigned(row.try_get(4)?),
        outcome: row.try_get(5)?,
        made: texts("the references made", row.try_get(6)?)?,
        used: texts("the references used", row.try_get(7)?)?,
    })
}

fn question_row(row: &SqliteRow) -> Result<QuestionRow, StoreError> {
    let answer: Option<String> = row.try_get(8)?;
    let answer = answer.map(|text| {
        serde_json::from_str(&text)
            .map_err(|_| StoreError::Unreadable { column: "the answer", value: text })
    });
    Ok(QuestionRow {
        id: row.try_get(0)?,
        run: row.try_get(1)?,
        tenant: row.try_get(2)?,
        slot_id: row.try_get(3)?,
        slot_type: row.try_get(4)?,
        prompt: row.try_get(5)?,
        options: texts("the options", row.try_get(6)?)?,
        state: row.try_get(7)?,
        answer: answer.transpose()?,
        answered_by: row.try_get(9)?,
        asked_unix_ms: unsigned(row.try_get(10)?),
        settled_unix_ms: row.try_get::<Option<i64>, _>(11)?.map(unsigned),
    })
}
