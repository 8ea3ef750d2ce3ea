use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use proto::Code;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Caller, Operation, OperationError, Row};

/// All operations of a process, by name.
#[derive(Default)]
pub struct Table(BTreeMap<&'static str, Entry>);

struct Entry {
    row: &'static Row,
    run: Run,
}

type Run = Box<dyn Fn(Caller, RawInput) -> BoxFuture<'static, Outcome> + Send + Sync>;

type Outcome = Result<Value, OperationError>;

/// An operation's input as it arrived.
#[derive(Clone, Debug)]
pub enum RawInput {
    /// The text of a JSON object.
    Json(Vec<u8>),
    /// Texts by name, from a path and a query.
    Fields(Vec<(String, String)>),
    /// The params of a request on a socket.
    Params(Value),
}

impl RawInput {
    fn read<T: DeserializeOwned>(self) -> Result<T, OperationError> {
        let wrong = |what: &str, why: String| {
            OperationError::invalid(format!("the {what} cannot be read: {why}"))
        };
        match self {
            Self::Json(text) => {
                serde_json::from_slice(&text).map_err(|error| wrong("body", error.to_string()))
            }
            Self::Fields(fields) => serde_urlencoded::to_string(fields)
                .map_err(|error| error.to_string())
                .and_then(|text| {
                    serde_urlencoded::from_str(&text).map_err(|error| error.to_string())
                })
                .map_err(|why| wrong("query", why)),
            Self::Params(value) => {
                serde_json::from_value(value).map_err(|error| wrong("params", error.to_string()))
            }
        }
    }
}

impl Table {
    /// Adds an operation that works on this service.
    pub fn with<O: Operation>(mut self, service: &Arc<O::Service>) -> Self {
        let service = Arc::clone(service);
        let run = move |caller, input: RawInput| {
            let service = Arc::clone(&service);
            async move {
                let output = O::run(service, caller, input.read()?).await?;
                let mut output = serde_json::to_value(output).map_err(unwritable)?;
                proto::time::add_timestamps(&mut output);
                Ok(output)
            }
            .boxed()
        };
        let row = const { &Row::of::<O>() };
        let before = self.0.insert(O::NAME, Entry { row, run: Box::new(run) });
        assert!(before.is_none(), "two operations are named {}", O::NAME);
        self
    }

    /// Adds all operations of another table.
    pub fn merge(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The rows, in the order of their names.
    pub fn rows(&self) -> impl Iterator<Item = &'static Row> + Clone {
        self.0.values().map(|entry| entry.row)
    }

    /// The row of this name.
    pub fn row(&self, name: &str) -> Option<&'static Row> {
        self.0.get(name).map(|entry| entry.row)
    }

    /// Runs the operation of this name.
    pub async fn run(&self, name: &str, caller: Caller, input: RawInput) -> Outcome {
        match self.0.get(name) {
            Some(entry) => (entry.run)(caller, input).await,
            None => {
                let shown: String = name.chars().take(100).collect();
                Err(OperationError::not_found(format!("there is no operation `{shown}`")))
            }
        }
    }
}

fn unwritable(error: serde_json::Error) -> OperationError {
    OperationError::new(Code::Internal, format!("the answer cannot be written: {error}"))
}

#[cfg(test)]
mod tests;
