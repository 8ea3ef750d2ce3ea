//! Prompts: their listing and rendering.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::model::{GetPromptResponse, JsonObject, Prompt};
use serde_json::Value;

use crate::{Ctx, Fault};

/// The arguments of a prompt by name; those marked required are present.
pub type PromptArguments = BTreeMap<String, String>;

type PromptFuture = Pin<Box<dyn Future<Output = Result<GetPromptResponse, Fault>> + Send>>;
type Handler = Arc<dyn Fn(PromptArguments, Ctx) -> PromptFuture + Send + Sync>;

pub(crate) struct RegisteredPrompt {
    pub(crate) listing: Prompt,
    handler: Handler,
}

impl RegisteredPrompt {
    pub(crate) fn new<R, F, Fut>(listing: Prompt, handler: F) -> Self
    where
        R: Into<GetPromptResponse>,
        F: Fn(PromptArguments, Ctx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, Fault>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let erased: Handler = Arc::new(move |arguments, ctx| {
            let handler = Arc::clone(&handler);
            Box::pin(async move { handler(arguments, ctx).await.map(Into::into) })
        });
        Self { listing, handler: erased }
    }

    pub(crate) async fn get(
        &self,
        arguments: JsonObject,
        ctx: Ctx,
    ) -> Result<GetPromptResponse, Fault> {
        let arguments = self.check(arguments)?;
        (self.handler)(arguments, ctx).await
    }

    fn check(&self, arguments: JsonObject) -> Result<PromptArguments, Fault> {
        let mut faults = Vec::new();
        let mut texts = PromptArguments::new();
        for (name, value) in arguments {
            match value {
                Value::String(text) => {
                    texts.insert(name, text);
                }
                _ => faults.push(format!("argument `{name}` is not a string")),
            }
        }
        for argument in self.listing.arguments.iter().flatten() {
            if argument.required == Some(true) && !texts.contains_key(&argument.name) {
                faults.push(format!("argument `{}` is required", argument.name));
            }
        }
        if faults.is_empty() { Ok(texts) } else { Err(Fault::invalid_input(faults.join("; "))) }
    }
}
