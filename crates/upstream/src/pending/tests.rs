use async_trait::async_trait;
use serde_json::{Map, Value};
use strip::{AskError, AskMode, LogLevel};

use super::*;

/// A client of this session.
#[derive(Debug, Default)]
struct OfSession {
    session: Option<&'static str>,
    nothing: Map<String, Value>,
}

#[async_trait]
impl Client for OfSession {
    fn capabilities(&self) -> &Map<String, Value> {
        &self.nothing
    }

    fn meta(&self) -> &Map<String, Value> {
        &self.nothing
    }

    fn ask_mode(&self) -> AskMode {
        AskMode::Direct
    }

    fn wants_progress(&self) -> bool {
        false
    }

    fn progress(&self, _report: Map<String, Value>) {}

    fn log_level(&self) -> Option<LogLevel> {
        None
    }

    fn session(&self) -> Option<&str> {
        self.session
    }

    fn log(&self, _message: Map<String, Value>) {}

    async fn ask(&self, _method: &str, _params: Value) -> Result<Value, AskError> {
        Err(AskError::Unable)
    }
}

#[test]
fn log_messages_go_once_to_each_session() {
    let pending = Pending::default();
    let client =
        |session| -> Arc<dyn Client> { Arc::new(OfSession { session, ..OfSession::default() }) };
    let clients = [Some("a"), Some("b"), Some("a"), None, None].map(client);
    let mut answers = Vec::new();
    for (id, client) in clients.iter().enumerate() {
        answers.push(pending.register(id as u64, Some(client)));
    }
    answers.push(pending.register(9, None));
    let found = pending.log_clients(false);
    let expected = [4, 2, 1].map(|at: usize| &clients[at]);
    assert_eq!(found.len(), expected.len());
    assert!(expected.iter().all(|client| found.iter().any(|other| Arc::ptr_eq(client, other))));
    assert!(pending.log_clients(true).is_empty(), "they may be of different callers");
}
