use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use files::{FileParts, FileRecord, Files, NewFile};
use futures_util::{Stream, TryStreamExt as _, stream};
use proto::{Clock, Code, Failure, FileKind, Principal, TenantId, Via};
use store::Database;
use tempfile::TempDir;

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Files in a temporary folder, with a manual clock.
pub(crate) struct Setup {
    pub(crate) files: Arc<Files>,
    pub(crate) clock: Clock,
    pub(crate) folder: TempDir,
}

pub(crate) async fn setup() -> Setup {
    setup_with(|_| {}).await
}

pub(crate) async fn setup_with(change: impl FnOnce(&mut FileParts)) -> Setup {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::manual(Clock::default().unix_ms());
    let files = open(folder.path(), &clock, change).await;
    Setup { files, clock, folder }
}

pub(crate) async fn open(
    folder: &Path,
    clock: &Clock,
    change: impl FnOnce(&mut FileParts),
) -> Arc<Files> {
    let database = Database::open(folder).await.unwrap();
    let mut parts = FileParts::in_folder(folder, database, clock.clone()).unwrap();
    change(&mut parts);
    Arc::new(Files::new(parts))
}

pub(crate) fn person(tenant: &str, subject: &str) -> Principal {
    Principal {
        tenant: TenantId::new(tenant),
        subject: subject.to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    }
}

pub(crate) fn sent(
    chunks: &[&'static [u8]],
) -> impl Stream<Item = Result<Bytes, Failure>> + Send + 'static {
    let chunks: Vec<_> = chunks.iter().map(|chunk| Ok(Bytes::from_static(chunk))).collect();
    stream::iter(chunks)
}

pub(crate) fn new(name: &str) -> NewFile {
    NewFile::new(FileKind::File, name)
}

impl Setup {
    pub(crate) async fn put(&self, who: &Principal, name: &str, text: &'static str) -> FileRecord {
        self.files.put(who, new(name), sent(&[text.as_bytes()])).await.unwrap()
    }

    pub(crate) async fn read(&self, record: &FileRecord) -> Vec<u8> {
        let bytes = self.files.open(record, None).await.unwrap();
        bytes
            .try_fold(Vec::new(), |mut all, part| async move {
                all.extend_from_slice(&part);
                Ok(all)
            })
            .await
            .unwrap()
    }

    /// The number of files in the folder of objects.
    pub(crate) fn objects(&self) -> usize {
        count(&self.folder.path().join("objects"))
    }
}

pub(crate) fn count(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    // The marker of a gateway is not counted.
    let marker = |path: &Path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ffffffffff"))
    };
    entries.map(|path| if path.is_dir() { count(&path) } else { usize::from(!marker(&path)) }).sum()
}

pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, Failure>) -> Code {
    result.unwrap_err().code
}
