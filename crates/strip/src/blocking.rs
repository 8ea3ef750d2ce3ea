use tokio::runtime::{Handle, RuntimeFlavor};

/// Work on more bytes than this blocks the thread for too long.
const LONG: usize = 256 * 1024;

/// Runs CPU-bound work on this many bytes. For large work the runtime first moves the thread's other tasks elsewhere.
pub fn run_blocking<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let others =
        || Handle::try_current().is_ok_and(|at| at.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes > LONG && others() { tokio::task::block_in_place(work) } else { work() }
}

#[cfg(test)]
mod tests;
