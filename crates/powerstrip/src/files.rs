//! Files, as commands ask for them: by method, so that the same question goes to the owner of the data folder or, where
//! there is none, is answered here. Bytes do not travel with the questions: the one who answers reads and writes files
//! of this machine itself, by their paths.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use auth::LocalAccess;
use config::Loaded;
use doors::Operator;
use egress::http::{AddressPolicy, Client, OwnListeners};
use futures_util::{StreamExt as _, TryStreamExt as _};
use proto::{Code, FileKind, Principal};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::{DataFolder, Database};
use strip::files::{FileRecord, Files, Listing, NewFile, describe};
use strip::{Failure, Strip};
use tokio::fs::{File, OpenOptions};
use tokio::io::AsyncWriteExt as _;
use tokio_util::io::ReaderStream;

use crate::context::Context;
use crate::gateway;
use crate::owner::{OwnerProcess, Ownership, claim_or_connect};

pub(crate) const PUT: &str = "powerstrip.files.put";
pub(crate) const GET: &str = "powerstrip.files.get";
pub(crate) const LIST: &str = "powerstrip.files.list";
pub(crate) const REMOVE: &str = "powerstrip.files.remove";
pub(crate) const LINK: &str = "powerstrip.files.link";

const READ: usize = 256 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct PutParams {
    path: PathBuf,
    name: String,
    ttl_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GetParams {
    id: String,
    /// An empty file that the asker has made.
    path: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListParams {
    kind: Option<FileKind>,
    cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RemoveParams {
    id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct LinkParams {
    id: String,
    ttl_ms: Option<u64>,
}

/// Answers questions about files, as the local user.
pub(crate) struct FileErrands<F> {
    files: F,
    principal: Arc<Principal>,
}

/// Whoever holds files.
pub(crate) trait Holds: Send + Sync {
    fn files(&self) -> &Files;
}

impl Holds for Arc<Strip> {
    fn files(&self) -> &Files {
        Strip::files(self)
    }
}

impl Holds for Files {
    fn files(&self) -> &Files {
        self
    }
}

impl<F: Holds> FileErrands<F> {
    pub(crate) fn new(files: F) -> Self {
        Self { files, principal: LocalAccess::default().user() }
    }

    async fn put(&self, params: PutParams) -> Result<Value, Failure> {
        let file = File::open(&params.path).await.map_err(|error| of_path(&params.path, error))?;
        let is_file = file.metadata().await.is_ok_and(|found| found.is_file());
        if !is_file {
            return Err(of_path(&params.path, "it is no file"));
        }
        let path = params.path.clone();
        let bytes = ReaderStream::with_capacity(file, READ).map_err(move |e| of_path(&path, e));
        let mut new = NewFile::new(FileKind::File, params.name);
        new.ttl = params.ttl_ms.map(Duration::from_millis);
        let kept = self.files.files().put(&self.principal, new, bytes).await?;
        Ok(describe(&kept))
    }

    async fn get(&self, params: GetParams) -> Result<Value, Failure> {
        let files = self.files.files();
        let found = files.find(&self.principal, &params.id).await?;
        let written = write(files, &found, &params.path).await?;
        written.map_err(|error| of_path(&params.path, error))?;
        Ok(describe(&found))
    }

    async fn list(&self, params: ListParams) -> Result<Value, Failure> {
        let listing = Listing { kind: params.kind, cursor: params.cursor, ..Listing::default() };
        let page = self.files.files().list(&self.principal, listing).await?;
        let files: Vec<_> = page.files.iter().map(describe).collect();
        Ok(json!({"files": files, "next_cursor": page.next}))
    }

    async fn remove(&self, params: RemoveParams) -> Result<Value, Failure> {
        let removed = self.files.files().delete(&self.principal, &params.id).await?;
        Ok(describe(&removed))
    }

    async fn link(&self, params: LinkParams) -> Result<Value, Failure> {
        let files = self.files.files();
        let found = files.find(&self.principal, &params.id).await?;
        let url = files.link(&found, params.ttl_ms.map(Duration::from_millis)).await?;
        Ok(json!({"file_id": found.id, "url": url.as_str()}))
    }
}

/// Writes a file's bytes into one that is there and empty: nothing of anybody's is written over.
async fn write(
    files: &Files,
    found: &FileRecord,
    path: &Path,
) -> Result<Result<(), std::io::Error>, Failure> {
    let mut bytes = files.open(found, None).await?;
    let mut file = match OpenOptions::new().append(true).open(path).await {
        Ok(file) => file,
        Err(error) => return Ok(Err(error)),
    };
    if file.metadata().await.is_ok_and(|found| found.len() > 0) {
        return Ok(Err(std::io::Error::other("it is not empty")));
    }
    while let Some(chunk) = bytes.next().await {
        if let Err(error) = file.write_all(&chunk?).await {
            return Ok(Err(error));
        }
    }
    Ok(file.flush().await)
}

fn of_path(path: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::new(Code::InvalidInput, format!("{}: {why}", path.display()))
}

#[async_trait]
impl<F: Holds + 'static> Operator for FileErrands<F> {
    async fn ask(&self, method: &str, params: Value) -> Option<Result<Value, String>> {
        let answer = match method {
            PUT => match read(params) {
                Ok(params) => self.put(params).await,
                Err(why) => return Some(Err(why)),
            },
            GET => match read(params) {
                Ok(params) => self.get(params).await,
                Err(why) => return Some(Err(why)),
            },
            LIST => match read(params) {
                Ok(params) => self.list(params).await,
                Err(why) => return Some(Err(why)),
            },
            REMOVE => match read(params) {
                Ok(params) => self.remove(params).await,
                Err(why) => return Some(Err(why)),
            },
            LINK => match read(params) {
                Ok(params) => self.link(params).await,
                Err(why) => return Some(Err(why)),
            },
            _ => return None,
        };
        Some(answer.map_err(|failure| failure.to_string()))
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, String> {
    serde_json::from_value(params).map_err(|error| format!("the params cannot be read: {error}"))
}

/// Where files are asked for: the process that owns the data folder, or the folder itself.
pub(crate) enum FileDesk {
    Owner(Box<OwnerProcess>),
    Here { errands: Box<FileErrands<Files>>, database: Database, _folder: DataFolder },
}

impl FileDesk {
    /// Reaches the files of a configuration's data folder; no tool and no server is started for it.
    pub(crate) async fn open(context: &Context, loaded: &Loaded) -> anyhow::Result<Self> {
        let folder = match claim_or_connect(&loaded.config.data_dir, None).await? {
            Ownership::Other(owner) => return Ok(Self::Owner(Box::new(owner))),
            Ownership::Ours(folder) => folder,
        };
        let config = &loaded.config;
        let policy = AddressPolicy::new(config.egress.rules(), OwnListeners::default());
        let client = Client::new(policy).context("the guarded HTTP client cannot be built")?;
        let database = Database::open(folder.path()).await?;
        let (environment, path) = (&context.environment, folder.path());
        let parts = gateway::files::parts(config, environment, path, database.clone(), &client)?;
        let errands = Box::new(FileErrands::new(Files::new(parts)));
        Ok(Self::Here { errands, database, _folder: folder })
    }

    /// Asks, wherever the answer is.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> anyhow::Result<Value> {
        match self {
            Self::Owner(owner) => owner.operate(method, params).await,
            Self::Here { errands, .. } => {
                let answer = errands.ask(method, params).await;
                answer.context("there is no such question about files")?.map_err(anyhow::Error::msg)
            }
        }
    }

    /// Lets go.
    pub(crate) async fn close(self) {
        if let Self::Here { database, .. } = self {
            database.close().await;
        }
    }
}
