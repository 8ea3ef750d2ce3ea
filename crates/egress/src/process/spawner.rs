//! One thread that starts all children.
//!
//! The kernel sends the parent death signal when the *thread* that started a child ends, so
//! children must not hang on a runtime's worker that may come and go.

use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// Starts the command from the thread that lives as long as the gateway.
pub(super) async fn spawn(mut command: Command) -> io::Result<Child> {
    let runtime = Handle::current();
    let (answer, started) = oneshot::channel();
    let job: Job = Box::new(move || {
        let _inside = runtime.enter();
        // A caller that has gone away drops the child here, and its launcher with it.
        if let Err(Ok(mut child)) = answer.send(command.spawn()) {
            let _ = child.start_kill();
        }
    });
    let gone = || io::Error::other("the thread that starts children has ended");
    jobs()?.send(job).map_err(|_| gone())?;
    started.await.map_err(|_| gone())?
}

fn jobs() -> io::Result<Sender<Job>> {
    static JOBS: OnceLock<Sender<Job>> = OnceLock::new();
    if let Some(jobs) = JOBS.get() {
        return Ok(jobs.clone());
    }
    let (sender, receiver) = channel::<Job>();
    std::thread::Builder::new().name("spawner".into()).spawn(move || {
        for job in receiver {
            job();
        }
    })?;
    // The loser of a race leaves a thread without work, which ends at once.
    Ok(JOBS.get_or_init(|| sender).clone())
}
