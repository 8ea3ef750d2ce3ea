use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use proto::UploadId;

/// The uploads that a request is adding to.
#[derive(Clone, Default)]
pub(crate) struct UploadLocks(Arc<Mutex<HashSet<UploadId>>>);

/// An upload that no other request can add to until this is dropped.
pub(crate) struct UploadLock(UploadLocks, UploadId);

impl UploadLocks {
    /// Locks an upload, unless it is locked.
    pub(crate) fn try_lock(&self, id: &UploadId) -> Option<UploadLock> {
        let mut locked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        locked.insert(id.clone()).then(|| UploadLock(self.clone(), id.clone()))
    }
}

impl Drop for UploadLock {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}
