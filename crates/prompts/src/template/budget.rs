use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use minijinja::value::{Object, ObjectRepr, ValueKind};
use minijinja::{Error, ErrorKind, State, Value};
use rustix::time::{ClockId, clock_gettime};

/// The most bytes that the values of one evaluation take.
pub const MAX_VALUE_BYTES: usize = 4 << 20;

/// The CPU time of one evaluation.
pub const MAX_CPU: Duration = Duration::from_millis(200);

/// The name under which an evaluation finds its budget. No template can write or shadow it.
const NAME: &str = "$budget";

/// Work between two looks at the clock, in bytes that were read.
const CLOCK_INTERVAL: usize = 64 * 1024;

/// The work of a step that reads no large value.
const STEP: usize = 256;

/// What an evaluation may still allocate, and when it ends. Bound to the thread that made it.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Left>);

#[derive(Debug)]
struct Left {
    bytes: AtomicUsize,
    work: AtomicUsize,
    /// In nanoseconds of the thread's CPU clock.
    deadline: AtomicU64,
}

impl Budget {
    /// A budget that begins now, for evaluations on this thread.
    pub fn new() -> Self {
        let limit = u64::try_from(MAX_CPU.as_nanos()).unwrap_or(u64::MAX);
        Self(Arc::new(Left {
            bytes: AtomicUsize::new(MAX_VALUE_BYTES),
            work: AtomicUsize::new(0),
            deadline: AtomicU64::new(cpu_time().saturating_add(limit)),
        }))
    }

    /// The budget of the evaluation that a function or filter belongs to.
    pub fn of(state: &State<'_, '_>) -> Result<Self, Error> {
        let found = state.lookup(NAME);
        let found = found.as_ref().and_then(|value| value.downcast_object_ref::<Self>());
        found.cloned().ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "no budget is set"))
    }

    /// The variables of a template, with this budget.
    pub(super) fn attach(&self, values: Value) -> Value {
        Value::from_object(Root { values, budget: Value::from_object(self.clone()) })
    }

    /// Pays for a new value.
    pub fn charge(&self, bytes: usize) -> Result<(), Error> {
        let left = &self.0.bytes;
        let taken =
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        taken.map_err(|_| too_large())?;
        self.work(bytes)
    }

    /// Refuses a value that would not fit, before it is made.
    pub(super) fn check_room(&self, bytes: Option<usize>) -> Result<(), Error> {
        let fits = bytes.is_some_and(|bytes| bytes <= self.room());
        if fits { Ok(()) } else { Err(too_large()) }
    }

    pub(super) fn room(&self) -> usize {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Notes a step that reads this many bytes. Fails once the time is over.
    pub(super) fn work(&self, bytes: usize) -> Result<(), Error> {
        let work = bytes.saturating_add(STEP);
        let before = self.0.work.load(Ordering::Relaxed);
        let after = before.saturating_add(work);
        if after < CLOCK_INTERVAL {
            self.0.work.store(after, Ordering::Relaxed);
            return Ok(());
        }
        self.0.work.store(0, Ordering::Relaxed);
        self.check_time()
    }

    /// The CPU time since the budget began.
    #[cfg(test)]
    pub(super) fn used(&self) -> Duration {
        let left = self.0.deadline.load(Ordering::Relaxed);
        MAX_CPU.saturating_add(Duration::from_nanos(cpu_time().saturating_sub(left)))
    }

    pub(super) fn check_time(&self) -> Result<(), Error> {
        if cpu_time() <= self.0.deadline.load(Ordering::Relaxed) {
            return Ok(());
        }
        let message = format!("the template takes more than {} ms", MAX_CPU.as_millis());
        Err(Error::new(ErrorKind::OutOfFuel, message))
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

impl Object for Budget {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }
}

fn too_large() -> Error {
    let message = format!("the template's values take more than {} MiB", MAX_VALUE_BYTES >> 20);
    Error::new(ErrorKind::WriteFailure, message)
}

/// The CPU time of this thread, in nanoseconds.
fn cpu_time() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}

/// The names of a template, and its budget.
#[derive(Debug)]
struct Root {
    values: Value,
    budget: Value,
}

impl Object for Root {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match key.as_str() {
            Some(NAME) => Some(self.budget.clone()),
            // Every name fails with the reason.
            _ if self.values.kind() == ValueKind::Invalid => Some(self.values.clone()),
            _ => self.values.get_item(key).ok().filter(|value| !value.is_undefined()),
        }
    }
}
