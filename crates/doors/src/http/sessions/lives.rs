//! How sessions are parked and ended.

use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager as _};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, MissedTickBehavior, timeout};

use super::Sessions;
use super::table::Session;
use crate::mcp::Marks;

/// How often sessions are looked at.
const TICK: Duration = Duration::from_millis(250);

/// Beyond so many sessions with tasks of the library, those that do not need them are parked at once.
const MAX_RESTING: usize = 64;

/// How long the calls of a session that ends have to answer.
const ANSWER_TIME: Duration = Duration::from_secs(1);

/// What it takes to start a parked session again.
pub(in crate::http) struct Parked {
    pub(in crate::http) version: String,
    pub(in crate::http) marks: Option<Marks>,
    /// Kept until it has been started.
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
        let (mut idle, mut resting) = (Vec::new(), Vec::new());
        {
            let mut table = self.table();
            let live = table.values().filter(|session| session.live).count();
            let park =
                if live > MAX_RESTING { TICK.min(self.limits.park) } else { self.limits.park };
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
                    resting.push((Arc::clone(id), Arc::clone(&session.changing)));
                }
            }
        }
        for id in idle {
            self.end(&id).await;
        }
        for (id, changing) in resting {
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
            session.marks = Some((self.marks)());
        }
        if let Err(error) = self.local.close_session(id).await {
            tracing::debug!(%error, session = %id, "the tasks of a parked session had ended");
        }
    }

    /// What it takes to start a session again, if it is parked. Waits while another request starts it.
    pub(in crate::http) async fn parked(&self, id: &str) -> Option<Parked> {
        let changing = {
            let table = self.table();
            let session = table.get(id)?;
            // Also one that is just being parked.
            if session.live && session.changing.try_lock().is_ok() {
                return None;
            }
            Arc::clone(&session.changing)
        };
        let changing = changing.lock_owned().await;
        let table = self.table();
        let session = table.get(id).filter(|session| !session.live)?;
        Some(Parked { version: session.version.clone(), marks: session.marks, changing })
    }

    /// Ends a session and its calls, if there is one of this id.
    pub(in crate::http) async fn end(&self, id: &str) {
        let removed = self.table().remove_entry(id);
        let Some((id, mut session)) = removed else { return };
        session.cancel();
        let Session { requests, answers, .. } = &session;
        requests.close();
        answers.close();
        // Its calls could not be answered any more once the library's tasks have ended.
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
