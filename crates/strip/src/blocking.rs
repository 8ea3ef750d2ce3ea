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
mod tests {
    use super::{LONG, run_blocking};

    /// The only worker thread would block every other task.
    #[test]
    fn other_tasks_run_while_large_work_blocks_the_thread() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build();
        let runtime = runtime.expect("a runtime");
        let (done, served) = std::sync::mpsc::channel();
        let working = runtime.spawn(async move {
            tokio::spawn(async move { done.send(7) });
            run_blocking(LONG + 1, || served.recv())
        });
        assert_eq!(runtime.block_on(working).expect("no panic"), Ok(7));
        assert_eq!(run_blocking(LONG + 1, || 5), 5, "outside of a runtime, too");
    }
}
