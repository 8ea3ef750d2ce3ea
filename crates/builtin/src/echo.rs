use std::sync::Arc;

use async_trait::async_trait;
use proto::{Descriptor, Failure};
use schemars::JsonSchema;
use serde_json::Value;
use strip::typed::About;
use strip::{Job, Output, Tool};

/// Returns its input: the first tool to call on a new gateway.
pub(super) struct Echo(Descriptor);

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used: the input is returned as it is")]
struct Input {
    message: String,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used: the input is returned as it is")]
struct Echoed {
    /// The text as it arrived.
    message: String,
}

impl Default for Echo {
    fn default() -> Self {
        let description = "Returns the message unchanged, to test the gateway.";
        let about = About::reader("demo.echo", "Echo", description).deterministic();
        Self(about.descriptor::<Input, Echoed>())
    }
}

#[async_trait]
impl Tool for Echo {
    fn descriptor(&self) -> &Descriptor {
        &self.0
    }

    async fn run(&self, job: &Job) -> Result<Output, Failure> {
        Ok(Output { data: Arc::clone(&job.input), ..Output::new(Value::Null) })
    }
}
