//! Statements and their values.

use std::borrow::Cow;
use std::fmt::Write as _;

use futures_util::future::BoxFuture;
use proto::Digest;
use sqlx::{Arguments as _, AssertSqlSafe, Encode, Type};

use super::dialect::Engine;
use super::{Connection, Row, dispatch};
use crate::StoreError;

/// A value of a statement. A null has the type of its column, which PostgreSQL asks for.
#[derive(Clone, Debug)]
pub(crate) enum Value<'q> {
    Text(Option<Cow<'q, str>>),
    Integer(Option<i64>),
    Bytes(Option<&'q [u8]>),
    Bool(bool),
}

/// A statement with its values.
#[derive(Clone, Debug)]
pub(crate) struct Query<'q> {
    sql: Cow<'static, str>,
    values: Vec<Value<'q>>,
    /// Whether the connection keeps the prepared statement.
    keep: bool,
}

/// A statement. Never make its text from input: bind values.
pub(crate) fn query<'q>(sql: impl Into<Cow<'static, str>>) -> Query<'q> {
    Query { sql: sql.into(), values: Vec::new(), keep: true }
}

/// The placeholders of so many rows: `($1, $2), ($3, $4)`.
pub(crate) fn value_rows(rows: usize, columns: usize) -> String {
    let mut text = String::new();
    for row in 0..rows {
        text.push_str(if row == 0 { "(" } else { ", (" });
        for column in 1..=columns {
            let separator = if column == 1 { "" } else { ", " };
            let _ = write!(text, "{separator}${}", row * columns + column);
        }
        text.push(')');
    }
    text
}

impl<'q> Query<'q> {
    /// Binds the next placeholder.
    pub(crate) fn bind(mut self, value: impl Into<Value<'q>>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Binds the next placeholders.
    pub(crate) fn bind_all(mut self, values: impl IntoIterator<Item = Value<'q>>) -> Self {
        self.values.extend(values);
        self
    }

    /// Appends SQL.
    pub(crate) fn push(mut self, sql: &str) -> Self {
        self.sql.to_mut().push_str(sql);
        self
    }

    /// Appends a placeholder and its value.
    pub(crate) fn push_bind(mut self, value: impl Into<Value<'q>>) -> Self {
        self.values.push(value.into());
        let _ = write!(self.sql.to_mut(), "${}", self.values.len());
        self
    }

    /// Appends ` AND `, a condition such as `tenant = ` and the value, if there is one.
    pub(crate) fn and(self, condition: &str, value: Option<impl Into<Value<'q>>>) -> Self {
        match value {
            Some(value) => self.push(" AND ").push(condition).push_bind(value),
            None => self,
        }
    }

    /// Does not keep the prepared statement: its text is seldom used twice.
    pub(crate) fn once(mut self) -> Self {
        self.keep = false;
        self
    }

    /// Executes the statement; returns how many rows it changed. Boxed to keep the futures of callers small.
    pub(crate) fn execute<'a>(
        &'a self,
        connection: &'a mut Connection,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(async move {
            let done = dispatch!(connection, |inner| {
                let arguments = arguments(&**inner, &self.values)?;
                let query = sqlx::query_with(AssertSqlSafe(self.sql.clone()), arguments);
                let done = query.persistent(self.keep).execute(&mut **inner).await;
                done.map(|done| done.rows_affected())
            });
            done.map_err(|error| failed(connection, error))
        })
    }

    /// Executes the statement; returns the rows that it selects.
    pub(crate) fn rows<'a>(
        &'a self,
        connection: &'a mut Connection,
    ) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        Box::pin(async move {
            let rows = dispatch!(connection, |inner| {
                let arguments = arguments(&**inner, &self.values)?;
                let query = sqlx::query_with(AssertSqlSafe(self.sql.clone()), arguments);
                let rows = query.persistent(self.keep).fetch_all(&mut **inner).await;
                rows.map(|rows| rows.into_iter().map(Row::from).collect())
            });
            rows.map_err(|error| failed(connection, error))
        })
    }
}

/// A connection that failed is not used again, unless the fault is a value that breaks a constraint.
fn failed(connection: &mut Connection, error: sqlx::Error) -> StoreError {
    let error = StoreError::from(error);
    if !error.is_unique_violation() {
        connection.discard();
    }
    error
}

/// The values in the form of one engine.
fn arguments<C: Engine>(
    _: &C,
    values: &[Value<'_>],
) -> Result<<C::Database as sqlx::Database>::Arguments, sqlx::Error>
where
    for<'t> Option<&'t str>: Encode<'t, C::Database> + Type<C::Database>,
    for<'t> Option<&'t [u8]>: Encode<'t, C::Database> + Type<C::Database>,
    for<'t> Option<i64>: Encode<'t, C::Database> + Type<C::Database>,
    for<'t> bool: Encode<'t, C::Database> + Type<C::Database>,
{
    let mut arguments = <C::Database as sqlx::Database>::Arguments::default();
    arguments.reserve(values.len(), 0);
    for value in values {
        match value {
            Value::Text(Some(text)) => arguments.add(Some(&*C::DIALECT.store_text(text))),
            Value::Text(None) => arguments.add(None::<&str>),
            Value::Integer(number) => arguments.add(*number),
            Value::Bytes(bytes) => arguments.add(*bytes),
            Value::Bool(value) => arguments.add(*value),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

/// A number as SQL knows it; databases have no unsigned ones.
fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Conversions to values: type, variant, and how an optional one is converted.
macro_rules! values {
    ($($type:ty => |$value:ident| $variant:ident($convert:expr);)*) => {$(
        impl<'q> From<$type> for Value<'q> {
            fn from($value: $type) -> Self {
                Self::$variant(Some($convert))
            }
        }

        impl<'q> From<Option<$type>> for Value<'q> {
            fn from(value: Option<$type>) -> Self {
                Self::$variant(value.map(|$value| $convert))
            }
        }
    )*};
}

values! {
    &'q str => |text| Text(Cow::Borrowed(text));
    &'q String => |text| Text(Cow::Borrowed(text.as_str()));
    String => |text| Text(Cow::Owned(text));
    i64 => |number| Integer(number);
    u32 => |number| Integer(i64::from(number));
    u64 => |number| Integer(integer(number));
    &'q [u8] => |bytes| Bytes(bytes);
    &'q Digest => |digest| Bytes(digest.as_bytes().as_slice());
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

#[cfg(test)]
mod tests {
    use super::value_rows;

    #[test]
    fn placeholders_are_numbered_through() {
        assert_eq!(value_rows(1, 1), "($1)");
        assert_eq!(value_rows(2, 3), "($1, $2, $3), ($4, $5, $6)");
    }
}
