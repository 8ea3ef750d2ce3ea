//! Files that callers hand in, artifacts that runs make, and references to large parts of answers: who may see them,
//! how large they may be and how long they stay. The bytes lie in object storage and travel as streams.

mod attach;
mod carve;
mod extracted;
mod failures;
mod fill;
mod flights;
mod foreign;
mod keep;
mod lenders;
mod letters;
mod link;
mod name;
mod owners;
mod plan;
mod reference;
mod secrets;
mod shown;
mod strategies;
mod sweep;
pub mod text;
mod turns;
mod upload;
mod uses;
mod widen;

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use aws_lc_rs::rand;
use bytes::{Bytes, BytesMut};
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use proto::{Clock, Code, FILE_ID_BYTES, FileId, FileKind, Principal, TenantId};
use serde_json::{Value, json};
use store::{Database, Drafts, FileFilter, ObjectKey, Objects, PutFault, StoreError};
use url::Url;

use crate::Failure;
use failures::{broken, not_found, over_quota, too_large, unreadable};
use link::LinkKey;
use text::TextOf;

pub use attach::{Attachments, Piece};
pub use carve::{Carved, Carver};
pub use extracted::{PlainText, plain_or_not};
pub(crate) use fill::{Filled, fill, to_fill};
pub(crate) use foreign::{issued, lent, remember};
pub use keep::{KeepRules, data_of};
pub(crate) use keep::{is_large, keep, keep_failed, references_in};
pub(crate) use lenders::Lenders;
pub use link::{Grant, InvalidLink};
pub use plan::{FilePlan, Planned, Slot, Unfit};
pub use reference::Reference;
pub(crate) use secrets::Secrets;
pub use store::{FileRecord, Origin};
pub use strategies::Strategies;
pub use sweep::Swept;
pub use upload::{Progress, Upload};
pub use uses::FileUse;
pub(crate) use widen::widen;

/// Binary of more bytes than this is kept, and a reference handed on.
pub const BINARY_BYTES: usize = 16 * 1024;

/// Says of which type a file is, by its first bytes and its name.
pub type Sniff = fn(&[u8], &str) -> String;

/// The bytes of a file as they are read.
pub type FileStream = BoxStream<'static, Result<Bytes, Failure>>;

/// As many of a file's first bytes say what it is.
const HEAD: usize = 64 << 10;

/// The most files that one answer lists.
const MAX_LISTED: u32 = 500;

/// What the URIs of files begin with.
pub const URI: &str = "powerstrip://files/";

/// What an operator may set about files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRules {
    /// The largest file.
    pub max_bytes: u64,
    /// How long files stay; without it until they are deleted.
    pub ttl: Option<Duration>,
    /// How long references stay.
    pub reference_ttl: Duration,
    /// How long a link opens a file, unless it was asked for otherwise.
    pub link_ttl: Duration,
    /// How many bytes all files of a tenant may have.
    pub quota: Option<u64>,
    /// The largest file of which the text is extracted.
    pub max_text_source: u64,
}

impl Default for FileRules {
    fn default() -> Self {
        Self {
            max_bytes: 1_000_000_000,
            ttl: None,
            reference_ttl: Duration::from_secs(24 * 60 * 60),
            link_ttl: Duration::from_secs(60 * 60),
            quota: None,
            max_text_source: 64 << 20,
        }
    }
}

/// What files are kept with.
pub struct FileParts {
    pub database: Database,
    pub objects: Objects,
    /// Where uploads wait that come in parts.
    pub drafts: Drafts,
    pub rules: FileRules,
    pub clock: Clock,
    pub sniff: Sniff,
    pub text: Arc<dyn TextOf>,
    /// The key that signs links, 32 random bytes.
    pub link_key: [u8; 32],
    /// Tells this gateway from others that use the same storage.
    pub owner: [u8; 32],
}

impl FileParts {
    /// What files are kept with in a data folder, where nothing knows more of documents than that some are plain text.
    pub fn in_folder(data: &Path, database: Database, clock: Clock) -> Result<Self, StoreError> {
        Ok(Self {
            database,
            objects: Objects::folder(&data.join("objects"))?,
            drafts: Drafts::open(&data.join("uploads"))?,
            rules: FileRules::default(),
            clock,
            sniff: plain_or_not,
            text: Arc::new(PlainText),
            link_key: store::private_key(&data.join("links.key"))?,
            owner: store::private_key(&data.join("objects.id"))?,
        })
    }
}

/// A file that is about to be stored.
#[derive(Clone, Debug)]
pub struct NewFile {
    /// As the sender calls it; it is cleaned before it is kept.
    pub name: String,
    pub kind: FileKind,
    /// How long it stays, if not as the rules say for its kind.
    pub ttl: Option<Duration>,
    pub run: Option<String>,
    pub origin: Option<Origin>,
}

