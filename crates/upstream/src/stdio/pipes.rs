//! The pipes to and from a child process: the writer and the reader.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::FutureExt as _;
use proto::Scrubber;
use proto::sse::EventData as _;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use super::connection::{Connection, terminated_line};
use crate::caller::Caller;
use crate::context::ServerContext;
use crate::error::TransportError;
use crate::message_buffer::{MAX_ANSWER_BYTES, MessageBuffer, RawMessage};
use crate::notifications::{self, Channel, Recipient};
use crate::pending::Pending;
use crate::questions;
use crate::rpc::{self, Message};

/// Lines that are written at once.
const BATCH: usize = 64;

/// Writes what is queued until the queue or the pipe ends.
pub(super) async fn write(mut stdin: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Bytes>) {
    let mut batch = Vec::with_capacity(BATCH);
    let mut bytes = Vec::new();
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let written = if let [line] = &batch[..] {
            stdin.write_all(line).await
        } else {
            bytes.clear();
            batch.iter().for_each(|line| bytes.extend_from_slice(line));
            stdin.write_all(&bytes).await
        };
        batch.clear();
        if written.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

/// Reads what the child process writes.
pub(super) struct Reader {
    pub(super) pending: Arc<Pending>,
    pub(super) outgoing: mpsc::Sender<Bytes>,
    pub(super) context: Arc<ServerContext>,
    /// How many messages belonged to no request or could not be read.
    pub(super) unexpected_messages: Arc<AtomicU64>,
    /// Whether several callers use this process.
    pub(super) shared: bool,
    /// The caller whose process it is; none for the one that the tools are listed from.
    pub(super) caller: Option<Caller>,
    /// Removes secrets from messages.
    pub(super) secrets: Scrubber,
    /// Removes secrets from lines of the log.
    pub(super) log_secrets: Scrubber,
    pub(super) connection: Arc<Connection>,
    /// The id of the process's supervisor.
    pub(super) pid: Option<u32>,
}

impl Reader {
    /// Reads to the end, and returns why it ended.
    pub(super) async fn read(&self, mut stdout: impl AsyncBufRead + Unpin) -> TransportError {
        let mut line = MessageBuffer::default();
        loop {
            let read = match stdout.fill_buf().await {
                Ok([]) if line.is_empty() => return TransportError::lost("it closed its output"),
                Ok([]) => {
                    self.log_before_handshake(&line.take().json);
                    return TransportError::lost("it closed its output in the middle of a message");
                }
                Ok(read) => read,
                Err(why) => {
                    return TransportError::lost(format!("its output cannot be read: {why}"));
                }
            };
            let end = read.iter().position(|byte| *byte == b'\n');
            line.add_slice(&read[..end.unwrap_or(read.len())]);
            let used = end.map_or(read.len(), |end| end + 1);
            stdout.consume(used);
            if line.check().is_err() {
                return TransportError::TooLarge(MAX_ANSWER_BYTES as u64);
            }
            if end.is_some() {
                self.receive(line.take());
            }
        }
    }

    fn receive(&self, mut line: RawMessage) {
        let unreadable = line.open(&self.secrets, |message| match message {
            Ok(Message::Answer { id: Some(id), answer }) => {
                if !self.pending.settle(id, Ok(answer)) {
                    self.unexpected_messages.fetch_add(1, Ordering::Relaxed);
                }
                None
            }
            Ok(Message::Answer { id: None, .. }) => {
                self.unexpected_messages.fetch_add(1, Ordering::Relaxed);
                None
            }
            Ok(Message::Request { id, method, params }) => {
                let client = self.pending.latest_client(self.shared);
                let answer = questions::answer(&self.context, id, &method, params, client.as_ref());
                let outgoing = self.outgoing.clone();
                let sent = move |line: Bytes| {
                    // Answers are dropped for a server that asks and does not read.
                    let _ = outgoing.try_send(terminated_line(&line));
                };
                if client.is_some() {
                    tokio::spawn(async move { sent(answer.await) });
                } else if let Some(line) = answer.now_or_never() {
                    sent(line);
                }
                None
            }
            Ok(Message::Notification { method, params }) => {
                let find = |recipient| match recipient {
                    Recipient::Token(token) => self.pending.client_of(token).into_iter().collect(),
                    Recipient::Unspecified | Recipient::Log => {
                        self.pending.log_clients(self.shared)
                    }
                };
                let channel = match &self.caller {
                    None => Channel::Gateway,
                    caller => Channel::Caller(caller.as_ref()),
                };
                notifications::dispatch(&self.context, channel, &method, params, find);
                None
            }
            Err(why) => Some(why),
        });
        if let Some(why) = unreadable {
            self.unreadable(&line.json, why);
        }
    }

    /// Handles a line that is not a message. A broken answer fails its request, or all requests if it is cut off and names
    /// none; any other output is only counted, and logged before the handshake.
    fn unreadable(&self, line: &[u8], why: String) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        self.unexpected_messages.fetch_add(1, Ordering::Relaxed);
        self.log_before_handshake(line);
        let text = String::from_utf8_lossy(line);
        if !text.contains("\"jsonrpc\"") || rpc::is_stray(line) {
            return;
        }
        let error = TransportError::malformed(why);
        let settled = named_id(&text).is_some_and(|id| self.pending.settle(id, Err(error.clone())));
        if !settled {
            self.pending.fail_all(&error);
        }
    }

    fn log_before_handshake(&self, line: &[u8]) {
        if !self.connection.is_ready() {
            self.context.journal.add_stdout(line, self.pid, &self.log_secrets);
        }
    }
}

/// The first number after an `"id"` in a broken message.
fn named_id(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("\"id\"")?;
    let digits = rest.trim_start().strip_prefix(':')?.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

#[cfg(test)]
mod tests;
