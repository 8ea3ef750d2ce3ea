//! Where an answer goes on, for one document and one pair of settings.

use std::fmt::Write as _;

use language::passages::ChunkOptions;
use proto::{Code, Failure, digest_of_parts};

/// The index of a chunk, with digests of the settings and of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    next: usize,
    settings: String,
    text: String,
}

impl Cursor {
    pub(super) fn new(next: usize, options: ChunkOptions, text: &str) -> Self {
        let settings = settings_of(options);
        Self {
            next,
            settings: hex(digest_of_parts([settings.as_bytes()]).as_bytes(), 4),
            text: hex(digest_of_parts([text.as_bytes()]).as_bytes(), 8),
        }
    }

    /// The index at which an answer begins: 0 without a cursor.
    pub(super) fn start(
        written: Option<&str>,
        options: ChunkOptions,
        text: &str,
    ) -> Result<usize, Failure> {
        let Some(written) = written else { return Ok(0) };
        let cursor = Self::parse(written).ok_or_else(|| invalid("is none of this tool"))?;
        let here = Self::new(cursor.next, options, text);
        if cursor.settings != here.settings {
            return Err(invalid(
                "belongs to other settings; repeat `chunk_tokens` and `overlap_tokens` of the first call",
            ));
        }
        if cursor.text != here.text {
            return Err(invalid(
                "belongs to another text, or the document has changed; begin again",
            ));
        }
        Ok(cursor.next)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let (next, settings, text) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        Some(Self {
            next: next.parse().ok()?,
            settings: settings.to_owned(),
            text: text.to_owned(),
        })
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.next, self.settings, self.text)
    }
}

/// The settings as a part of digests.
pub(super) fn settings_of(options: ChunkOptions) -> String {
    format!("{}/{}", options.chunk_tokens, options.overlap_tokens)
}

/// The first bytes of a digest.
pub(super) fn hex(digest: &[u8], bytes: usize) -> String {
    digest.iter().take(bytes).fold(String::new(), |mut text, byte| {
        // cannot fail: a text takes every write.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn invalid(why: &str) -> Failure {
    Failure::new(Code::InvalidInput, format!("/cursor: the cursor {why}"))
}
