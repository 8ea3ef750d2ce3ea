use std::sync::Arc;

use proto::Failure;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::service::{Accepted, Command};

/// How many commands of one workflow may wait.
const MAX_COMMANDS: usize = 16;

/// A command and who waits for its acceptance.
pub(crate) struct Message {
    pub(crate) command: Command,
    pub(crate) reply: oneshot::Sender<Result<Accepted, Failure>>,
    /// Its place in the queue, until it is done.
    pub(crate) place: Option<OwnedSemaphorePermit>,
}

/// The commands of one workflow, in their order.
pub(crate) struct CommandQueue {
    messages: mpsc::UnboundedSender<Message>,
    places: Arc<Semaphore>,
}

impl CommandQueue {
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Message>) {
        let (messages, received) = mpsc::unbounded_channel();
        (Self { messages, places: Arc::new(Semaphore::new(MAX_COMMANDS)) }, received)
    }

    /// Adds a command; none if too many wait. The receiver fails if the workflow's driver has ended.
    pub(crate) fn add(
        &self,
        command: Command,
    ) -> Option<oneshot::Receiver<Result<Accepted, Failure>>> {
        let place = match command {
            // An abort is never refused, and the gateway's own commands are not the caller's.
            Command::Abort { .. } | Command::Expire | Command::Flush => None,
            _ => Some(Arc::clone(&self.places).try_acquire_owned().ok()?),
        };
        let (reply, accepted) = oneshot::channel();
        // Dropped with its reply if the driver has ended.
        let _ = self.messages.send(Message { command, reply, place });
        Some(accepted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_refuses_all_but_aborts_and_the_gateways_own_commands() {
        let (queue, mut received) = CommandQueue::new();
        let waiting = || Command::Continue { checkpoint_id: None, reason: None };
        let abort = || Command::Abort { reason: "enough".to_owned() };
        let _replies: Vec<_> = (0..MAX_COMMANDS).map(|_| queue.add(waiting()).unwrap()).collect();
        assert!(queue.add(waiting()).is_none());
        assert!(queue.add(abort()).is_some() && queue.add(Command::Flush).is_some());
        drop(received.try_recv().unwrap());
        assert!(queue.add(waiting()).is_some(), "a place is free again");
        drop(received);
        assert!(queue.add(abort()).unwrap().blocking_recv().is_err(), "the driver has ended");
    }
}
