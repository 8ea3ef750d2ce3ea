use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use proto::Clock;

use super::{MAX_SESSIONS, NotStored, Owner, SWEEP, Session, Sessions, TTL};

/// Sessions in memory.
pub struct MemorySessions {
    clock: Clock,
    ttl: Duration,
    max: usize,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// By `{tenant}:{id}`.
    rows: HashMap<String, Row>,
    swept_ms: u64,
    changes: u64,
}

struct Row {
    session: Session,
    touched_ms: u64,
    /// Orders changes within one millisecond.
    change: u64,
}

impl Row {
    fn is_open(&self) -> bool {
        self.session.completed_at.is_none()
    }
}

impl MemorySessions {
    /// Sessions that live 30 minutes, at most 50 of them open.
    pub fn new(clock: Clock) -> Self {
        Self::with_limits(clock, TTL, MAX_SESSIONS)
    }

    /// Sessions with limits of the operator's choice.
    pub fn with_limits(clock: Clock, ttl: Duration, max: usize) -> Self {
        let swept_ms = clock.unix_ms();
        Self { clock, ttl, max, table: Mutex::new(Table { swept_ms, ..Table::default() }) }
    }

    /// How many sessions are stored, complete ones included.
    pub fn len(&self) -> usize {
        self.table().rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn ttl_ms(&self) -> u64 {
        u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.unix_ms();
        if now.saturating_sub(table.swept_ms) >= SWEEP.as_millis() as u64 {
            table.remove_expired(now, self.ttl_ms());
        }
        table
    }
}

impl Table {
    fn remove_expired(&mut self, now: u64, ttl_ms: u64) {
        self.rows.retain(|_, row| now.saturating_sub(row.touched_ms) < ttl_ms);
        self.swept_ms = now;
    }

    fn insert(&mut self, session: Session, now: u64) {
        self.changes += 1;
        let row = Row { touched_ms: now, change: self.changes, session };
        self.rows.insert(key(&row.session.owner.tenant, &row.session.id), row);
    }

    /// Whether one more open session of `tenant` fits, if need be in the place of another tenant's: one tenant has at most
    /// half while others are active.
    fn make_room(&mut self, tenant: &str, max: usize) -> bool {
        let mut open: HashMap<&str, usize> = HashMap::new();
        for row in self.rows.values().filter(|row| row.is_open()) {
            *open.entry(&row.session.owner.tenant).or_default() += 1;
        }
        let total: usize = open.values().sum();
        let own = open.get(tenant).copied().unwrap_or_default();
        if total < max {
            return total == own || own < max.div_ceil(2);
        }
        let most = open.values().copied().max().unwrap_or_default();
        // A tenant without a session is always served; others only until all have equally many.
        if most <= own + usize::from(own > 0) {
            return false;
        }
        let of_largest = self.rows.iter().filter(|(_, row)| {
            row.is_open() && open.get(row.session.owner.tenant.as_str()) == Some(&most)
        });
        let oldest = of_largest.min_by_key(|(_, row)| row.change).map(|(key, _)| key.clone());
        oldest.is_some_and(|key| self.rows.remove(&key).is_some())
    }

    /// Makes room for one more open session of `tenant`, or says how long until one expires.
    fn admit(&mut self, tenant: &str, max: usize, now: u64, ttl_ms: u64) -> Result<(), NotStored> {
        self.remove_expired(now, ttl_ms);
        if self.make_room(tenant, max) {
            return Ok(());
        }
        let open = self.rows.values().filter(|row| row.is_open());
        let oldest = open.map(|row| row.touched_ms).min().unwrap_or(now);
        let wait = oldest.saturating_add(ttl_ms).saturating_sub(now).max(1);
        Err(NotStored::Full { wait: Duration::from_millis(wait) })
    }

    /// Complete sessions do not count against the limit, so their number is limited here.
    fn drop_oldest_complete(&mut self, max: usize) {
        while self.rows.values().filter(|row| !row.is_open()).count() > max {
            let complete = self.rows.iter().filter(|(_, row)| !row.is_open());
            let oldest = complete.min_by_key(|(_, row)| row.change).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { break };
            self.rows.remove(&oldest);
        }
    }
}

fn key(tenant: &str, id: &str) -> String {
    format!("{tenant}:{id}")
}

#[async_trait]
impl Sessions for MemorySessions {
    async fn open(&self, session: Session) -> Result<(), NotStored> {
        let now = self.clock.unix_ms();
        let ttl_ms = self.ttl_ms();
        let mut table = self.table();
        if session.completed_at.is_none() {
            table.admit(&session.owner.tenant, self.max, now, ttl_ms)?;
        }
        table.insert(session, now);
        table.drop_oldest_complete(self.max);
        Ok(())
    }

    async fn load(&self, owner: &Owner, id: &str) -> Option<Session> {
        let now = self.clock.unix_ms();
        let table = self.table();
        let row = table.rows.get(&key(&owner.tenant, id))?;
        let live = now.saturating_sub(row.touched_ms) < self.ttl_ms();
        (live && row.session.owner == *owner).then(|| row.session.clone())
    }

    async fn latest_open(&self, owner: &Owner) -> Option<Session> {
        let now = self.clock.unix_ms();
        let table = self.table();
        let rows = table.rows.values().filter(|row| {
            row.is_open()
                && row.session.owner == *owner
                && now.saturating_sub(row.touched_ms) < self.ttl_ms()
        });
        rows.max_by_key(|row| row.change).map(|row| row.session.clone())
    }

    async fn save(&self, session: Session) -> Result<(), NotStored> {
        let now = self.clock.unix_ms();
        let ttl_ms = self.ttl_ms();
        let mut table = self.table();
        let known = table.rows.get(&key(&session.owner.tenant, &session.id)).filter(|row| {
            now.saturating_sub(row.touched_ms) < ttl_ms
                && row.session.owner == session.owner
                && row.session.version + 1 == session.version
        });
        let was_open = known.ok_or(NotStored::Stale)?.is_open();
        if !was_open && session.completed_at.is_none() {
            table.admit(&session.owner.tenant, self.max, now, ttl_ms)?;
        }
        table.insert(session, now);
        table.drop_oldest_complete(self.max);
        Ok(())
    }

    async fn sweep(&self) {
        let (now, ttl_ms) = (self.clock.unix_ms(), self.ttl_ms());
        self.table().remove_expired(now, ttl_ms);
    }

    fn ttl(&self) -> Duration {
        self.ttl
    }
}
