//! Servers that people are about to add. They are kept here and not in the page, because they may contain secrets.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use auth::Session;
use operations::install::{NewServer, ServerTrial};
use proto::TraceId;

/// How many drafts are kept; the oldest goes first.
const MAX_DRAFTS: usize = 32;

/// How long a draft is kept.
const LIFETIME_MS: u64 = 30 * 60 * 1_000;

/// One server of one session.
#[derive(Clone)]
pub(super) struct Draft {
    pub(super) id: String,
    session: Arc<Session>,
    began_ms: u64,
    pub(super) new: NewServer,
    /// The preview that the page has shown.
    pub(super) agreed: Vec<String>,
    /// What happened when it was started once.
    pub(super) trial: Option<ServerTrial>,
}

/// All drafts.
#[derive(Default)]
pub(crate) struct Drafts(Mutex<VecDeque<Draft>>);

impl Drafts {
    /// Keeps a server and returns the id of its draft.
    pub(super) fn add(&self, session: &Arc<Session>, new: NewServer, now_ms: u64) -> String {
        let id = TraceId::random().to_string();
        let draft = Draft {
            id: id.clone(),
            session: Arc::clone(session),
            began_ms: now_ms,
            new,
            agreed: Vec::new(),
            trial: None,
        };
        let mut drafts = self.lock();
        drafts.retain(|draft| now_ms < draft.began_ms.saturating_add(LIFETIME_MS));
        if drafts.len() == MAX_DRAFTS {
            drafts.pop_front();
        }
        drafts.push_back(draft);
        id
    }

    /// A draft of this session.
    pub(super) fn find(&self, session: &Arc<Session>, id: &str, now_ms: u64) -> Option<Draft> {
        let drafts = self.lock();
        let mut own = drafts.iter().filter(|draft| {
            Arc::ptr_eq(&draft.session, session)
                && now_ms < draft.began_ms.saturating_add(LIFETIME_MS)
        });
        own.find(|draft| draft.id == id).cloned()
    }

    /// Replaces a draft by its later state.
    pub(super) fn update(&self, later: Draft) {
        if let Some(draft) = self.lock().iter_mut().find(|draft| draft.id == later.id) {
            *draft = later;
        }
    }

    pub(super) fn remove(&self, id: &str) {
        self.lock().retain(|draft| draft.id != id);
    }

    /// Removes the drafts of a session that has ended.
    pub(crate) fn remove_session(&self, session: &Arc<Session>) {
        self.lock().retain(|draft| !Arc::ptr_eq(&draft.session, session));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Draft>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
