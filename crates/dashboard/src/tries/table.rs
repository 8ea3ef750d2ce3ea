//! The table of tries.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use auth::Session;
use proto::TraceId;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::images::Image;

/// How many tries are kept; the oldest are removed first.
const MAX_TRIES: usize = 100;

/// One call that was tried.
pub(crate) struct Try {
    pub(super) session: Arc<Session>,
    pub(super) tool: String,
    pub(super) input: Arc<Value>,
    pub(super) trace: TraceId,
    pub(super) began_ms: u64,
    pub(super) cancel: CancellationToken,
    pub(super) ended: watch::Sender<Option<Ended>>,
}

/// The result of a try.
#[derive(Clone)]
pub(super) struct Ended {
    pub(super) ok: bool,
    pub(super) code: &'static str,
    pub(super) message: Option<String>,
    pub(super) envelope: Arc<Value>,
    pub(super) images: Arc<[Image]>,
    pub(super) took_us: u64,
}

/// The latest tries of all sessions.
#[derive(Default)]
pub(crate) struct Tries(Mutex<VecDeque<Arc<Try>>>);

impl Tries {
    fn list(&self) -> MutexGuard<'_, VecDeque<Arc<Try>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, new: &Arc<Try>) {
        let mut list = self.list();
        list.push_back(Arc::clone(new));
        while list.len() > MAX_TRIES {
            list.pop_front();
        }
    }

    pub(super) fn find(&self, id: &str, session: &Arc<Session>) -> Option<Arc<Try>> {
        let list = self.list();
        let own =
            |one: &&Arc<Try>| Arc::ptr_eq(&one.session, session) && one.trace.to_string() == id;
        list.iter().find(own).cloned()
    }

    /// Removes the tries of a session that has ended, and cancels its running calls.
    pub(crate) fn remove_session(&self, session: &Arc<Session>) {
        self.list().retain(|one| {
            let own = Arc::ptr_eq(&one.session, session);
            if own {
                one.cancel.cancel();
            }
            !own
        });
    }
}
