//! What all kinds with a process share: its environment, and the interpretation of its exit.

use egress::process::{Exit, Finished, RunError, Spec};
use egress::sandbox::{Mode, Network, Policy, Tier};
use proto::{Failure, clean};
use strip::Job;

use super::failures::run_failure;
use super::pack_tool::PackTool;
use super::verified_copy::VerifiedCopy;
use crate::contract::{self, Reply};

/// How much of stderr is logged for one call.
const MAX_STDERR: usize = 8_192;

/// The largest exit code that is a program's own; shells use larger ones for a program that was killed.
const LAST_OWN_EXIT_CODE: i32 = 128;

/// How much of stderr a caller is shown.
const MAX_HINT: usize = 200;

impl PackTool {
    /// A program with the pack's environment and permissions.
    pub(super) fn spec(&self, program: &str, copy: Option<&VerifiedCopy>) -> Spec {
        let spec = match copy {
            None => Spec::new(self.program_path(program)),
            Some(copy) => copy.spec(),
        };
        let spec = spec
            .env("PATH", self.runtime.path())
            .env("LANG", "C.UTF-8")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .policy(self.policy(copy));
        self.env.iter().fold(spec, |spec, (name, value)| spec.env(name, value))
    }

    fn policy(&self, copy: Option<&VerifiedCopy>) -> Policy {
        let caps = &self.pack.manifest.caps;
        let network = if caps.network.is_empty() { Network::Denied } else { Network::Allowed };
        let mut policy = Policy::new().mode(self.runtime.sandbox).network(network);
        match copy {
            None => {
                for path in &self.pack.readable {
                    policy = policy.read(path);
                }
            }
            // The original files may have changed since the copy was made.
            Some(copy) => policy = policy.read(copy.folder()),
        }
        for path in &caps.files.read {
            policy = policy.read(self.pack.folder.join(path));
        }
        for path in &caps.files.write {
            policy = policy.write(self.pack.folder.join(path));
        }
        policy
    }

    /// Runs a program that gets the request on stdin and prints its answer.
    pub(super) async fn run_once(&self, spec: Spec, job: &Job) -> Result<Reply, Failure> {
        let mut line = serde_json::to_vec(&contract::request_line(job)).map_err(|error| {
            contract::tool_failure("the input cannot be serialized").caused_by(error)
        })?;
        line.push(b'\n');
        let spec = spec
            .stdin(line)
            .deadline(self.time(job))
            .stdout_cap(self.max_output() as u64)
            .stderr_cap(MAX_STDERR);
        match self.runtime.runner.run(spec, job.cancel()).await {
            Ok(finished) => self.read_finished(&finished, job),
            Err(error) => {
                if let Some(stderr) = stderr_of(&error) {
                    self.log_stderr(stderr, job, true);
                }
                Err(run_failure(error))
            }
        }
    }

    fn read_finished(&self, finished: &Finished, job: &Job) -> Result<Reply, Failure> {
        self.remember_tier(finished.tier);
        let reply = read_end(&finished.stdout, finished.exit, &finished.stderr);
        self.log_stderr(&finished.stderr, job, reply.is_err());
        let mut reply = reply?;
        reply.warnings.extend(self.tier_warning(finished.tier));
        Ok(reply)
    }

    /// Warns where a host offers no sandbox, because the declared caps are not enforced there.
    pub(super) fn tier_warning(&self, tier: Tier) -> Option<String> {
        (tier == Tier::T0 && self.runtime.sandbox == Mode::Auto).then(|| {
            "this host offers no sandbox (tier T0): the tool's caps are not enforced".to_owned()
        })
    }

    pub(super) fn log_stderr(&self, stderr: &[u8], job: &Job, failed: bool) {
        if stderr.is_empty() {
            return;
        }
        let text = String::from_utf8_lossy(stderr);
        let text = self.secrets.text(&text);
        let (tool, trace) = (&self.pack.manifest.id, job.request().trace);
        if failed {
            tracing::warn!(%tool, %trace, stderr = text.trim_end(), "a failing tool wrote to stderr");
        } else {
            tracing::info!(%tool, %trace, stderr = text.trim_end(), "a tool wrote to stderr");
        }
    }
}

/// Interprets the exit of a program. A failure that it printed takes precedence over its exit code.
pub(super) fn read_end(stdout: &[u8], exit: Exit, stderr: &[u8]) -> Result<Reply, Failure> {
    let reply = contract::read(stdout);
    match exit {
        Exit::Code(0) => reply,
        Exit::Signal(signal) => {
            Err(contract::unreadable(format!("the tool was killed by signal {signal}")))
        }
        Exit::Code(code) => match reply {
            Err(reported) if was_reported(stdout) => Err(reported),
            _ => {
                let hint = hint(&String::from_utf8_lossy(stderr));
                let message = format!("the tool ended with exit code {code}{hint}");
                let states_failure = stdout.trim_ascii().is_empty() && code <= LAST_OWN_EXIT_CODE;
                Err(if states_failure {
                    contract::tool_failure(message)
                } else {
                    contract::unreadable(message)
                })
            }
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
    let shown: String = last.chars().take(MAX_HINT).collect();
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
