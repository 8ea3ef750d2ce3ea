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
