//! The bytes of one message as they arrive. Of a large one, long runs of base64 are set aside: they are passed on
//! without being copied into the JSON that is read.

use bytes::Bytes;
use proto::Scrubber;
use strip::files::{Carved, Carver};

use crate::rpc::Message;

/// Smaller messages are gathered as they are.
const LARGE: usize = 64 * 1024;

/// The largest answer that is read, and the longest line or event.
pub(crate) const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// The largest message, including what is carved out of it.
pub(crate) const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// A message has more bytes than allowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// What has arrived of a message.
#[derive(Debug, Default)]
pub(crate) struct MessageBuffer {
    plain: Vec<u8>,
    carver: Option<Box<Carver>>,
}

/// A whole message, and what was set aside of it.
#[derive(Debug)]
pub(crate) struct RawMessage {
    pub(crate) json: Vec<u8>,
    pub(crate) carved: Option<Carved>,
}

impl MessageBuffer {
    pub(crate) fn add(&mut self, chunk: &Bytes) {
        match &mut self.carver {
            Some(carver) => carver.feed(chunk),
            None if self.plain.len() + chunk.len() <= LARGE => self.plain.extend_from_slice(chunk),
            None => {
                let mut carver = Box::<Carver>::default();
                carver.feed(&std::mem::take(&mut self.plain).into());
                carver.feed(chunk);
                self.carver = Some(carver);
            }
        }
    }

    /// Bytes that lie elsewhere and must be copied.
    pub(crate) fn add_slice(&mut self, bytes: &[u8]) {
        if self.carver.is_none() && self.plain.len() + bytes.len() <= LARGE {
            self.plain.extend_from_slice(bytes);
        } else {
            self.add(&Bytes::copy_from_slice(bytes));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.carver.is_none() && self.plain.is_empty()
    }

    /// Refuses more than may be held.
    pub(crate) fn check(&self) -> Result<(), TooLarge> {
        let (whole, left) =
            self.carver.as_ref().map_or((0, self.plain.len()), |carver| carver.sizes());
        if whole > MAX_MESSAGE_BYTES || left > MAX_ANSWER_BYTES { Err(TooLarge) } else { Ok(()) }
    }

    /// The message, which is then gathered no more.
    pub(crate) fn take(&mut self) -> RawMessage {
        match self.carver.take() {
            Some(carver) => {
                let (json, carved) = carver.finish();
                RawMessage { json, carved }
            }
            None => RawMessage { json: std::mem::take(&mut self.plain), carved: None },
        }
    }
}

impl RawMessage {
    /// Opens the message. Only a result is passed on with parts set aside; whatever else it is gets them back.
    /// Secrets of the server's config that it repeats are taken out before anything is read.
    pub(crate) fn open<T>(
        &mut self,
        secrets: &Scrubber,
        read: impl FnOnce(Result<Message<'_>, String>) -> T,
    ) -> T {
        secrets.bytes(&mut self.json);
        let carved = self.carved.take();
        match (Message::parse(&self.json), carved) {
            (Ok(Message::Answer { id, answer: Ok(mut given) }), carved) => {
                given.carved = carved;
                read(Ok(Message::Answer { id, answer: Ok(given) }))
            }
            (_, Some(carved)) => {
                let whole = carved.restored(&String::from_utf8_lossy(&self.json));
                read(Message::parse(whole.as_bytes()))
            }
            (opened, None) => read(opened),
        }
    }
}

#[cfg(test)]
mod tests;
