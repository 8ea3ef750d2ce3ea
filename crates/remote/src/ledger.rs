//! The client's unanswered requests, its handshake and what it set since: all that is needed to continue in another
//! session.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// The error of a request whose answer was lost with its session.
const LOST: i64 = -32000;

/// Ids of our own begin like this; no client's does.
const OWN: &str = "powerstrip/replay";

/// More subscriptions of a session are not repeated.
const MAX_SETTINGS: usize = 1000;

/// Requests that stay open until the client ends them.
const ENDLESS: [&str; 1] = ["subscriptions/listen"];

/// The client's side of the conversation.
#[derive(Default)]
pub struct Ledger {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// Unanswered requests, by their id as JSON; true for those without an end.
    open: BTreeMap<String, bool>,
    /// The legacy handshake, as the client sent it.
    hello: Option<Hello>,
    /// The requests that set the state of a legacy session: its log level and its subscriptions.
    set: BTreeMap<Setting, Value>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Setting {
    LogLevel,
    /// Of the resource with this URI.
    Subscription(String),
}

struct Hello {
    id: String,
    message: Bytes,
    answered: bool,
    confirmed: bool,
}

/// As much of a message as the relay has to understand.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Params,
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(from = "Value")]
struct Params(Value);

impl From<Value> for Params {
    fn from(value: Value) -> Self {
        Self(value)
    }
}

impl Setting {
    fn method(&self) -> &'static str {
        match self {
            Self::LogLevel => "logging/setLevel",
            Self::Subscription(_) => "resources/subscribe",
        }
    }
}

impl State {
    fn record_setting(&mut self, method: &str, params: Value) {
        let subscription =
            || params["uri"].as_str().map(|uri| Setting::Subscription(uri.to_owned()));
        let setting = match method {
            "logging/setLevel" => Some(Setting::LogLevel),
            "resources/subscribe" => subscription(),
            "resources/unsubscribe" => {
                if let Some(subscription) = subscription() {
                    self.set.remove(&subscription);
                }
                None
            }
            _ => None,
        };
        if let Some(setting) = setting
            && self.set.len() < MAX_SETTINGS
        {
            self.set.insert(setting, params);
        }
    }
}

impl Ledger {
    /// Records a message of the client. The session refuses what cannot be read.
    pub fn record_request(&self, message: &[u8]) {
        let Ok(Head { id, method: Some(method), params, .. }) = serde_json::from_slice(message)
        else {
            return;
        };
        let mut state = self.state();
        match (id, method.as_str()) {
            (Some(id), method) => {
                let id = id.to_string();
                if method == "initialize" {
                    let message = Bytes::copy_from_slice(message);
                    state.hello =
                        Some(Hello { id: id.clone(), message, answered: false, confirmed: false });
                    state.set.clear();
                }
                state.record_setting(method, params.0);
                state.open.insert(id, ENDLESS.contains(&method));
            }
            (None, "notifications/initialized") => {
                if let Some(hello) = &mut state.hello {
                    hello.confirmed = true;
                }
            }
            // A cancelled request of MCP is not answered.
            (None, "notifications/cancelled") => {
                state.open.remove(&params.0["requestId"].to_string());
            }
            (None, _) => {}
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Whether a message of the session is for the client: answers to our own requests are not.
    pub fn concerns_client(message: &[u8]) -> bool {
        match serde_json::from_slice(message) {
            Ok(Head { id: Some(Value::String(id)), method: None, .. }) => !id.starts_with(OWN),
            _ => true,
        }
    }

    /// Records a message of the session, once the client has it.
    pub fn record_answer(&self, message: &[u8]) {
        let Ok(Head { id: Some(id), method: None, error, .. }) = serde_json::from_slice(message)
        else {
            return;
        };
        let id = id.to_string();
        let mut state = self.state();
        state.open.remove(&id);
        if let Some(hello) = state.hello.as_mut().filter(|hello| hello.id == id) {
            hello.answered = true;
            if error.is_some() {
                state.hello = None;
            }
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Returns when every request that has an end is answered.
    pub async fn settled(&self) {
        loop {
            let changed = self.changed.notified();
            if self.state().open.values().all(|endless| *endless) {
                return;
            }
            changed.await;
        }
    }

    /// Gives up on all that is unanswered, and words it for the client. The handshake is simply repeated.
    pub fn abandon(&self) -> Vec<Vec<u8>> {
        let mut state = self.state();
        let kept =
            state.hello.as_ref().filter(|hello| !hello.answered).map(|hello| hello.id.clone());
        let open = std::mem::take(&mut state.open);
        let mut refusals = Vec::new();
        for (id, endless) in open {
            if kept.as_ref() == Some(&id) {
                state.open.insert(id, endless);
                continue;
            }
            // cannot fail: the keys of `open` are written from JSON values.
            let id: Value = serde_json::from_str(&id).unwrap_or_default();
            let message = "the gateway moved to another process before it answered; what it had begun may be done. \
                           Try again";
            let refusal = json!({"jsonrpc": "2.0", "id": id, "error": {
                "code": LOST, "message": message, "data": {"code": "UNAVAILABLE", "retryable": true},
            }});
            refusals.push(refusal.to_string().into_bytes());
        }
        refusals
    }

    /// The messages that bring a new session to the state of the old one.
    pub fn replay(&self) -> Vec<Bytes> {
        let state = self.state();
        let Some(hello) = &state.hello else { return Vec::new() };
        if !hello.answered {
            return vec![hello.message.clone()];
        }
        let Ok(mut message) = serde_json::from_slice::<Value>(&hello.message) else {
            return Vec::new();
        };
        message["id"] = json!(OWN);
        let mut messages = vec![Bytes::from(message.to_string())];
        if hello.confirmed {
            messages.push(Bytes::from_static(
                br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            ));
            messages.extend(state.set.iter().enumerate().map(|(number, (setting, params))| {
                let (id, method) = (format!("{OWN}/{number}"), setting.method());
                let request =
                    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
                Bytes::from(request.to_string())
            }));
        }
        messages
    }

    /// Notifications for a listening client: another process may offer other tools.
    pub fn notices(&self) -> Vec<Vec<u8>> {
        let state = self.state();
        if !state.hello.as_ref().is_some_and(|hello| hello.answered && hello.confirmed) {
            return Vec::new();
        }
        ["tools", "prompts"]
            .map(|what| {
                let method = format!("notifications/{what}/list_changed");
                json!({"jsonrpc": "2.0", "method": method}).to_string().into_bytes()
            })
            .into()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
