//! All sessions, and which of them makes room for another.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use proto::Principal;
use rmcp::model::{ClientCapabilities, InitializeRequestParams};
use rmcp::transport::streamable_http_server::session::SessionId;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::SessionFault;
use crate::mcp::Marks;
use crate::shares::Share;

#[derive(Default)]
pub(super) struct Table(HashMap<SessionId, Session>);

/// A session, as far as we must know it.
pub(super) struct Session {
    pub(super) owner: Arc<Principal>,
    /// Its place among all sessions.
    pub(super) share: Option<Share>,
    /// What its client said to open it, once that was answered.
    pub(super) start: Option<Box<InitializeRequestParams>>,
    /// The revision that was agreed upon.
    pub(super) version: String,
    /// Whether its client declared no capabilities, so that nothing is sent to it before an answer.
    pub(super) plain: bool,
    /// Whether the client has said that it is ready.
    pub(super) ready: bool,
    /// When it was last used.
    pub(super) used: Instant,
    /// When it last needed the library.
    pub(super) worked: Instant,
    /// Whether the library's tasks for it run.
    pub(super) live: bool,
    /// How often it was parked while the library has not said that its tasks have ended.
    pub(super) parking: u32,
    /// Whether the library's tasks know something that would be lost with them.
    pub(super) stateful: bool,
    /// What had changed by the time it was parked.
    pub(super) marks: Option<Marks>,
    /// The requests that the library works on.
    pub(super) requests: TaskTracker,
    /// The streams by which its requests are answered.
    pub(super) answers: TaskTracker,
    /// The streams by which its client listens.
    pub(super) streams: TaskTracker,
    /// The calls under way that the library does not know, by their ids.
    pub(super) calls: HashMap<Box<str>, CancellationToken>,
    /// Cancelled when it ends.
    pub(super) ended: CancellationToken,
    /// Held while it is being parked or started again.
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
            parking: 0,
            stateful: false,
            marks: None,
            requests: TaskTracker::new(),
            answers: TaskTracker::new(),
            streams: TaskTracker::new(),
            calls: HashMap::new(),
            ended: CancellationToken::new(),
            changing: Arc::default(),
        }
    }

    /// Notes what was agreed upon. A session that is started again keeps what it had.
    pub(super) fn begin(&mut self, start: InitializeRequestParams, version: String) {
        if self.start.is_none() {
            self.plain = start.capabilities == ClientCapabilities::default();
            self.version = version;
            self.start = Some(Box::new(start));
        }
    }

    /// Whether the library does something for it.
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

    /// Ends its calls and gives its place back.
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
    /// The session of this caller that is to make room for another of its own. None that is in use.
    pub(super) fn least_used_of(&self, owner: &Principal) -> Option<SessionId> {
        let holder = (owner.tenant.as_str(), owner.subject.as_str());
        self.least_used(|session| session.holder() == holder && !session.is_busy())
    }

    /// The session that is to make room for one of this caller when there are `limit`: the least used one of the
    /// caller that has most, in the tenant that has most. Other callers lose a session that is in use only if they
    /// have several.
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
        let theirs = |session: &Session| session.holder() == holder;
        let victim = self
            .least_used(|session| theirs(session) && !session.is_busy())
            .or_else(|| self.least_used(theirs).filter(|_| count > 1));
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
