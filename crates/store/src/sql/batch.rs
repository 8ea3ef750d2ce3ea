//! Statements with the values of many rows.

use std::fmt::Write as _;

use super::query::{Query, Value, query, value_rows};
use super::{Connection, Dialect, Row};
use crate::StoreError;

/// A statement for many rows, in several widths. One row at a time would be a trip to the database each; with a few widths,
/// any number of rows takes few statements, and all of them stay prepared.
pub(crate) struct Batch {
    sqlite: Vec<(usize, String)>,
    postgres: Vec<(usize, String)>,
}

impl Batch {
    /// Inserts up to `widest` rows at once into a table of so many columns, which are named with it: `table (one, two)`.
    pub(crate) fn insert_into(widest: usize, table: &str, columns: usize, conflict: &str) -> Self {
        Self::new(widest, columns, |_, values| format!("INSERT INTO {table} {values} {conflict}"))
    }

    /// A statement around the values, which are given to it as `VALUES (…), (…)`. Both engines name their columns
    /// `column1`, `column2` and so on.
    pub(crate) fn new(
        widest: usize,
        columns: usize,
        statement: impl Fn(Dialect, &str) -> String,
    ) -> Self {
        let widths = || (0..=widest.ilog2()).rev().map(|power| 1 << power);
        let statements = |dialect: Dialect| {
            let of_width = |rows: usize| {
                let values = match dialect {
                    Dialect::Sqlite => plain_value_rows(rows, columns),
                    Dialect::Postgres => value_rows(rows, columns),
                };
                (rows, statement(dialect, &format!("VALUES {values}")))
            };
            widths().map(of_width).collect()
        };
        Self { sqlite: statements(Dialect::Sqlite), postgres: statements(Dialect::Postgres) }
    }

    /// Executes it for rows, in their order.
    pub(crate) async fn execute<'q, T, V: IntoIterator<Item = Value<'q>>>(
        &'static self,
        connection: &mut Connection,
        rows: &'q [T],
        values: impl Fn(&'q T) -> V,
    ) -> Result<(), StoreError> {
        for query in self.queries(connection.dialect(), rows, values) {
            query.execute(connection).await?;
        }
        Ok(())
    }

    /// Executes it for rows, in their order; returns what it selects.
    pub(crate) async fn rows<'q, T, V: IntoIterator<Item = Value<'q>>>(
        &'static self,
        connection: &mut Connection,
        rows: &'q [T],
        values: impl Fn(&'q T) -> V,
    ) -> Result<Vec<Row>, StoreError> {
        let mut selected = Vec::new();
        for query in self.queries(connection.dialect(), rows, values) {
            selected.append(&mut query.rows(connection).await?);
        }
        Ok(selected)
    }

    fn queries<'q, T, V: IntoIterator<Item = Value<'q>>>(
        &'static self,
        dialect: Dialect,
        mut rows: &'q [T],
        values: impl Fn(&'q T) -> V,
    ) -> Vec<Query<'q>> {
        let statements = match dialect {
            Dialect::Sqlite => &self.sqlite,
            Dialect::Postgres => &self.postgres,
        };
        let mut queries = Vec::new();
        while let Some((width, sql)) =
            statements.iter().find(|(width, _)| (1..=rows.len()).contains(width))
        {
            let (next, later) = rows.split_at(*width);
            queries.push(query(sql.as_str()).bind_all(next.iter().flat_map(&values)));
            rows = later;
        }
        queries
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
    use super::{Batch, plain_value_rows};

    #[test]
    fn values_of_sqlite_have_no_numbers() {
        assert_eq!(plain_value_rows(1, 1), "(?)");
        assert_eq!(plain_value_rows(2, 3), "(?, ?, ?), (?, ?, ?)");
    }

    #[test]
    fn widths_halve_down_to_one() {
        let batch = Batch::insert_into(4, "t (a, b)", 2, "ON CONFLICT DO NOTHING");
        let widths: Vec<_> = batch.postgres.iter().map(|(width, _)| *width).collect();
        assert_eq!(widths, [4, 2, 1]);
        let narrow = "INSERT INTO t (a, b) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        assert_eq!(batch.postgres[2].1, narrow);
    }
}
