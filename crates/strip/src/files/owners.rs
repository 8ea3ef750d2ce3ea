//! Which gateways keep objects in a storage. Each leaves a mark; where there is another's, nobody removes what it does not
//! know, for it may be the other's.

use bytes::Bytes;
use futures_util::stream;
use store::{ObjectKey, PutFault, StoreError};

use super::{Files, hex};

/// How the keys of marks begin. No object's key does: in its place theirs have the version of random ids.
const MARK: &str = "ffffffffffffffff";

impl Files {
    fn own_mark(&self) -> Result<ObjectKey, StoreError> {
        format!("{MARK}{}", hex(&self.owner[..8])).parse()
    }

    /// Leaves this gateway's mark.
    pub(super) async fn mark_storage(&self) -> Result<(), StoreError> {
        let mark = stream::iter([Ok::<_, StoreError>(Bytes::from_static(b"powerstrip"))]);
        let put = self.objects.put(&self.own_mark()?, mark).await;
        put.map(drop).map_err(|fault| match fault {
            PutFault::Sender(error) | PutFault::Store(error) => error,
        })
    }

    /// Whether this gateway's mark is the only one in the storage.
    pub(super) async fn is_alone(&self) -> Result<bool, StoreError> {
        let own = self.own_mark()?;
        let met = self.objects.shard(&MARK[..2]).await?;
        let other = met.into_iter().find(|met| is_mark(&met.key) && met.key != own);
        if let Some(other) = &other {
            tracing::warn!(mark = %other.key,
                "another gateway keeps files in the same storage, so objects without a file are not removed; \
                 give each a `prefix` of its own, or remove the mark of one that is no more");
        }
        Ok(other.is_none())
    }
}

pub(super) fn is_mark(key: &ObjectKey) -> bool {
    key.as_str().starts_with(MARK)
}
