//! The signals that end the process.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The exit code of a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Cancelled at the first SIGTERM or SIGINT; the second ends the process at once.
pub(crate) fn shutdown() -> CancellationToken {
    let shutdown = CancellationToken::new();
    let asked = shutdown.clone();
    tokio::spawn(async move {
        let (Ok(mut term), Ok(mut int)) =
            (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
        else {
            return;
        };
        either(&mut term, &mut int).await;
        tracing::info!("stopping: calls under way may finish; a second signal ends them");
        asked.cancel();
        either(&mut term, &mut int).await;
        std::process::exit(INTERRUPTED);
    });
    shutdown
}

async fn either(term: &mut Signal, int: &mut Signal) {
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
}
