use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use egress::http::Client;
use egress::process::Runner;
use egress::sandbox::Mode;
use proto::Limits;

/// The services that packs run with, made once by the binary.
pub struct Runtime {
    pub runner: Arc<Runner>,
    pub http: Client,
    /// The variables that `env.passthrough` can choose from. Packs see nothing else of the gateway's environment.
    pub environment: BTreeMap<String, String>,
    /// How strictly processes must be confined.
    pub sandbox: Mode,
    /// The operator's limits for every process, whatever its pack requests.
    pub max: Limits,
}

/// Where programs are looked for by children, if the environment names no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Runtime {
    /// The variables that a pack's passthrough names and that are set.
    pub(crate) fn passed<'a>(
        &self,
        names: impl IntoIterator<Item = &'a String>,
    ) -> BTreeMap<String, String> {
        names
            .into_iter()
            .filter_map(|name| Some((name.clone(), self.environment.get(name)?.clone())))
            .collect()
    }

    /// The search path that children get.
    pub(crate) fn path(&self) -> &str {
        self.environment.get("PATH").map_or(DEFAULT_PATH, String::as_str)
    }

    /// The time that a process gets at most.
    pub(crate) fn timeout(&self, requested: Option<Duration>) -> Duration {
        requested.unwrap_or(self.max.timeout).min(self.max.timeout)
    }

    /// The bytes that a process may print at most.
    pub(crate) fn max_output(&self, requested: Option<usize>) -> usize {
        // The limit is for the data; an envelope may surround it.
        const ENVELOPE: usize = 4_096;
        requested.unwrap_or(self.max.max_output_bytes).min(self.max.max_output_bytes) + ENVELOPE
    }
}
