//! Parks and ends sessions.

use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager as _};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, MissedTickBehavior, timeout};

use super::Sessions;
use super::table::Session;
use crate::mcp::ListVersions;

/// How often sessions are checked.
const TICK: Duration = Duration::from_millis(250);

/// With more live sessions than this, idle ones are parked after one tick.
const MAX_LIVE: usize = 64;

/// How long the calls of an ending session have to answer.
const ANSWER_TIME: Duration = Duration::from_secs(1);

/// What is needed to restore a parked session.
pub(in crate::http) struct ParkedSession {
    pub(in crate::http) version: String,
    /// The versions of the lists when it was parked.
    pub(in crate::http) lists: Option<ListVersions>,
    /// Held until the session is restored.
    pub(in crate::http) changing: OwnedMutexGuard<()>,
}

impl Sessions {
    /// Parks and ends sessions that are not used, for as long as the gateway runs.
    pub(in crate::http) async fn tend(&self) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            self.sweep().await;
        }
    }

    async fn sweep(&self) {
        let now = Instant::now();
        self.kept.expire(now);
        let (mut idle, mut to_park) = (Vec::new(), Vec::new());
        {
            let mut table = self.table();
            let live = table.values().filter(|session| session.live).count();
            let park = if live > MAX_LIVE { TICK.min(self.limits.park) } else { self.limits.park };
            for (id, session) in table.iter_mut() {
                if session.is_working() {
                    session.worked = now;
                }
                if session.is_busy() {
                    session.used = now;
                } else if now - session.used >= self.limits.idle {
                    idle.push(Arc::clone(id));
                    continue;
                }
                if session.can_park() && now - session.worked >= park {
                    to_park.push((Arc::clone(id), Arc::clone(&session.changing)));
                }
            }
        }
        for id in idle {
            self.end(&id).await;
        }
        for (id, changing) in to_park {
            self.park(&id, changing).await;
        }
    }

    async fn park(&self, id: &SessionId, changing: Arc<Mutex<()>>) {
        let Ok(_changing) = changing.try_lock_owned() else { return };
        {
            let mut table = self.table();
            let Some(session) = table.get_mut(id).filter(|session| session.can_park()) else {
                return;
            };
            session.live = false;
            session.parking += 1;
            session.lists = Some((self.lists)());
        }
        if let Err(error) = self.local.close_session(id).await {
            tracing::debug!(%error, session = %id, "the tasks of a parked session had ended");
        }
    }

    /// What is needed to restore a session, if it is parked. Waits while another request restores it.
    pub(in crate::http) async fn parked(&self, id: &str) -> Option<ParkedSession> {
        let changing = {
            let table = self.table();
            let session = table.get(id)?;
            // A session that is being parked right now counts as parked.
            if session.live && session.changing.try_lock().is_ok() {
                return None;
            }
            Arc::clone(&session.changing)
        };
        let changing = changing.lock_owned().await;
        let table = self.table();
        let session = table.get(id).filter(|session| !session.live)?;
        Some(ParkedSession { version: session.version.clone(), lists: session.lists, changing })
    }

    /// Ends the session with this id, if it exists, and its calls.
    pub(in crate::http) async fn end(&self, id: &str) {
        let removed = self.table().remove_entry(id);
        let Some((id, mut session)) = removed else { return };
        session.cancel();
        self.kept.forget(&id);
        let Session { requests, answers, .. } = &session;
        requests.close();
        answers.close();
        // Without the library's tasks its calls cannot be answered.
        let answered = async {
            requests.wait().await;
            answers.wait().await;
        };
        let _ = timeout(ANSWER_TIME, answered).await;
        if let Err(error) = self.local.close_session(&id).await {
            tracing::debug!(%error, session = %id, "the tasks of a session had ended");
        }
    }
}
