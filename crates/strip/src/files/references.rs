//! Replaces large parts of answers by references to stored files.

use std::collections::HashMap;
use std::sync::Arc;

use files::{Blobs, CopyBudget, Files, InlineLimits, LargeParts, Secrets, has_longer_text};
use proto::{Failure, canonical};
use serde_json::{Value, json};

use crate::catalog::Entry;
use crate::{Door, Output, Request};

/// One call whose answer may contain large parts.
pub(crate) struct LargeAnswer<'a> {
    pub(crate) files: &'a Arc<Files>,
    pub(crate) limits: InlineLimits,
    pub(crate) entry: &'a Entry,
    pub(crate) request: &'a Request,
    pub(crate) secrets: &'a Secrets,
}

impl LargeAnswer<'_> {
    /// Whether an output may contain a part that must be stored.
    pub(crate) fn is_possible(&self, output: &Output) -> bool {
        let least = self.limits().least();
        let value = output.native.as_ref().unwrap_or(&output.data);
        output.blobs.is_some() || has_longer_text(value, least) || self.secrets.are_in(value)
    }

    /// A tool may declare longer answers, such as search results, which models read whole.
    fn limits(&self) -> InlineLimits {
        let declared = self.entry.descriptor.limits.max_output_bytes;
        let declared = declared.map_or(0, |_| self.entry.limits.max_output_bytes);
        InlineLimits { text: self.limits.text.max(declared), ..self.limits }
    }

    fn parts(&self, blobs: Option<Blobs>, secrets: Secrets) -> LargeParts<'_> {
        LargeParts {
            files: self.files,
            principal: &self.request.principal,
            server: self.entry.server(),
            limits: self.limits(),
            blobs,
            secrets,
            references: Vec::new(),
            known: HashMap::new(),
            media: 0,
            copies: match self.request.door {
                Door::Workflow => CopyBudget::none(),
                _ => CopyBudget::of_answer(),
            },
        }
    }

    /// Replaces the large parts of an output.
    pub(crate) async fn replace_in(&self, mut output: Output) -> Result<Output, Failure> {
        let mut parts = self.parts(output.blobs.take(), self.secrets.clone());
        match &mut output.native {
            Some(native) => {
                let result = Arc::make_mut(native);
                parts.replace_in_result(result).await?;
                output.data = Arc::new(data_of(result));
            }
            None => parts.replace_in(Arc::make_mut(&mut output.data)).await?,
        }
        output.references.extend(parts.references);
        Ok(output)
    }

    /// Stores the largest parts of an answer until it is within the tool's output limit.
    pub(crate) async fn fit(&self, mut output: Output) -> Result<Output, Failure> {
        let limit = self.entry.limits.max_output_bytes;
        if canonical::len(&output.data) <= limit {
            return Ok(output);
        }
        let mut parts = self.parts(None, self.secrets.clone());
        match &mut output.native {
            Some(native) => {
                let result = Arc::make_mut(native);
                parts.fit_result(result, limit).await?;
                output.data = Arc::new(data_of(result));
            }
            None => parts.fit(Arc::make_mut(&mut output.data), limit).await?,
        }
        output.references.extend(parts.references);
        Ok(output)
    }

    /// Whether an answer above the output limit is made to fit. What a server has done cannot be undone, and its answer
    /// would be lost.
    pub(crate) fn fits(&self, output: &Output) -> bool {
        match output.native {
            Some(_) => self.entry.server().is_some(),
            None => self.entry.tool.stores_excess(),
        }
    }

    /// Replaces the large parts of a server's failed result.
    pub(crate) async fn replace_in_failure(&self, mut failure: Failure) -> Failure {
        let Some(native) = &mut failure.native else { return failure };
        let mut parts = self.parts(None, Secrets::default());
        if parts.may_be_in(native)
            && let Err(failed) = parts.replace_in_result(Arc::make_mut(native)).await
        {
            return failed;
        }
        failure
    }
}

/// The data of an envelope for a server's result.
pub fn data_of(result: &Value) -> Value {
    match result.get("structuredContent") {
        Some(structured) if !structured.is_null() => structured.clone(),
        _ => json!({"content": result.get("content").cloned().unwrap_or_else(|| json!([]))}),
    }
}
