//! One line on a terminal that says what a command waits for, and for how long.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How often the line is written again. Most work ends before the first time.
const TICK: Duration = Duration::from_millis(500);

/// Shows what is under way on standard error, if that is a terminal; the line goes away at the end.
pub struct Progress(Option<JoinHandle<()>>);

impl Progress {
    /// Begins to show this text.
    pub fn start(what: impl Into<String>) -> Self {
        if !io::stderr().is_terminal() {
            return Self(None);
        }
        let what = what.into();
        Self(Some(tokio::spawn(async move {
            let began = Instant::now();
            let mut ticks = tokio::time::interval(TICK);
            ticks.tick().await;
            loop {
                ticks.tick().await;
                let seconds = began.elapsed().as_secs();
                let _ = write!(io::stderr().lock(), "\r\x1b[K{what} … {seconds}s");
            }
        })))
    }

    /// Removes the line.
    pub async fn end(self) {
        if let Some(shown) = self.0 {
            shown.abort();
            let _ = shown.await;
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}
