//! One web tool on the strip.

use std::sync::Arc;

use async_trait::async_trait;
use proto::{Caps, Descriptor, Failure};
use research::tools::{Listing, SERVER, text_for_models};
use research::{Call, Progress};
use semver::Version;
use serde_json::{Map, Value};
use strip::{EmptyTexts, Job, Output, Tool};
use tokio_util::sync::CancellationToken;

use crate::current::Current;

pub(crate) struct WebTool {
    name: &'static str,
    descriptor: Descriptor,
    current: Arc<Current>,
}

impl WebTool {
    pub(crate) fn new(listing: Listing, current: Arc<Current>) -> Self {
        let id = format!("{SERVER}:{}", listing.name);
        let descriptor = Descriptor {
            id: id.parse().expect("names of built-in tools are well formed"),
            unprefixed: true,
            version: Version::new(1, 0, 0),
            title: Some(listing.title.to_owned()),
            description: listing.description.to_owned(),
            input_schema: listing.input_schema,
            output_schema: Some(listing.output_schema),
            deterministic: false,
            limits: listing.limits,
            caps: Caps::default(),
            annotations: listing.annotations,
            implementation: None,
            files: None,
            meta: None,
            extra: Map::new(),
        };
        Self { name: listing.name, descriptor, current }
    }
}

#[async_trait]
impl Tool for WebTool {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn stores_excess(&self) -> bool {
        true
    }

    fn empty_texts(&self) -> EmptyTexts {
        EmptyTexts::DROP
    }

    fn text_for_models(&self, data: &Value) -> Option<String> {
        text_for_models(self.name, data)
    }

    async fn run(&self, job: &Job) -> Result<Output, Failure> {
        let (request, cancel) = (job.request(), CancellationToken::new());
        // Work that outlives this future, such as a page that others wait for, learns that this caller has left.
        let _ended = cancel.clone().drop_guard();
        let report = |progress: Progress| {
            if let Some(client) = job.client.as_ref().filter(|client| client.wants_progress()) {
                client.progress(as_mcp(progress));
            }
        };
        let call = Call {
            tenant: request.principal.tenant.as_str(),
            subject: &request.principal.subject,
            progress: &report,
            cancel: &cancel,
        };
        let research = match job.input.get("lens") {
            Some(_) => self.current.with_new_lenses().await,
            None => self.current.get(),
        };
        let input = Value::clone(&job.input);
        research.call(self.name, input, &call).await.map(Output::new)
    }
}

fn as_mcp(progress: Progress) -> Map<String, Value> {
    let mut report = Map::new();
    report.insert("progress".to_owned(), progress.done.into());
    if let Some(total) = progress.total {
        report.insert("total".to_owned(), total.into());
    }
    report.insert("message".to_owned(), progress.message.into());
    report
}
