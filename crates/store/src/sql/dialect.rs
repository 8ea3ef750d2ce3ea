//! What the two engines do not have in common, as pairs.

use std::borrow::Cow;

/// Which SQL is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// PostgreSQL: waits for a lock that the end of the transaction releases.
pub(super) const LOCK: &str =
    "SELECT pg_advisory_xact_lock(hashtextextended($1, 0)) IS NULL AS locked";

/// PostgreSQL's codes of a transaction that was rolled back because of another one: serialization failure, deadlock.
pub(super) const CONFLICTS: [&str; 2] = ["40001", "40P01"];

/// PostgreSQL's codes of a connection that the server ends or refuses: shutdown, crash, still starting, idle for too
/// long, too many connections.
pub(super) const LOST: [&str; 6] = ["57P01", "57P02", "57P03", "25P03", "53300", "08006"];

/// PostgreSQL's text cannot contain U+0000. It is stored as this character, which is never assigned, and `0`.
const ESCAPE: char = '\u{fdd0}';

/// The engine of a connection.
pub(super) trait Engine: sqlx::Connection {
    const DIALECT: Dialect;
}

impl Engine for sqlx::SqliteConnection {
    const DIALECT: Dialect = Dialect::Sqlite;
}

impl Engine for sqlx::PgConnection {
    const DIALECT: Dialect = Dialect::Postgres;
}

impl Dialect {
    /// Begins a transaction that writes.
    pub(super) fn begin(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN IMMEDIATE",
            Self::Postgres => "BEGIN",
        }
    }

    /// The scripts that make the schema; each version is applied once.
    pub(super) fn migrations(self) -> &'static [&'static str] {
        match self {
            Self::Sqlite => &[
                include_str!("../../migrations/sqlite/0001_first.sql"),
                include_str!("../../migrations/sqlite/0002_call_details.sql"),
                include_str!("../../migrations/sqlite/0003_workflows.sql"),
                include_str!("../../migrations/sqlite/0004_workflow_starts.sql"),
                include_str!("../../migrations/sqlite/0005_workflow_crashes.sql"),
                include_str!("../../migrations/sqlite/0006_bare_names.sql"),
                include_str!("../../migrations/sqlite/0007_plan_edges.sql"),
                include_str!("../../migrations/sqlite/0008_collections.sql"),
                include_str!("../../migrations/sqlite/0009_question_checks.sql"),
                include_str!("../../migrations/sqlite/0010_files_of_runs.sql"),
                include_str!("../../migrations/sqlite/0011_digest_names.sql"),
                include_str!("../../migrations/sqlite/0012_answered_by.sql"),
                include_str!("../../migrations/sqlite/0013_request_digests.sql"),
                include_str!("../../migrations/sqlite/0014_rows_without_kind.sql"),
                include_str!("../../migrations/sqlite/0015_rule_digests.sql"),
            ],
            Self::Postgres => &[
                include_str!("../../migrations/postgres/0001_first.sql"),
                include_str!("../../migrations/postgres/0002_call_details.sql"),
                include_str!("../../migrations/postgres/0003_workflows.sql"),
                include_str!("../../migrations/postgres/0004_workflow_starts.sql"),
                include_str!("../../migrations/postgres/0005_workflow_crashes.sql"),
                include_str!("../../migrations/postgres/0006_bare_names.sql"),
                include_str!("../../migrations/postgres/0007_plan_edges.sql"),
                include_str!("../../migrations/postgres/0008_collections.sql"),
                include_str!("../../migrations/postgres/0009_question_checks.sql"),
                include_str!("../../migrations/postgres/0010_files_of_runs.sql"),
                include_str!("../../migrations/postgres/0011_digest_names.sql"),
                include_str!("../../migrations/postgres/0012_answered_by.sql"),
                include_str!("../../migrations/postgres/0013_request_digests.sql"),
                include_str!("../../migrations/postgres/0014_rows_without_kind.sql"),
                include_str!("../../migrations/postgres/0015_rule_digests.sql"),
            ],
        }
    }

    /// Whether a column with a number is one of those in a parameter, which are written with commas between them.
    pub(crate) fn is_one_of(self, column: &str, parameter: &str) -> String {
        match self {
            Self::Sqlite => {
                format!("{column} IN (SELECT value FROM json_each('[' || {parameter} || ']'))")
            }
            Self::Postgres => {
                format!("{column} = ANY (string_to_array({parameter}, ',')::bigint[])")
            }
        }
    }

    /// The name of the function that finds a text in a text: its position from 1 on, or 0.
    pub(crate) fn position(self) -> &'static str {
        match self {
            Self::Sqlite => "instr",
            Self::Postgres => "strpos",
        }
    }

    /// Whether a column holds a text. SQLite stores any type in any column; on PostgreSQL, a column of a row that was not
    /// found is null.
    pub(crate) fn is_text(self, column: &str) -> String {
        match self {
            Self::Sqlite => format!("typeof({column}) = 'text'"),
            Self::Postgres => format!("{column} IS NOT NULL"),
        }
    }

    /// Whether a column holds a number that is not negative.
    pub(crate) fn is_count(self, column: &str) -> String {
        match self {
            Self::Sqlite => format!("(typeof({column}) = 'integer' AND {column} >= 0)"),
            Self::Postgres => format!("{column} >= 0"),
        }
    }

    /// The bytes of a column, or as many zeros if it does not hold so many bytes.
    pub(crate) fn bytes_or_zeros(self, column: &str, length: usize) -> String {
        let (is_bytes, zeros) = match self {
            Self::Sqlite => {
                (format!("typeof({column}) = 'blob' AND "), format!("zeroblob({length})"))
            }
            Self::Postgres => (String::new(), format!("decode(repeat('00', {length}), 'hex')")),
        };
        format!("CASE WHEN {is_bytes}length({column}) = {length} THEN {column} ELSE {zeros} END")
    }

    /// A text as it is stored.
    pub(super) fn store_text(self, text: &str) -> Cow<'_, str> {
        if self == Self::Sqlite || !text.contains(['\0', ESCAPE]) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.replace(ESCAPE, "\u{fdd0}1").replace('\0', "\u{fdd0}0"))
    }

    /// The text that PostgreSQL stored.
    pub(super) fn restore_text(text: String) -> String {
        if !text.contains(ESCAPE) {
            return text;
        }
        text.replace("\u{fdd0}0", "\0").replace("\u{fdd0}1", "\u{fdd0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_survives_the_escape() {
        for text in ["", "plain", "a\0b", "\u{fdd0}0", "\u{fdd0}\0\u{fdd0}1\u{fdd0}"] {
            let stored = Dialect::Postgres.store_text(text).into_owned();
            assert!(!stored.contains('\0'));
            assert_eq!(Dialect::restore_text(stored), text);
            assert_eq!(Dialect::Sqlite.store_text(text), text);
        }
    }
}
