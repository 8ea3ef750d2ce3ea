//! A slot for one process: asleep, starting, up, or down until it is tried again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use server_entry::Start;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::connection::Connection;
use super::launch::Launcher;
use crate::backoff::Backoff;
use crate::caller::Caller;
use crate::error::TransportError;
use crate::timing::Timing;

/// The state of a slot's process.
pub(super) enum Stage {
    Asleep,
    Starting,
    Up(Arc<Connection>),
    Down {
        why: TransportError,
        until: Instant,
    },
    /// Given up; the next request gets a new slot.
    Gone,
}

/// A process that was started.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartedProcess {
    /// The id of its supervisor.
    pub(super) pid: u32,
    pub(super) started_unix_ms: u64,
}

/// A slot for one process.
pub(super) struct Slot {
    stage: watch::Sender<Stage>,
    wake: Notify,
    used: Mutex<Instant>,
    /// How many requests use the process or wait for it.
    users: AtomicUsize,
    /// The process that was started last.
    process: Mutex<Option<StartedProcess>>,
    /// The caller it belongs to; none for the one that the tools are listed from.
    caller: Option<Caller>,
}

impl Slot {
    pub(super) fn new(caller: Option<Caller>) -> Self {
        Self {
            stage: watch::channel(Stage::Asleep).0,
            wake: Notify::new(),
            used: Mutex::new(Instant::now()),
            users: AtomicUsize::new(0),
            process: Mutex::default(),
            caller,
        }
    }

