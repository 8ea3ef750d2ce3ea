use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use proto::{SlotType, TraceId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::collections::forget_runs_of;
use crate::sql::{Batch, Connection, Row, Value as Cell, in_transaction, query};
use crate::{Database, Listed, StoreError};

const RUN: &str = "id, tenant, owner, agent, kind, name, state, summary, artifacts, data_tools, created_ms, touched_ms";

const RUN_COLUMNS: usize = 12;
const CALL_COLUMNS: usize = 8;

/// How many rows one statement inserts.
const WIDEST: usize = 64;

static RUNS: LazyLock<Batch> = LazyLock::new(|| {
    Batch::insert_into(WIDEST, &format!("runs ({RUN})"), RUN_COLUMNS, ON_KNOWN_RUN)
});

static CALLS: LazyLock<Batch> = LazyLock::new(|| {
    let table = "run_calls (run, trace, tool, started_ms, ended_ms, outcome, made, used)";
    Batch::insert_into(WIDEST, table, CALL_COLUMNS, "")
});

/// The update of a stored run: an end stays, and counts only grow. Artifacts are only ever appended to, so the longer text is
/// the newer one. Nothing here may fail because of what is stored: audit rows are written in the same transaction.
const ON_KNOWN_RUN: &str = "ON CONFLICT (id) DO UPDATE SET \
     state = CASE WHEN runs.state IN ('aborted', 'failed') \
         OR (runs.state = 'completed' AND excluded.state <> 'aborted') \
         THEN runs.state ELSE excluded.state END, \
     summary = COALESCE(excluded.summary, runs.summary), \
     artifacts = CASE WHEN octet_length(excluded.artifacts) < octet_length(runs.artifacts) \
         THEN runs.artifacts ELSE excluded.artifacts END, \
     data_tools = CASE WHEN excluded.data_tools < runs.data_tools \
         THEN runs.data_tools ELSE excluded.data_tools END, \
     touched_ms = CASE WHEN excluded.touched_ms < runs.touched_ms \
         THEN runs.touched_ms ELSE excluded.touched_ms END";

/// No list is longer, whatever limit is asked for.
const MAX_LISTED: u32 = 500;

/// A run as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    pub id: String,
    pub tenant: String,
    pub subject: String,
    pub agent: Option<String>,
    pub kind: String,
    pub name: Option<String>,
    pub state: String,
    pub summary: Option<String>,
    /// The ids of its artifacts.
    pub artifacts: Vec<String>,
    pub data_tools: u64,
    pub created_unix_ms: u64,
    pub touched_unix_ms: u64,
}

/// One call of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunCallRow {
    pub run: String,
    pub trace: TraceId,
    pub tool: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    /// `OK`, `ASKED`, or the code of its failure.
    pub outcome: String,
    /// The references that it returned.
    pub made: Vec<String>,
    /// The references that it was given.
    pub used: Vec<String>,
}

/// The state of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionState {
    Open,
    Answered,
    Declined,
    /// Its run ended before the answer.
    Withdrawn,
}

impl QuestionState {
    const ALL: [Self; 4] = [Self::Open, Self::Answered, Self::Declined, Self::Withdrawn];

    /// The word that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Declined => "declined",
            Self::Withdrawn => "withdrawn",
        }
    }
}

impl fmt::Display for QuestionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for QuestionState {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or(())
    }
}

/// A question of a run to a person.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionRow {
    pub id: String,
    pub run: String,
    pub tenant: String,
    pub slot_id: String,
    pub slot_type: SlotType,
    pub prompt: String,
    pub options: Vec<String>,
    /// A further check of the answer, beyond its type.
    pub check: Option<String>,
    pub state: QuestionState,
    pub answer: Option<Value>,
    pub answered_by: Option<String>,
    pub asked_unix_ms: u64,
    pub settled_unix_ms: Option<u64>,
}

/// What identifies a run in addition to its id.
#[derive(Clone, Copy, Debug)]
pub struct RunName<'a> {
    pub tenant: &'a str,
    pub subject: &'a str,
    pub agent: Option<&'a str>,
    pub kind: &'a str,
    pub name: Option<&'a str>,
}

/// A run that has the name which was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRun {
    pub id: String,
    pub tenant: String,
    pub subject: String,
}

/// Which runs to list, the last touched first.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Only of this tenant.
    pub tenant: Option<String>,
    /// Only in this state.
    pub state: Option<String>,
    /// Only of this kind.
    pub kind: Option<String>,
    pub limit: Option<u32>,
    pub offset: u32,
}

/// How a question ends.
#[derive(Clone, Copy, Debug)]
pub struct Settlement<'a> {
    pub question: &'a str,
    pub state: QuestionState,
    pub answer: Option<&'a Value>,
    pub by: Option<&'a str>,
    pub at_unix_ms: u64,
}

/// Runs and their calls, to be stored together.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunChanges {
    pub runs: Vec<RunRow>,
    /// Calls that have ended.
    pub calls: Vec<RunCallRow>,
}

