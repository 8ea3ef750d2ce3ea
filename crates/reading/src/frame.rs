//! Frames between a program and its readers: the length of a JSON header (four bytes, little endian), the header, and as
//! many bytes as the header says.

use std::io::{self, Read, Write};

use documents::{Form, Metadata};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Changes with the frames: a reader may be a newer program, if this one was replaced while it ran.
pub(crate) const VERSION: u32 = 5;

/// The largest header in bytes.
const MAX_HEADER: u32 = 1 << 20;

/// What is done with a document; its bytes follow.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) task: Task,
    pub(crate) media_type: String,
    pub(crate) charset: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) form: Form,
    /// The largest document in bytes.
    pub(crate) input: u64,
    /// The largest text in bytes.
    pub(crate) text: u64,
    /// The bytes that follow.
    pub(crate) length: u64,
}

/// What a reader does with the bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Task {
    /// Read the text of a document.
    Read,
    /// Scale a picture down.
    Copy(PictureCopy),
    /// Run a function of the program.
    Work { name: String, options: Value },
}

/// The copy that is made of a picture.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct PictureCopy {
    /// In pixels.
    pub(crate) longest_side: u32,
    /// The most pixels of the picture.
    pub(crate) max_pixels: u64,
}

/// What a reader says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub(crate) enum Answer {
    /// It has started.
    Ready { version: u32 },
    /// It has read the document; the text follows.
    Read {
        media_type: String,
        parts: usize,
        pages: Vec<usize>,
        meta: Box<Metadata>,
        removed: usize,
        hidden_text: String,
        truncated: bool,
        unreadable_pages: Vec<usize>,
        length: u64,
    },
    /// It has made a smaller copy of the picture, which follows.
    Scaled { media_type: String, pixels: u64, length: u64 },
    /// It has run a function of the program; the value as JSON and the bytes that were made follow.
    Worked { value_length: u64, length: u64 },
    /// The document cannot be read.
    Refused { kind: String, message: String },
    /// A parser panicked.
    Crashed,
}

/// The length and the header as bytes.
pub(crate) fn header(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, value)?;
    let length = u32::try_from(bytes.len() - 4).map_err(io::Error::other)?;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// The next header from a program; none if it has closed the pipe.
pub(crate) fn read_header<T: DeserializeOwned>(pipe: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match pipe.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut bytes = vec![0; checked(length)?];
    pipe.read_exact(&mut bytes)?;
    Ok(Some(serde_json::from_slice(&bytes)?))
}

pub(crate) fn write(
    pipe: &mut impl Write,
    value: &impl Serialize,
    content: &[u8],
) -> io::Result<()> {
    pipe.write_all(&header(value)?)?;
    pipe.write_all(content)?;
    pipe.flush()
}

/// The next header from a reader.
pub(crate) async fn next_header<T: DeserializeOwned>(
    pipe: &mut (impl AsyncRead + Unpin),
) -> io::Result<T> {
    let mut length = [0; 4];
    pipe.read_exact(&mut length).await?;
    let mut bytes = vec![0; checked(length)?];
    pipe.read_exact(&mut bytes).await?;
    Ok(serde_json::from_slice(&bytes)?)
}

fn checked(length: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(length);
    if length > MAX_HEADER {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the header is too large"));
    }
    Ok(length as usize)
}
