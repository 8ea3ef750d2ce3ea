//! Makes the answer of a call, and counts and logs it.

use std::sync::Arc;
use std::time::Duration;

use proto::{Failure, Meta, clean};

use crate::catalog::Entry;
use crate::guards::Guards;
use crate::{Answer, Job, Output, Reply};

impl Guards {
    pub(crate) fn finish(
        &self,
        job: &Job,
        entry: Option<Arc<Entry>>,
        forwarder: Option<Arc<Entry>>,
        duration: Duration,
        result: Result<Output, Failure>,
    ) -> Answer {
        let mut warnings = Vec::new();
        if let Some(entry) = &entry
            && let Some(newer) = entry.superseded_by
        {
            warnings.push(format!(
                "{} {} is deprecated; major {newer} replaces it",
                entry.descriptor.id, entry.descriptor.version
            ));
        }
        let outcome = result.as_ref().map_or_else(|failure| failure.code.as_str(), |_| "OK");
        self.metrics.count(entry.as_deref(), job.request().door, outcome, duration);
        log(job, result.as_ref().err(), duration);
        let (result, native, reply, references) = match result {
            Ok(output) => {
                warnings.extend(output.warnings);
                (Ok(output.data), output.native, output.reply, output.references)
            }
            Err(mut failure) => {
                let own =
                    |failure: &Failure| entry.as_ref()?.tool.native_failure(failure).map(Arc::new);
                let native = failure.native.take().or_else(|| own(&failure));
                (Err(failure), native, Reply::Done, Vec::new())
            }
        };
        let (tool, version) = match &entry {
            Some(entry) => (entry.descriptor.id.shared(), Arc::clone(&entry.version)),
            None => (job.tool().into(), Arc::default()),
        };
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let meta = Meta { tool, version, duration_ms, trace_id: job.request().trace, warnings };
        Answer { result, native, reply, references, entry: forwarder.or(entry), meta }
    }
}

fn log(job: &Job, failure: Option<&Failure>, duration: Duration) {
    let (trace, door) = (job.request().trace, job.request().door);
    let Some(failure) = failure else {
        tracing::debug!(%trace, tool = %clean::line(job.tool()), %door, ?duration, "call answered");
        return;
    };
    // All of these texts may come from a caller or a server.
    let source = failure.source.as_ref().map(|source| clean::line(&source.to_string()));
    let source = source.as_ref().map(tracing::field::display);
    tracing::warn!(%trace, tool = %clean::line(job.tool()), %door, code = %failure.code,
        blame = failure.blame.as_str(), source, "{}", clean::line(&failure.message));
}