impl Database {
    /// Stores runs and those of their calls that have ended, all or none. A run that has ended stays as it ended (only a
    /// completed one may be aborted), and counts only grow: what is stored here may be older than what another statement
    /// stored meanwhile.
    pub async fn save_runs(&self, runs: &[RunRow], calls: &[RunCallRow]) -> Result<(), StoreError> {
        let (runs, calls): (Vec<_>, Vec<_>) = (runs.iter().collect(), calls.iter().collect());
        in_transaction!(self.sql, |transaction| {
            save(transaction.connection(), &runs, &calls).await?;
        })
    }

    /// Stores a question together with its run.
    pub async fn ask_question(
        &self,
        run: &RunRow,
        question: &QuestionRow,
    ) -> Result<(), StoreError> {
        let insert = query(
            "INSERT INTO run_questions \
                 (id, run, tenant, slot_id, slot_type, prompt, options, state, answer, answered_by, asked_ms, \
                 settled_ms, answer_check) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        )
        .bind(&question.id)
        .bind(&question.run)
        .bind(&question.tenant)
        .bind(&question.slot_id)
        .bind(question.slot_type.as_str())
        .bind(&question.prompt)
        .bind(json!(question.options).to_string())
        .bind(question.state.as_str())
        .bind(question.answer.as_ref().map(Value::to_string))
        .bind(question.answered_by.as_deref())
        .bind(question.asked_unix_ms)
        .bind(question.settled_unix_ms)
        .bind(question.check.as_deref());
        in_transaction!(self.sql, |transaction| {
            save(transaction.connection(), &[run], &[]).await?;
            insert.execute(transaction.connection()).await?;
        })
    }

    /// Ends a question; returns false if it has ended before.
    pub async fn settle_question(&self, settlement: Settlement<'_>) -> Result<bool, StoreError> {
        let update = query(
            "UPDATE run_questions SET state = $2, answer = $3, answered_by = $4, settled_ms = $5 \
             WHERE id = $1 AND state = 'open'",
        )
        .bind(settlement.question)
        .bind(settlement.state.as_str())
        .bind(settlement.answer.map(Value::to_string))
        .bind(settlement.by)
        .bind(settlement.at_unix_ms);
        Ok(self.sql.execute(update).await? > 0)
    }

    /// Deletes runs that were not touched since a time, with their calls, questions, journals and
    /// collections; returns how many.
    pub async fn forget_runs(&self, before_unix_ms: u64) -> Result<u64, StoreError> {
        in_transaction!(self.sql, |transaction| {
            forget_runs_of(transaction.connection(), before_unix_ms).await?;
            for children in [
                "DELETE FROM workflow_events WHERE run IN (SELECT id FROM runs WHERE touched_ms < $1)",
                "DELETE FROM run_calls WHERE run IN (SELECT id FROM runs WHERE touched_ms < $1)",
                "DELETE FROM run_questions WHERE run IN (SELECT id FROM runs WHERE touched_ms < $1)",
            ] {
                query(children).bind(before_unix_ms).execute(transaction.connection()).await?;
            }
            query("DELETE FROM runs WHERE touched_ms < $1")
                .bind(before_unix_ms)
                .execute(transaction.connection())
                .await?
        })
    }

    /// The newest run of this name.
    pub async fn run_named(&self, name: RunName<'_>) -> Result<Option<RunRow>, StoreError> {
        let select = query(format!(
            "SELECT {RUN} FROM runs WHERE tenant = $1 AND owner = $2 AND agent IS NOT DISTINCT FROM $3 AND kind = $4 \
             AND name IS NOT DISTINCT FROM $5 ORDER BY created_ms DESC, seq DESC LIMIT 1"
        ))
        .bind(name.tenant)
        .bind(name.subject)
        .bind(name.agent)
        .bind(name.kind)
        .bind(name.name);
        self.sql.first(select).await?.as_ref().map(read_run).transpose()
    }

    /// The newest runs that callers gave this name, of one tenant or of all.
    pub async fn runs_named(
        &self,
        tenant: Option<&str>,
        name: &str,
    ) -> Result<Vec<NamedRun>, StoreError> {
        let select = query("SELECT id, tenant, owner FROM runs WHERE kind = 'named'")
            .and("name = ", Some(name))
            .and("tenant = ", tenant)
            .push(" ORDER BY created_ms DESC, seq DESC LIMIT ")
            .push_bind(MAX_LISTED);
        let read = |row: &Row| {
            Ok(NamedRun {
                id: row.get("id")?,
                tenant: row.get("tenant")?,
                subject: row.get("owner")?,
            })
        };
        Ok(Listed::read("runs", "id", &self.sql.all(select).await?, read)?.rows)
    }

    /// The run of this id; of this tenant, if one is named.
    pub async fn run(&self, tenant: Option<&str>, id: &str) -> Result<Option<RunRow>, StoreError> {
        let select = query(format!("SELECT {RUN} FROM runs WHERE id = $1"))
            .bind(id)
            .and("tenant = ", tenant);
        self.sql.first(select).await?.as_ref().map(read_run).transpose()
    }

    /// The runs that match a filter, the last touched first.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Listed<RunRow>, StoreError> {
        let select = query(format!("SELECT {RUN} FROM runs WHERE true"))
            .and("tenant = ", filter.tenant.as_deref())
            .and("state = ", filter.state.as_deref())
            .and("kind = ", filter.kind.as_deref())
            .push(" ORDER BY touched_ms DESC, seq DESC LIMIT ")
            .push_bind(filter.limit.unwrap_or(MAX_LISTED).min(MAX_LISTED))
            .push(" OFFSET ")
            .push_bind(filter.offset);
        Listed::read("runs", "id", &self.sql.all(select).await?, read_run)
    }

