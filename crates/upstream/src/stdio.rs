//! Servers that are child processes: one for each caller or session unless shared, supervised, and ended with the
//! gateway.

mod connection;
mod handshake;
mod launch;
mod pipes;
mod slot;

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use operations::servers::ProcessView;
use server_entry::{ServerConfig, Start};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::caller::Caller;
use crate::context::ServerContext;
use crate::deps::Deps;
use crate::era::Era;
use crate::error::{AskResult, TransportError};
use crate::handshake::needs_modern;
use crate::personal::Outdated;
use crate::rpc::RpcRequest;
use crate::share::Share;
use crate::status::{State, Status};
use crate::timing::Timing;
use handshake::KnownEra;
use launch::Launcher;
use slot::{Claim, Slot, Stage, Supervision};

/// How many processes of one server callers have, in addition to the one that the tools are listed from.
const SHARE: Share = Share { all: 63, of_caller: 16, reserved: 8 };

/// One stdio server with all its processes.
pub(crate) struct StdioTransport {
    launcher: Arc<Launcher>,
    timing: Timing,
    start: Start,
    /// The process that the tools are listed from. It holds no caller's state until the first local caller claims it.
    primary: Arc<Slot>,
    slots: Arc<Mutex<Slots>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

#[derive(Default)]
struct Slots {
    /// The caller that has claimed the primary process.
    owner: Option<Caller>,
    others: HashMap<Caller, CallerSlot>,
}

/// A caller's process, and the token that ends it without the others.
struct CallerSlot {
    slot: Arc<Slot>,
    stop: CancellationToken,
}

impl StdioTransport {
    pub(crate) fn new(
        name: &str,
        config: &Arc<ServerConfig>,
        deps: &Deps,
        context: &Arc<ServerContext>,
    ) -> Self {
        let launcher = Arc::new(Launcher::new(name, config, deps, context));
        Self {
            launcher,
            timing: deps.timing,
            start: config.start,
            primary: Arc::new(Slot::new(None)),
            slots: Arc::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        }
    }

    pub(crate) async fn ask(&self, caller: Option<&Caller>, request: &RpcRequest<'_>) -> AskResult {
        // A caller that is asked directly has a legacy process, even if the server is modern.
        let is_modern = self.era() == Some(Era::Modern);
        let direct = caller.filter(|caller| is_modern && caller.is_asked_directly());
        let Some(direct) = direct else { return self.ask_process(caller, request).await };
        let modern = direct.without_capabilities();
        if request.answers.is_some() {
            // Only the modern era has answers to earlier questions.
            return self.ask_process(Some(&modern), request).await;
        }
        match self.ask_process(caller, request).await {
            Ok(Err(error)) if needs_modern(&error) => {
                self.ask_process(Some(&modern), request).await
            }
            answer => answer,
        }
    }

    async fn ask_process(&self, caller: Option<&Caller>, request: &RpcRequest<'_>) -> AskResult {
        loop {
            let claim = self.claim(caller, request.own)?;
            let Some(connection) = claim.slot.connection().await? else {
                if self.stop.is_cancelled() {
                    return Err(TransportError::Unreachable(
                        "the server is not used any more".into(),
                    ));
                }
                // The slot was removed from the table after it was claimed.
                tokio::task::yield_now().await;
                continue;
            };
            match connection.ask(request).await {
                // The process was stopped as idle before the request was sent.
                Err(TransportError::Expired) => {}
                answer => return answer,
            }
        }
    }

    /// The caller by which its process is known; none if it uses the process that the tools are listed from.
    /// A process with secrets of a person is never that one.
    pub(crate) fn instance_of(&self, caller: &Caller, personal: bool) -> Option<Caller> {
        let caller = self.known_caller(caller);
        if personal {
            return Some(caller);
        }
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let is_owner = slots.owner.as_ref().is_none_or(|owner| *owner == caller);
        (!may_own_primary(&caller) || !is_owner).then_some(caller)
    }

    /// A modern server receives the client's capabilities with each request, a legacy one only in the handshake: there,
    /// each set of capabilities needs its own process.
    fn known_caller(&self, caller: &Caller) -> Caller {
        let modern = self.launcher.known().is_modern_for(caller);
        if modern { caller.without_capabilities() } else { caller.clone() }
    }

    /// Asks the process that a caller has, and starts none.
    pub(crate) async fn ask_own(&self, caller: &Caller, request: &RpcRequest<'_>) -> AskResult {
        let slot = {
            let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            slots.others.get(caller).map(|member| Claim::new(&member.slot, true))
        };
        let connection = slot.as_ref().and_then(|claim| claim.slot.current());
        match connection {
            Some(connection) => connection.ask(request).await,
            None => Err(TransportError::Expired),
        }
    }

    /// Keeps the process of a caller until nothing is watched there; an error if it ends before.
    pub(crate) async fn keep(
        &self,
        caller: &Caller,
        mut watched: watch::Receiver<BTreeSet<String>>,
    ) -> Result<(), TransportError> {
        let claim = self.claim(Some(caller), false)?;
        let Some(connection) = claim.slot.connection().await? else {
            return Err(TransportError::Expired);
        };
        tokio::select! {
            _ = watched.wait_for(BTreeSet::is_empty) => Ok(()),
            () = connection.wait_until_ended() => Err(TransportError::lost("the process has ended")),
        }
    }

