//! Servers that are child processes: one for each caller or session unless shared, supervised, and gone with the gateway.

mod connection;
mod handshake;
mod launch;
mod pipes;
mod scrub;
mod slot;

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::broken::Broken;
use crate::config::{ServerConfig, Start};
use crate::link::News;
use crate::rpc::{Answer, Ask};
use crate::share::Share;
use crate::status::{State, Status};
use crate::who::Who;
use crate::{Deps, Era, Timing};
use launch::Launch;
use slot::{Care, Claim, Slot, Stage};

/// How many processes of one server callers have, in addition to the one that the tools are listed from.
const SHARE: Share = Share { all: 63, of_caller: 16, reserved: 8 };

/// One stdio server with all its processes.
pub(crate) struct StdioLink {
    launch: Arc<Launch>,
    timing: Timing,
    start: Start,
    /// The process that the tools are listed from. Nobody's state is in it until the first caller takes it over.
    home: Arc<Slot>,
    slots: Arc<Mutex<Slots>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

#[derive(Default)]
struct Slots {
    /// Whose the home process has become.
    owner: Option<Who>,
    others: HashMap<Who, Member>,
}

/// A caller's process, and how it is ended without the others.
struct Member {
    slot: Arc<Slot>,
    stop: CancellationToken,
}

impl StdioLink {
    pub(crate) fn new(
        name: &str,
        config: &Arc<ServerConfig>,
        deps: &Deps,
        news: &Arc<News>,
    ) -> Self {
        let launch = Arc::new(Launch::new(name, config, deps, news));
        Self {
            launch,
            timing: deps.timing,
            start: config.start,
            home: Arc::new(Slot::new(None)),
            slots: Arc::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        }
    }

    pub(crate) async fn ask(&self, who: Option<&Who>, ask: &Ask<'_>) -> Result<Answer, Broken> {
        loop {
            let claim = self.claim(who, ask.own)?;
            let Some(connection) = claim.slot.connection().await? else {
                if self.stop.is_cancelled() {
                    return Err(Broken::Unreachable("the server is not used any more".into()));
                }
                // The slot was given up in this very moment, and is not in the table any more.
                tokio::task::yield_now().await;
                continue;
            };
            match connection.ask(ask).await {
                // It fell asleep in this very moment, and has seen nothing of the request.
                Err(Broken::Expired) => {}
                answer => return answer,
            }
        }
    }

    /// The process of a caller. A slot is claimed under the lock of the table, so that no claimed one is ended to make
    /// room for another.
    fn claim(&self, who: Option<&Who>, own: bool) -> Result<Claim, Broken> {
        let Some(who) = who else { return Ok(Claim::new(&self.home, own)) };
        // A modern server hears with each request what its caller can be asked; a legacy one must be told when it
        // starts, so that a caller who can be asked gets a process of their own.
        let modern = self.launch.known_era() == Some(Era::Modern);
        let who = &if modern { who.mute() } else { who.clone() };
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        // Where there are several people, the process that is listed is nobody's.
        if who.is_mute() && who.is_local() {
            let owner = slots.owner.get_or_insert_with(|| who.clone());
            if owner == who {
                return Ok(Claim::new(&self.home, own));
            }
        }
        if let Some(member) = slots.others.get(who)
            && !member.slot.is_gone()
        {
            return Ok(Claim::new(&member.slot, own));
        }
        // One that is given up in this very moment is replaced and takes no second place.
        slots.others.remove(who);
        let held = slots.others.iter().map(|(who, member)| (who, member.slot.unused_since()));
        let evicted = SHARE.make_room(who, held)?.cloned();
        let evicted = evicted.and_then(|who| slots.others.remove(&who)).map(|member| {
            tracing::debug!(server = self.launch.name(), "an idle process makes room for another");
            member.stop.cancel();
            member.slot
        });
        let slot = Arc::new(Slot::new(Some(who.clone())));
        let stop = self.stop.child_token();
        let claim = Claim::new(&slot, own);
        slots.others.insert(who.clone(), Member { slot: Arc::clone(&slot), stop: stop.clone() });
        self.tasks.spawn({
            let who = who.clone();
            let (launch, timing) = (Arc::clone(&self.launch), self.timing);
            let slots = Arc::clone(&self.slots);
            async move {
                // Never more processes than places.
                if let Some(evicted) = evicted {
                    evicted.gone().await;
                }
                let care = Care { launch: &launch, start: Start::Lazy, timing, stop: &stop };
                slot.keep(care).await;
                let mut slots = slots.lock().unwrap_or_else(PoisonError::into_inner);
                if slots.others.get(&who).is_some_and(|kept| Arc::ptr_eq(&kept.slot, &slot)) {
                    slots.others.remove(&who);
                }
            }
        });
        Ok(claim)
    }

    pub(crate) fn era(&self) -> Option<Era> {
        self.launch.known_era()
    }

    /// A legacy server that does not answer a probe is not made to wait for it again.
    pub(crate) fn expect(&self, era: Option<Era>) {
        self.launch.learn(era);
    }

    pub(crate) async fn due(&self, listed: bool, wait: Duration) {
        if !listed && self.start == Start::Lazy {
            // Without a list from an earlier run nobody could ever call it: listing wakes it.
            return tokio::time::sleep(wait).await;
        }
        self.home.risen().await;
        // Both ways to be due end the wait: a new process now, a running one after a while.
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = self.home.fell() => self.home.risen().await,
        }
    }

    pub(crate) async fn tend(&self) {
        let (launch, stop) = (Arc::clone(&self.launch), self.stop.clone());
        let (home, start, timing) = (Arc::clone(&self.home), self.start, self.timing);
        let keeping = self.tasks.spawn(async move {
            home.keep(Care { launch: &launch, start, timing, stop: &stop }).await;
        });
        let _ = keeping.await;
    }

    pub(crate) fn abandon(&self) {
        self.stop.cancel();
    }

    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    pub(crate) fn describe(&self, status: &mut Status) {
        status.transport = "stdio";
        status.stderr_tail = self.home.stderr_tail();
        status.restarts = self.launch.falls.load(Ordering::Relaxed);
        status.odd_messages = self.launch.odd.load(Ordering::Relaxed);
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let living = |slot: &&Arc<Slot>| matches!(*slot.stage(), Stage::Up(_) | Stage::Starting);
        let others = slots.others.values().map(|member| &member.slot);
        status.sessions = others.chain([&self.home]).filter(living).count();
        match &*self.home.stage() {
            Stage::Asleep if self.start == Start::Eager => status.state = State::Starting,
            Stage::Asleep | Stage::Gone => status.state = State::Asleep,
            Stage::Starting => status.state = State::Starting,
            Stage::Up(connection) => {
                // It may have ended a moment ago.
                status.state = if connection.is_open() { State::Ready } else { State::Down };
                let facts = connection.facts();
                status.era = Some(facts.era);
                status.server.clone_from(&facts.server);
                status.capabilities.clone_from(&facts.capabilities);
            }
            Stage::Down { why, until } => {
                status.state = State::Down;
                status.last_error = Some(why.to_string());
                status.retry_in =
                    Some(until.saturating_duration_since(tokio::time::Instant::now()));
            }
        }
    }
}
