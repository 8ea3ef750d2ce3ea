//! Inserts of many rows with few statements.

use std::fmt::Write as _;

use super::query::{Value, query, value_rows};
use super::{Connection, Dialect};
use crate::StoreError;

/// Statements that insert so many rows at once, the widest first. One row at a time would be a trip to the database each;
/// with a few widths, any number of rows takes few statements, and all of them stay prepared.
pub(crate) struct Inserts {
    sqlite: Vec<(usize, String)>,
    postgres: Vec<(usize, String)>,
}

impl Inserts {
    /// Inserts into a table of so many columns, which are named with it: `table (one, two)`.
    pub(crate) fn new(widths: &[usize], table: &str, columns: usize, conflict: &str) -> Self {
        Self::with_conflict(widths, table, columns, |_| conflict.to_owned())
    }

    /// The same, where what happens to rows that exist is written differently in each engine.
    pub(crate) fn with_conflict(
        widths: &[usize],
        table: &str,
        columns: usize,
        conflict: impl Fn(Dialect) -> String,
    ) -> Self {
        let statements = |dialect: Dialect| {
            let conflict = conflict(dialect);
            let statement = |rows: &usize| {
                let values = match dialect {
                    Dialect::Sqlite => plain_value_rows(*rows, columns),
                    Dialect::Postgres => value_rows(*rows, columns),
                };
                (*rows, format!("INSERT INTO {table} VALUES {values} {conflict}"))
            };
            widths.iter().map(statement).collect()
        };
        Self { sqlite: statements(Dialect::Sqlite), postgres: statements(Dialect::Postgres) }
    }

    /// Inserts rows in their order.
    pub(crate) async fn insert<'q, T, V: IntoIterator<Item = Value<'q>>>(
        &'static self,
        connection: &mut Connection,
        rows: &'q [T],
        values: impl Fn(&'q T) -> V,
    ) -> Result<(), StoreError> {
        let statements = match connection.dialect() {
            Dialect::Sqlite => &self.sqlite,
            Dialect::Postgres => &self.postgres,
        };
        let mut rest = rows;
        while let Some((width, sql)) =
            statements.iter().find(|(width, _)| (1..=rest.len()).contains(width))
        {
            let (next, later) = rest.split_at(*width);
            query(sql.as_str()).bind_all(next.iter().flat_map(&values)).execute(connection).await?;
            rest = later;
        }
        Ok(())
    }
}

/// Placeholders without numbers: `(?, ?), (?, ?)`. SQLite takes `$1` for a name, and looking up the names of many values
/// takes the square of their number.
fn plain_value_rows(rows: usize, columns: usize) -> String {
    let row = format!("({})", vec!["?"; columns].join(", "));
    let mut text = row.clone();
    for _ in 1..rows {
        let _ = write!(text, ", {row}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::plain_value_rows;

    #[test]
    fn values_of_sqlite_have_no_numbers() {
        assert_eq!(plain_value_rows(1, 1), "(?)");
        assert_eq!(plain_value_rows(2, 3), "(?, ?, ?), (?, ?, ?)");
    }
}
