//! Python, Node and PHP: a script of its own making, or a function that our shim calls.

use std::ffi::OsString;
use std::sync::Arc;

use egress::process::{Exit, Spec};
use proto::Code as ErrorCode;
use strip::{Failure, Request};

use super::PackTool;
use super::frozen::Frozen;
use super::process::{failure, hint, judge_end};
use crate::contract::{self, Reply};
use crate::manifest::{Script, ScriptKind};
use crate::pack::Code;
use crate::workers::{Answer, Worker, Workers};

const PYTHON: &str = include_str!("../shims/python.py");
const NODE: &str = include_str!("../shims/node.js");
const PHP: &str = include_str!("../shims/php.php");

/// Warnings of PHP belong to the log; on stdout they would break the contract.
const PHP_SETTINGS: [&str; 4] = ["-d", "display_errors=stderr", "-d", "html_errors=0"];

impl PackTool {
    pub(super) async fn run_script(
        &self,
        script: &Script,
        code: &Code,
        call: &Request,
    ) -> Result<Reply, Failure> {
        match &self.workers {
            None => self.run_once(self.script_spec(script, code, Shift::Once, None), call).await,
            Some(workers) => {
                let time = self.time(call);
                // Either way the worker goes with the future that owns it.
                tokio::select! {
                    reply = self.run_warm(workers, script, code, call) => reply,
                    () = tokio::time::sleep(time) => Err(Failure::new(
                        ErrorCode::Timeout,
                        format!("no result within {} ms", time.as_millis()),
                    )),
                    () = call.cancel.cancelled() => {
                        Err(Failure::new(ErrorCode::Unavailable, "the call was cancelled"))
                    }
                }
            }
        }
    }

    /// Runs the verified copy of code that was approved, never in a warm worker: that may run older code.
    pub(super) async fn run_frozen(
        &self,
        script: &Script,
        code: &Code,
        frozen: &Frozen,
        call: &Request,
    ) -> Result<Reply, Failure> {
        let code = frozen.code(code);
        self.run_once(self.script_spec(script, &code, Shift::Once, Some(frozen)), call).await
    }

    fn script_spec(
        &self,
        script: &Script,
        code: &Code,
        shift: Shift,
        frozen: Option<&Frozen>,
    ) -> Spec {
        let spec = self.spec(interpreter(script), frozen);
        let spec = match script.kind {
            ScriptKind::Python => spec.env("PYTHONUTF8", "1"),
            ScriptKind::Node => spec,
            ScriptKind::Php => spec.args(PHP_SETTINGS),
        };
        match (script.kind, code) {
            (ScriptKind::Python, Code::Module { module, function, search }) => {
                let what = [OsString::from("function"), module.into(), function.into()];
                spec.args(["-c", PYTHON, shift.word()]).args(what).args(search.iter().cloned())
            }
            (ScriptKind::Python, Code::Program(file)) if shift == Shift::Serve => spec
                .args(["-c", PYTHON, shift.word(), "script"])
                .arg(file)
                .arg(self.max_output().to_string()),
            (ScriptKind::Node, Code::Function(file)) => {
                spec.args(["-e", NODE, shift.word()]).arg(file)
            }
            (ScriptKind::Php, Code::Function(file)) => {
                spec.args(["-r", PHP, "--", shift.word()]).arg(file)
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
        call: &Request,
    ) -> Result<Reply, Failure> {
        let turn = workers.turn(&call.principal.tenant).await;
        let mut worker = match turn.idle().await {
            Some(worker) => worker,
            None => self.start(self.script_spec(script, code, Shift::Serve, None)).await?,
        };
        let tier = worker.tier();
        self.remember_tier(tier);

        // Until the worker is given back it belongs to this future: whoever drops that, ends the worker.
        let reply = if stays(script.kind, code) {
            let outcome = self.ask(workers, &mut worker, call).await;
            self.log_stderr(&worker.take_stderr(), call, !matches!(outcome, Ok(Ok(_))));
            if outcome.is_ok() && !worker.is_spent() {
                turn.give_back(worker);
            }
            outcome.unwrap_or_else(Err)
        } else {
            let outcome = self.use_up(&mut worker, call).await;
            self.log_stderr(&worker.take_stderr(), call, outcome.is_err());
            drop(worker);
            self.start_ahead(workers, self.script_spec(script, code, Shift::Serve, None));
            outcome
        };
        let mut reply = reply?;
        reply.warnings.extend(self.tier_warning(tier));
        Ok(reply)
    }

    async fn start(&self, spec: Spec) -> Result<Worker, Failure> {
        self.runtime.runner.spawn_piped(spec).await.map(Worker::new).map_err(failure)
    }

    /// Starts the next program while nobody waits for it.
    fn start_ahead(&self, workers: &Workers, spec: Spec) {
        let runner = Arc::clone(&self.runtime.runner);
        workers.start_ahead(async move { runner.spawn_piped(spec).await.map(Worker::new) });
    }

    /// Asks a worker that stays. The outer error means that the worker is no longer to be trusted.
    async fn ask(
        &self,
        workers: &Workers,
        worker: &mut Worker,
        call: &Request,
    ) -> Result<Result<Reply, Failure>, Failure> {
        let limit = self.max_output();
        let answer = worker.ask(workers.next_id(), contract::request(call), limit).await?;
        Ok(match answer {
            Answer::Data(data) => contract::open(data),
            Answer::Printed { text, status, why } => {
                judge_end(text.as_bytes(), Exit::Code(status), why.as_bytes())
            }
            Answer::TooLarge { size } => Err(contract::too_large(size, limit as u64)),
            Answer::Failed(why) => Err(contract::broken(format!("the tool failed{}", hint(&why)))),
        })
    }

    /// Gives a program that was started ahead its one line, and reads it to its end.
    async fn use_up(&self, worker: &mut Worker, call: &Request) -> Result<Reply, Failure> {
        let (stdout, exit) = worker.finish(contract::request(call), self.max_output()).await?;
        judge_end(&stdout, exit, worker.stderr_so_far().as_bytes())
    }
}

/// The interpreter of a script, as its author wrote it.
pub(super) fn interpreter(script: &Script) -> &str {
    script.interpreter.as_deref().unwrap_or(script.kind.default_interpreter())
}

/// Whether an interpreter can run this code again and again. Node and PHP cannot run a whole program twice
/// in one process; theirs are started ahead of the call instead, and end with it.
fn stays(kind: ScriptKind, code: &Code) -> bool {
    kind == ScriptKind::Python || !matches!(code, Code::Program(_))
}

/// How long a shim works.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shift {
    Once,
    Serve,
}

impl Shift {
    fn word(self) -> &'static str {
        match self {
            Shift::Once => "once",
            Shift::Serve => "serve",
        }
    }
}