impl NewFile {
    /// A file of a kind, with all else as usual.
    pub fn new(kind: FileKind, name: impl Into<String>) -> Self {
        Self { name: name.into(), kind, ttl: None, run: None, origin: None }
    }
}

/// Which files to list.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    pub kind: Option<FileKind>,
    pub run: Option<String>,
    /// Where the last page ended.
    pub cursor: Option<String>,
    pub limit: Option<u32>,
}

/// A page of files, newest first, and where the next one begins.
#[derive(Clone, Debug)]
pub struct Page {
    pub files: Vec<FileRecord>,
    pub next: Option<String>,
}

/// The files of all tenants; each caller sees those of its own.
pub struct Files {
    database: Database,
    objects: Objects,
    drafts: Drafts,
    rules: ArcSwap<FileRules>,
    clock: Clock,
    sniff: Sniff,
    text: Arc<dyn TextOf>,
    links: LinkKey,
    /// Under which URL the doors are reached, once they are.
    base: ArcSwapOption<Url>,
    /// Texts that are being extracted, each by the first who asked.
    extracting: Mutex<HashMap<FileId, Arc<tokio::sync::Mutex<()>>>>,
    /// Uploads that somebody is adding to.
    busy: upload::Busy,
    flights: flights::Flights,
    turns: turns::Turns,
    owner: [u8; 32],
    /// Objects that could not be removed yet.
    left: Mutex<Vec<ObjectKey>>,
}

impl Files {
    /// Files with all their parts.
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
            busy: upload::Busy::default(),
            flights: flights::Flights::default(),
            turns: turns::Turns::default(),
            owner: parts.owner,
            left: Mutex::default(),
        }
    }

    /// The rules that hold now.
    pub fn rules(&self) -> Arc<FileRules> {
        self.rules.load_full()
    }

    /// Takes new rules for whatever is stored from now on.
    pub fn set_rules(&self, rules: FileRules) {
        self.rules.store(Arc::new(rules));
    }

    /// Stores a file as its bytes arrive; one that breaks off or grows too large leaves nothing behind.
    pub async fn put(
        &self,
        principal: &Principal,
        new: NewFile,
        bytes: impl Stream<Item = Result<Bytes, Failure>> + Send,
    ) -> Result<FileRecord, Failure> {
        let rules = self.rules();
        let room = self.room(&principal.tenant, &rules).await?;
        let head = Mutex::new(BytesMut::new());
        let (mut size, mut flight) = (0_u64, self.flights.begin(&principal.tenant));
        let judged = bytes.map(|chunk| {
            let chunk = chunk?;
            size += chunk.len() as u64;
            if size > rules.max_bytes {
                return Err(too_large(&rules));
            }
            if flight.add(chunk.len() as u64) > room {
                return Err(over_quota(&rules));
            }
            let mut head = head.lock().unwrap_or_else(PoisonError::into_inner);
            let missing = HEAD.saturating_sub(head.len()).min(chunk.len());
            head.extend_from_slice(&chunk[..missing]);
            Ok(chunk)
        });
        let object = ObjectKey::random();
        let stored = self.objects.put(&object, judged).await.map_err(|fault| match fault {
            PutFault::Sender(failure) => failure,
            PutFault::Store(error) => broken(error),
        })?;
        let head = head.into_inner().unwrap_or_else(PoisonError::into_inner);
        let name = name::clean(&new.name);
        let created_ms = self.clock.unix_ms();
        let record = FileRecord {
            id: FileId::from_random(new.kind, random()?),
            tenant: principal.tenant.clone(),
            owner: principal.subject.clone(),
            kind: new.kind,
            media_type: (self.sniff)(&head, &name),
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
        self.keep(record, &rules).await
    }

    /// The caller's file of this id. One of another tenant, or one that has expired, is not there.
    pub async fn find(&self, principal: &Principal, id: &str) -> Result<FileRecord, Failure> {
        let Ok(id) = id.parse::<FileId>() else { return Err(not_found(id)) };
        let now = self.clock.unix_ms();
        let found = self.database.file(&principal.tenant, &id, now).await.map_err(broken)?;
        found.ok_or_else(|| not_found(id.as_str()))
    }

    /// The file that a server lent to this caller under a name of its own.
    pub async fn find_by_origin(
        &self,
        principal: &Principal,
        server: &str,
        reference: &str,
    ) -> Result<Option<FileRecord>, Failure> {
        let now = self.clock.unix_ms();
        self.database.file_of_origin(principal, server, reference, now).await.map_err(broken)
    }

    /// A page of the caller's files, newest first.
    pub async fn list(&self, principal: &Principal, listing: Listing) -> Result<Page, Failure> {
        let limit = listing.limit.unwrap_or(100).clamp(1, MAX_LISTED);
        let filter = FileFilter {
            tenant: principal.tenant.clone(),
            kind: listing.kind,
            run: listing.run,
            after: listing.cursor.as_deref().map(read_cursor).transpose()?,
            limit: limit + 1,
            now_ms: self.clock.unix_ms(),
        };
        let mut files = self.database.files(&filter).await.map_err(broken)?;
        let more = files.len() > limit as usize;
        files.truncate(limit as usize);
        let last = files.last().filter(|_| more);
        Ok(Page { next: last.map(|file| format!("{}.{}", file.created_ms, file.id)), files })
    }

    /// Deletes the caller's file.
    pub async fn delete(&self, principal: &Principal, id: &str) -> Result<FileRecord, Failure> {
        let found = self.find(principal, id).await?;
        let removed = self.database.remove_file(&found.tenant, &found.id).await.map_err(broken)?;
        let removed = removed.ok_or_else(|| not_found(id))?;
        self.remove_objects(&removed).await;
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
        Ok(opened.map_err(|error| unreadable(record, error))?.map_err(broken).boxed())
    }

    /// All bytes of a file that has no more than `limit`.
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

    /// Keeps a copy that is made inside the storage, under another id and for as long as the new one stays.
    pub async fn copy(
        &self,
        principal: &Principal,
        record: &FileRecord,
        new: NewFile,
    ) -> Result<FileRecord, Failure> {
        // Whoever holds a record has been given it; whose it is, is asked again all the same.
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
        self.keep(copy, &rules).await
    }

    /// The row comes after the object; without a row, the object goes again.
    async fn keep(&self, record: FileRecord, rules: &FileRules) -> Result<FileRecord, Failure> {
        let kept = self.database.add_file(&record, rules.quota).await;
        if let Ok(true) = kept {
            return Ok(record);
        }
        self.remove_objects(&record).await;
        Err(kept.map_or_else(broken, |_| over_quota(rules)))
    }

    /// Removes what no row names any more. What cannot be removed now the next sweep tries again, for a link of the
    /// storage may still open it.
    async fn remove_objects(&self, record: &FileRecord) {
        for key in [Some(&record.object), record.text.as_ref()].into_iter().flatten() {
            if let Err(error) = self.objects.remove(key).await {
                tracing::warn!(%error, file = %record.id, "a file's bytes could not be removed yet");
                self.left.lock().unwrap_or_else(PoisonError::into_inner).push(key.clone());
            }
        }
    }

    /// How many bytes a tenant may still store.
    async fn room(&self, tenant: &TenantId, rules: &FileRules) -> Result<u64, Failure> {
        let Some(quota) = rules.quota else { return Ok(u64::MAX) };
        let kept = self.database.tenant_bytes(tenant).await.map_err(broken)?;
        Ok(quota.saturating_sub(kept))
    }
}

