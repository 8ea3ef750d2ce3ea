//! Jobs that end with the process.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::record::Record;

/// Ended jobs beyond this many are forgotten, the oldest first.
const MAX_KEPT: usize = 200;

#[derive(Debug, Default)]
pub(super) struct MemoryJobs(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    records: BTreeMap<String, Record>,
    claimed: HashSet<String>,
    cancelled: HashSet<String>,
}

/// Held while a job is claimed.
#[derive(Debug)]
pub(super) struct MemoryLock {
    jobs: Arc<MemoryJobs>,
    id: String,
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.jobs.table().claimed.remove(&self.id);
    }
}

impl MemoryJobs {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn open_jobs(&self) -> Vec<String> {
        let table = self.table();
        let open = table.records.values().filter(|record| !record.state.has_ended());
        let mut open: Vec<(u64, String)> =
            open.map(|record| (record.created_us, record.id.clone())).collect();
        open.sort_unstable();
        open.into_iter().map(|(_, id)| id).collect()
    }

    pub(super) fn read(&self, id: &str) -> Option<Record> {
        let table = self.table();
        let record = table.records.get(id).cloned();
        record.filter(|record| !(record.state.has_ended() && record.has_expired()))
    }

    pub(super) fn write(&self, record: &Record) {
        self.table().records.insert(record.id.clone(), record.clone());
    }

    pub(super) fn end(&self, record: &Record) {
        self.write(record);
        let mut table = self.table();
        table.cancelled.remove(&record.id);
        let ended = table.records.values().filter(|record| record.state.has_ended());
        let mut ended: Vec<(u64, String)> =
            ended.map(|record| (record.created_us, record.id.clone())).collect();
        ended.sort_unstable();
        let surplus = ended.len().saturating_sub(MAX_KEPT);
        for (_, id) in ended.into_iter().take(surplus) {
            table.records.remove(&id);
        }
    }

    pub(super) fn ask_cancel(&self, id: &str) {
        self.table().cancelled.insert(id.to_owned());
    }

    pub(super) fn is_cancel_asked(&self, id: &str) -> bool {
        self.table().cancelled.contains(id)
    }

    pub(super) fn lock(jobs: &Arc<Self>, id: &str) -> Option<MemoryLock> {
        let is_new = jobs.table().claimed.insert(id.to_owned());
        is_new.then(|| MemoryLock { jobs: Arc::clone(jobs), id: id.to_owned() })
    }
}
