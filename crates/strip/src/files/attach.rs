//! Large files on their way into a tool: the input holds a mark, and the bytes take its place as the input is sent.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use store::FileRecord;
use uuid::Uuid;

use super::{FileStream, Files};
use crate::Failure;

/// Files that stand in a JSON text by marks which nobody could have guessed.
pub struct Attachments {
    files: Arc<Files>,
    secret: String,
    records: Vec<FileRecord>,
}

/// A part of a request: text as it is, or a file in base64.
#[derive(Clone, Debug)]
pub enum Piece {
    Text(Bytes),
    Base64(FileRecord),
}

impl Piece {
    fn length(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Base64(record) => record.size.div_ceil(3) * 4,
        }
    }

    /// How many bytes the pieces are together.
    pub fn total(pieces: &[Self]) -> u64 {
        pieces.iter().map(Self::length).sum()
    }
}

impl Attachments {
    pub(super) fn new(files: Arc<Files>) -> Self {
        Self { files, secret: Uuid::new_v4().simple().to_string(), records: Vec::new() }
    }

    /// Adds a file; returns the mark that stands for its bytes.
    pub(super) fn add(&mut self, record: FileRecord) -> String {
        self.records.push(record);
        self.mark(self.records.len() - 1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// All marks are equally long, so that none is the beginning of another.
    fn mark(&self, at: usize) -> String {
        format!("powerstrip-file-{}-{at:04}", self.secret)
    }

    /// A JSON text cut at the marks in it.
    pub fn pieces(&self, mut json: Bytes) -> Vec<Piece> {
        let mut places: Vec<_> = (0..self.records.len())
            .filter_map(|at| {
                let mark = self.mark(at);
                let place = json.windows(mark.len()).position(|part| part == mark.as_bytes())?;
                Some((place, mark.len(), at))
            })
            .collect();
        places.sort_unstable();
        let mut pieces = Vec::with_capacity(2 * places.len() + 1);
        let mut done = 0;
        for (place, length, at) in places {
            pieces.push(Piece::Text(json.split_to(place - done)));
            pieces.push(Piece::Base64(self.records[at].clone()));
            let _mark = json.split_to(length);
            done = place + length;
        }
        pieces.push(Piece::Text(json));
        pieces
    }

    /// The bytes of the pieces, files as they are read.
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
                            in_base64(files.open(&record, None).await?).boxed()
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

/// Bytes in base64, as they come: what does not fill a group of three waits for the next.
pub(super) fn in_base64(bytes: FileStream) -> impl Stream<Item = Result<Bytes, Failure>> {
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
