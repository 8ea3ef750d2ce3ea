//! A call of a pack: the checks around it, and the kind that runs it.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use proto::{Code, Descriptor, Digest, Failure};
use serde_json::Value;
use strip::{Job, Output, Tool};

use super::pack_tool::PackTool;
use super::verified_copy::VerifiedCopy;
use crate::contract::Reply;
use crate::manifest::Execution;

/// The longest cache key that a template may make: a whole input fits, a runaway loop does not.
const MAX_CACHE_KEY: usize = 16 << 20;

impl PackTool {
    async fn reply(&self, job: &Job) -> Result<Reply, Failure> {
        match &job.approved_code {
            None => self.run_with(None, job).await,
            Some(approved) => {
                let copy = Box::pin(self.copy_approved(job, approved)).await?;
                self.run_with(Some(&copy), job).await
            }
        }
    }

    /// Runs the pack's code as it is on disk, or the verified copy of approved code.
    async fn run_with(&self, copy: Option<&VerifiedCopy>, job: &Job) -> Result<Reply, Failure> {
        match (&self.pack.manifest.execution, &self.pack.code) {
            (Execution::Cli(cli), _) => self.run_cli(cli, copy, job).await,
            (Execution::Http(http), _) => self.run_http(http, job).await,
            (Execution::Script(script), Some(code)) => match copy {
                None => self.run_script(script, code, job).await,
                Some(copy) => self.run_copy(script, code, copy, job).await,
            },
            (Execution::Script(_), None) => {
                Err(Failure::new(Code::Internal, "the script was not loaded"))
            }
        }
    }
}

#[async_trait]
impl Tool for PackTool {
    fn descriptor(&self) -> &Descriptor {
        &self.pack.descriptor
    }

    fn cache_key(&self, input: &Value) -> Result<Option<String>, Failure> {
        match &self.pack.manifest.cache_key {
            Some(template) => template.render(&self.values(input), MAX_CACHE_KEY).map(Some),
            None => Ok(None),
        }
    }

    fn revision(&self) -> u64 {
        self.revision.load(Ordering::Relaxed)
    }

    async fn code_digest(&self, job: &Job) -> Result<Option<Digest>, Failure> {
        match &self.pack.manifest.execution {
            Execution::Http(_) => Ok(None),
            Execution::Cli(_) | Execution::Script(_) => self.digest_code(job).await.map(Some),
        }
    }

    async fn run(&self, job: &Job) -> Result<Output, Failure> {
        if self.pack.manifest.key_required && job.request().idempotency_key.is_none() {
            return Err(Failure::new(
                Code::InvalidInput,
                "this tool acts, and asks for an idempotency key: the header `Idempotency-Key`, \
                 `_meta[\"powerstrip/idempotency-key\"]`, or `--idempotency-key`",
            ));
        }
        let reply = self.reply(job).await.map_err(|failure| failure.scrub(&self.secrets))?;
        let data = match &self.pack.manifest.on_success {
            Some(selection) => selection.take(reply.data).map_err(Failure::with_unknown_effect)?,
            None => reply.data,
        };
        let (mut data, mut warnings) = (data, reply.warnings);
        if !self.secrets.is_empty() {
            self.secrets.json(&mut data);
            for warning in &mut warnings {
                *warning = self.secrets.text(warning).into_owned();
            }
        }
        Ok(Output { warnings, ..Output::new(data) })
    }
}
