use tokio::runtime::{Handle, RuntimeFlavor};

/// What is made of so many bytes takes the processor for longer than other calls should wait.
const LONG: usize = 256 * 1024;

/// Does work on so many bytes, out of the way of other calls if that takes long: whoever waits for the same thread is
/// served by another one meanwhile.
pub fn run_blocking<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let others =
        || Handle::try_current().is_ok_and(|at| at.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes > LONG && others() { tokio::task::block_in_place(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use super::{LONG, run_blocking};

    /// With a single thread, whoever blocks it blocks everybody.
    #[test]
    fn others_are_served_while_long_work_is_done() {
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
