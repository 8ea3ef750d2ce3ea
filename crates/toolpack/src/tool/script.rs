//! Python, Node and PHP: a script of its own making, or a function that our shim calls.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use egress::process::Spec;
use proto::Code as ErrorCode;
use serde_json::Value;
use strip::{Call, Failure};

use super::PackTool;
use super::process::{failure, hint, judge_end};
use crate::contract::{self, Reply};
use crate::manifest::{Script, ScriptKind};
use crate::pack::Code;
use crate::workers::{Broken, Exchange, Worker, Workers};

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
        call: &Call,
    ) -> Result<Reply, Failure> {
        match &self.workers {
            None => self.run_once(self.script_spec(script, code, Shift::Once), call).await,
            Some(workers) => {
                let time = self.time(call);
                let work = self.run_warm(workers, script, code, call);
                tokio::time::timeout(time, work).await.unwrap_or_else(|_| {
                    Err(Failure::new(
                        ErrorCode::Timeout,
                        format!("no result within {} ms", time.as_millis()),
                    ))
                })
            }
        }
    }

    fn script_spec(&self, script: &Script, code: &Code, shift: Shift) -> Spec {
        let interpreter =
            script.interpreter.as_deref().unwrap_or(script.kind.default_interpreter());
        let spec = self.spec(interpreter);
        let spec = match script.kind {
            ScriptKind::Python => spec.env("PYTHONUTF8", "1"),
            ScriptKind::Node => spec,
            ScriptKind::Php => spec.args(PHP_SETTINGS),
        };
        match (script.kind, code) {
            (ScriptKind::Python, Code::Module { module, function, search }) => {
                let what = [OsString::from("function"), module.into(), function.into()];
                spec.args(["-c", PYTHON, shift.word()])
                    .args(what)
                    .args(search.iter().map(PathBuf::as_os_str))
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
        call: &Call,
    ) -> Result<Reply, Failure> {
        let turn = workers.turn().await;
        let start = async {
            let spec = self.script_spec(script, code, Shift::Serve);
            let piped = self.runtime.runner.spawn_piped(spec).await.map_err(failure)?;
            Ok::<_, Failure>(Worker::new(piped))
        };
        let mut worker = match turn.idle() {
            Some(worker) => worker,
            None => start.await?,
        };
        self.remember_tier(worker.tier());
        worker.serves(call.trace);
        let tier = worker.tier();

        let stays = !matches!((script.kind, code), (ScriptKind::Node | ScriptKind::Php, Code::Program(_)));
        let outcome = if stays {
            self.ask(workers, &mut worker, call).await
        } else {
            self.use_up(&mut worker, call).await
        };
        let stderr = worker.take_stderr();
        self.log_stderr(stderr.as_bytes(), call, outcome.is_err());
        if stays {
            // One that answered in form is healthy, whatever the answer was. Any other was dropped on the way.
            if !matches!(outcome, Err(Ending::Broken(_))) {
                turn.give_back(worker);
            }
        } else {
            drop(worker);
            self.start_ahead(&turn, script, code).await;
        }
        let mut reply = outcome.map_err(|ending| match ending {
            Ending::Failed(failure) => failure,
            Ending::Broken(failure) => failure,
        })?;
        reply.warnings.extend(self.tier_warning(tier));
        Ok(reply)
    }

    /// Asks a worker that stays, and opens its answer.
    async fn ask(&self, workers: &Workers, worker: &mut Worker, call: &Call) -> Result<Reply, Ending> {
        let id = workers.next_id.fetch_add(1, Ordering::Relaxed);
        let limit = self.max_output();
        let exchange = worker
            .exchange(id, contract::request(call), limit)
            .await
            .map_err(|broken| Ending::Broken(explain(broken, limit)))?;
        match exchange {
            Exchange::Data(data) => contract::open(data).map_err(Ending::Failed),
            Exchange::Printed { text, status } => {
                let exit = egress::process::Exit::Code(status);
                judge_end(text.as_bytes(), exit, worker.recent_stderr().as_bytes()).map_err(Ending::Failed)
            }
            Exchange::TooLarge { size } => Err(Ending::Failed(contract::too_large(size, limit as u64))),
            Exchange::Failed(why) => {
                Err(Ending::Failed(contract::broken(format!("the tool failed{}", hint(&why)))))
            }
        }
    }

    /// Gives a program that was started ahead its one line, and reads it to its end.
    async fn use_up(&self, worker: &mut Worker, call: &Call) -> Result<Reply, Ending> {
        let limit = self.max_output();
        let (stdout, exit) = worker
            .finish(contract::request(call), limit)
            .await
            .map_err(|broken| Ending::Broken(explain(broken, limit)))?;
        judge_end(&stdout, exit, worker.recent_stderr().as_bytes()).map_err(Ending::Failed)
    }
}
