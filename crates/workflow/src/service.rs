use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use dag::Task;
use dag::core::{Phase, State};
use dag::plan::{Plan, Reading};
use proto::{Clock, Failure, Principal};
use runs::Run;
use store::{CommitQueue, Database};
use strip::Strip;
use tokio::sync::{Semaphore, broadcast, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::Planner;
use crate::active::Active;
use crate::answer::Moment;
use crate::failures;
use crate::queue::CommandQueue;
use crate::results::Results;

/// The calls of all workflows that run at once.
const MAX_CALLS: usize = 256;

/// How many evaluations at once read large values. Each takes some 15 times the length of the values in memory.
pub(crate) const MAX_LARGE_EVALUATIONS: usize = 2;

/// How many notices of new journal rows a reader may fall behind; it then reads the journal anyway.
const NOTICES: usize = 256;

/// What an operator may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long a paused workflow, and the answer of an ended one, are kept.
    pub ttl: Duration,
    pub control_calls_per_minute: u32,
    pub parallel_tasks: usize,
    /// How many workflows of one tenant may be unfinished.
    pub max_active: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(60 * 60),
            control_calls_per_minute: 10,
            parallel_tasks: 8,
            max_active: 10_000,
        }
    }
}

/// What all workflows share.
pub(crate) struct Service {
    pub(crate) strip: Arc<Strip>,
    pub(crate) database: Database,
    pub(crate) commits: CommitQueue,
    pub(crate) clock: Clock,
    pub(crate) settings: ArcSwap<Settings>,
    planner: OnceLock<Arc<dyn Planner>>,
    /// Names this process in leases.
    pub(crate) process: String,
    pub(crate) slots: Semaphore,
    /// Of all workflows together.
    pub(crate) large_evaluations: Semaphore,
    pub(crate) active: Active,
    /// The process stops: nothing new starts.
    pub(crate) draining: CancellationToken,
    /// The process ends: what still runs is cut off.
    pub(crate) stopping: CancellationToken,
    pub(crate) drivers: TaskTracker,
    live: Mutex<HashMap<Uuid, Arc<Live>>>,
    /// Workflows that get their first driver from the task that starts them, and from no other.
    starting: watch::Sender<HashSet<Uuid>>,
    /// Held while a workflow is read from the database, so that it gets one driver.
    pub(crate) loading: tokio::sync::Mutex<()>,
    committed: broadcast::Sender<Uuid>,
    /// Workflows that could not be read when they should have gone on.
    unread: Mutex<HashSet<Uuid>>,
}

/// A workflow that has a driver.
pub(crate) struct Live {
    pub(crate) workflow: Uuid,
    pub(crate) owner: Arc<Principal>,
    pub(crate) commands: CommandQueue,
    /// Approvals and questions of the workflow may have been settled.
    pub(crate) settled: mpsc::UnboundedSender<()>,
    pub(crate) published: watch::Receiver<Arc<Snapshot>>,
    pub(crate) results: Arc<Results>,
    pub(crate) run: Arc<Run>,
    /// A process died while it drove the workflow, which has made no progress since.
    pub(crate) crashed: bool,
}

/// A workflow as others see it.
pub(crate) struct Snapshot {
    /// Rises with each change.
    pub(crate) version: u64,
    pub(crate) plan: Arc<Plan>,
    pub(crate) state: State,
    pub(crate) expires_unix_ms: u64,
    /// The last answer, once it has ended.
    pub(crate) answer: Option<Arc<serde_json::Value>>,
}

impl Snapshot {
    pub(crate) fn is_running(&self) -> bool {
        !matches!(self.state.phase, Phase::Paused(_) | Phase::Ended(_))
    }
}

impl Live {
    pub(crate) fn moment<'a>(&'a self, snapshot: &'a Snapshot) -> Moment<'a> {
        Moment {
            workflow: self.workflow,
            plan: &snapshot.plan,
            state: &snapshot.state,
            results: &self.results,
        }
    }
}

impl Live {
    /// Whether a checkpoint waits for one of these approvals.
    pub(crate) fn awaits(&self, snapshot: &Snapshot, approvals: &[String]) -> bool {
        let decisions = self.moment(snapshot).decisions();
        let mut ids = decisions.iter().filter_map(|decision| decision["approval_id"].as_str());
        ids.any(|id| approvals.iter().any(|approval| approval == id))
    }
}

#[derive(Clone)]
pub(crate) enum Command {
    Continue {
        checkpoint_id: Option<String>,
        reason: Option<String>,
    },
    Abort {
        reason: String,
    },
    Retry {
        task_id: String,
        arguments: Option<Arguments>,
    },
    Modify {
        task_id: String,
        arguments: Arguments,
    },
    Skip {
        task_id: String,
        reason: Option<String>,
    },
    Inject {
        tasks: Reading,
        /// Whether they were planned for a requirement.
        replans: bool,
    },
    /// Decide about the approvals of a checkpoint; the caller does that once the command is accepted.
    Respond {
        checkpoint_id: String,
    },
    /// Continue, also a quarantined workflow.
    Release {
        reason: Option<String>,
    },
    /// End a paused workflow whose time is over.
    Expire,
    /// Wait until everything so far is committed.
    Flush,
}

