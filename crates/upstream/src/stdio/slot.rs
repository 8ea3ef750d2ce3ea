//! One process's place: asleep, starting, up, or down until it is tried again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::connection::Connection;
use super::launch::Launch;
use super::pipes::StderrTail;
use crate::Timing;
use crate::backoff::Backoff;
use crate::broken::Broken;
use crate::config::Start;
use crate::who::Who;

/// How a slot's process is.
pub(super) enum Stage {
    Asleep,
    Starting,
    Up(Arc<Connection>),
    Down {
        why: Broken,
        until: Instant,
    },
    /// Given up; whoever comes next gets a new slot.
    Gone,
}

/// A place for one process, and who looks after it.
pub(super) struct Slot {
    stage: watch::Sender<Stage>,
    wake: Notify,
    used: Mutex<Instant>,
    /// How many requests use the process or wait for it.
    users: AtomicUsize,
    stderr: Mutex<Arc<StderrTail>>,
    /// Whose it is; the lists come from the one that is nobody's.
    who: Option<Who>,
}

impl Slot {
    pub(super) fn new(who: Option<Who>) -> Self {
        Self {
            stage: watch::channel(Stage::Asleep).0,
            wake: Notify::new(),
            used: Mutex::new(Instant::now()),
            users: AtomicUsize::new(0),
            stderr: Mutex::default(),
            who,
        }
    }

    pub(super) fn stage(&self) -> watch::Ref<'_, Stage> {
        self.stage.borrow()
    }

    pub(super) fn is_gone(&self) -> bool {
        matches!(*self.stage(), Stage::Gone)
    }

    pub(super) fn stderr_tail(&self) -> Option<String> {
        let tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        Some(tail.text()).filter(|text| !text.is_empty())
    }

    /// Notes that somebody called.
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

    /// The connection, waited for while the process starts; `None` if the slot was given up.
    pub(super) async fn connection(&self) -> Result<Option<Arc<Connection>>, Broken> {
        let mut stages = self.stage.subscribe();
        loop {
            match &*stages.borrow_and_update() {
                Stage::Up(connection) if connection.is_open() => {
                    return Ok(Some(Arc::clone(connection)));
                }
                Stage::Down { why, until } => {
                    return Err(Broken::Down { why: why.to_string().into(), until: Some(*until) });
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
    pub(super) async fn risen(&self) {
        let mut stages = self.stage.subscribe();
        let _ = stages.wait_for(|stage| matches!(stage, Stage::Up(_))).await;
    }

    /// Waits until the process is not up.
    pub(super) async fn fell(&self) {
        let mut stages = self.stage.subscribe();
        let _ = stages.wait_for(|stage| !matches!(stage, Stage::Up(_))).await;
    }

    /// Looks after the process until the slot is given up or the gateway stops.
    pub(super) async fn keep(&self, care: Care<'_>) {
        let mut backoff = Backoff::new(care.timing.backoff, care.timing.backoff_max);
        while self.wanted(&care).await {
            let Err(why) = self.live(&care, &mut backoff).await else { continue };
            let until = Instant::now() + backoff.next();
            care.launch.falls.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(server = care.launch.name(), %why, "a server's process is down");
            self.stage.send_replace(Stage::Down { why, until });
            care.stop.run_until_cancelled(sleep_until(until)).await;
            self.stage.send_replace(Stage::Asleep);
        }
        self.stage.send_replace(Stage::Gone);
    }

    /// Waits until somebody needs the process; false if the slot can go.
    async fn wanted(&self, care: &Care<'_>) -> bool {
        let needed = async {
            if care.start == Start::Eager {
                return true;
            }
            let woken = self.wake.notified();
            if self.who.is_none() {
                woken.await;
                return true;
            }
            tokio::time::timeout(care.timing.idle, woken).await.is_ok()
        };
        care.stop.run_until_cancelled(needed).await.unwrap_or(false)
    }

    /// One life of the process. `Ok` is a life that ended because nobody needed it.
    async fn live(&self, care: &Care<'_>, backoff: &mut Backoff) -> Result<(), Broken> {
        self.stage.send_replace(Stage::Starting);
        let stderr = Arc::new(StderrTail::new(care.launch.secrets()));
        *self.stderr.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&stderr);
        let started = care.launch.start(&stderr, care.timing, self.who.as_ref());
        let Some(child) = care.stop.run_until_cancelled(started).await else { return Ok(()) };
        let mut child = child?;
        let born = Instant::now();
        self.touch();
        let connection = Arc::clone(&child.connection);
        self.stage.send_replace(Stage::Up(Arc::clone(&connection)));
        let why = tokio::select! {
            why = child.over() => Some(why),
            () = self.idle(&connection, care.timing.idle), if care.start == Start::Lazy => None,
            () = care.stop.cancelled() => None,
        };
        if born.elapsed() >= care.timing.stable {
            backoff.reset();
        }
        if let Some(why) = why {
            return Err(why);
        }
        // Calls from before this moment have been served and must not wake it again.
        let _ = self.wake.notified().now_or_never();
        self.stage.send_replace(Stage::Asleep);
        child.stop().await;
        Ok(())
    }

    /// Ends when nobody has called for `allowed` and nobody waits for an answer; the connection is closed then.
    async fn idle(&self, connection: &Connection, allowed: Duration) {
        loop {
            let until = self.idle_since() + allowed;
            if Instant::now() >= until && connection.close_if_idle() {
                return;
            }
            sleep_until(until.max(Instant::now() + allowed / 4)).await;
        }
    }
}

/// A request's hold on a slot, whose process is not ended for another caller meanwhile.
pub(super) struct Claim {
    pub(super) slot: Arc<Slot>,
    /// Whether it is the gateway's own request, which keeps no process awake.
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

/// What a slot is kept with.
#[derive(Clone, Copy)]
pub(super) struct Care<'a> {
    pub(super) launch: &'a Launch,
    pub(super) start: Start,
    pub(super) timing: Timing,
    pub(super) stop: &'a CancellationToken,
}
