use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use egress::process::{Exit, Limits, Piped, Process, Runner, Spec};
use proto::Clock;
use server_entry::{EraChoice, ServerConfig};
use tokio::io::BufReader;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::timeout;

use super::connection::Connection;
use super::handshake::{self, KnownEra, Plan};
use super::pipes::{self, Reader};
use super::slot::StartedProcess;
use crate::caller::Caller;
use crate::context::ServerContext;
use crate::deps::Deps;
use crate::era::Era;
use crate::error::TransportError;
use crate::journal::Journal;
use crate::pending::Pending;
use crate::rpc::{Params, RpcRequest};
use crate::subscription;
use crate::timing::Timing;

/// Lines that may be queued before requests have to wait.
const QUEUE: usize = 128;

/// How long to wait for the end of a process after the end of its output, and for the output after the end.
const END_TIMEOUT: Duration = Duration::from_millis(500);

/// Variables of the gateway's environment that every child process gets; none of them is a secret.
const PASSED: [&str; 9] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];

/// Starts the processes of one server.
pub(super) struct Launcher {
    name: String,
    runner: Arc<Runner>,
    clock: Clock,
    spec: Spec,
    context: Arc<ServerContext>,
    /// Whether several callers use one process.
    shared: bool,
    /// What the config says about the era.
    choice: EraChoice,
    known: Mutex<KnownEra>,
    pub(super) unexpected_messages: Arc<AtomicU64>,
}

impl Launcher {
    /// What happened at the server.
    pub(super) fn journal(&self) -> &Journal {
        &self.context.journal
    }

    pub(super) fn new(
        name: &str,
        config: &ServerConfig,
        deps: &Deps,
        context: &Arc<ServerContext>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            runner: Arc::clone(&deps.runner),
            clock: deps.clock.clone(),
            spec: spec(config, deps),
            context: Arc::clone(context),
            shared: config.is_shared(),
            choice: config.era,
            known: Mutex::new(KnownEra::of(config.era)),
            unexpected_messages: Arc::default(),
        }
    }

    /// The server's name, for the log.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Starts a process, notes it in `latest`, does the handshake for a caller, and subscribes to changes.
    pub(super) async fn start(
        &self,
        latest: &Mutex<Option<StartedProcess>>,
        timing: Timing,
        caller: Option<&Caller>,
    ) -> Result<Child, TransportError> {
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let began = timeout(timing.start, async {
            let mut spec = self.spec.clone();
            for (name, value) in caller.and_then(Caller::personal).iter().flat_map(|own| own.env())
            {
                spec = spec.env(name, value);
            }
            let piped = self.runner.spawn_piped(spec).await;
            let piped = piped.map_err(|why| TransportError::Unreachable(why.to_string().into()))?;
            let mut child = self.attach(piped, caller);
            *latest.lock().unwrap_or_else(PoisonError::into_inner) =
                child.pid.map(|pid| StartedProcess { pid, started_unix_ms: self.clock.unix_ms() });
            let connection = Arc::clone(&child.connection);
            let plan = self.known().plan(self.choice, caller);
            let greeting = tokio::select! {
                greeting = handshake::shake_hands(&connection, plan, caller, timing) => greeting,
                why = child.wait() => Err(why),
            };
            match greeting {
                Ok(info) => {
                    self.set_known(self.known().after(plan, info.era));
                    child.connection.set_info(info);
                    Ok(child)
                }
                Err(why @ TransportError::Lost(_)) => {
                    // Some legacy servers exit at the first message that is not `initialize`: send that next time.
                    let guessed = match (plan, self.known()) {
                        // The other way round for a modern server.
                        (Plan::LegacyFirst, KnownEra::Modern) => KnownEra::ModernOnly,
                        (Plan::LegacyFirst, known) => known,
                        (_, KnownEra::Nothing) => KnownEra::Legacy,
                        _ => KnownEra::Nothing,
                    };
                    self.set_known(guessed);
                    Err(why)
                }
                Err(broken) => {
                    // A caller that is asked directly has a handshake of its own, which says nothing about others.
                    if plan != Plan::LegacyFirst {
                        self.set_known(KnownEra::Nothing);
                    }
                    child.stop().await;
                    Err(broken)
                }
            }
        });
        let child = began.await.unwrap_or(Err(TransportError::TimedOut(timing.start)))?;
        let info = child.connection.info();
        if info.notifies_changes {
            let watched = match caller {
                None => self.context.watched.subscribe(),
                Some(caller) => self.context.instances.watched(caller.instance_key()),
            };
            child.listen(watched);
        }
        Ok(child)
    }

    fn attach(&self, piped: Piped, caller: Option<&Caller>) -> Child {
        let Piped { stdin, stdout, stderr: stderr_pipe, process } = piped;
        let pid = process.id();
        self.context.journal.note(pid, "started".to_owned());
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let pending = Arc::new(Pending::default());
        let connection = Arc::new(Connection::new(outgoing.clone(), Arc::clone(&pending)));
        let log_secrets = self.context.stderr_scrubber_of(caller);
        let reader = Reader {
            pending: Arc::clone(&pending),
            outgoing,
            connection: Arc::clone(&connection),
            pid,
            context: Arc::clone(&self.context),
            unexpected_messages: Arc::clone(&self.unexpected_messages),
            shared: self.shared,
            caller: caller.cloned(),
            secrets: self.context.scrubber_of(caller),
            log_secrets: log_secrets.clone(),
        };
        let writing = tokio::spawn(pipes::write(stdin, queue));
        let instance = caller.map(|caller| self.context.instances.begin(caller));
        let reading = tokio::spawn(async move {
            let _until_the_end = instance;
            reader.read(BufReader::with_capacity(64 * 1024, stdout)).await
        });
        let listening = tokio::spawn({
            let context = Arc::clone(&self.context);
            async move {
                context.journal.follow(stderr_pipe, pid, &log_secrets).await;
            }
        });
        Child {
            connection,
            pending,
            process: Some(process),
            reading,
            aborts: vec![writing.abort_handle(), listening.abort_handle()],
            listening,
            pid,
            journal: Arc::clone(&self.context.journal),
        }
    }

    pub(super) fn known(&self) -> KnownEra {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what is known, unless the config names the era.
    pub(super) fn set_known(&self, known: KnownEra) {
        if self.choice == EraChoice::Auto {
            *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
        }
    }
}

