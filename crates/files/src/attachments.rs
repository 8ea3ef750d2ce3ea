//! Large files in requests: the input contains a placeholder, which is replaced by the bytes as the input is sent.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use proto::Failure;
use store::FileRecord;
use uuid::Uuid;

use super::files::Files;
use super::record::FileStream;

/// Files that a JSON text contains as placeholders. The author of the text cannot guess the placeholders.
pub struct Attachments {
    files: Arc<Files>,
    secret: String,
    records: Vec<FileRecord>,
}

/// A part of a request: text, or a file in base64.
#[derive(Clone, Debug)]
pub enum Piece {
    Text(Bytes),
    Base64(Box<FileRecord>),
}

impl Piece {
    fn length(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Base64(record) => record.size.div_ceil(3) * 4,
        }
    }

    /// The total length of pieces.
    pub fn total(pieces: &[Self]) -> u64 {
        pieces.iter().map(Self::length).sum()
    }
}

impl Attachments {
    pub fn new(files: Arc<Files>) -> Self {
        Self { files, secret: Uuid::new_v4().simple().to_string(), records: Vec::new() }
    }

    /// Adds a file; returns the placeholder for its bytes.
    pub fn add(&mut self, record: FileRecord) -> String {
        self.records.push(record);
        self.placeholder(self.records.len() - 1)
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// All placeholders have the same length, so that none is a prefix of another.
    fn placeholder(&self, at: usize) -> String {
        format!("powerstrip-file-{}-{at:04}", self.secret)
    }

    /// Splits a JSON text at its placeholders.
    pub fn pieces(&self, mut json: Bytes) -> Vec<Piece> {
        let mut positions: Vec<_> = (0..self.records.len())
            .filter_map(|at| {
                let placeholder = self.placeholder(at);
                let position = json
                    .windows(placeholder.len())
                    .position(|part| part == placeholder.as_bytes())?;
                Some((position, placeholder.len(), at))
            })
            .collect();
        positions.sort_unstable();
        let mut pieces = Vec::with_capacity(2 * positions.len() + 1);
        let mut done = 0;
        for (position, length, at) in positions {
            pieces.push(Piece::Text(json.split_to(position - done)));
            pieces.push(Piece::Base64(Box::new(self.records[at].clone())));
            let _placeholder = json.split_to(length);
            done = position + length;
        }
        pieces.push(Piece::Text(json));
        pieces
    }

    /// Streams the pieces; files are read on the way.
    pub fn read(
        self: &Arc<Self>,
        pieces: Vec<Piece>,
    ) -> impl Stream<Item = Result<Bytes, Failure>> + use<> {
        let files = Arc::clone(&self.files);
        stream::iter(pieces)
            .then(move |piece| {
                let files = Arc::clone(&files);
                async move {
                    Ok::<FileStream, Failure>(match piece {
                        Piece::Text(text) => stream::iter([Ok(text)]).boxed(),
                        Piece::Base64(record) => {
                            encode_base64(files.open(&record, None).await?).boxed()
                        }
                    })
                }
            })
            .try_flatten()
    }
}

impl fmt::Debug for Attachments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} files", self.records.len())
    }
}

/// Encodes a stream in base64; bytes that do not fill a group of three wait for the next chunk.
pub fn encode_base64(bytes: FileStream) -> impl Stream<Item = Result<Bytes, Failure>> {
    stream::try_unfold(
        (bytes, BytesMut::new(), false),
        |(mut bytes, mut waiting, over)| async move {
            if over {
                return Ok(None);
            }
            match bytes.try_next().await? {
                Some(chunk) => {
                    waiting.extend_from_slice(&chunk);
                    let whole = waiting.split_to(waiting.len() / 3 * 3);
                    Ok(Some((Bytes::from(BASE64_STANDARD.encode(&whole)), (bytes, waiting, false))))
                }
                None => Ok(Some((
                    Bytes::from(BASE64_STANDARD.encode(&waiting)),
                    (bytes, BytesMut::new(), true),
                ))),
            }
        },
    )
}
