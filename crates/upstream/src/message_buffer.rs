//! Collects the bytes of one message. Long runs of base64 in a large one are extracted, so that they are forwarded
//! without being copied into the JSON that is parsed.

use bytes::Bytes;
use files::{BlobExtractor, Blobs};
use proto::Scrubber;
use proto::sse::{EventData, TooLarge};

use crate::rpc::Message;

/// Smaller messages are collected whole.
const LARGE: usize = 64 * 1024;

/// The largest answer that is read, and the longest line or event.
pub(crate) const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// The largest message, including the base64 that is extracted from it.
pub(crate) const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// Reads events whose data are messages.
pub(crate) type Events = proto::sse::Events<MessageBuffer>;

/// The received part of a message.
#[derive(Debug, Default)]
pub(crate) struct MessageBuffer {
    plain: Vec<u8>,
    extractor: Option<Box<BlobExtractor>>,
}

/// A whole message, and what was extracted of it.
#[derive(Debug)]
pub(crate) struct RawMessage {
    pub(crate) json: Vec<u8>,
    pub(crate) blobs: Option<Blobs>,
}

impl MessageBuffer {
    pub(crate) fn is_empty(&self) -> bool {
        self.extractor.is_none() && self.plain.is_empty()
    }
}

impl EventData for MessageBuffer {
    type Whole = RawMessage;

    fn add(&mut self, chunk: &Bytes) {
        match &mut self.extractor {
            Some(extractor) => extractor.feed(chunk),
            None if self.plain.len() + chunk.len() <= LARGE => self.plain.extend_from_slice(chunk),
            None => {
                let mut extractor = Box::<BlobExtractor>::default();
                extractor.feed(&std::mem::take(&mut self.plain).into());
                extractor.feed(chunk);
                self.extractor = Some(extractor);
            }
        }
    }

    fn add_slice(&mut self, bytes: &[u8]) {
        if self.extractor.is_none() && self.plain.len() + bytes.len() <= LARGE {
            self.plain.extend_from_slice(bytes);
        } else {
            self.add(&Bytes::copy_from_slice(bytes));
        }
    }

    fn check(&self) -> Result<(), TooLarge> {
        let (whole, left) =
            self.extractor.as_ref().map_or((0, self.plain.len()), |extractor| extractor.sizes());
        if whole > MAX_MESSAGE_BYTES || left > MAX_ANSWER_BYTES { Err(TooLarge) } else { Ok(()) }
    }

    fn take(&mut self) -> RawMessage {
        match self.extractor.take() {
            Some(extractor) => {
                let (json, blobs) = extractor.finish();
                RawMessage { json, blobs }
            }
            None => RawMessage { json: std::mem::take(&mut self.plain), blobs: None },
        }
    }
}

impl RawMessage {
    /// Parses the message. Extracted parts are restored unless it is a result. Lone surrogates are replaced, and secrets of
    /// the server's config are removed first.
    pub(crate) fn open<T>(
        &mut self,
        secrets: &Scrubber,
        read: impl FnOnce(Result<Message<'_>, String>) -> T,
    ) -> T {
        proto::replace_lone_surrogates(&mut self.json);
        secrets.bytes(&mut self.json);
        let blobs = self.blobs.take();
        match (Message::parse(&self.json), blobs) {
            (Ok(Message::Answer { id, answer: Ok(mut result) }), blobs) => {
                result.blobs = blobs;
                read(Ok(Message::Answer { id, answer: Ok(result) }))
            }
            (_, Some(blobs)) => {
                let whole = blobs.restore(&String::from_utf8_lossy(&self.json));
                read(Message::parse(whole.as_bytes()))
            }
            (opened, None) => read(opened),
        }
    }
}

#[cfg(test)]
mod tests;
