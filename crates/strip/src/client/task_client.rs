use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{AskError, AskMode, Client, LogLevel};

/// The client of workflow tasks: it can be shown forms, which become questions of the run, and nothing else.
#[derive(Debug)]
pub(crate) struct TaskClient {
    capabilities: Map<String, Value>,
    meta: Map<String, Value>,
}

static CLIENT: LazyLock<Arc<TaskClient>> = LazyLock::new(|| {
    let capabilities = Map::from_iter([("elicitation".to_owned(), json!({"form": {}}))]);
    Arc::new(TaskClient { capabilities, meta: Map::new() })
});

impl TaskClient {
    pub(crate) fn shared() -> Arc<dyn Client> {
        CLIENT.clone()
    }
}

#[async_trait]
impl Client for TaskClient {
    fn capabilities(&self) -> &Map<String, Value> {
        &self.capabilities
    }

    fn meta(&self) -> &Map<String, Value> {
        &self.meta
    }

    fn ask_mode(&self) -> AskMode {
        AskMode::Rounds
    }

    fn wants_progress(&self) -> bool {
        false
    }

    fn progress(&self, _report: Map<String, Value>) {}

    fn log_level(&self) -> Option<LogLevel> {
        None
    }

    fn log(&self, _message: Map<String, Value>) {}

    async fn ask(&self, _method: &str, _params: Value) -> Result<Value, AskError> {
        Err(AskError::Unable)
    }
}
