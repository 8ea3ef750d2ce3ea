//! Collections of text: their settings, and the operations on them. Files are read by the process that owns the data
//! folder, in the sandbox; only the operator can name paths.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::Config;
use corpus::document::{self, DocumentFacts};
use corpus::operations::table as collection_table;
use corpus::{Added, CollectionName, CollectionSettings, Collections, MAX_SOURCE_BYTES};
use documents::Form;
use operations::{Caller, Operation, OperationError, Table};
use proto::{Clock, Code, Failure, digest};
use reading::{Document, Readers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::Database;

/// The collections of a database.
pub(super) fn open(config: &Config, database: Database, clock: Clock) -> Collections {
    let collections = Collections::new(database, clock, settings(config));
    collections.apply(settings(config), config.embeddings.path.clone());
    collections
}

/// What the config says about collections.
pub(super) fn settings(config: &Config) -> CollectionSettings {
    let config::Collections { max_chunks, max_bytes, memory } = &config.research.collections;
    CollectionSettings {
        max_chunks: max_chunks.get(),
        max_bytes: max_bytes.0 as u64,
        memory: memory.0 as u64,
    }
}

/// Adds files to collections.
pub struct CollectionFiles {
    collections: Arc<Collections>,
    readers: Readers,
}

impl CollectionFiles {
    pub fn new(collections: &Arc<Collections>, readers: Readers) -> Self {
        Self { collections: Arc::clone(collections), readers }
    }
}

/// All operations on collections.
pub fn table(files: &Arc<CollectionFiles>) -> Table {
    collection_table(&files.collections).with::<AddFile>(files)
}

/// A file for a collection.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddFileInput {
    pub name: String,
    pub path: PathBuf,
    /// The source that its chunks name.
    pub source: String,
}

/// The result of adding a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    Added,
    /// The collection has its text already.
    Unchanged,
    /// It has no text that can be read.
    Skipped,
}

/// A file that was added, or why not.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AddedFile {
    pub source: String,
    pub status: FileStatus,
    /// The chunks that were added.
    pub chunks: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

pub struct AddFile;

impl Operation for AddFile {
    const NAME: &'static str = "powerstrip.collections.add";
    const SUMMARY: &'static str = "Add the text of a file of this machine to a collection";
    type Service = CollectionFiles;
    type Input = AddFileInput;
    type Output = AddedFile;

    async fn run(
        files: Arc<CollectionFiles>,
        caller: Caller,
        AddFileInput { name, path, source }: AddFileInput,
    ) -> Result<AddedFile, OperationError> {
        let name: CollectionName = name.parse()?;
        name.check_writable(None)?;
        if source.is_empty() || source.len() > MAX_SOURCE_BYTES {
            return Err(OperationError::invalid(format!(
                "the name of a source has 1 to {MAX_SOURCE_BYTES} bytes"
            )));
        }
        let tenant = caller.principal.tenant.as_str();
        Ok(files.add(tenant, &name, &path, source).await?)
    }
}

impl CollectionFiles {
    async fn add(
        &self,
        tenant: &str,
        name: &CollectionName,
        path: &Path,
        source: String,
    ) -> Result<AddedFile, Failure> {
        let skipped = |source, why: String| AddedFile {
            source,
            status: FileStatus::Skipped,
            chunks: 0,
            why: Some(why),
            warnings: Vec::new(),
        };
        let (opened, most) = (path.to_owned(), self.readers.bounds().input);
        let read = tokio::task::spawn_blocking(move || userfiles::read(&opened, most)).await;
        let bytes = match read.unwrap_or_else(|stopped| Err(stopped.into())) {
            Ok(bytes) => bytes,
            Err(error) => return Ok(skipped(source, error.to_string())),
        };
        let digest = digest(&bytes).to_string();
        let before = self.collections.meta_of_source(tenant, name, &source).await?;
        if before.is_some_and(|meta| meta.get(document::DIGEST).is_some_and(|own| *own == digest)) {
            let status = FileStatus::Unchanged;
            return Ok(AddedFile { source, status, chunks: 0, why: None, warnings: Vec::new() });
        }
        let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let media_type = documents::sniff(&bytes, file_name.as_deref());
        let document = Document {
            form: Form::MainMarkdown,
            owner: Some(tenant.to_owned()),
            name: file_name,
            ..Document::new(bytes, media_type)
        };
        let read = match self.readers.read(document).await {
            Ok(read) => read,
            // The gateway's own trouble is no property of the file.
            Err(failure) if failure.code == Code::Unavailable => return Err(failure),
            Err(failure) => return Ok(skipped(source, failure.message)),
        };
        let facts = DocumentFacts {
            title: read.meta.title,
            author: read.meta.author,
            site: read.meta.site,
            published_at: read.meta.published,
            url: read.meta.canonical,
            language: read.meta.language,
        };
        let items = document::items(&source, &read.text, &facts, Some(&digest));
        if items.is_empty() {
            return Ok(skipped(source, "it has no text".to_owned()));
        }
        let Added { added, replaced, warnings, .. } =
            self.collections.replace_source(tenant, name, &source, items).await?;
        Ok(AddedFile {
            source,
            status: FileStatus::Added,
            chunks: added + replaced,
            why: read.truncated.then(|| "only the beginning of its text was read".to_owned()),
            warnings,
        })
    }
}
