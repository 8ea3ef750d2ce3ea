//! The signals that end the process.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The exit code of a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Cancelled at the first SIGTERM or SIGINT; the second ends the process at once.
pub(crate) fn shutdown() -> io::Result<CancellationToken> {
    let shutdown = CancellationToken::new();
    let asked = shutdown.clone();
    // Heard from now on, not from when the task below gets its turn.
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(async move {
        either(&mut term, &mut int).await;
        tracing::info!("stopping: calls under way may finish; a second signal ends them");
        asked.cancel();
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
