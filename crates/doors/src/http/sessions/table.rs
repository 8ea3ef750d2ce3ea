//! The table of sessions, and which of them ends when another needs its place.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use http_server::Share;
use proto::Principal;
use rmcp::model::{ClientCapabilities, InitializeRequestParams};
use rmcp::transport::streamable_http_server::session::SessionId;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::fault::SessionFault;
use crate::mcp::ListVersions;

#[derive(Default)]
pub(super) struct Table(HashMap<SessionId, Session>);

/// What is known about a session.
pub(super) struct Session {
    pub(super) owner: Arc<Principal>,
    /// Counts against the limits of sessions.
    pub(super) share: Option<Share>,
    /// The parameters of its `initialize` request, once that was answered.
    pub(super) start: Option<Box<InitializeRequestParams>>,
    /// The negotiated revision of the protocol.
    pub(super) version: String,
    /// Whether its client declared no capabilities, so that an answer is the only message to it.
    pub(super) plain: bool,
    /// Whether the client has sent `notifications/initialized`.
    pub(super) ready: bool,
    /// When it was last used.
    pub(super) used: Instant,
    /// When it last needed the library.
    pub(super) worked: Instant,
    /// Whether the library's tasks for it are running.
    pub(super) live: bool,
    /// How many times it was restored after it was parked.
    pub(super) life: u32,
    /// How many times it was parked without the library having reported the end of its tasks.
    pub(super) parking: u32,
    /// Whether the library's tasks hold state that parking would lose.
    pub(super) stateful: bool,
    /// The versions of the lists when it was parked.
    pub(super) lists: Option<ListVersions>,
    /// The requests that the library is answering.
    pub(super) requests: TaskTracker,
    /// The streams that answer its requests.
    pub(super) answers: TaskTracker,
    /// The streams for notifications.
    pub(super) streams: TaskTracker,
    /// The running calls that bypass the library, by id.
    pub(super) calls: HashMap<Box<str>, CancellationToken>,
    /// Cancelled when it ends.
    pub(super) ended: CancellationToken,
    /// Held while it is being parked or restored.
    pub(super) changing: Arc<tokio::sync::Mutex<()>>,
}

impl Session {
    pub(super) fn new(owner: Arc<Principal>, share: Share) -> Self {
        let now = Instant::now();
        Self {
            owner,
            share: Some(share),
            start: None,
            version: String::new(),
            plain: false,
            ready: false,
            used: now,
            worked: now,
            live: true,
            life: 0,
            parking: 0,
            stateful: false,
            lists: None,
            requests: TaskTracker::new(),
            answers: TaskTracker::new(),
            streams: TaskTracker::new(),
            calls: HashMap::new(),
            ended: CancellationToken::new(),
            changing: Arc::default(),
        }
    }

    /// Records what was negotiated. A restored session keeps its values.
    pub(super) fn begin(&mut self, start: InitializeRequestParams, version: String) {
        if self.start.is_none() {
            self.plain = start.capabilities == ClientCapabilities::default();
            self.version = version;
            self.start = Some(Box::new(start));
        }
    }

    /// Whether the library has open requests or streams for it.
    pub(super) fn is_working(&self) -> bool {
        let open = [&self.requests, &self.answers, &self.streams];
        open.into_iter().any(|open| !open.is_empty())
    }

    /// Whether it is in use.
    pub(super) fn is_busy(&self) -> bool {
        self.is_working() || !self.calls.is_empty()
    }

    pub(super) fn can_park(&self) -> bool {
        self.live && self.start.is_some() && !self.stateful && !self.is_working()
    }

    /// Cancels its calls and releases its share of the limits.
    pub(super) fn cancel(&mut self) {
        self.ended.cancel();
        self.calls.values().for_each(CancellationToken::cancel);
        self.share = None;
    }

    fn holder(&self) -> (&str, &str) {
        (self.owner.tenant.as_str(), &self.owner.subject)
    }
}

impl Table {
    /// The session of this caller that ends when the caller opens another; never one that is in use.
    pub(super) fn least_used_of(&self, owner: &Principal) -> Option<SessionId> {
        let holder = (owner.tenant.as_str(), owner.subject.as_str());
        self.least_used(|session| session.holder() == holder && !session.is_busy())
    }

    /// The session that ends when this caller opens one and `limit` are open: the least recently used one of the caller
    /// with the most sessions, in the tenant with the most. Another caller loses a session in use only if it has several.
    pub(super) fn make_room(
        &self,
        owner: &Principal,
        limit: usize,
    ) -> (Option<SessionId>, SessionFault) {
        let mut tenants: HashMap<&str, usize> = HashMap::new();
        let mut callers: HashMap<(&str, &str), usize> = HashMap::new();
        for session in self.values() {
            let holder = session.holder();
            *tenants.entry(holder.0).or_default() += 1;
            *callers.entry(holder).or_default() += 1;
        }
        let largest = callers
            .iter()
            .max_by_key(|(holder, count)| (tenants.get(holder.0).copied(), **count))
            .map(|(holder, count)| (*holder, *count));
        let Some((holder, count)) = largest else { return (None, SessionFault::Full(limit)) };
        if holder == (owner.tenant.as_str(), owner.subject.as_str()) {
            return (self.least_used_of(owner), SessionFault::CallerFull(count));
        }
        let is_largest = |session: &Session| session.holder() == holder;
        let victim = self
            .least_used(|session| is_largest(session) && !session.is_busy())
            .or_else(|| self.least_used(is_largest).filter(|_| count > 1));
        (victim, SessionFault::Full(limit))
    }

    fn least_used(&self, fits: impl Fn(&Session) -> bool) -> Option<SessionId> {
        let fitting = self.iter().filter(|(_, session)| fits(session));
        fitting.min_by_key(|(_, session)| session.used).map(|(id, _)| Arc::clone(id))
    }
}

impl Deref for Table {
    type Target = HashMap<SessionId, Session>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Table {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