    /// The last calls of a run, in the order in which they ended.
    pub async fn run_calls(&self, run: &str) -> Result<Vec<RunCallRow>, StoreError> {
        let select = query(
            "SELECT run, trace, tool, started_ms, ended_ms, outcome, made, used FROM run_calls \
             WHERE run = $1 ORDER BY seq DESC LIMIT $2",
        );
        let rows = self.sql.all(select.bind(run).bind(MAX_LISTED)).await?;
        rows.iter().rev().map(read_call).collect()
    }

    /// The questions of a run to people, oldest first.
    pub async fn run_questions(&self, run: &str) -> Result<Vec<QuestionRow>, StoreError> {
        let select = query(
            "SELECT id, run, tenant, slot_id, slot_type, prompt, options, state, answer, answered_by, asked_ms, \
             settled_ms, answer_check FROM run_questions WHERE run = $1 ORDER BY asked_ms, seq",
        );
        self.sql.all(select.bind(run)).await?.iter().map(read_question).collect()
    }
}

/// Stores runs and calls within a transaction.
pub(crate) async fn save(
    connection: &mut Connection,
    runs: &[&RunRow],
    calls: &[&RunCallRow],
) -> Result<(), StoreError> {
    let mut rest = runs;
    while !rest.is_empty() {
        // One statement must not write a row twice.
        let mut ids = HashSet::new();
        let repeats = rest.iter().position(|run| !ids.insert(run.id.as_str()));
        let (next, later) = rest.split_at(repeats.unwrap_or(rest.len()));
        RUNS.execute(connection, next, |run| run_values(run)).await?;
        rest = later;
    }
    let calls: Vec<_> = calls
        .iter()
        .map(|call| (call, json!(call.made).to_string(), json!(call.used).to_string()))
        .collect();
    CALLS
        .execute(connection, &calls, |(call, made, used)| {
            [
                (&call.run).into(),
                call.trace.as_bytes().as_slice().into(),
                (&call.tool).into(),
                call.started_unix_ms.into(),
                call.ended_unix_ms.into(),
                (&call.outcome).into(),
                made.into(),
                used.into(),
            ]
        })
        .await
}

fn run_values(run: &RunRow) -> [Cell<'_>; RUN_COLUMNS] {
    [
        (&run.id).into(),
        (&run.tenant).into(),
        (&run.subject).into(),
        run.agent.as_deref().into(),
        (&run.kind).into(),
        run.name.as_deref().into(),
        (&run.state).into(),
        run.summary.as_deref().into(),
        json!(run.artifacts).to_string().into(),
        run.data_tools.into(),
        run.created_unix_ms.into(),
        run.touched_unix_ms.into(),
    ]
}

fn read_run(row: &Row) -> Result<RunRow, StoreError> {
    Ok(RunRow {
        id: row.get("id")?,
        tenant: row.get("tenant")?,
        subject: row.get("owner")?,
        agent: row.optional("agent")?,
        kind: row.get("kind")?,
        name: row.optional("name")?,
        state: row.get("state")?,
        summary: row.optional("summary")?,
        artifacts: row.json("artifacts")?,
        data_tools: row.get("data_tools")?,
        created_unix_ms: row.get("created_ms")?,
        touched_unix_ms: row.get("touched_ms")?,
    })
}

fn read_call(row: &Row) -> Result<RunCallRow, StoreError> {
    Ok(RunCallRow {
        run: row.get("run")?,
        trace: row.get("trace")?,
        tool: row.get("tool")?,
        started_unix_ms: row.get("started_ms")?,
        ended_unix_ms: row.get("ended_ms")?,
        outcome: row.get("outcome")?,
        made: row.json("made")?,
        used: row.json("used")?,
    })
}

fn read_question(row: &Row) -> Result<QuestionRow, StoreError> {
    let state: QuestionState = row.parsed("state")?;
    let has_answer = row.optional::<String>("answer")?.is_some();
    if state == QuestionState::Answered && !has_answer {
        return Err(StoreError::Unreadable { column: "answer", value: String::new() });
    }
    Ok(QuestionRow {
        id: row.get("id")?,
        run: row.get("run")?,
        tenant: row.get("tenant")?,
        slot_id: row.get("slot_id")?,
        slot_type: row.parsed("slot_type")?,
        prompt: row.get("prompt")?,
        options: row.json("options")?,
        check: row.optional("answer_check")?,
        state,
        answer: has_answer.then(|| row.json("answer")).transpose()?,
        answered_by: row.optional("answered_by")?,
        asked_unix_ms: row.get("asked_ms")?,
        settled_unix_ms: row.optional("settled_ms")?,
    })
}