fn spec(config: &ServerConfig, deps: &Deps) -> Spec {
    // A server runs for long: the limits of a single tool run would end it.
    let (file_size, private_folder) = (4 << 30, 4 << 30);
    let limits = Limits { file_size, private_folder, open_files: 4_096, ..Limits::default() };
    let mut spec = Spec::new(config.command.clone().unwrap_or_default())
        .args(&config.args)
        .limits(limits)
        .policy(config.sandbox.policy());
    for name in PASSED {
        if let Some(value) = deps.environment.get(name) {
            spec = spec.env(name, value);
        }
    }
    for (name, value) in &config.env {
        spec = spec.env(name, value);
    }
    match (&config.cwd, &config.folder) {
        (Some(folder), _) => spec.folder(folder),
        // The folder holds the config file and its secrets: a confined program reads what `sandbox` names.
        (None, Some(folder)) => spec.start_in(folder),
        (None, None) => spec,
    }
}

/// A running process and the tasks at its pipes. Dropping it kills the process and its descendants.
pub(super) struct Child {
    pub(super) connection: Arc<Connection>,
    pending: Arc<Pending>,
    process: Option<Process>,
    reading: JoinHandle<TransportError>,
    listening: JoinHandle<()>,
    aborts: Vec<AbortHandle>,
    /// The id of its supervisor.
    pub(super) pid: Option<u32>,
    journal: Arc<Journal>,
}

impl Child {
    /// Subscribes to changes, and again when other resources are watched.
    fn listen(&self, mut watched: watch::Receiver<BTreeSet<String>>) {
        let connection = Arc::clone(&self.connection);
        tokio::spawn(async move {
            let info = connection.info();
            if info.era == Era::Legacy {
                return subscribe(&connection, watched).await;
            }
            loop {
                let params = subscription::listen_params(
                    info.capabilities.as_ref(),
                    &watched.borrow_and_update(),
                );
                let request = RpcRequest::plain("subscriptions/listen", Params::Map(&params));
                tokio::select! {
                    ended = connection.ask_lasting(&request) => {
                        let orderly = ended.is_ok();
                        tracing::debug!(orderly, "the subscription ended");
                        return;
                    }
                    Ok(()) = watched.changed() => {}
                }
            }
        });
    }

    /// Waits until the process has ended or can no longer be used, and returns why.
    pub(super) async fn wait(&mut self) -> TransportError {
        let Some(process) = &mut self.process else {
            return TransportError::lost("it was stopped");
        };
        let mut exit = None;
        let mut why = tokio::select! {
            why = &mut self.reading => why.unwrap_or_else(|_| TransportError::lost("its reader failed")),
            ended = process.wait() => {
                exit = ended.ok();
                // Messages that the process wrote before it ended still count.
                match timeout(END_TIMEOUT, &mut self.reading).await {
                    Ok(Ok(why)) => why,
                    _ => TransportError::lost("it ended"),
                }
            }
        };
        if exit.is_none() && matches!(why, TransportError::Lost(_)) {
            exit = timeout(END_TIMEOUT, process.wait()).await.ok().and_then(Result::ok);
        }
        let _ = timeout(END_TIMEOUT, &mut self.listening).await;
        if let (TransportError::Lost(_), Some(exit)) = (&why, exit) {
            let how = match exit {
                Exit::Code(code) => format!("it ended with exit code {code}"),
                Exit::Signal(signal) => format!("signal {signal} killed it"),
            };
            let last = self.journal.last_line(self.pid);
            let last = last.map(|line| format!(": {line}")).unwrap_or_default();
            self.journal.note(self.pid, how.clone());
            why = TransportError::lost(format!("{how}{last}"));
        }
        self.pending.end(&why);
        if let Some(process) = self.process.take() {
            process.kill().await;
        }
        why
    }

    /// Ends the process: first by closing its input, then by killing it.
    pub(super) async fn stop(mut self) {
        self.pending.end(&TransportError::lost("the gateway stopped it"));
        // The writer holds the pipe.
        self.abort();
        if let Some(mut process) = self.process.take() {
            let _ = timeout(END_TIMEOUT, process.wait()).await;
            process.kill().await;
        }
    }

    fn abort(&self) {
        self.aborts.iter().for_each(AbortHandle::abort);
        self.reading.abort();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.pending.end(&TransportError::lost("the gateway stopped it"));
        self.abort();
    }
}

/// Keeps the subscriptions at a legacy server equal to the watched resources, until the connection ends.
async fn subscribe(connection: &Connection, mut watched: watch::Receiver<BTreeSet<String>>) {
    let mut current = BTreeSet::new();
    loop {
        let requested = watched.borrow_and_update().clone();
        for (method, params) in subscription::changes(&current, &requested) {
            if connection.ask(&RpcRequest::plain(method, Params::Map(&params))).await.is_err() {
                return;
            }
        }
        current = requested;
        tokio::select! {
            changed = watched.changed() => if changed.is_err() { return },
            () = connection.wait_until_ended() => return,
        }
    }
}
