//! A pack as a tool of the strip.

mod cli;
mod frozen;
mod http;
mod process;
mod script;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use egress::sandbox::Tier;
use proto::{Code, Descriptor, Digest, Scrubber, secrets_of};
use serde_json::Value;
use strip::{Failure, Job, Output, Request, Tool};

use crate::contract::Reply;
use crate::manifest::{Example, Execution};
use crate::pack::Pack;
use crate::runtime::Runtime;
use crate::template::Values;
use crate::workers::Workers;
use frozen::Frozen;

/// The longest cache key that a template may make: a whole input fits, a runaway loop does not.
const MAX_CACHE_KEY: usize = 16 << 20;

/// One pack, callable.
pub struct PackTool {
    pack: Pack,
    runtime: Arc<Runtime>,
    /// The variables of `env.passthrough` that are set.
    env: BTreeMap<String, String>,
    /// Finds the secrets among them.
    secrets: Scrubber,
    workers: Option<Workers>,
    /// The sandbox rung that held in the latest run.
    tier: Mutex<Option<Tier>>,
    /// Grows when code that the pack may have loaded changes.
    revision: AtomicU64,
}

/// How a pack is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackHealth {
    /// The sandbox rung of the latest run; none before the first, and for kinds without a process.
    pub tier: Option<Tier>,
    /// Warm workers that wait for a call.
    pub idle_workers: usize,
}

impl PackTool {
    pub(crate) fn new(pack: Pack, runtime: Arc<Runtime>) -> Self {
        let env = runtime.passed(&pack.manifest.passthrough);
        let workers = match &pack.manifest.execution {
            Execution::Script(script) => script.workers.map(Workers::new),
            Execution::Cli(_) | Execution::Http(_) => None,
        };
        let secrets = Scrubber::new(env.iter().flat_map(|(name, value)| secrets_of(name, value)));
        Self {
            pack,
            runtime,
            env,
            secrets,
            workers,
            tier: Mutex::new(None),
            revision: AtomicU64::new(0),
        }
    }

    /// The canned calls of the pack.
    pub fn examples(&self) -> &[Example] {
        &self.pack.manifest.examples
    }

    /// How the pack is doing.
    pub fn health(&self) -> PackHealth {
        PackHealth {
            tier: *self.tier.lock().unwrap_or_else(PoisonError::into_inner),
            idle_workers: self.workers.as_ref().map_or(0, Workers::idle),
        }
    }

    pub(crate) fn pack(&self) -> &Pack {
        &self.pack
    }

    /// Hears of a change to a file that the pack does not name but may have loaded: answers recorded before do not
    /// hold any more, and warm workers end.
    pub(crate) fn code_changed(&self, file: &Path) {
        if self.pack.readable.iter().any(|place| file.starts_with(place)) {
            self.any_code_changed();
        }
    }

    /// Treats all code that the pack may have loaded as changed.
    pub(crate) fn any_code_changed(&self) {
        self.revision.fetch_add(1, Ordering::Relaxed);
        if let Some(workers) = &self.workers {
            workers.retire();
        }
    }

    fn values(&self, input: &Value) -> Values {
        let descriptor = &self.pack.descriptor;
        let version = descriptor.version.to_string();
        Values::new(input, descriptor.id.as_str(), &version, &self.env)
    }

    /// The time that this call gets: the tool's own, or less if the caller has less.
    fn time(&self, call: &Request) -> Duration {
        let own = self.runtime.timeout(self.pack.manifest.limits.timeout);
        call.timeout.map_or(own, |timeout| own.min(timeout))
    }

    fn max_output(&self) -> usize {
        self.runtime.max_output(self.pack.manifest.limits.max_output_bytes)
    }

    fn remember_tier(&self, tier: Tier) {
        *self.tier.lock().unwrap_or_else(PoisonError::into_inner) = Some(tier);
    }

    async fn reply(&self, call: &Job) -> Result<Reply, Failure> {
        match &call.approved_code {
            None => self.run_with(None, &call.request).await,
            Some(approved) => {
                let frozen = Box::pin(self.freeze(&call.request, approved)).await?;
                self.run_with(Some(&frozen), &call.request).await
            }
        }
    }

    /// Runs the pack's code: as it is on the disk, or the verified copy of what was approved.
    async fn run_with(&self, frozen: Option<&Frozen>, call: &Request) -> Result<Reply, Failure> {
        match (&self.pack.manifest.execution, &self.pack.code) {
            (Execution::Cli(cli), _) => self.run_cli(cli, frozen, call).await,
            (Execution::Http(http), _) => self.run_http(http, call).await,
            (Execution::Script(script), Some(code)) => match frozen {
                None => self.run_script(script, code, call).await,
                Some(frozen) => self.run_frozen(script, code, frozen, call).await,
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

    async fn code_digest(&self, call: &Request) -> Result<Option<Digest>, Failure> {
        match &self.pack.manifest.execution {
            Execution::Http(_) => Ok(None),
            Execution::Cli(_) | Execution::Script(_) => self.digest_code(call).await.map(Some),
        }
    }

    async fn run(&self, call: &Job) -> Result<Output, Failure> {
        if self.pack.manifest.key_required && call.request.idempotency_key.is_none() {
            return Err(Failure::new(
                Code::InvalidInput,
                "this tool acts, and asks for an idempotency key: the header `Idempotency-Key`, \
                 `_meta[\"powerstrip/idempotency-key\"]`, or `--idempotency-key`",
            ));
        }
        let reply = self.reply(call).await.map_err(|failure| failure.scrub(&self.secrets))?;
        let data = match &self.pack.manifest.on_success {
            Some(selection) => selection.take(reply.data)?,
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
