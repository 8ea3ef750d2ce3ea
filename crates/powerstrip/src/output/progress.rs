//! One line on a terminal that says what a command waits for, and for how long.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How often the line is written again. Most work ends before the first time.
const TICK: Duration = Duration::from_millis(500);

/// Shows what is under way on standard error, if that is a terminal; the line goes away at the end.
pub(crate) struct Progress(Option<(watch::Sender<String>, JoinHandle<()>)>);

impl Progress {
    pub(crate) fn start(what: impl Into<String>) -> Self {
        if !io::stderr().is_terminal() {
            return Self(None);
        }
        let (sender, receiver) = watch::channel(what.into());
        let shown = tokio::spawn(async move {
            let began = Instant::now();
            let mut ticks = tokio::time::interval(TICK);
            ticks.tick().await;
            loop {
                ticks.tick().await;
                let (what, seconds) = (receiver.borrow().clone(), began.elapsed().as_secs());
                let _ = write!(io::stderr().lock(), "\r\x1b[K{what} … {seconds}s");
            }
        });
        Self(Some((sender, shown)))
    }

    /// Replaces the text.
    pub(crate) fn say(&self, what: impl Into<String>) {
        if let Some((sender, _)) = &self.0 {
            sender.send_replace(what.into());
        }
    }

    /// Removes the line.
    pub(crate) async fn end(self) {
        if let Some((_, shown)) = self.0 {
            shown.abort();
            let _ = shown.await;
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}