    /// Claims the process of a caller. This happens under the lock of the table, so that no claimed slot is evicted.
    fn claim(&self, caller: Option<&Caller>, own: bool) -> Result<Claim, TransportError> {
        let Some(caller) = caller else { return Ok(Claim::new(&self.primary, own)) };
        let caller = &self.known_caller(caller);
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if may_own_primary(caller) {
            let owner = slots.owner.get_or_insert_with(|| caller.clone());
            if owner == caller {
                return Ok(Claim::new(&self.primary, own));
            }
        }
        if let Some(member) = slots.others.get(caller)
            && !member.slot.is_gone()
        {
            return Ok(Claim::new(&member.slot, own));
        }
        // A slot that is already gone is replaced and does not count.
        slots.others.remove(caller);
        let held = slots.others.iter().map(|(caller, member)| (caller, member.slot.unused_since()));
        let evicted = SHARE.make_room(caller, held)?.cloned();
        let evicted = evicted.and_then(|caller| slots.others.remove(&caller)).map(|member| {
            tracing::debug!(
                server = self.launcher.name(),
                "ending an idle process for another caller"
            );
            member.stop.cancel();
            member.slot
        });
        let slot = Arc::new(Slot::new(Some(caller.clone())));
        let stop = self.stop.child_token();
        let claim = Claim::new(&slot, own);
        slots
            .others
            .insert(caller.clone(), CallerSlot { slot: Arc::clone(&slot), stop: stop.clone() });
        self.tasks.spawn({
            let caller = caller.clone();
            let (launcher, timing) = (Arc::clone(&self.launcher), self.timing);
            let slots = Arc::clone(&self.slots);
            async move {
                // Wait for the evicted process, so that there are never more processes than the limit.
                if let Some(evicted) = evicted {
                    evicted.gone().await;
                }
                let supervision =
                    Supervision { launcher: &launcher, start: Start::Lazy, timing, stop: &stop };
                slot.supervise(supervision).await;
                let mut slots = slots.lock().unwrap_or_else(PoisonError::into_inner);
                if slots.others.get(&caller).is_some_and(|known| Arc::ptr_eq(&known.slot, &slot)) {
                    slots.others.remove(&caller);
                }
            }
        });
        Ok(claim)
    }

    /// Ends the processes that use secrets that are out of date.
    pub(crate) fn end_outdated(&self, outdated: &Outdated<'_>) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, ended) in slots.others.extract_if(|caller, _| caller.uses_outdated(outdated)) {
            ended.stop.cancel();
        }
    }

    pub(crate) fn era(&self) -> Option<Era> {
        self.launcher.known().era()
    }

    /// A known legacy server is not probed again.
    pub(crate) fn expect(&self, era: Option<Era>) {
        self.launcher.set_known(match era {
            None => KnownEra::Nothing,
            Some(Era::Legacy) => KnownEra::Legacy,
            Some(Era::Modern) => KnownEra::Modern,
        });
    }

    pub(crate) async fn list_due(&self, listed: bool, wait: Duration) {
        if !listed && self.start == Start::Lazy {
            // Without a stored list no tool could be called: listing starts the process.
            return tokio::time::sleep(wait).await;
        }
        self.primary.wait_until_up().await;
        // A restarted process is listed at once, a running one after a while.
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = self.primary.wait_until_not_up() => self.primary.wait_until_up().await,
        }
    }

    pub(crate) async fn maintain(&self) {
        let (launcher, stop) = (Arc::clone(&self.launcher), self.stop.clone());
        let (primary, start, timing) = (Arc::clone(&self.primary), self.start, self.timing);
        let supervising = self.tasks.spawn(async move {
            let supervision = Supervision { launcher: &launcher, start, timing, stop: &stop };
            primary.supervise(supervision).await;
        });
        let _ = supervising.await;
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
        let primary = self.primary.process();
        status.stderr_tail =
            self.launcher.journal().stderr_tail(primary.map(|started| started.pid));
        status.odd_messages = self.launcher.unexpected_messages.load(Ordering::Relaxed);
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let living = |slot: &&Arc<Slot>| matches!(*slot.stage(), Stage::Up(_) | Stage::Starting);
        let others = slots.others.values().map(|member| &member.slot);
        for slot in [&self.primary].into_iter().chain(others).filter(living) {
            status.sessions += 1;
            status.processes.extend(slot.process().map(|started| ProcessView {
                pid: started.pid,
                started_unix_ms: started.started_unix_ms,
            }));
        }
        match &*self.primary.stage() {
            Stage::Asleep if self.start == Start::Eager => status.state = State::Starting,
            Stage::Asleep | Stage::Gone => status.state = State::Stopped,
            Stage::Starting => status.state = State::Starting,
            Stage::Up(connection) => {
                // The process may have ended a moment ago.
                status.state = if connection.is_open() { State::Ready } else { State::Down };
                let info = connection.info();
                status.era = Some(info.era);
                status.server.clone_from(&info.server);
                status.capabilities.clone_from(&info.capabilities);
            }
            Stage::Down { why, until } => {
                status.state = State::Down;
                status.last_error = Some(why.to_string());
                status.retry_in = Some(until.saturating_duration_since(Instant::now()));
            }
        }
    }
}

/// Whether a caller may claim the process that the tools are listed from. With several people, none may.
fn may_own_primary(caller: &Caller) -> bool {
    !caller.can_be_asked() && caller.is_local() && caller.personal().is_none()
}
