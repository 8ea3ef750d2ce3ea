use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use egress::process::{Exit, Limits, Piped, Process, Runner, Spec};
use proto::Scrubber;
use tokio::io::BufReader;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::timeout;

use super::connection::{Connection, Pending};
use super::handshake;
use super::pipes::{self, Reader, StderrTail};
use crate::broken::Broken;
use crate::config::ServerConfig;
use crate::era::Era;
use crate::hearing::Place;
use crate::link::News;
use crate::rpc::{Ask, Params};
use crate::who::Who;
use crate::wishes::{differences, filter};
use crate::{Deps, Timing};

/// Lines that may wait to be written before those who ask have to wait themselves.
const QUEUE: usize = 128;

/// How long the end of a process is waited for once its output has ended, and the other way round.
const AFTERMATH: Duration = Duration::from_millis(500);

/// What every child may know of the gateway's environment: what programs need to find their way, and no secret.
const PASSED: [&str; 9] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];

/// How the processes of one server are started.
pub(super) struct Launch {
    name: String,
    runner: Arc<Runner>,
    spec: Spec,
    news: Arc<News>,
    /// Whether several callers use one process.
    shared: bool,
    /// What is known of the server's era: 0 nothing, 1 modern, 2 legacy.
    era: AtomicU8,
    /// How often a process ended by itself or did not start.
    pub(super) falls: AtomicU64,
    pub(super) odd: Arc<AtomicU64>,
}

impl Launch {
    /// What takes the server's secrets out of what it says.
    pub(super) fn secrets(&self) -> Scrubber {
        self.news.scrubber.clone()
    }

    pub(super) fn new(name: &str, config: &ServerConfig, deps: &Deps, news: &Arc<News>) -> Self {
        Self {
            name: name.to_owned(),
            runner: Arc::clone(&deps.runner),
            spec: spec(config, deps),
            news: Arc::clone(news),
            shared: config.is_shared(),
            era: AtomicU8::new(0),
            falls: AtomicU64::new(0),
            odd: Arc::default(),
        }
    }

    /// The server's name, for the log.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Starts a process and shakes hands in a caller's name; the one that is nobody's tells about changes.
    pub(super) async fn start(
        &self,
        stderr: &Arc<StderrTail>,
        timing: Timing,
        who: Option<&Who>,
    ) -> Result<Child, Broken> {
        let began = timeout(timing.start, async {
            let piped = self.runner.spawn_piped(self.spec.clone()).await;
            let piped = piped.map_err(|why| Broken::Unreachable(why.to_string().into()))?;
            let place = if who.is_none() { Place::Ours } else { Place::Callers };
            let mut child = self.attach(piped, stderr, place);
            let connection = Arc::clone(&child.connection);
            let greeting = tokio::select! {
                greeting = handshake::greet(&connection, self.known_era(), who, timing) => greeting,
                why = child.over() => Err(why),
            };
            match greeting {
                Ok(facts) => {
                    self.learn(Some(facts.era));
                    child.connection.agree(facts);
                    Ok(child)
                }
                Err(why @ Broken::Lost(_)) => {
                    // Some legacy servers end at the first message that is no greeting: next time they get one.
                    self.learn(Some(Era::Legacy).filter(|_| self.known_era().is_none()));
                    Err(why)
                }
                Err(broken) => {
                    self.learn(None);
                    child.stop().await;
                    Err(broken)
                }
            }
        });
        let child = began.await.unwrap_or(Err(Broken::TimedOut(timing.start)))?;
        let facts = child.connection.facts();
        if who.is_none() && facts.tells_changes {
            child.listen(&self.news);
        }
        Ok(child)
    }

    fn attach(&self, piped: Piped, stderr: &Arc<StderrTail>, place: Place) -> Child {
        let Piped { stdin, stdout, stderr: complaints, process } = piped;
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let pending = Arc::new(Pending::default());
        let reader = Reader {
            pending: Arc::clone(&pending),
            outgoing: outgoing.clone(),
            news: Arc::clone(&self.news),
            odd: Arc::clone(&self.odd),
            shared: self.shared,
            place,
        };
        let writing = tokio::spawn(pipes::write(stdin, queue));
        let reading =
            tokio::spawn(
                async move { reader.read(BufReader::with_capacity(64 * 1024, stdout)).await },
            );
        let listening = tokio::spawn({
            let stderr = Arc::clone(stderr);
            async move { stderr.fill(complaints).await }
        });
        Child {
            connection: Arc::new(Connection::new(outgoing, Arc::clone(&pending))),
            pending,
            process: Some(process),
            reading,
            aborts: vec![writing.abort_handle(), listening.abort_handle()],
            listening,
            stderr: Arc::clone(stderr),
        }
    }

