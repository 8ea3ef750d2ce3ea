//! Runs, as commands ask for them: what they have come to, what they ask, and the operator's answers.

use std::sync::Arc;

use async_trait::async_trait;
use auth::LocalAccess;
use doors::Operator;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use strip::runs::RunFilter;
use strip::{Failure, Strip};

pub(crate) const LIST: &str = "powerstrip.runs.list";
pub(crate) const SHOW: &str = "powerstrip.runs.show";
pub(crate) const ANSWER: &str = "powerstrip.runs.answer";

/// What the operator sees and answers.
pub(super) struct RunDesk(pub(super) Arc<Strip>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    state: Option<String>,
    limit: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    run: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    run: String,
    slot: String,
    value: Value,
}

impl RunDesk {
    async fn list(&self, params: Value) -> Result<Value, String> {
        let Wanted { state, limit } = read(params)?;
        let filter = RunFilter { state, limit, ..RunFilter::default() };
        let runs = self.0.runs().list(&filter).await.map_err(told)?;
        Ok(json!(runs))
    }

    async fn show(&self, params: Value) -> Result<Value, String> {
        let Named { run } = read(params)?;
        self.0.runs().show(None, &run).await.map_err(told)
    }

    async fn answer(&self, params: Value) -> Result<Value, String> {
        let Given { run, slot, value } = read(params)?;
        // Whoever reaches the operator's socket is the person who runs the gateway.
        let user = LocalAccess::default().user();
        self.0.runs().answer(&user, None, (&run, &slot), &value).await.map_err(told)
    }
}

#[async_trait]
impl Operator for RunDesk {
    async fn ask(&self, method: &str, params: Value) -> Option<Result<Value, String>> {
        Some(match method {
            LIST => self.list(params).await,
            SHOW => self.show(params).await,
            ANSWER => self.answer(params).await,
            _ => return None,
        })
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, String> {
    serde_json::from_value(params).map_err(|error| format!("the params cannot be read: {error}"))
}

fn told(failure: Failure) -> String {
    failure.message
}
