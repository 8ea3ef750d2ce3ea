//! Resources with fixed URIs and URI templates.

mod template;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::model::{ResourceContents, ResourceTemplate};

use crate::{BuildError, Ctx, Fault};
use template::UriTemplate;

/// The requested URI, and the values of its template's variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locator {
    /// The address as the client wrote it.
    pub uri: String,
    /// Variables by name, not percent-decoded; empty for a fixed address.
    pub variables: BTreeMap<String, String>,
}

pub(crate) type ReadFuture = Pin<Box<dyn Future<Output = Result<ResourceContents, Fault>> + Send>>;
pub(crate) type Reader = Arc<dyn Fn(Locator, Ctx) -> ReadFuture + Send + Sync>;

pub(crate) fn reader<F, Fut>(handler: F) -> Reader
where
    F: Fn(Locator, Ctx) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<ResourceContents, Fault>> + Send + 'static,
{
    Arc::new(move |locator, ctx| Box::pin(handler(locator, ctx)))
}

pub(crate) struct RegisteredTemplate {
    pub(crate) listing: ResourceTemplate,
    pattern: UriTemplate,
    pub(crate) read: Reader,
}

impl RegisteredTemplate {
    pub(crate) fn new(listing: ResourceTemplate, read: Reader) -> Result<Self, BuildError> {
        let pattern = UriTemplate::parse(&listing.uri_template)
            .ok_or_else(|| BuildError::UriTemplate(listing.uri_template.clone()))?;
        Ok(Self { listing, pattern, read })
    }

    pub(crate) fn locate(&self, uri: &str) -> Option<Locator> {
        Some(Locator { uri: uri.to_owned(), variables: self.pattern.matches(uri)? })
    }
}
