//! Operations on files apart from their bytes: list, show, delete, link.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use ::files::FileRecord;
use ::operations::scope::{FILES_READ, FILES_WRITE};
use ::operations::{Caller, Operation, OperationError, Route, Table};
use proto::{Failure, FileId, FileKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::DamagedRow;

use super::{FileUse, Files, Listing, hex, uri};
use crate::{Door, Strip};

/// The operations on files.
pub fn table(files: &Arc<FileService>) -> Table {
    Table::default()
        .with::<ListFiles>(files)
        .with::<ShowFile>(files)
        .with::<DeleteFile>(files)
        .with::<LinkFile>(files)
}

/// The files of a strip, or of a data folder that no strip runs on.
pub enum FileService {
    Strip(Arc<Strip>),
    Folder(Box<Files>),
}

impl FileService {
    pub(crate) fn of_strip(strip: &Arc<Strip>) -> Self {
        Self::Strip(Arc::clone(strip))
    }

    /// The files themselves.
    pub fn files(&self) -> &Files {
        match self {
            Self::Strip(strip) => strip.files(),
            Self::Folder(files) => files,
        }
    }

    /// Runs work on a file; over HTTP it leaves a row in the audit trail.
    async fn audited<T>(
        &self,
        caller: &Caller,
        action: &'static str,
        id: &str,
        work: impl Future<Output = Result<(FileId, T), Failure>>,
    ) -> Result<T, Failure> {
        let (Self::Strip(strip), Some(trace)) = (self, caller.trace) else {
            return work.await.map(|(_, done)| done);
        };
        let principal = Arc::clone(&caller.principal);
        let file = FileUse { action, id, principal, door: Door::Http, trace };
        strip.audited(file, async { work.await.map(|(id, done)| (id.to_string(), done)) }).await
    }
}

/// A file as callers see it: everything but its tenant and where its bytes are stored.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FileView {
    #[schemars(with = "String", regex(pattern = "^(file|ref)_[0-9a-f]{32}$"))]
    pub file_id: FileId,
    #[schemars(with = "String", extend("enum" = ["file", "artifact", "reference"]))]
    pub kind: FileKind,
    pub name: String,
    pub media_type: String,
    pub size: u64,
    pub sha256: String,
    pub created_ms: u64,
    pub expires_ms: Option<u64>,
    pub uri: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

impl From<&FileRecord> for FileView {
    fn from(record: &FileRecord) -> Self {
        Self {
            file_id: record.id.clone(),
            kind: record.kind,
            name: record.name.clone(),
            media_type: record.media_type.clone(),
            size: record.size,
            sha256: hex(&record.sha256),
            created_ms: record.created_ms,
            expires_ms: record.expires_ms,
            uri: uri(&record.id),
            run: record.run.clone(),
        }
    }
}

/// Which files to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FileQuery {
    /// Only files of this kind.
    #[schemars(with = "Option<String>", extend("enum" = ["file", "artifact", "reference"]))]
    pub kind: Option<FileKind>,
    /// Only files of this run.
    pub run: Option<String>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// The most files on the page.
    pub limit: Option<u32>,
}

/// A page of files, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FilePage {
    pub files: Vec<FileView>,
    /// Files whose stored rows cannot be read, with the column that is damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub damaged: Vec<DamagedRow>,
    /// Names the next page; null on the last one.
    pub next_cursor: Option<String>,
}

pub struct ListFiles;

impl Operation for ListFiles {
    const NAME: &'static str = "powerstrip.files.list";
    const SUMMARY: &'static str = "List the files of the caller's tenant";
    const ROUTE: Option<Route> =
        Some(Route::get("/v1/files", FILES_READ, "gateway.listFiles").enveloped());
    type Service = FileService;
    type Input = FileQuery;
    type Output = FilePage;

    async fn run(
        service: Arc<FileService>,
        caller: Caller,
        query: FileQuery,
    ) -> Result<FilePage, OperationError> {
        let FileQuery { kind, run, cursor, limit } = query;
        let listing = Listing { kind, run, cursor, limit };
        let page = service.files().list(&caller.principal, listing).await?;
        let files = page.files.iter().map(FileView::from).collect();
        Ok(FilePage { files, damaged: page.damaged, next_cursor: page.next })
    }
}

/// Names one file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FileInput {
    /// The file's id.
    pub id: String,
}

pub struct ShowFile;

impl Operation for ShowFile {
    const NAME: &'static str = "powerstrip.files.show";
    const SUMMARY: &'static str = "Show the metadata of a file";
    const ROUTE: Option<Route> =
        Some(Route::get("/v1/files/{id}", FILES_READ, "gateway.getFile").enveloped());
    type Service = FileService;
    type Input = FileInput;
    type Output = FileView;

    async fn run(
        service: Arc<FileService>,
        caller: Caller,
        FileInput { id }: FileInput,
    ) -> Result<FileView, OperationError> {
        Ok(FileView::from(&service.files().find(&caller.principal, &id).await?))
    }
}

pub struct DeleteFile;

impl Operation for DeleteFile {
    const NAME: &'static str = "powerstrip.files.remove";
    const SUMMARY: &'static str = "Delete a file";
    const ROUTE: Option<Route> =
        Some(Route::delete("/v1/files/{id}", FILES_WRITE, "gateway.deleteFile").enveloped());
    type Service = FileService;
    type Input = FileInput;
    type Output = FileView;

    async fn run(
        service: Arc<FileService>,
        caller: Caller,
        FileInput { id }: FileInput,
    ) -> Result<FileView, OperationError> {
        let deletion = async {
            let file = service.files().delete(&caller.principal, &id).await?;
            Ok((file.id.clone(), FileView::from(&file)))
        };
        Ok(service.audited(&caller, "delete", &id, deletion).await?)
    }
}

/// For which file a link is made, and for how long.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LinkInput {
    /// The file's id.
    pub id: String,
    /// How many seconds the link is valid; as the config says by default.
    pub ttl: Option<NonZeroU64>,
}

/// A link that opens a file without a credential.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FileLink {
    #[schemars(with = "String")]
    pub file_id: FileId,
    pub url: String,
}

pub struct LinkFile;

impl Operation for LinkFile {
    const NAME: &'static str = "powerstrip.files.link";
    const SUMMARY: &'static str = "Make a link that opens a file for a while";
    const ROUTE: Option<Route> =
        Some(Route::get("/v1/files/{id}/link", FILES_READ, "gateway.linkFile").enveloped());
    type Service = FileService;
    type Input = LinkInput;
    type Output = FileLink;

    async fn run(
        service: Arc<FileService>,
        caller: Caller,
        LinkInput { id, ttl }: LinkInput,
    ) -> Result<FileLink, OperationError> {
        let link = async {
            let files = service.files();
            let file = files.find(&caller.principal, &id).await?;
            let url = files.link(&file, ttl.map(|ttl| Duration::from_secs(ttl.get()))).await?;
            Ok((file.id.clone(), FileLink { file_id: file.id, url: url.to_string() }))
        };
        Ok(service.audited(&caller, "link", &id, link).await?)
    }
}