pub(crate) type Arguments = serde_json::Map<String, serde_json::Value>;

/// The result of an accepted command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Accepted {
    /// The workflow works on it, from this version on.
    Proceeds { version: u64 },
    /// It had no effect: the workflow is past it, or waits.
    Repeats { version: u64 },
    /// Tasks were added.
    Extended { tasks: Vec<Task> },
    /// The approvals to decide about.
    Approvals { ids: Vec<String>, version: u64 },
}

impl Service {
    pub(crate) fn new(strip: &Arc<Strip>, clock: Clock, settings: Settings) -> Self {
        let commits = strip.commits().clone();
        Self {
            strip: Arc::clone(strip),
            database: commits.database().clone(),
            commits,
            clock,
            settings: ArcSwap::from_pointee(settings),
            planner: OnceLock::new(),
            process: Uuid::new_v4().to_string(),
            slots: Semaphore::new(MAX_CALLS),
            large_evaluations: Semaphore::new(MAX_LARGE_EVALUATIONS),
            active: Active::default(),
            draining: CancellationToken::new(),
            stopping: CancellationToken::new(),
            drivers: TaskTracker::new(),
            live: Mutex::default(),
            starting: watch::Sender::default(),
            loading: tokio::sync::Mutex::default(),
            committed: broadcast::channel(NOTICES).0,
            unread: Mutex::default(),
        }
    }

    /// Sets what makes plans of intents; the first one stays.
    pub(crate) fn set_planner(&self, planner: Arc<dyn Planner>) {
        self.planner.get_or_init(|| planner);
    }

    /// The planner, once it is set.
    pub(crate) fn planner(&self) -> Option<&Arc<dyn Planner>> {
        self.planner.get()
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.unix_ms()
    }

    pub(crate) fn expiry(&self, now: u64) -> u64 {
        let ttl = u64::try_from(self.settings.load().ttl.as_millis()).unwrap_or(u64::MAX);
        now.saturating_add(ttl)
    }

    pub(crate) fn live(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<Live>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a new workflow for the task that starts it, until that task ends.
    pub(crate) fn begin_start(self: &Arc<Self>, workflow: Uuid) -> Starting {
        self.starting.send_modify(|starting| {
            starting.insert(workflow);
        });
        Starting { service: Arc::clone(self), workflow }
    }

    /// Waits while a task starts this workflow.
    pub(crate) async fn wait_for_start(&self, workflow: Uuid) {
        // Fails only without a sender, which is here.
        let mut starting = self.starting.subscribe();
        let _ = starting.wait_for(|starting| !starting.contains(&workflow)).await;
    }

    /// Has a workflow look at its approvals and questions again in a moment, because the database could not be read.
    pub(crate) fn wake_later(&self, workflow: Uuid) {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner).insert(workflow);
    }

    /// The workflows to wake again, which are forgotten here.
    pub(crate) fn take_unread(&self) -> HashSet<Uuid> {
        std::mem::take(&mut *self.unread.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notifies readers of the journal that it has grown.
    pub(crate) fn announce(&self, workflow: Uuid) {
        // Fails if there are no readers.
        let _ = self.committed.send(workflow);
    }

    pub(crate) fn announcements(&self) -> broadcast::Receiver<Uuid> {
        self.committed.subscribe()
    }
}

/// The reservation of a workflow for the task that starts it.
pub(crate) struct Starting {
    service: Arc<Service>,
    workflow: Uuid,
}

impl Drop for Starting {
    fn drop(&mut self) {
        self.service.starting.send_modify(|starting| {
            starting.remove(&self.workflow);
        });
    }
}

impl Command {
    /// The name in journals and logs.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Continue { .. } => "continue",
            Self::Abort { .. } => "abort",
            Self::Retry { .. } => "retry_task",
            Self::Modify { .. } => "modify_args",
            Self::Skip { .. } => "skip_task",
            Self::Inject { replans: true, .. } => "replan",
            Self::Inject { .. } => "inject_tasks",
            Self::Respond { .. } => "approval_response",
            Self::Release { .. } => "continue --force",
            Self::Expire => "expire",
            Self::Flush => "flush",
        }
    }

    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::Continue { reason, .. }
            | Self::Skip { reason, .. }
            | Self::Release { reason } => reason.as_deref(),
            Self::Abort { reason } => Some(reason),
            _ => None,
        }
    }
}

impl Live {
    /// Sends a command and waits until it is accepted; none if the driver has just ended.
    pub(crate) async fn send(&self, command: Command) -> Option<Result<Accepted, Failure>> {
        match self.commands.add(command) {
            Some(accepted) => accepted.await.ok(),
            None => Some(Err(failures::queue_full(self.workflow))),
        }
    }
}
