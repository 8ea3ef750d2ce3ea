//! Python, Node and PHP: a whole program, or a function that the shim calls.

use std::ffi::OsString;
use std::sync::Arc;

use egress::process::{Exit, Spec};
use proto::{Code as ErrorCode, Failure};
use strip::Job;

use super::failures::run_failure;
use super::pack_tool::PackTool;
use super::process::{hint, read_end};
use super::verified_copy::VerifiedCopy;
use crate::contract::{self, Reply};
use crate::manifest::{Script, ScriptKind};
use crate::pack::Code;
use crate::workers::{Answer, Worker, Workers};

const PYTHON: &str = include_str!("../shims/python.py");
const NODE: &str = include_str!("../shims/node.js");
const PHP: &str = include_str!("../shims/php.php");

/// Warnings of PHP go to stderr; on stdout they would break the contract.
const PHP_SETTINGS: [&str; 4] = ["-d", "display_errors=stderr", "-d", "html_errors=0"];

impl PackTool {
    pub(super) async fn run_script(
        &self,
        script: &Script,
        code: &Code,
        job: &Job,
    ) -> Result<Reply, Failure> {
        match &self.workers {
            None => self.run_once(self.script_spec(script, code, ShimMode::Once, None), job).await,
            Some(workers) => {
                let time = self.time(job);
                // A dropped future ends the worker that it owns.
                tokio::select! {
                    reply = self.run_warm(workers, script, code, job) => reply,
                    () = tokio::time::sleep(time) => Err(Failure::new(
                        ErrorCode::Timeout,
                        format!("no result within {} ms", time.as_millis()),
                    )),
                    () = job.cancel().cancelled() => {
                        Err(Failure::new(ErrorCode::Unavailable, "the call was cancelled"))
                    }
                }
            }
        }
    }

    /// Runs the verified copy of approved code; never in a warm worker, which may have loaded older code.
    pub(super) async fn run_copy(
        &self,
        script: &Script,
        code: &Code,
        copy: &VerifiedCopy,
        job: &Job,
    ) -> Result<Reply, Failure> {
        let code = copy.code(code);
        self.run_once(self.script_spec(script, &code, ShimMode::Once, Some(copy)), job).await
    }

    fn script_spec(
        &self,
        script: &Script,
        code: &Code,
        mode: ShimMode,
        copy: Option<&VerifiedCopy>,
    ) -> Spec {
        let spec = self.spec(script.interpreter(), copy);
        let spec = match script.kind {
            ScriptKind::Python => spec.env("PYTHONUTF8", "1"),
            ScriptKind::Node => spec,
            ScriptKind::Php => spec.args(PHP_SETTINGS),
        };
        match (script.kind, code) {
            (ScriptKind::Python, Code::Module { module, function, search }) => {
                let what = [OsString::from("function"), module.into(), function.into()];
                spec.args(["-c", PYTHON, mode.argument()]).args(what).args(search.iter().cloned())
            }
            (ScriptKind::Python, Code::Program(file)) if mode == ShimMode::Serve => spec
                .args(["-c", PYTHON, mode.argument(), "script"])
                .arg(file)
                .arg(self.max_output().to_string()),
            (ScriptKind::Node, Code::Function(file)) => {
                spec.args(["-e", NODE, mode.argument()]).arg(file)
            }
            (ScriptKind::Php, Code::Function(file)) => {
                spec.args(["-r", PHP, "--", mode.argument()]).arg(file)
            }
            (_, Code::Program(file) | Code::Function(file)) => spec.arg(file),
            // Only Python has modules; the manifest allows them nowhere else.
            (_, Code::Module { module, .. }) => spec.arg(module),
        }
    }

    async fn run_warm(
        &self,
        workers: &Workers,
        script: &Script,
        code: &Code,
        job: &Job,
    ) -> Result<Reply, Failure> {
        let turn = workers.turn(&job.request().principal.tenant).await;
        let mut worker = match turn.idle().await {
            Some(worker) => worker,
            None => self.start(self.script_spec(script, code, ShimMode::Serve, None)).await?,
        };
        let tier = worker.tier();
        self.remember_tier(tier);

        // Until the worker is given back it belongs to this future; dropping the future ends the worker.
        let reply = if is_reusable(script.kind, code) {
            let outcome = self.ask(workers, &mut worker, job).await;
            self.log_stderr(&worker.take_stderr(), job, !matches!(outcome, Ok(Ok(_))));
            if outcome.is_ok() && !worker.is_spent() {
                turn.give_back(worker);
            }
            outcome.unwrap_or_else(Err)
        } else {
            let outcome = self.run_started(&mut worker, job).await;
            self.log_stderr(&worker.take_stderr(), job, outcome.is_err());
            drop(worker);
            self.start_ahead(workers, self.script_spec(script, code, ShimMode::Serve, None));
            outcome
        };
        let mut reply = reply?;
        reply.warnings.extend(self.tier_warning(tier));
        Ok(reply)
    }

    async fn start(&self, spec: Spec) -> Result<Worker, Failure> {
        self.runtime.runner.spawn_piped(spec).await.map(Worker::new).map_err(run_failure)
    }

    /// Starts the program of the next call in advance.
    fn start_ahead(&self, workers: &Workers, spec: Spec) {
        let runner = Arc::clone(&self.runtime.runner);
        workers.start_ahead(async move { runner.spawn_piped(spec).await.map(Worker::new) });
    }

    /// Asks a reusable worker. The outer error means that the worker must not be used again.
    async fn ask(
        &self,
        workers: &Workers,
        worker: &mut Worker,
        job: &Job,
    ) -> Result<Result<Reply, Failure>, Failure> {
        let limit = self.max_output();
        let answer = worker.ask(workers.next_id(), contract::request_line(job), limit).await?;
        Ok(match answer {
            Answer::Data(data) => contract::open(data),
            Answer::Printed { text, status, why } => {
                read_end(text.as_bytes(), Exit::Code(status), why.as_bytes())
            }
            Answer::TooLarge { size } => Err(contract::too_large(size, limit as u64)),
            Answer::Unreadable(why) => {
                Err(contract::unreadable(format!("the tool's answer is not JSON{}", hint(&why))))
            }
            Answer::Failed(why) => {
                Err(contract::tool_failure(format!("the tool failed{}", hint(&why))))
            }
        })
    }

    /// Sends the request to a program that was started in advance, and reads it to its end.
    async fn run_started(&self, worker: &mut Worker, job: &Job) -> Result<Reply, Failure> {
        let (stdout, exit) = worker.finish(contract::request_line(job), self.max_output()).await?;
        read_end(&stdout, exit, worker.stderr_so_far().as_bytes())
    }
}

/// Whether one process can run this code more than once. Node and PHP cannot run a whole program twice in one
/// process; their processes are started before the call instead, and end with it.
fn is_reusable(kind: ScriptKind, code: &Code) -> bool {
    kind == ScriptKind::Python || !matches!(code, Code::Program(_))
}

/// Whether a shim serves one call or many.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShimMode {
    Once,
    Serve,
}

impl ShimMode {
    fn argument(self) -> &'static str {
        match self {
            ShimMode::Once => "once",
            ShimMode::Serve => "serve",
        }
    }
}
