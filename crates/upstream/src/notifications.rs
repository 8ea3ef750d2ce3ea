//! Notifications of a server: changes of its lists and resources, progress, log messages.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use strip::{Client, LogLevel};

use crate::caller::Caller;
use crate::context::ServerContext;
use crate::instances::Announced;

/// Which client a message is for.
pub(crate) enum Recipient {
    /// The client whose request was sent with this progress token.
    Token(u64),
    /// The message does not say which request it belongs to.
    Unspecified,
    /// A log message without a request, which may arrive after the answer.
    Log,
}

/// The channel that a notification arrived on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Channel<'a> {
    /// The gateway's own stream or process.
    Gateway,
    /// The exchange, session or process of one caller, if it is of one; what arrives there concerns only that caller.
    Caller(Option<&'a Caller>),
}

/// Delivers a notification to its recipient. Drops progress that no client asked for, and messages that cannot be read.
pub(crate) fn dispatch(
    context: &ServerContext,
    channel: Channel<'_>,
    method: &str,
    params: Option<&RawValue>,
    find_clients: impl FnOnce(Recipient) -> Vec<Arc<dyn Client>>,
) {
    if let Some(announced) = Announced::of(method) {
        return context.list_changed(channel, announced);
    }
    match method {
        "notifications/resources/updated" => {
            if let Some(uri) = read(params).as_ref().and_then(|params| params["uri"].as_str()) {
                context.resource_updated(channel, uri);
            }
        }
        "notifications/progress" => {
            let Some(mut report) = read(params) else { return };
            let token = report.remove("progressToken").and_then(|token| token.as_u64());
            let clients = token.map(|token| find_clients(Recipient::Token(token)));
            if let Some(client) =
                clients.into_iter().flatten().find(|client| client.wants_progress())
            {
                client.progress(report);
            }
        }
        "notifications/message" => {
            let Some(message) = read(params) else { return };
            let level = message.get("level").and_then(Value::as_str).and_then(LogLevel::named);
            let Some(level) = level else { return };
            for client in find_clients(Recipient::Log) {
                if client.log_level().is_some_and(|least| least <= level) {
                    client.log(message.clone());
                }
            }
        }
        _ => {}
    }
}

/// The log level that was set on a legacy session: the most verbose one that any of its callers asked for.
#[derive(Debug, Default)]
pub(crate) struct SessionLogLevel(Mutex<Option<LogLevel>>);

impl SessionLogLevel {
    /// The parameters of `logging/setLevel`, if the session must be made more verbose for this client.
    pub(crate) fn raise(
        &self,
        client: Option<&Arc<dyn Client>>,
        capabilities: Option<&Value>,
    ) -> Option<Map<String, Value>> {
        let requested = client?.log_level()?;
        capabilities?.get("logging")?;
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if current.is_some_and(|current| current <= requested) {
            return None;
        }
        *current = Some(requested);
        Some(Map::from_iter([("level".to_owned(), requested.as_str().into())]))
    }
}

fn read(params: Option<&RawValue>) -> Option<Map<String, Value>> {
    serde_json::from_str(params?.get()).ok()
}
