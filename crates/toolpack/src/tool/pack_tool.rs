use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use egress::sandbox::Tier;
use proto::{Scrubber, secrets_of};
use serde_json::Value;
use strip::Job;

use crate::manifest::{Example, Execution};
use crate::pack::Pack;
use crate::runtime::Runtime;
use crate::template::Values;
use crate::workers::Workers;

/// One pack, callable.
pub struct PackTool {
    pub(super) pack: Pack,
    pub(super) runtime: Arc<Runtime>,
    /// The variables of `env.passthrough` that are set.
    pub(super) env: BTreeMap<String, String>,
    /// Finds the secrets among them.
    pub(super) secrets: Scrubber,
    pub(super) workers: Option<Workers>,
    /// The sandbox tier of the latest run.
    pub(super) tier: Mutex<Option<Tier>>,
    /// Grows when code that the pack may have loaded changes.
    pub(super) revision: AtomicU64,
}

/// The state of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackHealth {
    /// The sandbox tier of the latest run; none before the first, and for kinds without a process.
    pub tier: Option<Tier>,
    /// Idle warm workers.
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

    /// The example calls of the pack.
    pub fn examples(&self) -> &[Example] {
        &self.pack.manifest.examples
    }

    /// The pack's current state.
    pub fn health(&self) -> PackHealth {
        PackHealth {
            tier: *self.tier.lock().unwrap_or_else(PoisonError::into_inner),
            idle_workers: self.workers.as_ref().map_or(0, Workers::idle),
        }
    }

    pub(crate) fn pack(&self) -> &Pack {
        &self.pack
    }

    /// Handles a change to a file that the pack does not name but may have loaded: recorded answers become invalid,
    /// and warm workers end.
    pub(crate) fn code_changed(&self, file: &Path) {
        if self.pack.readable.iter().any(|path| file.starts_with(path)) {
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

    pub(super) fn values(&self, input: &Value) -> Values {
        let descriptor = &self.pack.descriptor;
        let version = descriptor.version.to_string();
        Values::new(input, descriptor.id.as_str(), &version, &self.env)
    }

    /// The time that a call gets: the tool's own timeout, or the caller's if that is shorter.
    pub(super) fn time(&self, job: &Job) -> Duration {
        let own = self.runtime.timeout(self.pack.manifest.limits.timeout);
        job.timeout.map_or(own, |timeout| own.min(timeout))
    }

    pub(super) fn max_output(&self) -> usize {
        self.runtime.max_output(self.pack.manifest.limits.max_output_bytes)
    }

    pub(super) fn remember_tier(&self, tier: Tier) {
        *self.tier.lock().unwrap_or_else(PoisonError::into_inner) = Some(tier);
    }

    /// The program of a pack: a path is relative to the pack, a bare name is looked up by the runner.
    pub(super) fn program_path(&self, program: &str) -> OsString {
        if program.contains('/') && Path::new(program).is_relative() {
            return self.pack.folder.join(program).into_os_string();
        }
        program.into()
    }
}
