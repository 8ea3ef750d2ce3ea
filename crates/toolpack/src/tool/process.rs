//! What all kinds with a process share: its surroundings, and what its end means.

use std::path::Path;

use egress::process::{Exit, Finished, RunError, Spec};
use egress::sandbox::{Mode, Network, Policy, Tier};
use proto::{Blame, Code, clean};
use strip::{Failure, Request};

use super::PackTool;
use super::frozen::{Frozen, changed};
use crate::contract::{self, Reply};

/// As much of stderr as the log keeps of one call.
const STDERR_KEPT: usize = 8_192;

/// As much of stderr as a caller is shown.
const HINT: usize = 200;

impl PackTool {
    /// A program with the pack's environment and permissions, and nothing else.
    pub(super) fn spec(&self, program: &str, frozen: Option<&Frozen>) -> Spec {
        let spec = match frozen {
            None => Spec::new(self.program_path(program)),
            Some(frozen) => frozen.spec(),
        };
        let spec = spec
            .env("PATH", self.runtime.path())
            .env("LANG", "C.UTF-8")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .policy(self.policy(frozen));
        self.env.iter().fold(spec, |spec, (name, value)| spec.env(name, value))
    }

    /// A path is relative to the pack; a bare name is looked up by the runner.
    pub(super) fn program_path(&self, program: &str) -> std::ffi::OsString {
        if program.contains('/') && Path::new(program).is_relative() {
            return self.pack.folder.join(program).into_os_string();
        }
        program.into()
    }

    fn policy(&self, frozen: Option<&Frozen>) -> Policy {
        let caps = &self.pack.manifest.caps;
        let network = if caps.network.is_empty() { Network::Denied } else { Network::Allowed };
        let mut policy = Policy::new().mode(self.runtime.sandbox).network(network);
        match frozen {
            None => {
                for place in &self.pack.readable {
                    policy = policy.read(place);
                }
            }
            // The files that the copy was made of may have changed since.
            Some(frozen) => policy = policy.read(frozen.folder()),
        }
        for place in &caps.files.read {
            policy = policy.read(self.pack.folder.join(place));
        }
        for place in &caps.files.write {
            policy = policy.write(self.pack.folder.join(place));
        }
        policy
    }

    /// Runs a program that gets the request on stdin and prints its answer.
    pub(super) async fn run_once(&self, spec: Spec, call: &Request) -> Result<Reply, Failure> {
        let mut line = serde_json::to_vec(&contract::request(call))
            .map_err(|error| contract::broken("the input cannot be written").caused_by(error))?;
        line.push(b'\n');
        let spec = spec
            .stdin(line)
            .deadline(self.time(call))
            .stdout_cap(self.max_output() as u64)
            .stderr_cap(STDERR_KEPT);
        match self.runtime.runner.run(spec, &call.cancel).await {
            Ok(finished) => self.judge(&finished, call),
            Err(error) => {
                if let Some(stderr) = stderr_of(&error) {
                    self.log_stderr(stderr, call, true);
                }
                Err(failure(error))
            }
        }
    }

    fn judge(&self, finished: &Finished, call: &Request) -> Result<Reply, Failure> {
        self.remember_tier(finished.tier);
        let reply = judge_end(&finished.stdout, finished.exit, &finished.stderr);
        self.log_stderr(&finished.stderr, call, reply.is_err());
        let mut reply = reply?;
        reply.warnings.extend(self.tier_warning(finished.tier));
        Ok(reply)
    }

    /// Says so where a host offers no sandbox at all, so that nobody relies on the declared caps.
    pub(super) fn tier_warning(&self, tier: Tier) -> Option<String> {
        (tier == Tier::T0 && self.runtime.sandbox == Mode::Auto).then(|| {
            "this host offers no sandbox (tier T0): the tool's caps are not enforced".to_owned()
        })
    }

    pub(super) fn log_stderr(&self, stderr: &[u8], call: &Request, failed: bool) {
        if stderr.is_empty() {
            return;
        }
        let text = String::from_utf8_lossy(stderr);
        let text = self.secrets.text(&text);
        let (tool, trace) = (&self.pack.manifest.id, call.trace);
        if failed {
            tracing::warn!(%tool, %trace, stderr = text.trim_end(), "a failing tool wrote to stderr");
        } else {
            tracing::info!(%tool, %trace, stderr = text.trim_end(), "a tool wrote to stderr");
        }
    }
}

/// What the end of a program means. A failure that it printed says more than its exit code.
pub(super) fn judge_end(stdout: &[u8], exit: Exit, stderr: &[u8]) -> Result<Reply, Failure> {
    let reply = contract::read(stdout);
    match exit {
        Exit::Code(0) => reply,
        Exit::Signal(signal) => {
            Err(contract::broken(format!("the tool was killed by signal {signal}")))
        }
        Exit::Code(code) => match reply {
            Err(reported) if was_reported(stdout) => Err(reported),
            _ => Err(contract::broken(format!(
                "the tool ended with exit code {code}{}",
                hint(&String::from_utf8_lossy(stderr))
            ))),
        },
    }
}

fn was_reported(stdout: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(stdout)
        .is_ok_and(|value| contract::open(value).is_err())
}

/// The last line of stderr, which in most languages names the error.
pub(super) fn hint(stderr: &str) -> String {
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let (last, _) = clean::text(last.trim());
    let shown: String = last.chars().take(HINT).collect();
    if shown.is_empty() { shown } else { format!(": {shown}") }
}

fn stderr_of(error: &RunError) -> Option<&[u8]> {
    match error {
        RunError::TimedOut { stderr, .. }
        | RunError::Cancelled { stderr }
        | RunError::FolderFull { stderr, .. }
        | RunError::TooMuchOutput { stderr, .. } => Some(stderr),
        _ => None,
    }
}

/// Why a program gave no result, in the strip's words.
pub(super) fn failure(error: RunError) -> Failure {
    match error {
        RunError::NotFound { .. }
        | RunError::Tier(_)
        | RunError::Exposed { .. }
        | RunError::Sandbox { .. }
        | RunError::Exec { .. } => Failure::new(Code::Unsupported, error.to_string()),
        RunError::Changed { .. } => changed().caused_by(error),
        // A full disk, most likely: it may be better in a while.
        RunError::Scratch(_) => {
            Failure::new(Code::Unavailable, "there is no room for the tool's private folder")
                .caused_by(error)
        }
        RunError::TimedOut { .. } => Failure::new(Code::Timeout, error.to_string()),
        RunError::Cancelled { .. } => Failure::new(Code::Unavailable, "the call was cancelled"),
        RunError::FolderFull { .. } => contract::broken(error.to_string()),
        RunError::TooMuchOutput { size, limit, .. } => contract::too_large(size, limit),
        RunError::WorkingFolder { .. }
        | RunError::Launcher(_)
        | RunError::NoLauncher
        | RunError::Pipe(_) => Failure::new(Code::Internal, "the tool could not be started")
            .blame(Blame::Gateway)
            .caused_by(error),
    }
}
