use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::{Value, json};
use strip::{AskMode, Client, Resume};

use crate::planner::ClientModel;

/// The name of the question to the model.
pub(super) const NAME: &str = "powerstrip.plan.model";

const METHOD: &str = "sampling/createMessage";

/// The longest answer, in tokens.
const MAX_TOKENS: u32 = 4_000;

/// The language model of the caller's client, reached by sampling.
#[derive(Debug)]
pub(super) struct CallerModel {
    client: Arc<dyn Client>,
    /// The client's answer in a repeated request.
    given: Option<Value>,
    /// The question that the client answers with its next request.
    unanswered: Mutex<Option<Value>>,
}

impl CallerModel {
    /// The model of a client that offers one.
    pub(super) fn of(client: &Arc<dyn Client>, resume: Option<&Resume>) -> Option<Self> {
        client.capabilities().get("sampling")?;
        let given = resume.and_then(|resume| resume.responses.get(NAME)).cloned();
        Some(Self { client: Arc::clone(client), given, unanswered: Mutex::default() })
    }

    /// The question that the client has not answered yet.
    pub(super) fn unanswered(&self) -> Option<Value> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn answered_by_round(&self) -> bool {
        self.given.is_some()
    }
}

#[async_trait]
impl ClientModel for CallerModel {
    async fn answer(&self, rules: &str, message: &str) -> Option<String> {
        let params = json!({
            "systemPrompt": rules,
            "messages": [{"role": "user", "content": {"type": "text", "text": message}}],
            "maxTokens": MAX_TOKENS,
        });
        let answer = match (self.client.ask_mode(), &self.given) {
            (AskMode::Direct, _) => self.client.ask(METHOD, params).await.ok()?,
            (AskMode::Rounds, Some(given)) => given.clone(),
            (AskMode::Rounds, None) => {
                let question = json!({"method": METHOD, "params": params});
                let mut unanswered = self.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
                *unanswered = Some(question);
                return None;
            }
        };
        text(&answer["content"])
    }
}

/// The text of a message, which is one part or a list of parts.
fn text(content: &Value) -> Option<String> {
    match content {
        Value::Array(parts) => parts.iter().find_map(text),
        part => part["text"].as_str().map(str::to_owned),
    }
}
