//! Uploads in parts: begun, added to at the offset where the last part ended, and made a file with the last byte.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use proto::{Code, FileKind, Principal, UploadId};
use serde_json::json;
use store::{Appended, PutFault, UploadRow};

use super::{FileRecord, Files, NewFile, broken, millis, name, over_quota, random, too_large};
use crate::Failure;

/// How long an upload waits for its next part.
const WAITS: Duration = Duration::from_secs(24 * 60 * 60);

/// How many uploads a tenant may have begun and not finished.
const MAX_OPEN: u64 = 100;

/// An upload and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    pub id: UploadId,
    pub name: String,
    /// How many bytes it will have.
    pub size: u64,
    /// How many have arrived.
    pub offset: u64,
    /// When it is given up, in milliseconds since 1970.
    pub expires_ms: u64,
}

/// What came of adding a part.
#[derive(Clone, Debug)]
pub enum Progress {
    /// More is to come.
    Waiting(Upload),
    /// The part does not begin where the last one ended.
    Elsewhere(Upload),
    /// That was the last part.
    Done(Box<FileRecord>),
}

/// The uploads that somebody is adding to.
#[derive(Clone, Default)]
pub(super) struct Busy(Arc<Mutex<HashSet<UploadId>>>);

pub(super) struct Turn(Busy, UploadId);

impl Busy {
    pub(super) fn take(&self, id: &UploadId) -> Option<Turn> {
        let mut busy = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        busy.insert(id.clone()).then(|| Turn(self.clone(), id.clone()))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}

impl Files {
    /// Begins an upload of so many bytes.
    pub async fn begin_upload(
        &self,
        principal: &Principal,
        name: &str,
        size: u64,
    ) -> Result<Upload, Failure> {
        let rules = self.rules();
        if size > rules.max_bytes {
            return Err(too_large(&rules));
        }
        let created_ms = self.clock.unix_ms();
        let row = UploadRow {
            id: UploadId::from_random(random()?),
            tenant: principal.tenant.clone(),
            owner: principal.subject.clone(),
            name: name::clean(name),
            size,
            created_ms,
            expires_ms: created_ms.saturating_add(millis(WAITS)),
        };
        if self.database.add_upload(&row, MAX_OPEN, rules.quota).await.map_err(broken)? {
            return Ok(seen(row, 0));
        }
        let open = self.database.uploads_of(&principal.tenant).await.map_err(broken)?;
        if open < MAX_OPEN {
            return Err(over_quota(&rules));
        }
        let message = format!("{MAX_OPEN} uploads are begun and not finished; finish some first");
        Err(Failure::new(Code::RateLimit, message))
    }

    /// How far the caller's upload has come.
    pub async fn upload(&self, principal: &Principal, id: &str) -> Result<Upload, Failure> {
        let row = self.upload_row(principal, id).await?;
        let offset = self.drafts.length(&row.id).await.map_err(broken)?;
        Ok(seen(row, offset))
    }

    /// Adds a part. What arrived before it broke off is kept; the last byte makes the file.
    pub async fn add_part(
        &self,
        principal: &Principal,
        id: &str,
        offset: u64,
        bytes: impl Stream<Item = Result<Bytes, Failure>> + Send,
    ) -> Result<Progress, Failure> {
        let row = self.upload_row(principal, id).await?;
        let _turn = self.busy.take(&row.id).ok_or_else(|| {
            Failure::new(Code::Unavailable, "another request is adding to this upload now")
        })?;
        let mut end = offset;
        let size = row.size;
        let bounded = bytes.map(move |chunk| {
            let chunk = chunk?;
            end = end.saturating_add(chunk.len() as u64);
            if end > size {
                let message =
                    format!("the upload was announced with {size} bytes, and this is more");
                return Err(
                    Failure::new(Code::InvalidInput, message).details(json!({"size": size}))
                );
            }
            Ok(chunk)
        });
        let appended = self.drafts.append(&row.id, offset, bounded).await;
        match appended.map_err(sent)? {
            Appended::Elsewhere(offset) => Ok(Progress::Elsewhere(seen(row, offset))),
            Appended::To(offset) if offset < size => Ok(Progress::Waiting(seen(row, offset))),
            Appended::To(_) => {
                Ok(Progress::Done(Box::new(self.finish_upload(principal, row).await?)))
            }
        }
    }

    /// Gives an upload up.
    pub async fn drop_upload(&self, principal: &Principal, id: &str) -> Result<(), Failure> {
        let row = self.upload_row(principal, id).await?;
        let _turn = self.busy.take(&row.id).ok_or_else(|| {
            Failure::new(Code::Unavailable, "another request is adding to this upload now")
        })?;
        self.forget_upload(&row.id).await
    }

    async fn finish_upload(
        &self,
        principal: &Principal,
        row: UploadRow,
    ) -> Result<FileRecord, Failure> {
        let whole = self.drafts.read(&row.id).await.map_err(broken)?.map_err(broken);
        let file = self.put(principal, NewFile::new(FileKind::File, row.name), whole).await?;
        if file.size != row.size {
            self.delete(principal, file.id.as_str()).await?;
            let message = "what had arrived of the upload is gone; begin it anew";
            return Err(Failure::new(Code::NotFound, message));
        }
        self.forget_upload(&row.id).await?;
        Ok(file)
    }

    /// The row first: a draft without one is swept.
    pub(super) async fn forget_upload(&self, id: &UploadId) -> Result<(), Failure> {
        self.database.remove_upload(id).await.map_err(broken)?;
        self.drafts.remove(id).await.map_err(broken)
    }

    async fn upload_row(&self, principal: &Principal, id: &str) -> Result<UploadRow, Failure> {
        let missing = || Failure::new(Code::NotFound, "there is no such upload, or no longer");
        let id: UploadId = id.parse().map_err(|_| missing())?;
        let row = self.database.upload(&id).await.map_err(broken)?;
        // An upload is its owner's: two people of a tenant must not write into one file.
        row.filter(|row| row.tenant == principal.tenant && row.owner == principal.subject)
            .filter(|row| row.expires_ms > self.clock.unix_ms())
            .ok_or_else(missing)
    }
}

fn seen(row: UploadRow, offset: u64) -> Upload {
    Upload { id: row.id, name: row.name, size: row.size, offset, expires_ms: row.expires_ms }
}

fn sent(fault: PutFault<Failure>) -> Failure {
    match fault {
        PutFault::Sender(failure) => failure,
        PutFault::Store(error) => broken(error),
    }
}
