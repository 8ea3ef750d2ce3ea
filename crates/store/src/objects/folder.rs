//! Objects as files: written to a temporary file, synced to the disk, and renamed.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::pin::pin;

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use tokio::io::AsyncReadExt as _;
use tokio::task::JoinHandle;
use tokio_util::io::ReaderStream;
use uuid::Uuid;

use super::{ListedObject, ObjectKey, ObjectStream, PutFault, Stored};
use crate::StoreError;

/// Where files are written before they are put in place.
const DRAFTS: &str = "drafts";

/// As many bytes go to the disk in one step, while the next ones arrive.
const BATCH: usize = 512 << 10;

/// As many bytes are read from the disk in one step.
const READ: usize = 256 << 10;

#[derive(Clone, Debug)]
pub(super) struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Opens the folder and deletes unfinished files of an earlier process: one process owns the folder.
    pub(super) fn open(root: &Path) -> Result<Self, StoreError> {
        let opened = || {
            private_folder(root)?;
            let drafts = root.join(DRAFTS);
            private_folder(&drafts)?;
            for draft in fs::read_dir(&drafts)? {
                fs::remove_file(draft?.path())?;
            }
            Ok(())
        };
        opened().map_err(|source| StoreError::Folder { path: root.to_owned(), source })?;
        Ok(Self { root: root.to_owned() })
    }

    pub(super) async fn put<E: Send>(
        &self,
        key: &ObjectKey,
        bytes: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<Stored, PutFault<E>> {
        let mut bytes = pin!(bytes);
        let path = self.root.join(DRAFTS).join(Uuid::new_v4().simple().to_string());
        // One batch is written and hashed while the next one arrives.
        let mut writing = blocking(move || Draft::create(path));
        let (mut batch, mut size) = (Vec::new(), 0);
        while let Some(chunk) = bytes.next().await {
            let chunk = match chunk {
                Ok(chunk) => chunk,
                Err(fault) => {
                    // The caller can rely on the error: nothing is left.
                    if let Ok(draft) = done(key, writing).await {
                        let _ = tokio::task::spawn_blocking(move || drop(draft)).await;
                    }
                    return Err(PutFault::Sender(fault));
                }
            };
            size += chunk.len();
            batch.push(chunk);
            if size >= BATCH {
                let draft = done(key, writing).await?;
                let full = std::mem::take(&mut batch);
                writing = blocking(move || draft.write(&full));
                size = 0;
            }
        }
        let draft = done(key, writing).await?;
        let place = self.path(key);
        let finished = blocking(move || draft.write(&batch)?.finish(&place));
        Ok(done(key, finished).await?)
    }

    pub(super) async fn open_object(
        &self,
        key: &ObjectKey,
        range: Option<Range<u64>>,
    ) -> Result<ObjectStream, StoreError> {
        let range = range.unwrap_or(0..u64::MAX);
        let (path, start) = (self.path(key), range.start);
        let opened = blocking(move || {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(start))?;
            Ok(file)
        });
        let mut file = tokio::fs::File::from_std(done(key, opened).await?);
        file.set_max_buf_size(READ);
        let reader = file.take(range.end.saturating_sub(range.start));
        let key = key.clone();
        Ok(ReaderStream::with_capacity(reader, READ).map_err(move |e| fault(&key, e)).boxed())
    }

    /// Objects never change, so a second name for the same bytes is a copy.
    pub(super) async fn copy(&self, from: &ObjectKey, to: &ObjectKey) -> Result<(), StoreError> {
        let (source, place) = (self.path(from), self.path(to));
        let draft = self.root.join(DRAFTS).join(Uuid::new_v4().simple().to_string());
        let copied = blocking(move || {
            make_parent(&place)?;
            match fs::hard_link(&source, &place) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
                Ok(()) => {}
                // Not every file system can, and none without an end.
                Err(_) => {
                    let mut draft = Draft::create(draft)?;
                    io::copy(&mut File::open(&source)?, &mut draft.file)?;
                    draft.finish(&place)?;
                }
            }
            sync_parent(&place)
        });
        done(from, copied).await
    }

    pub(super) async fn remove(&self, key: &ObjectKey) -> Result<(), StoreError> {
        let path = self.path(key);
        let removed = blocking(move || match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        });
        done(key, removed).await
    }

    pub(super) async fn shard(&self, shard: &str) -> Result<Vec<ListedObject>, StoreError> {
        let (path, shard) = (self.root.join(shard), shard.to_owned());
        let shown = path.clone();
        let walked = tokio::task::spawn_blocking(move || {
            let entries = match fs::read_dir(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                entries => entries?,
            };
            let mut met = Vec::new();
            for entry in entries {
                let entry = entry?;
                let name = format!("{shard}{}", entry.file_name().to_string_lossy());
                // Files with other names do not belong to the gateway.
                let Ok(key) = name.parse() else { continue };
                // A copy is a second name of an old file; when it got that name is the time of its last change.
                let seconds = u64::try_from(entry.metadata()?.ctime()).unwrap_or(0);
                let at_ms = seconds.saturating_mul(1000);
                met.push(ListedObject { key, at_ms });
            }
            Ok::<_, io::Error>(met)
        });
        walked
            .await
            .map_err(io::Error::other)
            .flatten()
            .map_err(|source| StoreError::Folder { path: shown, source })
    }

    pub(super) fn path(&self, key: &ObjectKey) -> PathBuf {
        self.root.join(key.shard()).join(key.rest())
    }
}

/// A file that is not in its place yet; it goes away with this value unless it gets there.
struct Draft {
    file: File,
    path: PathBuf,
    hasher: Context,
    size: u64,
    placed: bool,
}

impl Draft {
    fn create(path: PathBuf) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self { file, path, hasher: Context::new(&SHA256), size: 0, placed: false })
    }

    fn write(mut self, chunks: &[Bytes]) -> io::Result<Self> {
        for chunk in chunks {
            self.hasher.update(chunk);
            self.file.write_all(chunk)?;
            self.size += chunk.len() as u64;
        }
        Ok(self)
    }

    fn finish(mut self, place: &Path) -> io::Result<Stored> {
        self.file.sync_all()?;
        make_parent(place)?;
        fs::rename(&self.path, place)?;
        self.placed = true;
        sync_parent(place)?;
        Ok(Stored { size: self.size, sha256: digest_of(&self.hasher) })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.placed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The digest of what went into it so far.
pub(super) fn digest_of(context: &Context) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(context.clone().finish().as_ref());
    digest
}

/// Makes sure of a folder that is for its owner only.
pub(super) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn make_parent(place: &Path) -> io::Result<()> {
    match place.parent() {
        Some(shard) if !shard.is_dir() => {
            private_folder(shard)?;
            sync_parent(shard)
        }
        _ => Ok(()),
    }
}

/// A name is on the disk once its folder is.
fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> JoinHandle<io::Result<T>> {
    tokio::task::spawn_blocking(work)
}

async fn done<T>(key: &ObjectKey, work: JoinHandle<io::Result<T>>) -> Result<T, StoreError> {
    work.await.map_err(io::Error::other).flatten().map_err(|error| fault(key, error))
}

fn fault(key: &ObjectKey, error: io::Error) -> StoreError {
    if error.kind() == io::ErrorKind::NotFound {
        StoreError::NoObject(key.to_string())
    } else {
        StoreError::Objects { why: error.into() }
    }
}
