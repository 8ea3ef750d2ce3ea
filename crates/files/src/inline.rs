//! Up to which size parts of an answer stay in it.

use super::blobs::BINARY_BYTES;

/// How many image and audio blocks of the largest size an answer may have.
const MEDIA_BLOCKS: usize = 4;

/// The most bytes of one event. The Python SDK closes streams with events of more than 1 MiB.
const EVENT_BYTES: usize = 1_000_000;

/// What an event has in addition to the result: its id, the message around the result, links to what was stored.
const EVENT_FRAME: usize = 20_000;

/// The sizes in bytes up to which parts of an answer stay in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlineLimits {
    /// Of an image or audio block of an MCP result.
    pub media: usize,
    /// Of a text.
    pub text: usize,
    /// Of all other binary: embedded files, base64 in fields.
    pub data: usize,
    /// Of a whole MCP result, as JSON: images and audio leave it until it is within this size.
    pub result: Option<usize>,
}

impl Default for InlineLimits {
    fn default() -> Self {
        Self { media: 1 << 20, text: 64 << 10, data: BINARY_BYTES, result: None }
    }
}

impl InlineLimits {
    /// These limits with those that a server has of its own.
    pub fn with(self, own: InlineOverrides) -> Self {
        Self {
            media: own.media.unwrap_or(self.media),
            text: own.text.unwrap_or(self.text),
            data: own.data.unwrap_or(self.data),
            result: self.result,
        }
    }

    /// For callers that pass answers on without looking at them: images and audio are binary like all other.
    pub fn without_media(self) -> Self {
        Self { media: self.media.min(self.data), ..self }
    }

    /// For answers that are sent as one event of a stream.
    pub fn in_one_event(self) -> Self {
        Self { result: Some(EVENT_BYTES - EVENT_FRAME), ..self }
    }

    /// How long all image and audio blocks of one answer may be together, in base64.
    pub fn media_of_answer(&self) -> usize {
        encoded(self.media).saturating_mul(MEDIA_BLOCKS)
    }

    /// The shortest text that may have to be replaced.
    pub fn least(&self) -> usize {
        encoded(self.media.min(self.data)).min(self.text)
    }
}

/// The limits that a server has of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InlineOverrides {
    pub media: Option<usize>,
    pub text: Option<usize>,
    pub data: Option<usize>,
}

/// The length of so many bytes in base64.
pub fn encoded(bytes: usize) -> usize {
    bytes.div_ceil(3).saturating_mul(4)
}
