//! What a server tells without being asked: changes of its lists and resources, progress, log messages.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use strip::{Client, LogLevel};

use crate::link::News;

/// Whose ears a message is for.
pub(crate) enum About {
    /// The request that was sent with this token.
    Token(u64),
    /// Nothing says which request it belongs to.
    Anybody,
}

/// Where something is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Where the gateway itself has asked to be told: its own stream, its own process.
    Ours,
    /// In one caller's exchange, session or process. What is said there is about what that caller sees.
    Callers,
}

/// Takes a notification to whom it concerns. Progress that nobody asked for, and what cannot be read, is dropped; so is
/// word of a resource that comes where nobody subscribed to it.
pub(crate) fn hear(
    news: &News,
    place: Place,
    method: &str,
    params: Option<&RawValue>,
    caller: impl FnOnce(About) -> Option<Arc<dyn Client>>,
) {
    match method {
        "notifications/tools/list_changed"
        | "notifications/prompts/list_changed"
        | "notifications/resources/list_changed" => news.changed.notify_one(),
        "notifications/resources/updated" => {
            if place == Place::Ours
                && let Some(uri) = read(params).as_ref().and_then(|params| params["uri"].as_str())
            {
                news.updated(uri);
            }
        }
        "notifications/progress" => {
            let Some(mut report) = read(params) else { return };
            let token = report.remove("progressToken").and_then(|token| token.as_u64());
            let client = token.and_then(|token| caller(About::Token(token)));
            if let Some(client) = client.filter(|client| client.wants_progress()) {
                client.progress(report);
            }
        }
        "notifications/message" => {
            let Some(message) = read(params) else { return };
            let level = message.get("level").and_then(Value::as_str).and_then(LogLevel::named);
            let Some(level) = level else { return };
            let Some(client) = caller(About::Anybody) else { return };
            if client.log_level().is_some_and(|least| least <= level) {
                client.log(message);
            }
        }
        _ => {}
    }
}

/// How much a legacy server was told to log: as much as the most curious caller of its session wants.
#[derive(Debug, Default)]
pub(crate) struct Verbosity(Mutex<Option<LogLevel>>);

impl Verbosity {
    /// The parameters of `logging/setLevel`, if the server must be told anew before it is asked for this caller.
    pub(crate) fn raised(
        &self,
        client: Option<&Arc<dyn Client>>,
        capabilities: Option<&Value>,
    ) -> Option<Map<String, Value>> {
        let wanted = client?.log_level()?;
        capabilities?.get("logging")?;
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_some_and(|told| told <= wanted) {
            return None;
        }
        *told = Some(wanted);
        Some(Map::from_iter([("level".to_owned(), wanted.as_str().into())]))
    }
}

fn read(params: Option<&RawValue>) -> Option<Map<String, Value>> {
    serde_json::from_str(params?.get()).ok()
}