    pub(super) fn stage(&self) -> watch::Ref<'_, Stage> {
        self.stage.borrow()
    }

    pub(super) fn is_gone(&self) -> bool {
        matches!(*self.stage(), Stage::Gone)
    }

    /// The process that was started last; it may have ended.
    pub(super) fn process(&self) -> Option<StartedProcess> {
        *self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a use of the process.
    pub(super) fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn idle_since(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the process was last used; none while it is in use.
    pub(super) fn unused_since(&self) -> Option<Instant> {
        (self.users.load(Ordering::Acquire) == 0).then(|| self.idle_since())
    }

    /// Waits until the slot is given up and its process has ended.
    pub(super) async fn gone(&self) {
        let mut stages = self.stage.subscribe();
        let _ = stages.wait_for(|stage| matches!(stage, Stage::Gone)).await;
    }

    /// Starts a process that is asleep.
    pub(super) fn wake(&self) {
        self.wake.notify_one();
    }

    /// The connection, if the process is up.
    pub(super) fn current(&self) -> Option<Arc<Connection>> {
        match &*self.stage() {
            Stage::Up(connection) if connection.is_open() => Some(Arc::clone(connection)),
            _ => None,
        }
    }

    /// The connection, waited for while the process starts; `None` if the slot was given up.
    pub(super) async fn connection(&self) -> Result<Option<Arc<Connection>>, TransportError> {
        let mut stages = self.stage.subscribe();
        loop {
            match &*stages.borrow_and_update() {
                Stage::Up(connection) if connection.is_open() => {
                    return Ok(Some(Arc::clone(connection)));
                }
                Stage::Down { why, until } => {
                    return Err(TransportError::Down {
                        why: why.to_string().into(),
                        until: Some(*until),
                    });
                }
                Stage::Gone => return Ok(None),
                Stage::Asleep => self.wake(),
                Stage::Up(_) | Stage::Starting => {}
            }
            if stages.changed().await.is_err() {
                return Ok(None);
            }
        }
    }

    /// Waits until the process is up.
    pub(super) async fn wait_until_up(&self) {
        let mut stages = self.stage.subscribe();
        let _ = stages.wait_for(|stage| matches!(stage, Stage::Up(_))).await;
    }

    /// Waits until the process is not up.
    pub(super) async fn wait_until_not_up(&self) {
        let mut stages = self.stage.subscribe();
        let _ = stages.wait_for(|stage| !matches!(stage, Stage::Up(_))).await;
    }

    /// Starts and restarts the process until the slot is given up or the gateway stops.
    pub(super) async fn supervise(&self, supervision: Supervision<'_>) {
        let mut backoff = Backoff::new(supervision.timing.backoff, supervision.timing.backoff_max);
        while self.wait_until_needed(&supervision).await {
            let Err(why) = self.run(&supervision, &mut backoff).await else { continue };
            let until = Instant::now() + backoff.next();
            let journal = supervision.launcher.journal();
            let is_of_caller = self.caller.is_some() && !matches!(*self.stage(), Stage::Up(_));
            if is_of_caller {
                journal.caller_start_failed(&why.to_string());
            } else {
                journal.process_failed(&why.to_string());
            }
            self.stage.send_replace(Stage::Down { why, until });
            supervision.stop.run_until_cancelled(sleep_until(until)).await;
            self.stage.send_replace(Stage::Asleep);
        }
        self.stage.send_replace(Stage::Gone);
    }

    /// Waits until a request needs the process; false if the slot can be given up.
    async fn wait_until_needed(&self, supervision: &Supervision<'_>) -> bool {
        let needed = async {
            if supervision.start == Start::Eager {
                return true;
            }
            let woken = self.wake.notified();
            if self.caller.is_none() {
                woken.await;
                return true;
            }
            tokio::time::timeout(supervision.timing.idle, woken).await.is_ok()
        };
        supervision.stop.run_until_cancelled(needed).await.unwrap_or(false)
    }

    /// Runs the process once. `Ok` means that it was stopped because it was idle.
    async fn run(
        &self,
        supervision: &Supervision<'_>,
        backoff: &mut Backoff,
    ) -> Result<(), TransportError> {
        self.stage.send_replace(Stage::Starting);
        backoff.limit_to(supervision.timing.start_backoff_max);
        let caller = self.caller.as_ref();
        let started = supervision.launcher.start(&self.process, supervision.timing, caller);
        let Some(child) = supervision.stop.run_until_cancelled(started).await else {
            return Ok(());
        };
        let mut child = child?;
        let started_at = Instant::now();
        backoff.limit_to(supervision.timing.backoff_max);
        self.touch();
        let connection = Arc::clone(&child.connection);
        self.stage.send_replace(Stage::Up(Arc::clone(&connection)));
        let journal = supervision.launcher.journal();
        let stable = async {
            sleep(supervision.timing.stable).await;
            journal.is_up(Duration::ZERO);
            std::future::pending::<()>().await
        };
        let why = tokio::select! {
            why = child.wait() => Some(why),
            () = stable => None,
            () = self.idle(&connection, supervision.timing.idle), if supervision.start == Start::Lazy => None,
            () = supervision.stop.cancelled() => None,
        };
        if started_at.elapsed() >= supervision.timing.stable {
            backoff.reset();
        }
        if let Some(why) = why {
            return Err(why);
        }
        // Requests before this moment were served and must not start it again.
        let _ = self.wake.notified().now_or_never();
        self.stage.send_replace(Stage::Asleep);
        journal.note(child.pid, "stopped by the gateway".to_owned());
        child.stop().await;
        Ok(())
    }

    /// Ends when the process was idle for `allowed`; the connection is closed then.
    async fn idle(&self, connection: &Connection, allowed: Duration) {
        loop {
            let until = self.idle_since() + allowed;
            let is_held = self.users.load(Ordering::Acquire) > 0;
            if Instant::now() >= until && !is_held && connection.close_if_idle() {
                return;
            }
            sleep_until(until.max(Instant::now() + allowed / 4)).await;
        }
    }
}

/// A request's use of a slot. A claimed slot is not evicted for another caller.
pub(super) struct Claim {
    pub(super) slot: Arc<Slot>,
    /// Whether it is the gateway's own request, which does not count as use.
    own: bool,
}

impl Claim {
    pub(super) fn new(slot: &Arc<Slot>, own: bool) -> Self {
        slot.users.fetch_add(1, Ordering::AcqRel);
        let claim = Self { slot: Arc::clone(slot), own };
        claim.touch();
        claim
    }

    fn touch(&self) {
        if !self.own {
            self.slot.touch();
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.touch();
        self.slot.users.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The parameters of the supervision of a slot.
#[derive(Clone, Copy)]
pub(super) struct Supervision<'a> {
    pub(super) launcher: &'a Launcher,
    pub(super) start: Start,
    pub(super) timing: Timing,
    pub(super) stop: &'a CancellationToken,
}
