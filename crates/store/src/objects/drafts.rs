//! Uploads that come in parts: what has arrived waits in a folder, also over a restart.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use proto::UploadId;
use tokio::fs::OpenOptions;
use tokio::io::AsyncWriteExt as _;
use tokio_util::io::ReaderStream;
use uuid::Uuid;

use super::folder::private_folder;
use super::{ObjectStream, PutFault};
use crate::StoreError;

const READ: usize = 256 << 10;

const SPOOL: &str = "spool-";

/// The outcome of adding to an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// It now has so many bytes.
    To(u64),
    /// It has another length than the sender thinks.
    Elsewhere(u64),
}

/// The folder of unfinished uploads.
#[derive(Clone, Debug)]
pub struct Drafts(PathBuf);

impl Drafts {
    /// Opens the folder, and creates it if need be, for its owner only.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let opened = || {
            private_folder(path)?;
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                // A file that an earlier process spooled and did not remove before it ended.
                if entry.file_name().to_string_lossy().starts_with(SPOOL) {
                    fs::remove_file(entry.path())?;
                }
            }
            Ok(())
        };
        opened().map_err(|source| StoreError::Folder { path: path.to_owned(), source })?;
        Ok(Self(path.to_owned()))
    }

    /// How many bytes of an upload have arrived.
    pub async fn length(&self, id: &UploadId) -> Result<u64, StoreError> {
        match tokio::fs::metadata(self.path(id)).await {
            Ok(found) => Ok(found.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(fault(error)),
        }
    }

    /// Adds bytes at the end of an upload, which must be at `offset`. What arrives before the sender stops is kept.
    pub async fn append<E>(
        &self,
        id: &UploadId,
        offset: u64,
        bytes: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<Appended, PutFault<E>> {
        let mut bytes = pin!(bytes);
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        let mut file = options.open(self.path(id)).await.map_err(fault)?;
        let length = file.metadata().await.map_err(fault)?.len();
        if length != offset {
            return Ok(Appended::Elsewhere(length));
        }
        let mut written = 0;
        let stopped = loop {
            match bytes.next().await {
                None => break None,
                Some(Err(error)) => break Some(error),
                Some(Ok(chunk)) => {
                    file.write_all(&chunk).await.map_err(fault)?;
                    written += chunk.len() as u64;
                }
            }
        };
        file.flush().await.map_err(fault)?;
        file.sync_all().await.map_err(fault)?;
        stopped.map_or(Ok(Appended::To(length + written)), |error| Err(PutFault::Sender(error)))
    }

    /// All that has arrived of an upload.
    pub async fn read(&self, id: &UploadId) -> Result<ObjectStream, StoreError> {
        match tokio::fs::File::open(self.path(id)).await {
            Ok(file) => Ok(ReaderStream::with_capacity(file, READ).map_err(fault).boxed()),
            // Nothing has arrived, because nothing was to.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(futures_util::stream::empty().boxed())
            }
            Err(error) => Err(fault(error)),
        }
    }

    /// Throws away what has arrived of an upload.
    pub async fn remove(&self, id: &UploadId) -> Result<(), StoreError> {
        match tokio::fs::remove_file(self.path(id)).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(fault(error)),
            _ => Ok(()),
        }
    }

    /// Writes bytes into a file that goes away with what is given back.
    pub async fn spool(&self, mut bytes: ObjectStream) -> Result<Spooled, StoreError> {
        let spooled = Spooled(self.0.join(format!("{SPOOL}{}", Uuid::new_v4().simple())));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(spooled.path()).await.map_err(fault)?;
        while let Some(chunk) = bytes.try_next().await? {
            file.write_all(&chunk).await.map_err(fault)?;
        }
        file.flush().await.map_err(fault)?;
        Ok(spooled)
    }

    /// The uploads of which something has arrived.
    pub async fn all(&self) -> Result<Vec<UploadId>, StoreError> {
        let folder = self.0.clone();
        let names = tokio::task::spawn_blocking(move || {
            let mut ids = Vec::new();
            for entry in fs::read_dir(folder)? {
                ids.extend(entry?.file_name().to_string_lossy().parse::<UploadId>().ok());
            }
            Ok(ids)
        });
        names.await.map_err(io::Error::other).flatten().map_err(fault)
    }

    fn path(&self, id: &UploadId) -> PathBuf {
        self.0.join(id.as_str())
    }
}

/// A file for the moment.
#[derive(Debug)]
pub struct Spooled(PathBuf);

impl Spooled {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Spooled {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn fault(error: io::Error) -> StoreError {
    StoreError::Objects { why: Box::new(error) }
}
