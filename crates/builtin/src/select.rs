use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use jsonpath::JsonPath;
use proto::{Code, Descriptor, Failure};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use strip::typed::About;
use strip::{Job, Output, Tool};
use tokio::sync::Semaphore;

/// Picks parts out of a JSON document by JSONPath (RFC 9535).
pub(super) struct Select {
    descriptor: Descriptor,
    /// One permit per running query: at most half of the processors compute queries at a time.
    running: Arc<Semaphore>,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used: the document is not copied")]
struct Input {
    document: Value,
    #[schemars(length(min = 1, max = 1000))]
    path: String,
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u64,
}

fn default_limit() -> u64 {
    100
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Matches {
    /// The matching values, in document order.
    matches: Vec<Value>,
    /// How many values match, returned or not.
    total: usize,
}

impl Default for Select {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let description = "Selects the parts of JSON that a JSONPath (RFC 9535) matches, such as \
                           `$.items[?@.price < 10].name`.";
        let about = About::reader("json.select", "Select from JSON", description).deterministic();
        Self {
            running: Arc::new(Semaphore::new((processors / 2).max(1))),
            descriptor: about.descriptor::<Input, Matches>(),
        }
    }
}

#[async_trait]
impl Tool for Select {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    async fn run(&self, call: &Job) -> Result<Output, Failure> {
        let text = call.input["path"].as_str().unwrap_or_default();
        let path = JsonPath::parse(text).map_err(|fault| {
            Failure::new(
                Code::InvalidInput,
                format!("`{text}` is not a JSONPath expression: {fault}"),
            )
            .details(json!({"violations": [{"path": "/path", "message": fault.to_string()}]}))
        })?;
        let limit = call.input["limit"].as_u64().unwrap_or_else(default_limit);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let stopped = || Failure::new(Code::Unavailable, "the gateway is shutting down");
        let permit = Arc::clone(&self.running).acquire_owned().await.map_err(|_| stopped())?;
        let input = Arc::clone(&call.input);
        let query = tokio::task::spawn_blocking(move || {
            let selected = match document(&input["document"]) {
                Ok(document) => path.select(&document, limit).map_err(|limit| {
                    Failure::new(Code::InvalidInput, limit.to_string()).details(
                        json!({"violations": [{"path": "/path", "message": limit.to_string()}]}),
                    )
                }),
                Err(refusal) => Err(refusal),
            };
            // Held until here even if the caller is gone: the thread does not stop early.
            drop(permit);
            selected
        });
        let selected = query.await.map_err(|error| stopped().caused_by(error))??;
        let matches = Matches { matches: selected.matches, total: selected.total };
        Ok(Output::new(json!(matches)))
    }
}

/// The document, which models also send as JSON text. Other text has no parts to select, so it is refused.
fn document(given: &Value) -> Result<Cow<'_, Value>, Failure> {
    let Value::String(text) = given else { return Ok(Cow::Borrowed(given)) };
    serde_json::from_str(text).map(Cow::Owned).map_err(|fault| {
        let message = format!("`document` is a text that is not JSON: {fault}");
        let violation = json!({"path": "/document", "message": fault.to_string()});
        Failure::new(Code::InvalidInput, message).details(json!({"violations": [violation]}))
    })
}
