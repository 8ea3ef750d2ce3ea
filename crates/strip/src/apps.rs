//! The servers whose MCP Apps each caller has open. An app calls tools by their bare names through its host, and nothing
//! in such a call says which app made it: a name that several servers have means the one whose app is open.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use proto::TenantId;

use crate::Request;

/// Beyond this many callers, the one that has been idle longest is forgotten.
const MAX_CALLERS: usize = 4096;

/// How long after the last call of a tool with an app its app counts as open.
const OPEN: Duration = Duration::from_secs(4 * 60 * 60);

/// A caller, in one session if its client has sessions.
#[derive(PartialEq, Eq, Hash)]
struct Caller {
    tenant: TenantId,
    subject: String,
    agent: Option<String>,
    session: Option<String>,
}

/// Servers by the time when one of their apps was last shown to a caller.
#[derive(Default)]
pub(crate) struct OpenApps(Mutex<HashMap<Caller, HashMap<String, Instant>>>);

impl OpenApps {
    fn lock(&self) -> MutexGuard<'_, HashMap<Caller, HashMap<String, Instant>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a caller got the result of a tool whose host shows it in an app.
    pub(crate) fn note(&self, request: &Request, server: &str) {
        let now = Instant::now();
        let mut callers = self.lock();
        callers.retain(|_, apps| {
            apps.retain(|_, shown| now.duration_since(*shown) < OPEN);
            !apps.is_empty()
        });
        let caller = Caller::of(request);
        if callers.len() >= MAX_CALLERS && !callers.contains_key(&caller) {
            let last = |apps: &HashMap<String, Instant>| apps.values().max().copied();
            let oldest = callers.values().filter_map(last).min();
            callers.retain(|_, apps| last(apps) != oldest);
        }
        callers.entry(caller).or_default().insert(server.to_owned(), now);
    }

    /// Whether an app of a server is open for the caller of a request.
    pub(crate) fn is_open(&self, request: &Request, server: &str) -> bool {
        let callers = self.lock();
        let shown = callers.get(&Caller::of(request)).and_then(|apps| apps.get(server));
        shown.is_some_and(|shown| shown.elapsed() < OPEN)
    }
}

impl Caller {
    fn of(request: &Request) -> Self {
        let principal = &request.principal;
        Self {
            tenant: principal.tenant.clone(),
            subject: principal.subject.clone(),
            agent: principal.agent.clone(),
            session: request.run.session().map(str::to_owned),
        }
    }
}
