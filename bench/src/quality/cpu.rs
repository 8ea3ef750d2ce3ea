//! The CPU time that a measurement takes.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The CPU time of this process so far.
pub(super) fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}
