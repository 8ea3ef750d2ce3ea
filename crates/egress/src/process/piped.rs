//! Long-lived children, whose pipes belong to the caller.

use std::io;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use super::launch::Launched;
use super::{Exit, RunError};
use crate::sandbox::Tier;

/// A running child and the caller's ends of its pipes. Caps on what is read are the caller's.
pub struct Piped {
    /// Where the child reads from.
    pub stdin: ChildStdin,
    /// What the child prints.
    pub stdout: ChildStdout,
    /// The child's stderr; a launcher reports failures here.
    pub stderr: ChildStderr,
    /// The child itself, which dies when this is dropped.
    pub process: Process,
}

impl Piped {
    pub(super) fn of(mut launched: Launched) -> Result<Self, RunError> {
        let child = launched.child().map_err(RunError::Pipe)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(RunError::Pipe(io::Error::other("the child has no pipes")));
        };
        Ok(Self { stdin, stdout, stderr, process: Process { launched } })
    }
}

/// A long-lived child with everything it has started. Dropping it kills them all.
pub struct Process {
    launched: Launched,
}

impl Process {
    /// The id of the child's supervisor, for logs; none once the child has ended.
    pub fn id(&self) -> Option<u32> {
        self.launched.id()
    }

    /// The sandbox rung that holds.
    pub fn tier(&self) -> Tier {
        self.launched.tier
    }

    /// Waits until the child has ended by itself.
    pub async fn wait(&mut self) -> io::Result<Exit> {
        self.launched.wait().await
    }

    /// Whether no process of the child is alive, and its private folder and shared memory are empty. Cheap enough to be called
    /// after every use.
    pub fn is_untouched(&self) -> bool {
        self.launched.is_untouched()
    }

    /// Kills all that the child has started, and empties its private folder and its own shared memory. False if
    /// something is left or the host cannot know: the child must not be used again then.
    pub async fn reset(&self) -> bool {
        self.launched.reset().await
    }

    /// Asks the child and all it started to end, and kills what is left within half a second.
    pub async fn kill(mut self) {
        self.launched.end(true).await;
        self.launched.clear().await;
    }
}
