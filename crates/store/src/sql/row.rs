//! Rows, read by column name.

use std::fmt::Write as _;
use std::str::FromStr;

use proto::{Digest, TenantId, TraceId};
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Postgres, Row as _, Sqlite, Type, TypeInfo as _, ValueRef as _};
use uuid::Uuid;

use super::Dialect;
use crate::StoreError;

/// One row of an answer.
#[derive(Debug)]
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// What a column can be read as.
pub(crate) trait Column: Sized {
    fn read(row: &Row, column: &'static str) -> Result<Option<Self>, StoreError>;
}

impl Row {
    /// The value of a column that is never null.
    pub(crate) fn get<T: Column>(&self, column: &'static str) -> Result<T, StoreError> {
        T::read(self, column)?.ok_or_else(|| unreadable(column, "null"))
    }

    /// The value of a column, unless it is null.
    pub(crate) fn optional<T: Column>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, StoreError> {
        T::read(self, column)
    }

    /// The value of a text column, parsed.
    pub(crate) fn parsed<T: FromStr>(&self, column: &'static str) -> Result<T, StoreError> {
        let text: String = self.get(column)?;
        text.parse().map_err(|_| unreadable(column, &text))
    }

    /// The value of a column that holds JSON.
    pub(crate) fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, StoreError> {
        let text: String = self.get(column)?;
        serde_json::from_str(&text).map_err(|_| unreadable(column, &text))
    }

    fn raw<'r, T>(&'r self, column: &'static str) -> Result<Option<T>, StoreError>
    where
        T: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres>,
    {
        let value = match self {
            Self::Sqlite(row) => row.try_get(column),
            Self::Postgres(row) => row.try_get(column),
        };
        value.map_err(|error| match error {
            // The database works, and contains a value of another type or a text that is not UTF-8.
            sqlx::Error::ColumnDecode { .. } => {
                unreadable(column, &format!("a value of type {}", self.type_name(column)))
            }
            error => error.into(),
        })
    }

    /// The type of a value: SQLite stores any type in any column.
    fn type_name(&self, column: &'static str) -> String {
        let name = match self {
            Self::Sqlite(row) => {
                row.try_get_raw(column).map(|value| value.type_info().name().to_owned())
            }
            Self::Postgres(row) => {
                row.try_get_raw(column).map(|value| value.type_info().name().to_owned())
            }
        };
        name.unwrap_or_else(|error| error.to_string())
    }
}

impl From<SqliteRow> for Row {
    fn from(row: SqliteRow) -> Self {
        Self::Sqlite(row)
    }
}

impl From<PgRow> for Row {
    fn from(row: PgRow) -> Self {
        Self::Postgres(row)
    }
}

impl Column for String {
    fn read(row: &Row, column: &'static str) -> Result<Option<Self>, StoreError> {
        let text = row.raw::<Self>(column)?;
        Ok(match row {
            Row::Sqlite(_) => text,
            Row::Postgres(_) => text.map(Dialect::restore_text),
        })
    }
}

impl Column for TenantId {
    fn read(row: &Row, column: &'static str) -> Result<Option<Self>, StoreError> {
        Ok(String::read(row, column)?.map(Self::new))
    }
}

impl Column for i64 {
    fn read(row: &Row, column: &'static str) -> Result<Option<Self>, StoreError> {
        row.raw(column)
    }
}

impl Column for u64 {
    fn read(row: &Row, column: &'static str) -> Result<Option<Self>, StoreError> {
        let number = row.raw::<i64>(column)?;
        let count = |number: i64| {
            Self::try_from(number).map_err(|_| unreadable(column, &number.to_string()))
        };
        number.map(count).transpose()
    }
}

impl Column for u32 {
    fn read(row: &Row, column: &'static str) -> Result<Option<Self>, StoreError> {
        let number = u64::read(row, column)?;
        let count = |number: u64| {
            Self::try_from(number).map_err(|_| unreadable(column, &number.to_string()))
        };
        number.map(count).transpose()
    }
}

impl Column for bool {
    fn read(row: &Row, column: &'static str) -> Result<Option<Self>, StoreError> {
        row.raw(column)
    }
}

impl Column for Vec<u8> {
    fn read(row: &Row, column: &'static str) -> Result<Option<Self>, StoreError> {
        row.raw(column)
    }
}

impl Column for Digest {
    fn read(row: &Row, column: &'static str) -> Result<Option<Self>, StoreError> {
        row.raw::<&[u8]>(column)?.map(|bytes| deserialized(column, &hex(bytes))).transpose()
    }
}

impl Column for TraceId {
    fn read(row: &Row, column: &'static str) -> Result<Option<Self>, StoreError> {
        let text = row.raw::<&[u8]>(column)?.map(|bytes| {
            Uuid::from_slice(bytes).map_or_else(|_| hex(bytes), |uuid| uuid.to_string())
        });
        text.map(|text| deserialized(column, &text)).transpose()
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn deserialized<T: DeserializeOwned>(column: &'static str, text: &str) -> Result<T, StoreError> {
    let deserializer: StrDeserializer<'_, ValueError> = text.into_deserializer();
    T::deserialize(deserializer).map_err(|_| unreadable(column, text))
}

pub(crate) fn unreadable(column: &'static str, value: &str) -> StoreError {
    StoreError::Unreadable { column, value: value.chars().take(100).collect() }
}
