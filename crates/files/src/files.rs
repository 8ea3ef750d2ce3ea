use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use aws_lc_rs::rand;
use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use proto::{Clock, Code, FILE_ID_BYTES, Failure, FileId, FileKind, Principal, TenantId};
use serde_json::json;
use store::{
    Database, Drafts, FileFilter, FileRecord, Listed, ObjectKey, Objects, PutFault, StoreError,
};
use url::Url;

use super::extraction_queue::ExtractionQueue;
use super::failures::{
    not_found, over_quota, record_unreadable, storage_failed, too_large, unreadable,
};
use super::in_flight::InFlight;
use super::name;
use super::record::{FileStream, Listing, NewFile, Page};
use super::rules::FileRules;
use super::signature::LinkKey;
use super::text::{ExtractText, PlainText, sniff_plain_text};
use super::upload_locks::UploadLocks;

/// Returns the media type of a file, by its first bytes and its name.
pub type Sniff = fn(&[u8], &str) -> String;

/// How many of the first bytes the media type is decided by.
const HEAD: usize = 64 << 10;

/// The most files that one page lists.
const MAX_LISTED: u32 = 500;

/// What [`Files`] is built from.
pub struct FileParts {
    pub database: Database,
    pub objects: Objects,
    /// Uploads in parts that are not complete.
    pub drafts: Drafts,
    pub rules: FileRules,
    pub clock: Clock,
    pub sniff: Sniff,
    pub text: Arc<dyn ExtractText>,
    /// The key that signs links, 32 random bytes.
    pub link_key: [u8; 32],
    /// Identifies this gateway among those that use the same storage.
    pub owner: [u8; 32],
}

impl FileParts {
    /// Files in a data folder, where text is extracted from plain text only.
    pub fn in_folder(data: &Path, database: Database, clock: Clock) -> Result<Self, StoreError> {
        Ok(Self {
            database,
            objects: Objects::folder(&data.join("objects"))?,
            drafts: Drafts::open(&data.join("uploads"))?,
            rules: FileRules::default(),
            clock,
            sniff: sniff_plain_text,
            text: Arc::new(PlainText),
            link_key: store::private_key(&data.join("links.key"))?,
            owner: store::private_key(&data.join("objects.id"))?,
        })
    }
}

/// The files of all tenants; a caller sees those of its tenant.
pub struct Files {
    pub(crate) database: Database,
    pub(crate) objects: Objects,
    pub(crate) drafts: Drafts,
    rules: ArcSwap<FileRules>,
    pub(crate) clock: Clock,
    sniff: Sniff,
    pub(crate) text: Arc<dyn ExtractText>,
    pub(crate) links: LinkKey,
    /// The public URL of the gateway, once it is known.
    pub(crate) base: ArcSwapOption<Url>,
    /// A lock for each file whose text is being extracted.
    pub(crate) extracting: Mutex<HashMap<FileId, Arc<tokio::sync::Mutex<()>>>>,
    pub(crate) upload_locks: UploadLocks,
    in_flight: InFlight,
    pub(crate) queue: ExtractionQueue,
    pub(crate) owner: [u8; 32],
    /// Objects that could not be removed yet.
    pub(crate) unremoved: Mutex<Vec<ObjectKey>>,
}

impl Files {
    pub fn new(parts: FileParts) -> Self {
        Self {
            database: parts.database,
            objects: parts.objects,
            drafts: parts.drafts,
            rules: ArcSwap::from_pointee(parts.rules),
            clock: parts.clock,
            sniff: parts.sniff,
            text: parts.text,
            links: LinkKey::new(&parts.link_key),
            base: ArcSwapOption::empty(),
            extracting: Mutex::default(),
            upload_locks: UploadLocks::default(),
            in_flight: InFlight::default(),
            queue: ExtractionQueue::default(),
            owner: parts.owner,
            unremoved: Mutex::default(),
        }
    }

    /// The current rules.
    pub fn rules(&self) -> Arc<FileRules> {
        self.rules.load_full()
    }

    /// Replaces the rules for files that are stored from now on.
    pub fn set_rules(&self, rules: FileRules) {
        self.rules.store(Arc::new(rules));
    }

    /// Stores a file as its bytes arrive. An interrupted or too large one leaves nothing behind.
    pub async fn put(
        &self,
        principal: &Principal,
        new: NewFile,
        bytes: impl Stream<Item = Result<Bytes, Failure>> + Send,
    ) -> Result<FileRecord, Failure> {
        let id = FileId::from_random(new.kind, random()?);
        self.put_as(id, principal, new, bytes.boxed()).await
    }