    pub(super) fn known_era(&self) -> Option<Era> {
        match self.era.load(Ordering::Relaxed) {
            1 => Some(Era::Modern),
            2 => Some(Era::Legacy),
            _ => None,
        }
    }

    pub(super) fn learn(&self, era: Option<Era>) {
        let known = match era {
            None => 0,
            Some(Era::Modern) => 1,
            Some(Era::Legacy) => 2,
        };
        self.era.store(known, Ordering::Relaxed);
    }
}

fn spec(config: &ServerConfig, deps: &Deps) -> Spec {
    // A server lives long: what bounds a single run would end it in its best years.
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
    match &config.cwd {
        Some(folder) => spec.folder(folder),
        None => spec,
    }
}

/// A running process and the tasks at its pipes. Dropping it kills the process and all it started.
pub(super) struct Child {
    pub(super) connection: Arc<Connection>,
    pending: Arc<Pending>,
    process: Option<Process>,
    reading: JoinHandle<Broken>,
    listening: JoinHandle<()>,
    aborts: Vec<AbortHandle>,
    stderr: Arc<StderrTail>,
}

impl Child {
    /// Asks the server to tell about changes, and again when other resources are watched.
    fn listen(&self, news: &Arc<News>) {
        let connection = Arc::clone(&self.connection);
        let mut wishes = news.watched.subscribe();
        tokio::spawn(async move {
            let facts = connection.facts();
            if facts.era == Era::Legacy {
                return subscribe(&connection, wishes).await;
            }
            loop {
                let params = filter(facts.capabilities.as_ref(), &wishes.borrow_and_update());
                let ask = Ask::plain("subscriptions/listen", Params::Map(&params));
                tokio::select! {
                    ended = connection.stand(&ask) => {
                        let orderly = ended.is_ok();
                        tracing::debug!(orderly, "a server stopped telling about changes");
                        return;
                    }
                    Ok(()) = wishes.changed() => {}
                }
            }
        });
    }

    /// Waits until the process has ended or is of no use any more, and says why.
    pub(super) async fn over(&mut self) -> Broken {
        let Some(process) = &mut self.process else { return Broken::lost("it was stopped") };
        let mut exit = None;
        let mut why = tokio::select! {
            why = &mut self.reading => why.unwrap_or_else(|_| Broken::lost("its reader failed")),
            ended = process.wait() => {
                exit = ended.ok();
                // What it said before it ended still counts.
                match timeout(AFTERMATH, &mut self.reading).await {
                    Ok(Ok(why)) => why,
                    _ => Broken::lost("it ended"),
                }
            }
        };
        if exit.is_none() && matches!(why, Broken::Lost(_)) {
            exit = timeout(AFTERMATH, process.wait()).await.ok().and_then(Result::ok);
        }
        let _ = timeout(AFTERMATH, &mut self.listening).await;
        if let (Broken::Lost(_), Some(exit)) = (&why, exit) {
            let how = match exit {
                Exit::Code(code) => format!("it ended with exit code {code}"),
                Exit::Signal(signal) => format!("signal {signal} killed it"),
            };
            let last = self.stderr.last_line().map(|line| format!(": {line}")).unwrap_or_default();
            why = Broken::lost(format!("{how}{last}"));
        }
        self.pending.end(&why);
        if let Some(process) = self.process.take() {
            process.kill().await;
        }
        why
    }

    /// Ends the process: first by the end of its input, then by force.
    pub(super) async fn stop(mut self) {
        self.pending.end(&Broken::lost("the gateway stopped it"));
        // The writer holds the pipe.
        self.abort();
        if let Some(mut process) = self.process.take() {
            let _ = timeout(AFTERMATH, process.wait()).await;
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
        self.pending.end(&Broken::lost("the gateway stopped it"));
        self.abort();
    }
}

/// Keeps a legacy server told which resources somebody wants to hear of, as long as it lives.
async fn subscribe(connection: &Connection, mut wishes: watch::Receiver<BTreeSet<String>>) {
    let mut told = BTreeSet::new();
    loop {
        let wanted = wishes.borrow_and_update().clone();
        for (method, params) in differences(&told, &wanted) {
            if connection.ask(&Ask::plain(method, Params::Map(&params))).await.is_err() {
                return;
            }
        }
        told = wanted;
        tokio::select! {
            changed = wishes.changed() => if changed.is_err() { return },
            () = connection.ended_waiting() => return,
        }
    }
}
