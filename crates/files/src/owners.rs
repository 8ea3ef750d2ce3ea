//! Markers of the gateways that use a storage. Where another gateway has a marker, objects without a row are not removed:
//! they may belong to it.

use bytes::Bytes;
use futures_util::stream;
use store::{ObjectKey, PutFault, StoreError};

use super::files::Files;
use super::record::hex;

/// The prefix of the keys of markers. Keys of objects have the version digit of random ids there, so none begins like it.
const MARKER: &str = "ffffffffffffffff";

impl Files {
    fn own_marker(&self) -> Result<ObjectKey, StoreError> {
        format!("{MARKER}{}", hex(&self.owner[..8])).parse()
    }

    /// Stores the marker of this gateway.
    pub(crate) async fn mark_storage(&self) -> Result<(), StoreError> {
        let content = stream::iter([Ok::<_, StoreError>(Bytes::from_static(b"powerstrip"))]);
        let put = self.objects.put(&self.own_marker()?, content).await;
        put.map(drop).map_err(|fault| match fault {
            PutFault::Sender(error) | PutFault::Store(error) => error,
        })
    }

    /// Whether the marker of this gateway is the only one in the storage.
    pub(crate) async fn is_alone(&self) -> Result<bool, StoreError> {
        let own = self.own_marker()?;
        let found = self.objects.shard(&MARKER[..2]).await?;
        let other = found.into_iter().find(|object| is_marker(&object.key) && object.key != own);
        if let Some(other) = &other {
            tracing::warn!(marker = %other.key,
                "another gateway uses the same storage, so objects without a file are not removed; \
                 give each gateway its own `prefix`, or delete the marker of one that no longer exists");
        }
        Ok(other.is_none())
    }
}

pub(crate) fn is_marker(key: &ObjectKey) -> bool {
    key.as_str().starts_with(MARKER)
}
