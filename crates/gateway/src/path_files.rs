//! Operations that store and fetch files by their paths on this machine. Bytes do not travel over the socket: the process
//! that owns the data folder reads and writes the files itself. Only the operator has these operations.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use files::{FileRecord, Files, NewFile};
use futures_util::{StreamExt as _, TryStreamExt as _};
use operations::{Caller, Operation, OperationError, Table};
use proto::{Code, Failure, FileKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::files::operations::{self as file_operations, FileService, FileView};
use tokio::fs::{File, OpenOptions};
use tokio::io::AsyncWriteExt as _;
use tokio_util::io::ReaderStream;

const CHUNK: usize = 256 << 10;

/// All operations on files.
pub fn table(files: &Arc<FileService>) -> Table {
    file_operations::table(files).merge(path_table(files))
}

/// The operations that name paths.
pub fn path_table(files: &Arc<FileService>) -> Table {
    Table::default().with::<PutFile>(files).with::<GetFile>(files)
}

/// The file to store.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PutFileInput {
    pub path: PathBuf,
    pub name: String,
    pub ttl_ms: Option<u64>,
}

pub struct PutFile;

impl Operation for PutFile {
    const NAME: &'static str = "powerstrip.files.put";
    const SUMMARY: &'static str = "Store a file of this machine";
    type Service = FileService;
    type Input = PutFileInput;
    type Output = FileView;

    async fn run(
        service: Arc<FileService>,
        caller: Caller,
        PutFileInput { path, name, ttl_ms }: PutFileInput,
    ) -> Result<FileView, OperationError> {
        let opened = {
            let path = path.clone();
            tokio::task::spawn_blocking(move || userfiles::open(&path)).await
        };
        let opened = opened.unwrap_or_else(|stopped| Err(stopped.into()));
        let file = File::from_std(opened.map_err(|error| at_path(&path, error))?);
        let bytes =
            ReaderStream::with_capacity(file, CHUNK).map_err(move |error| at_path(&path, error));
        let mut new = NewFile::new(FileKind::File, name);
        new.ttl = ttl_ms.map(Duration::from_millis);
        let stored = service.files().put(&caller.principal, new, bytes).await?;
        Ok(FileView::from(&stored))
    }
}

/// The file to fetch.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetFileInput {
    pub id: String,
    /// An empty file that the command has created.
    pub path: PathBuf,
}

pub struct GetFile;

impl Operation for GetFile {
    const NAME: &'static str = "powerstrip.files.get";
    const SUMMARY: &'static str = "Write a stored file to a path of this machine";
    type Service = FileService;
    type Input = GetFileInput;
    type Output = FileView;

    async fn run(
        service: Arc<FileService>,
        caller: Caller,
        GetFileInput { id, path }: GetFileInput,
    ) -> Result<FileView, OperationError> {
        let found = service.files().find(&caller.principal, &id).await?;
        write(service.files(), &found, &path).await?;
        Ok(FileView::from(&found))
    }
}

/// Writes a file's bytes into an existing empty file, so that nothing is overwritten.
async fn write(files: &Files, found: &FileRecord, path: &Path) -> Result<(), Failure> {
    let mut bytes = files.open(found, None).await?;
    let file = OpenOptions::new().append(true).open(path).await;
    let mut file = file.map_err(|error| at_path(path, error))?;
    if file.metadata().await.is_ok_and(|found| found.len() > 0) {
        return Err(at_path(path, "not empty"));
    }
    while let Some(chunk) = bytes.next().await {
        file.write_all(&chunk?).await.map_err(|error| at_path(path, error))?;
    }
    file.flush().await.map_err(|error| at_path(path, error))
}

fn at_path(path: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::new(Code::InvalidInput, format!("{}: {why}", path.display()))
}
