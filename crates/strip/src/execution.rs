//! The innermost part of a call: files-in ▸ tool schema ▸ ⟨tool⟩ ▸ schema-out ▸ refs-out ▸ size-out, under the tool's deadline.

use std::pin::pin;
use std::sync::Arc;

use ::files::{Files, Secrets};

use crate::approval::{Grant, ShownFile};
use crate::catalog::Entry;
use crate::client::{Client, ToolClient};
use crate::files::{self, FileResolver, Filled, InlineLimits, LargeAnswer};
use crate::guard::idempotency::ToolResult;
use crate::guard::{deadline, shape, size};
use crate::{Door, Job, Output, Reply};
use proto::Failure;

/// Runs tools, with files put into their inputs and large parts taken out of their outputs.
#[derive(Clone)]
pub(crate) struct Executor {
    pub(crate) files: Arc<Files>,
    pub(crate) resolver: Arc<FileResolver>,
}

impl Executor {
    /// Runs the tool under its deadline. The time that the caller takes to answer a question does not count.
    pub(crate) fn run(
        &self,
        mut job: Job,
        entry: &Arc<Entry>,
        grant: Option<Arc<Grant>>,
        limits: InlineLimits,
    ) -> impl Future<Output = ToolResult> + Send + use<> {
        let (executor, entry) = (self.clone(), Arc::clone(entry));
        async move {
            if let Some(grant) = &grant {
                Box::pin(grant.spend()).await?;
            }
            job.time_limit = entry.limits.timeout;
            let client = job.client.take().map(|client| Arc::new(ToolClient::new(client)));
            job.client = client.clone().map(|client| client as Arc<dyn Client>);
            let work = pin!(executor.run_tool(limits, &entry, job));
            let result = deadline::bound(entry.limits.timeout, client.as_deref(), work).await;
            if let (Some(grant), Ok((output, _))) = (grant, &result)
                && output.reply == Reply::NeedsInput
                // A question without a state cannot be continued: its answer looks like a new call.
                && let Some(state) = output.native.as_ref().and_then(|n| n["requestState"].as_str())
            {
                grant.interrupted(state);
            }
            result
        }
    }

    /// The files that a call names, as a person is shown them before it runs.
    pub(crate) async fn shown_files(
        &self,
        entry: &Entry,
        job: &Job,
    ) -> Result<Arc<[ShownFile]>, Failure> {
        let shown = pin!(async {
            let filled = files::files_to_fill(&self.files, &self.resolver, entry, job).await?;
            files::shown_files(&self.files, &job.request().principal, &job.input, filled).await
        });
        deadline::bound(entry.limits.timeout, None, shown).await
    }

    async fn run_tool(&self, limits: InlineLimits, entry: &Entry, job: Job) -> ToolResult {
        let (job, secrets) = match &entry.files {
            None => (job, Secrets::default()),
            // Boxed to keep the common future small.
            Some(_) => Box::pin(self.fill(entry, job)).await?,
        };
        let result = entry.tool.run(&job).await;
        let limits = limits_of_answer(limits.with(entry.tool.inline_limits()), &job);
        let answer = LargeAnswer {
            files: &self.files,
            limits,
            entry,
            request: job.request(),
            secrets: &secrets,
        };
        let result = match result {
            // The tool has acted, and its answer cannot be passed on.
            Ok(output) => self.finish(&answer, output).await.map_err(Failure::with_unknown_effect),
            Err(failure) if failure.native.is_some() && entry.tool.references() => {
                Err(Box::pin(answer.replace_in_failure(failure)).await)
            }
            Err(failure) => Err(failure),
        };
        let output = match result {
            Ok(output) if secrets.is_empty() => output,
            Ok(output) => scrub_output(&secrets, output),
            Err(failure) => return Err(secrets.scrub_failure(failure)),
        };
        let size =
            size::check_output(entry, &output, limits).map_err(Failure::with_unknown_effect)?;
        Ok((output, size))
    }

    async fn fill(&self, entry: &Entry, job: Job) -> Result<(Job, Secrets), Failure> {
        let Filled { mut job, secrets } =
            files::fill(&self.files, &self.resolver, entry, job).await?;
        if !secrets.is_empty()
            && let Some(client) = job.client.take()
        {
            let secrets = secrets.clone();
            let client = ToolClient::new(client).redacted(move |sent| secrets.scrub(sent));
            job.client = Some(Arc::new(client));
        }
        Ok((job, secrets))
    }

    async fn finish(
        &self,
        answer: &LargeAnswer<'_>,
        mut output: Output,
    ) -> Result<Output, Failure> {
        let LargeAnswer { entry, request, .. } = *answer;
        if output.reply != Reply::Done {
            return Ok(output);
        }
        if let Err(misfit) = check_shape(entry, &output) {
            if !entry.tool.keeps_unfit_answers() {
                return Err(misfit);
            }
            output.warnings.push(format!("the call was carried out, but {}", misfit.message));
        }
        if !entry.tool.references() {
            return Ok(output);
        }
        let output = if answer.is_possible(&output) {
            Box::pin(answer.replace_in(output)).await?
        } else {
            output
        };
        let output =
            if answer.fits(&output) { Box::pin(answer.fit(output)).await? } else { output };
        if let Some(server) = entry.server() {
            let issued = files::issued_references(&output);
            if !issued.is_empty() {
                let principal = &request.principal;
                Box::pin(files::remember_issued(&self.files, server, principal, issued, &output))
                    .await?;
            }
        }
        Ok(output)
    }
}

/// The sizes up to which parts of an answer stay in it. Whether it follows notices is known when the tool is done.
fn limits_of_answer(limits: InlineLimits, job: &Job) -> InlineLimits {
    let streamed = job.client.as_ref().is_some_and(|client| client.has_streamed());
    match job.request().door {
        // A task passes its answer to the next one, and no model looks at it.
        Door::Workflow => limits.without_media(),
        _ if streamed || job.request().is_answered_in_one_event() => limits.in_one_event(),
        _ => limits,
    }
}

/// Replaces the secrets in an output.
fn scrub_output(secrets: &Secrets, mut output: Output) -> Output {
    secrets.scrub_shared(&mut output.data);
    output.native.iter_mut().for_each(|native| secrets.scrub_shared(native));
    output.warnings.iter_mut().for_each(|warning| secrets.scrub_text(warning));
    output
}

/// Checks an output against the tool's schema. Base64 that was set aside is put back only if the schema asks for it, by a
/// pattern or a length.
fn check_shape(entry: &Entry, output: &Output) -> Result<(), Failure> {
    let Err(misfit) = shape::check_output(entry, &output.data) else { return Ok(()) };
    let Some(blobs) = &output.blobs else { return Err(misfit) };
    match serde_json::from_str(&blobs.restore(&output.data.to_string())) {
        Ok(whole) => shape::check_output(entry, &whole),
        Err(_) => Err(misfit),
    }
}
