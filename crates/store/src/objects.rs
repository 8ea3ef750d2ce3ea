//! Object storage: bytes under keys, in a folder or in a bucket.

mod bucket;
mod drafts;
mod folder;

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::BoxStream;
use url::Url;
use uuid::Uuid;

use crate::StoreError;
use bucket::Bucket;
pub use bucket::BucketOptions;
pub use drafts::{Appended, Drafts, Spooled};
use folder::Folder;
pub use object_store::client::{
    HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse, HttpResponseBody,
    HttpService,
};

/// The bytes of an object as they are read.
pub type ObjectStream = BoxStream<'static, Result<Bytes, StoreError>>;

/// Where an object lies: 32 hexadecimal digits, of which the first two are its shard.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectKey(String);

impl ObjectKey {
    /// A key that no other object has.
    pub fn random() -> Self {
        Self(Uuid::new_v4().simple().to_string())
    }

    /// The whole key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn shard(&self) -> &str {
        &self.0[..2]
    }

    fn rest(&self) -> &str {
        &self.0[2..]
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ObjectKey {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == 32 && text.bytes().all(digit) {
            Ok(Self(text.to_owned()))
        } else {
            let value = text.chars().take(100).collect();
            Err(StoreError::Unreadable { column: "the object key", value })
        }
    }
}

/// What was measured while an object was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    pub size: u64,
    pub sha256: [u8; 32],
}

/// Why an object was not written: the one who sends it stopped, or the storage did.
#[derive(Debug)]
pub enum PutFault<E> {
    Sender(E),
    Store(StoreError),
}

impl<E> From<StoreError> for PutFault<E> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// An object in the listing of the storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedObject {
    pub key: ObjectKey,
    /// When it was written, in milliseconds since 1970.
    pub at_ms: u64,
}

/// Object storage. Objects are written once and never changed.
#[derive(Clone, Debug)]
pub struct Objects(StorageBackend);

/// The storage that holds the objects.
#[derive(Clone, Debug)]
enum StorageBackend {
    Folder(Folder),
    Bucket(Bucket),
}

impl Objects {
    /// Objects in a folder, which is created if need be, for its owner only.
    pub fn folder(path: &Path) -> Result<Self, StoreError> {
        Ok(Self(StorageBackend::Folder(Folder::open(path)?)))
    }

    /// Objects in a bucket that speaks the S3 protocol, reached by the client that is given.
    pub fn bucket(options: BucketOptions, client: impl HttpService) -> Result<Self, StoreError> {
        Ok(Self(StorageBackend::Bucket(Bucket::new(options, client)?)))
    }

    /// Writes an object as its bytes arrive. It is there as a whole or not at all.
    pub async fn put<E: Send>(
        &self,
        key: &ObjectKey,
        bytes: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<Stored, PutFault<E>> {
        match &self.0 {
            StorageBackend::Folder(folder) => folder.put(key, bytes).await,
            StorageBackend::Bucket(bucket) => bucket.put(key, bytes).await,
        }
    }

    /// The bytes of an object, all of them or those from and up to an offset.
    pub async fn open(
        &self,
        key: &ObjectKey,
        range: Option<Range<u64>>,
    ) -> Result<ObjectStream, StoreError> {
        match &self.0 {
            StorageBackend::Folder(folder) => folder.open_object(key, range).await,
            StorageBackend::Bucket(bucket) => bucket.open(key, range).await,
        }
    }

    /// The file that holds an object, where objects are files.
    pub fn path(&self, key: &ObjectKey) -> Option<PathBuf> {
        match &self.0 {
            StorageBackend::Folder(folder) => Some(folder.path(key)),
            StorageBackend::Bucket(_) => None,
        }
    }

    /// Copies an object inside the storage.
    pub async fn copy(&self, from: &ObjectKey, to: &ObjectKey) -> Result<(), StoreError> {
        match &self.0 {
            StorageBackend::Folder(folder) => folder.copy(from, to).await,
            StorageBackend::Bucket(bucket) => bucket.copy(from, to).await,
        }
    }

    /// Removes an object; one that is not there is removed already.
    pub async fn remove(&self, key: &ObjectKey) -> Result<(), StoreError> {
        match &self.0 {
            StorageBackend::Folder(folder) => folder.remove(key).await,
            StorageBackend::Bucket(bucket) => bucket.remove(key).await,
        }
    }

    /// A link that lets any holder read an object for a while, if the storage supports links.
    pub async fn link(
        &self,
        key: &ObjectKey,
        lasting: Duration,
        headers: &LinkHeaders,
    ) -> Result<Option<Url>, StoreError> {
        match &self.0 {
            StorageBackend::Folder(_) => Ok(None),
            StorageBackend::Bucket(bucket) => bucket.link(key, lasting, headers).await.map(Some),
        }
    }

    /// The names of all shards.
    pub fn shards() -> impl Iterator<Item = String> {
        (0..=255_u8).map(|shard| format!("{shard:02x}"))
    }

    /// The objects of one shard.
    pub async fn shard(&self, shard: &str) -> Result<Vec<ListedObject>, StoreError> {
        match &self.0 {
            StorageBackend::Folder(folder) => folder.shard(shard).await,
            StorageBackend::Bucket(bucket) => bucket.shard(shard).await,
        }
    }
}

/// Headers of the object for a browser that follows a link.
#[derive(Clone, Debug)]
pub struct LinkHeaders {
    pub content_type: String,
    pub content_disposition: String,
}