/// What callers are told of a file: everything but where its bytes lie and whose tenant it is.
pub fn described(record: &FileRecord) -> Value {
    let mut told = json!({
        "file_id": record.id,
        "kind": record.kind,
        "name": record.name,
        "media_type": record.media_type,
        "size": record.size,
        "sha256": hex(&record.sha256),
        "created_ms": record.created_ms,
        "expires_ms": record.expires_ms,
        "uri": uri(&record.id),
    });
    if let Some(run) = &record.run {
        told["run"] = run.as_str().into();
    }
    told
}

/// The URI by which MCP clients read a file.
pub fn uri(id: &FileId) -> String {
    format!("{URI}{id}")
}

/// A sum as people write it.
pub fn hex(sum: &[u8]) -> String {
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The header that makes a browser save a file and never show it.
pub fn disposition(record: &FileRecord) -> String {
    name::attachment(&record.name)
}

fn lifetime(new: &NewFile, rules: &FileRules) -> Option<Duration> {
    let usual = match new.kind {
        FileKind::File | FileKind::Artifact => rules.ttl,
        FileKind::Reference => Some(rules.reference_ttl),
    };
    // Whoever asks may have less than usual, never more.
    match (new.ttl, usual) {
        (Some(asked), Some(usual)) => Some(asked.min(usual)),
        (asked, usual) => asked.or(usual),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn random() -> Result<[u8; FILE_ID_BYTES], Failure> {
    let mut bytes = [0; FILE_ID_BYTES];
    rand::fill(&mut bytes)
        .map_err(|_| Failure::new(Code::Internal, "this machine gives no random numbers"))?;
    Ok(bytes)
}

fn read_cursor(text: &str) -> Result<(u64, FileId), Failure> {
    let read = || {
        let (created_ms, id) = text.split_once('.')?;
        Some((created_ms.parse().ok()?, id.parse().ok()?))
    };
    read().ok_or_else(|| {
        Failure::new(Code::InvalidInput, "the cursor is none that this gateway gave out")
    })
}
