//! Uploads in parts: each part begins where the last one ended, and the last byte completes the file.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use proto::{Code, FILE_ID_BYTES, Failure, FileId, FileKind, Principal, UploadId, digest};
use serde_json::json;
use store::{Appended, FileRecord, PutFault, UploadRow};

use super::failures::{over_quota, record_unreadable, storage_failed, too_large};
use super::files::{Files, millis, random};
use super::name;
use super::record::NewFile;
use super::upload_locks::UploadLock;

/// How long an upload waits for its next part.
const UPLOAD_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// How many unfinished uploads a tenant may have.
const MAX_OPEN: u64 = 100;

/// An upload and how much of it has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    pub id: UploadId,
    pub name: String,
    /// How many bytes it will have.
    pub size: u64,
    /// How many have arrived.
    pub offset: u64,
    /// The time of expiry, in milliseconds since 1970; none for a finished upload whose file is kept for ever.
    pub expires_ms: Option<u64>,
    /// The file that it became, if it is finished.
    pub file: Option<FileId>,
}

/// The state of an upload after a part.
#[derive(Clone, Debug)]
pub enum Progress {
    /// More parts are expected.
    Incomplete(Upload),
    /// The part does not begin where the last one ended.
    WrongOffset(Upload),
    /// The file is complete.
    Done(Box<FileRecord>),
}

impl Files {
    /// Begins an upload of `size` bytes.
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
            expires_ms: created_ms.saturating_add(millis(UPLOAD_TTL)),
        };
        if self.database.add_upload(&row, MAX_OPEN, rules.quota).await.map_err(storage_failed)? {
            return Ok(view(row, 0));
        }
        let open = self.database.uploads_of(&principal.tenant).await.map_err(storage_failed)?;
        if open < MAX_OPEN {
            return Err(over_quota(&rules));
        }
        let message = format!("{MAX_OPEN} uploads are not finished; finish some first");
        Err(Failure::new(Code::RateLimit, message))
    }

    /// The caller's upload. A finished one is known for as long as its file: a client that lost the last answer must
    /// learn that nothing is missing.
    pub async fn upload(&self, principal: &Principal, id: &str) -> Result<Upload, Failure> {
        let row = match self.upload_row(principal, id).await {
            Ok(row) => row,
            Err(missing) => return self.finished_upload(principal, id).await?.ok_or(missing),
        };
        let offset = self.drafts.length(&row.id).await.map_err(storage_failed)?;
        Ok(view(row, offset))
    }

    /// Adds a part. What arrived before an interruption is kept; the last byte completes the file.
    pub async fn add_part(
        &self,
        principal: &Principal,
        id: &str,
        offset: u64,
        bytes: impl Stream<Item = Result<Bytes, Failure>> + Send,
    ) -> Result<Progress, Failure> {
        let row = self.upload_row(principal, id).await?;
        let _lock = self.lock_upload(&row.id)?;
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
        match appended.map_err(put_failed)? {
            Appended::Elsewhere(offset) => Ok(Progress::WrongOffset(view(row, offset))),
            Appended::To(offset) if offset < size => Ok(Progress::Incomplete(view(row, offset))),
            Appended::To(_) => {
                Ok(Progress::Done(Box::new(self.finish_upload(principal, row).await?)))
            }
        }
    }

    /// Cancels an upload.
    pub async fn cancel_upload(&self, principal: &Principal, id: &str) -> Result<(), Failure> {
        let row = self.upload_row(principal, id).await?;
        let _lock = self.lock_upload(&row.id)?;
        self.remove_upload(&row.id).await
    }

    fn lock_upload(&self, id: &UploadId) -> Result<UploadLock, Failure> {
        self.upload_locks.try_lock(id).ok_or_else(|| {
            Failure::new(Code::Unavailable, "another request is adding to this upload now")
        })
    }

    async fn finish_upload(
        &self,
        principal: &Principal,
        row: UploadRow,
    ) -> Result<FileRecord, Failure> {
        let id = file_of(&row.id);
        match self.find(principal, id.as_str()).await {
            Ok(file) => {
                // The gateway ended between storing the file and removing the upload.
                self.remove_upload(&row.id).await?;
                return Ok(file);
            }
            Err(failure) if failure.code == Code::NotFound => {}
            Err(failure) => return Err(failure),
        }
        let whole =
            self.drafts.read(&row.id).await.map_err(storage_failed)?.map_err(storage_failed);
        let new = NewFile::new(FileKind::File, row.name);
        let file = self.put_as(id, principal, new, whole.boxed()).await?;
        if file.size != row.size {
            self.delete(principal, file.id.as_str()).await?;
            let message = "the parts of the upload are lost; begin it again";
            return Err(Failure::new(Code::NotFound, message));
        }
        self.remove_upload(&row.id).await?;
        Ok(file)
    }

    async fn finished_upload(
        &self,
        principal: &Principal,
        id: &str,
    ) -> Result<Option<Upload>, Failure> {
        let Ok(id) = id.parse::<UploadId>() else { return Ok(None) };
        let (file, now) = (file_of(&id), self.clock.unix_ms());
        let found =
            self.database.file(&principal.tenant, &file, now).await.map_err(storage_failed)?;
        let own = found.filter(|file| file.owner == principal.subject);
        Ok(own.map(|file| Upload {
            id,
            name: file.name,
            size: file.size,
            offset: file.size,
            expires_ms: file.expires_ms,
            file: Some(file.id),
        }))
    }

    /// Removes the row first: drafts without a row are swept.
    async fn remove_upload(&self, id: &UploadId) -> Result<(), Failure> {
        self.database.remove_upload(id.as_str()).await.map_err(storage_failed)?;
        self.drafts.remove(id).await.map_err(storage_failed)
    }

    async fn upload_row(&self, principal: &Principal, id: &str) -> Result<UploadRow, Failure> {
        let missing = || Failure::new(Code::NotFound, "there is no such upload, or no longer");
        let id: UploadId = id.parse().map_err(|_| missing())?;
        let row = self.database.upload(Some(&principal.tenant), &id).await;
        let row = row.map_err(|error| record_unreadable("upload", id.as_str(), error))?;
        // Only the owner may add to it: two people of a tenant must not write into one file.
        row.filter(|row| row.owner == principal.subject)
            .filter(|row| row.expires_ms > self.clock.unix_ms())
            .ok_or_else(missing)
    }
}

fn view(row: UploadRow, offset: u64) -> Upload {
    Upload {
        id: row.id,
        name: row.name,
        size: row.size,
        offset,
        expires_ms: Some(row.expires_ms),
        file: None,
    }
}

/// The id of the file that an upload becomes. It follows from the upload's id, which is as hard to guess.
fn file_of(upload: &UploadId) -> FileId {
    let hash = digest(format!("file of {}", upload.as_str()).as_bytes());
    let mut bytes = [0; FILE_ID_BYTES];
    bytes.copy_from_slice(&hash.as_bytes()[..FILE_ID_BYTES]);
    FileId::from_random(FileKind::File, bytes)
}

fn put_failed(fault: PutFault<Failure>) -> Failure {
    match fault {
        PutFault::Sender(failure) => failure,
        PutFault::Store(error) => storage_failed(error),
    }
}
