//! Shutdown signals.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The exit code of a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Cancelled at the first SIGTERM or SIGINT; the second ends the process at once.
pub(crate) fn shutdown() -> io::Result<CancellationToken> {
    let shutdown = CancellationToken::new();
    let requested = shutdown.clone();
    // Registered here, not in the task, so that no signal is missed before the task runs.
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(async move {
        either(&mut term, &mut int).await;
        tracing::info!("stopping: running calls may finish; a second signal ends them");
        requested.cancel();
        either(&mut term, &mut int).await;
        std::process::exit(INTERRUPTED);
    });
    Ok(shutdown)
}

async fn either(term: &mut Signal, int: &mut Signal) {
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
}
