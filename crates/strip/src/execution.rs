//! The innermost part of a call: files-in ▸ tool schema ▸ ⟨tool⟩ ▸ schema-out ▸ refs-out ▸ size-out, under the tool's deadline.

use std::pin::pin;
use std::sync::Arc;

use crate::approval::{Grant, ShownFile};
use crate::catalog::Entry;
use crate::client::{Client, ToolClient};
use crate::files::{self, Files, Filled, KeepRules, Lenders, Secrets};
use crate::guard::idempotency::ToolResult;
use crate::guard::{deadline, shape, size};
use crate::{Failure, Job, Output, Reply, Request};

/// Runs tools, with files put into their inputs and large parts taken out of their outputs.
#[derive(Clone)]
pub(crate) struct Executor {
    pub(crate) files: Arc<Files>,
    pub(crate) lenders: Arc<Lenders>,
}

impl Executor {
    /// Runs the tool under its deadline. The time that the caller takes to answer a question does not count.
    pub(crate) fn run(
        &self,
        mut job: Job,
        entry: &Arc<Entry>,
        grant: Option<Arc<Grant>>,
        rules: KeepRules,
    ) -> impl Future<Output = ToolResult> + Send + use<> {
        let (executor, entry) = (self.clone(), Arc::clone(entry));
        async move {
            if let Some(grant) = &grant {
                Box::pin(grant.spend()).await?;
            }
            let client = job.request.client.take().map(|client| Arc::new(ToolClient::new(client)));
            job.request.client = client.clone().map(|client| client as Arc<dyn Client>);
            let work = pin!(executor.run_tool(rules, &entry, job));
            let result = deadline::bound(entry.limits.timeout, client.as_deref(), work).await;
            if let (Some(grant), Ok((output, _))) = (grant, &result)
                && output.reply == Reply::NeedsInput
            {
                grant.interrupted(output);
            }
            result
        }
    }

    /// The files that a call names, as a person is shown them before it runs.
    pub(crate) async fn shown_files(
        &self,
        entry: &Entry,
        request: &Request,
    ) -> Result<Arc<[ShownFile]>, Failure> {
        let shown = pin!(async {
            let filled = files::to_fill(&self.files, &self.lenders, entry, request).await?;
            self.files.shown(&request.principal, &request.input, filled).await
        });
        deadline::bound(entry.limits.timeout, None, shown).await
    }

    async fn run_tool(&self, rules: KeepRules, entry: &Entry, job: Job) -> ToolResult {
        let (job, secrets) = match &entry.files {
            None => (job, Secrets::default()),
            // Boxed to keep the common future small.
            Some(_) => Box::pin(self.fill(entry, job)).await?,
        };
        let result = match entry.tool.run(&job).await {
            Ok(output) => self.finish(rules, entry, &job.request, &secrets, output).await,
            Err(failure) if failure.native.is_some() && entry.tool.references() => {
                let kept = files::keep_failed(&self.files, rules, entry, &job.request, failure);
                Err(Box::pin(kept).await)
            }
            Err(failure) => Err(failure),
        };
        let output = match result {
            Ok(output) if secrets.is_empty() => output,
            Ok(output) => secrets.out_of_output(output),
            Err(failure) => return Err(secrets.out_of_failure(failure)),
        };
        let size = size::check_output(entry, &output.data)?;
        Ok((output, size))
    }

    async fn fill(&self, entry: &Entry, job: Job) -> Result<(Job, Secrets), Failure> {
        let Filled { mut job, secrets } =
            files::fill(&self.files, &self.lenders, entry, job).await?;
        if !secrets.is_empty()
            && let Some(client) = job.request.client.take()
        {
            let secrets = secrets.clone();
            let client = ToolClient::new(client).redacted(move |sent| secrets.out_of(sent));
            job.request.client = Some(Arc::new(client));
        }
        Ok((job, secrets))
    }

    async fn finish(
        &self,
        rules: KeepRules,
        entry: &Entry,
        request: &Request,
        secrets: &Secrets,
        output: Output,
    ) -> Result<Output, Failure> {
        if output.reply != Reply::Done {
            return Ok(output);
        }
        check_shape(entry, &output)?;
        if !entry.tool.references() {
            return Ok(output);
        }
        let output = if files::is_large(rules, entry, secrets, &output) {
            Box::pin(files::keep(&self.files, rules, entry, (request, secrets), output)).await?
        } else {
            output
        };
        if let Some(server) = entry.descriptor.id.server() {
            let issued = files::issued(&output);
            if !issued.is_empty() {
                Box::pin(files::remember(&self.files, server, request, issued, &output)).await?;
            }
        }
        Ok(output)
    }
}

/// Checks an output against the tool's schema. Base64 that was set aside is put back only if the schema asks for it, by a
/// pattern or a length.
fn check_shape(entry: &Entry, output: &Output) -> Result<(), Failure> {
    let Err(misfit) = shape::check_output(entry, &output.data) else { return Ok(()) };
    let Some(carved) = &output.carved else { return Err(misfit) };
    match serde_json::from_str(&carved.restored(&output.data.to_string())) {
        Ok(whole) => shape::check_output(entry, &whole),
        Err(_) => Err(misfit),
    }
}