    /// Stores a file under an id that was chosen before.
    pub(crate) fn put_as<'a>(
        &'a self,
        id: FileId,
        principal: &'a Principal,
        new: NewFile,
        bytes: BoxStream<'a, Result<Bytes, Failure>>,
    ) -> BoxFuture<'a, Result<FileRecord, Failure>> {
        // Boxed, so that it is compiled here and not again for every source of bytes.
        Box::pin(self.store_as(id, principal, new, bytes))
    }

    async fn store_as(
        &self,
        id: FileId,
        principal: &Principal,
        new: NewFile,
        bytes: BoxStream<'_, Result<Bytes, Failure>>,
    ) -> Result<FileRecord, Failure> {
        let rules = self.rules();
        let room = self.room(&principal.tenant, &rules).await?;
        let head = Mutex::new(BytesMut::new());
        let (mut size, mut transfer) = (0_u64, self.in_flight.begin(&principal.tenant));
        let checked = bytes.map(|chunk| {
            let chunk = chunk?;
            size += chunk.len() as u64;
            if size > rules.max_bytes {
                return Err(too_large(&rules));
            }
            if transfer.add(chunk.len() as u64) > room {
                return Err(over_quota(&rules));
            }
            let mut head = head.lock().unwrap_or_else(PoisonError::into_inner);
            let missing = HEAD.saturating_sub(head.len()).min(chunk.len());
            head.extend_from_slice(&chunk[..missing]);
            Ok(chunk)
        });
        let object = ObjectKey::random();
        let stored = self.objects.put(&object, checked).await.map_err(|fault| match fault {
            PutFault::Sender(failure) => failure,
            PutFault::Store(error) => storage_failed(error),
        })?;
        let head = head.into_inner().unwrap_or_else(PoisonError::into_inner);
        let name = name::clean(&new.name);
        let created_ms = self.clock.unix_ms();
        let record = FileRecord {
            id,
            tenant: principal.tenant.clone(),
            owner: principal.subject.clone(),
            kind: new.kind,
            media_type: match new.media_type {
                Some(media_type) => media_type.to_owned(),
                None => (self.sniff)(&head, &name),
            },
            name,
            size: stored.size,
            sha256: stored.sha256,
            object,
            created_ms,
            expires_ms: lifetime(&new, &rules).map(|ttl| created_ms.saturating_add(millis(ttl))),
            run: new.run,
            origin: new.origin,
            text: None,
        };
        self.add_row(record, &rules).await
    }

    /// The caller's file of this id. Files of other tenants and expired ones are not found.
    pub async fn find(&self, principal: &Principal, id: &str) -> Result<FileRecord, Failure> {
        let Ok(id) = id.parse::<FileId>() else { return Err(not_found(id)) };
        let now = self.clock.unix_ms();
        let found = self.database.file(&principal.tenant, &id, now).await;
        let found = found.map_err(|error| record_unreadable("file", id.as_str(), error))?;
        found.ok_or_else(|| not_found(id.as_str()))
    }

    /// The file that was fetched for this caller from a server, by the reference that the server issued.
    pub async fn find_by_origin(
        &self,
        principal: &Principal,
        server: &str,
        reference: &str,
    ) -> Result<Option<FileRecord>, Failure> {
        let now = self.clock.unix_ms();
        self.database
            .file_of_origin(principal, server, reference, now)
            .await
            .map_err(storage_failed)
    }

    /// What the caller has stored in a run under this name with these bytes.
    pub async fn find_artifact(
        &self,
        principal: &Principal,
        run: &str,
        name: &str,
        sha256: &[u8],
    ) -> Result<Option<FileRecord>, Failure> {
        let (name, now) = (name::clean(name), self.clock.unix_ms());
        let found = self.database.artifact_of_run(principal, run, &name, sha256, now).await;
        found.map_err(storage_failed)
    }

    /// A page of the caller's files, newest first.
    pub async fn list(&self, principal: &Principal, listing: Listing) -> Result<Page, Failure> {
        let limit = listing.limit.unwrap_or(100).clamp(1, MAX_LISTED);
        let filter = FileFilter {
            tenant: principal.tenant.clone(),
            kind: listing.kind,
            run: listing.run,
            after: listing.cursor.as_deref().map(read_cursor).transpose()?,
            limit,
            now_ms: self.clock.unix_ms(),
        };
        let Listed { rows: files, damaged, next } =
            self.database.files(&filter).await.map_err(storage_failed)?;
        let next = next.map(|(created_ms, id)| format!("{created_ms}.{id}"));
        Ok(Page { files, damaged, next })
    }

    /// Deletes the caller's file.
    pub async fn delete(&self, principal: &Principal, id: &str) -> Result<FileRecord, Failure> {
        let found = self.find(principal, id).await?;
        let removed =
            self.database.remove_file(&found.tenant, &found.id).await.map_err(storage_failed)?;
        let removed = removed.ok_or_else(|| not_found(id))?;
        self.remove_objects(removed.id.as_str(), &removed.object, removed.text.as_ref()).await;
        Ok(removed)
    }

    /// The bytes of a file, all or a part of them.
    pub async fn open(
        &self,
        record: &FileRecord,
        range: Option<Range<u64>>,
    ) -> Result<FileStream, Failure> {
        let range = range.map(|range| {
            let start = range.start.min(record.size);
            start..range.end.min(record.size).max(start)
        });
        let opened = self.objects.open(&record.object, range).await;
        Ok(opened.map_err(|error| unreadable(record, error))?.map_err(storage_failed).boxed())
    }

    /// A part of a file's bytes.
    pub async fn range(&self, record: &FileRecord, range: Range<u64>) -> Result<Bytes, Failure> {
        let mut part = BytesMut::new();
        let mut bytes = self.open(record, Some(range)).await?;
        while let Some(chunk) = bytes.try_next().await? {
            part.extend_from_slice(&chunk);
        }
        Ok(part.freeze())
    }

    /// All bytes of a file of at most `limit` bytes.
    pub async fn bytes(&self, record: &FileRecord, limit: u64) -> Result<Bytes, Failure> {
        if record.size > limit {
            let message =
                format!("`{}` has {} bytes, and {limit} are read here", record.id, record.size);
            let details = json!({"size": record.size, "limit": limit});
            return Err(Failure::new(Code::InvalidInput, message).details(details));
        }
        let mut whole = BytesMut::with_capacity(usize::try_from(record.size).unwrap_or(0));
        let mut bytes = self.open(record, None).await?;
        while let Some(chunk) = bytes.try_next().await? {
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.freeze())
    }

    /// Copies a file inside the storage, with an id and an expiry of its own.
    pub async fn copy(
        &self,
        principal: &Principal,
        record: &FileRecord,
        new: NewFile,
    ) -> Result<FileRecord, Failure> {
        // The record was looked up for a caller; the tenant is checked again to be safe.
        if record.tenant != principal.tenant {
            return Err(not_found(record.id.as_str()));
        }
        let rules = self.rules();
        if record.size > self.room(&principal.tenant, &rules).await? {
            return Err(over_quota(&rules));
        }
        let object = ObjectKey::random();
        let copied = self.objects.copy(&record.object, &object).await;
        copied.map_err(|error| unreadable(record, error))?;
        let created_ms = self.clock.unix_ms();
        let copy = FileRecord {
            id: FileId::from_random(new.kind, random()?),
            owner: principal.subject.clone(),
            kind: new.kind,
            name: name::clean(&new.name),
            object,
            created_ms,
            expires_ms: lifetime(&new, &rules).map(|ttl| created_ms.saturating_add(millis(ttl))),
            run: new.run,
            origin: new.origin,
            text: None,
            ..record.clone()
        };
        self.add_row(copy, &rules).await
    }

    /// Adds the row of an object that is already stored, or removes the object.
    async fn add_row(&self, record: FileRecord, rules: &FileRules) -> Result<FileRecord, Failure> {
        let added = self.database.add_file(&record, rules.quota).await;
        if let Ok(true) = added {
            return Ok(record);
        }
        self.remove_objects(record.id.as_str(), &record.object, record.text.as_ref()).await;
        Err(added.map_or_else(storage_failed, |_| over_quota(rules)))
    }

    /// Removes the objects of a deleted file. The next sweep retries what fails: a link of the storage may still open
    /// it.
    pub(crate) async fn remove_objects(
        &self,
        file: &str,
        object: &ObjectKey,
        text: Option<&ObjectKey>,
    ) {
        for key in [Some(object), text].into_iter().flatten() {
            if let Err(error) = self.objects.remove(key).await {
                tracing::warn!(%error, file, "a file's bytes could not be removed yet");
                self.unremoved.lock().unwrap_or_else(PoisonError::into_inner).push(key.clone());
            }
        }
    }

    /// How many bytes a tenant may still store.
    pub(crate) async fn room(&self, tenant: &TenantId, rules: &FileRules) -> Result<u64, Failure> {
        let Some(quota) = rules.quota else { return Ok(u64::MAX) };
        let used = self.database.tenant_bytes(tenant).await.map_err(storage_failed)?;
        Ok(quota.saturating_sub(used))
    }
}

fn lifetime(new: &NewFile, rules: &FileRules) -> Option<Duration> {
    if new.fixed_ttl.is_some() {
        return new.fixed_ttl;
    }
    let usual = match new.kind {
        FileKind::File | FileKind::Artifact => rules.ttl,
        FileKind::Reference => Some(rules.reference_ttl),
    };
    // A caller may ask for less than usual, never for more.
    match (new.ttl, usual) {
        (Some(asked), Some(usual)) => Some(asked.min(usual)),
        (asked, usual) => asked.or(usual),
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn random() -> Result<[u8; FILE_ID_BYTES], Failure> {
    let mut bytes = [0; FILE_ID_BYTES];
    rand::fill(&mut bytes).map_err(|_| {
        Failure::new(Code::Internal, "this machine has no source of random numbers")
    })?;
    Ok(bytes)
}

fn read_cursor(text: &str) -> Result<(u64, FileId), Failure> {
    let read = || {
        let (created_ms, id) = text.split_once('.')?;
        Some((created_ms.parse().ok()?, id.parse().ok()?))
    };
    read().ok_or_else(|| {
        Failure::new(Code::InvalidInput, "the cursor is not valid; use `next` of an earlier page")
    })
}
