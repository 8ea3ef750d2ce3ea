use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use proto::Principal;

use super::kind::{Kind, Owner};
use super::run::Run;

/// What a run is looked up by, other than its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) kind: Kind,
    pub(super) owner: Owner,
    pub(super) name: Option<String>,
}

impl Key {
    pub(super) fn new(kind: Kind, principal: &Principal, name: Option<&str>) -> Self {
        Self { kind, owner: Owner::of(principal), name: name.map(str::to_owned) }
    }

    fn of(run: &Run) -> Self {
        Self { kind: run.kind(), owner: run.owner().clone(), name: run.name().map(str::to_owned) }
    }
}

/// The runs in memory.
#[derive(Default)]
pub(super) struct RunIndex {
    keys: HashMap<Key, Arc<Run>>,
    ids: HashMap<String, Arc<Run>>,
}

impl RunIndex {
    pub(super) fn get(&self, key: &Key) -> Option<Arc<Run>> {
        self.keys.get(key).cloned()
    }

    pub(super) fn of_id(&self, id: &str) -> Option<Arc<Run>> {
        self.ids.get(id).cloned()
    }

    pub(super) fn insert(&mut self, key: Option<Key>, run: &Arc<Run>) {
        self.ids.insert(run.id().to_owned(), Arc::clone(run));
        if let Some(key) = key {
            self.keys.insert(key, Arc::clone(run));
        }
    }

    /// Inserts a run unless there is a suitable one; returns the run in place, and whether it is the given one.
    pub(super) fn insert_unless(
        &mut self,
        key: Key,
        run: Arc<Run>,
        will_do: impl Fn(&Run) -> bool,
    ) -> (Arc<Run>, bool) {
        if let Some(known) = self.keys.get(&key).filter(|known| will_do(known)) {
            return (Arc::clone(known), false);
        }
        // Two calls may have read it from the database at once.
        if let Some(known) = self.ids.get(run.id()).cloned() {
            self.keys.insert(key, Arc::clone(&known));
            return (known, false);
        }
        self.insert(Some(key), &run);
        (run, true)
    }

    /// Inserts a run that was looked up by its id.
    pub(super) fn insert_read(&mut self, run: Arc<Run>, now: u64, idle: Duration) -> Arc<Run> {
        if let Some(known) = self.ids.get(run.id()) {
            return Arc::clone(known);
        }
        let by_name = matches!(run.kind(), Kind::Named | Kind::Session | Kind::Current);
        let key = (by_name && !run.is_over(now, idle)).then(|| Key::of(&run));
        let key = key.filter(|key| !self.keys.contains_key(key));
        self.insert(key, &run);
        run
    }

    /// Drops runs of workflows that have just been written, unless their drivers hold them: thousands may wait for a person,
    /// and are read again for their next command.
    pub(super) fn release(&mut self, written: Vec<Arc<Run>>) {
        for run in written.into_iter().filter(|run| run.kind() == Kind::Workflow) {
            // The index and `run` hold it.
            if Arc::strong_count(&run) == 2 && run.may_leave() {
                self.ids.remove(run.id());
            }
        }
    }

    /// Drops runs that are not in use and that are stored or over.
    pub(super) fn sweep(&mut self, now: u64, rest: Duration, idle: Duration) {
        let keys = &mut self.keys;
        self.ids.retain(|_, run| {
            let key = Key::of(run);
            let keyed = keys.get(&key).is_some_and(|known| Arc::ptr_eq(known, run));
            // A call that holds it may be about to change it.
            let held = Arc::strong_count(run) > 1 + usize::from(keyed);
            if held || !run.may_rest(now, rest, idle) {
                return true;
            }
            if keyed {
                keys.remove(&key);
            }
            false
        });
    }
}
