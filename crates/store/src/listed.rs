//! Lists in which a damaged row does not hide the others.

use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::sql::Row;

/// A stored row that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DamagedRow {
    /// `?` if the id cannot be read either.
    pub id: String,
    /// None if the tenant cannot be read either.
    #[serde(skip)]
    pub tenant: Option<String>,
    /// The first column that cannot be read.
    pub column: String,
}

/// The rows of a list that can be read, and what is known of those that cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    pub rows: Vec<T>,
    pub damaged: Vec<DamagedRow>,
    /// Where the next page begins; none on the last page, and for lists that have no pages.
    pub next: Option<(u64, String)>,
}

impl<T> Listed<T> {
    /// Reads rows, and logs those that are damaged. `id` is the column that identifies a row.
    pub(crate) fn read(
        table: &'static str,
        id: &'static str,
        rows: &[Row],
        read: impl Fn(&Row) -> Result<T, StoreError>,
    ) -> Result<Self, StoreError> {
        let mut listed =
            Self { rows: Vec::with_capacity(rows.len()), damaged: Vec::new(), next: None };
        for row in rows {
            match read(row) {
                Ok(value) => listed.rows.push(value),
                Err(error) => {
                    let Some(column) = error.damaged_column() else { return Err(error) };
                    let text = |column| row.get::<String>(column).ok();
                    let id = text(id).unwrap_or_else(|| "?".to_owned());
                    tracing::error!(%error, table, id, "a stored row is damaged and is left out");
                    let (tenant, column) = (text("tenant"), column.to_owned());
                    listed.damaged.push(DamagedRow { id, tenant, column });
                }
            }
        }
        Ok(listed)
    }

    /// The list with its readable rows converted.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Listed<U> {
        let Self { rows, damaged, next } = self;
        Listed { rows: rows.into_iter().map(convert).collect(), damaged, next }
    }
}
