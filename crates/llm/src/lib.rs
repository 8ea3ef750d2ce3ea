//! A language model behind an OpenAI-compatible endpoint: one answer by a JSON schema, and the vectors of texts.
//!
//! It knows nothing of tools. Everything goes through `egress`, within limits.

mod embed;

use std::time::Duration;

use egress::http::{Body, Client, FetchError, Limits, Request, Scope};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use proto::Secret;
use serde_json::{Value, json};
use tokio::time::Instant;

/// The largest request, in bytes.
pub const MAX_REQUEST_BYTES: usize = 200_000;

/// The largest answer, in bytes.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// The time for an answer, all tries included: callers wait for it, and go on without a model.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How often a request is tried.
const TRIES: u32 = 3;

const FIRST_PAUSE: Duration = Duration::from_millis(500);

pub use embed::{EmbeddingOptions, MAX_DIMENSIONS};

/// Where a model is.
#[derive(Clone)]
pub struct ModelOptions {
    /// The base of the API, such as `https://api.example.com/v1`.
    pub url: String,
    /// The model's name.
    pub name: String,
    pub key: Option<Secret>,
    /// The model that makes vectors, if there is one.
    pub embeddings: Option<EmbeddingOptions>,
}

/// What a model is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The rules.
    pub system: String,
    pub user: String,
    /// The form of the answer.
    pub schema: Value,
}

/// Why a model gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("the request has {0} bytes; {MAX_REQUEST_BYTES} are allowed")]
    TooLarge(usize),
    #[error("the model cannot be reached: {0}")]
    Unreachable(String),
    #[error("the model answered with HTTP {0}")]
    Status(u16),
    #[error("the model's answer cannot be read: {0}")]
    Answer(String),
    #[error("no model for vectors is configured: set `model.embeddings`")]
    NoEmbeddings,
}

impl ModelError {
    /// Whether the same request may succeed later.
    fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Status(status) => matches!(status, 408 | 429 | 500..),
            _ => false,
        }
    }
}

/// A model.
#[derive(Clone)]
pub struct Model {
    client: Client,
    options: ModelOptions,
}

impl Model {
    /// A model that is reached with this client.
    pub fn new(client: Client, options: ModelOptions) -> Self {
        Self { client, options }
    }

    /// The answer to a question, as JSON. Whether it fits the schema is for the caller to check.
    pub async fn answer(&self, question: &Question) -> Result<Value, ModelError> {
        let body = json!({
            "model": self.options.name,
            "messages": [
                {"role": "system", "content": question.system},
                {"role": "user", "content": question.user},
            ],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": question.schema},
            },
            "stream": false,
        });
        let answer = self.send("chat/completions", &body, MAX_ANSWER_BYTES).await?;
        let text = answer["choices"][0]["message"]["content"]
            .as_str()
            .ok_or_else(|| ModelError::Answer("it has no message".to_owned()))?;
        serde_json::from_str(text).map_err(|error| ModelError::Answer(error.to_string()))
    }

    async fn send(&self, path: &str, body: &Value, most: u64) -> Result<Value, ModelError> {
        self.send_within(TIMEOUT, path, body, most).await
    }

    async fn send_within(
        &self,
        time: Duration,
        path: &str,
        body: &Value,
        most: u64,
    ) -> Result<Value, ModelError> {
        let body = body.to_string();
        if body.len() > MAX_REQUEST_BYTES {
            return Err(ModelError::TooLarge(body.len()));
        }
        let mut pause = FIRST_PAUSE;
        let end = Instant::now() + time;
        for tried in 1.. {
            let left = end.saturating_duration_since(Instant::now());
            match self.try_once(path, &body, most, left).await {
                Err(error) if error.may_pass() && tried < TRIES && Instant::now() + pause < end => {
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                result => return result,
            }
        }
        Err(ModelError::Unreachable("no try is left".to_owned()))
    }

    async fn try_once(
        &self,
        path: &str,
        body: &str,
        most: u64,
        left: Duration,
    ) -> Result<Value, ModelError> {
        let base = self.options.url.trim_end_matches('/');
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &self.options.key {
            let value = HeaderValue::from_str(&format!("Bearer {}", key.expose()));
            let mut value =
                value.map_err(|_| ModelError::Unreachable("its key is no header".to_owned()))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let request = Request {
            method: Method::POST,
            url: format!("{base}/{path}"),
            headers,
            body: Body::Whole(body.to_owned().into()),
        };
        let limits = Limits {
            deadline: Some(left),
            max_body_bytes: most,
            max_redirects: 0,
            ..Limits::default()
        };
        let scope = Scope::origins([base]);
        let response = self.client.send(request, &limits, &scope).await.map_err(describe)?;
        if !response.status.is_success() {
            return Err(ModelError::Status(response.status.as_u16()));
        }
        serde_json::from_slice(&response.body)
            .map_err(|error| ModelError::Answer(error.to_string()))
    }
}

/// The error without the URL.
fn describe(error: FetchError) -> ModelError {
    match error {
        FetchError::TooLarge { .. } => ModelError::Answer("it is too large".to_owned()),
        FetchError::Timeout { after, .. } => {
            ModelError::Unreachable(format!("timed out after {:.0} s", after.as_secs_f64()))
        }
        FetchError::Refused(refusal) => ModelError::Unreachable(format!("refused: {refusal}")),
        FetchError::Resolve { .. } => ModelError::Unreachable("its name has no address".to_owned()),
        _ => ModelError::Unreachable("no connection".to_owned()),
    }
}

#[cfg(test)]
mod tests;
