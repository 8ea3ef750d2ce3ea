//! The text of files: extracted once, then stored as a second object.

use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use futures_util::{TryStreamExt as _, stream};
use proto::{Code, Failure};
use serde_json::json;
use store::{FileRecord, ObjectKey, PutFault};

use super::failures::{over_quota, storage_failed, unreadable};
use super::files::Files;
use super::text::{ExtractedText, Source};

/// The longest text that is stored for a file.
const MAX_TEXT: u64 = 64 << 20;

impl Files {
    /// The text of a file. It is extracted once; concurrent callers wait for it.
    pub async fn text(&self, record: &FileRecord) -> Result<Arc<str>, Failure> {
        if let Some(known) = &record.text {
            return self.read_text(record, known).await;
        }
        let lock = {
            let mut extracting = self.extracting.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(extracting.entry(record.id.clone()).or_default())
        };
        let guard = lock.lock().await;
        let text = self.extract(record).await;
        drop(guard);
        let mut extracting = self.extracting.lock().unwrap_or_else(PoisonError::into_inner);
        // Callers that still wait hold the lock as well; the last one removes it from the map.
        if Arc::strong_count(&lock) <= 2 {
            extracting.remove(&record.id);
        }
        text
    }

    async fn extract(&self, record: &FileRecord) -> Result<Arc<str>, Failure> {
        let now = self.clock.unix_ms();
        let found =
            self.database.file(&record.tenant, &record.id, now).await.map_err(storage_failed)?;
        if let Some(known) = found.and_then(|record| record.text) {
            return self.read_text(record, &known).await;
        }
        let limit = self.rules().max_text_source;
        if record.size > limit {
            let message = format!("text is extracted of files up to {limit} bytes");
            let details = json!({"size": record.size, "limit": limit});
            return Err(Failure::new(Code::InvalidInput, message).details(details));
        }
        let read = {
            let _slot = self.queue.wait(&record.tenant).await;
            if let Some(failure) = self.queue.recent_failure(&record.id) {
                return Err(failure);
            }
            self.read_document(record).await
        };
        if let Err(failure) = &read
            && failure.code != Code::Unavailable
        {
            self.queue.remember_failure(&record.id, failure);
        }
        let text = read?.text;
        if text.len() as u64 > MAX_TEXT {
            let message = format!("the text of `{}` is longer than {MAX_TEXT} bytes", record.id);
            return Err(Failure::new(Code::InvalidInput, message));
        }
        let rules = self.rules();
        if text.len() as u64 > self.room(&record.tenant, &rules).await? {
            return Err(over_quota(&rules));
        }
        self.store_text(record, &text, rules.quota).await?;
        Ok(text.into())
    }

    /// Extractors need a file that they can seek in.
    async fn read_document(&self, record: &FileRecord) -> Result<ExtractedText, Failure> {
        let source = |path| Source {
            path,
            media_type: &record.media_type,
            name: &record.name,
            tenant: record.tenant.as_str(),
        };
        if let Some(path) = self.objects.path(&record.object) {
            return self.text.extract(source(&path)).await;
        }
        let bytes = self.objects.open(&record.object, None).await;
        let bytes = bytes.map_err(|error| unreadable(record, error))?;
        let spooled = self.drafts.spool(bytes).await.map_err(storage_failed)?;
        self.text.extract(source(spooled.path())).await
    }

    async fn store_text(
        &self,
        record: &FileRecord,
        text: &str,
        quota: Option<u64>,
    ) -> Result<(), Failure> {
        let key = ObjectKey::random();
        let whole = stream::iter([Ok::<_, Failure>(Bytes::copy_from_slice(text.as_bytes()))]);
        self.objects.put(&key, whole).await.map_err(|fault| match fault {
            PutFault::Sender(failure) => failure,
            PutFault::Store(error) => storage_failed(error),
        })?;
        let (id, size) = (&record.id, text.len() as u64);
        let set = self.database.set_file_text(id, &key, size, quota).await;
        // The file was deleted, another request stored its text, or the quota is used up: the object has no row.
        if !set.map_err(storage_failed)? {
            let _ = self.objects.remove(&key).await;
        }
        Ok(())
    }

    async fn read_text(&self, record: &FileRecord, key: &ObjectKey) -> Result<Arc<str>, Failure> {
        let opened = self.objects.open(key, None).await;
        let mut bytes = opened.map_err(|error| unreadable(record, error))?;
        let mut whole = Vec::new();
        while let Some(chunk) = bytes.try_next().await.map_err(storage_failed)? {
            whole.extend_from_slice(&chunk);
        }
        let text = String::from_utf8(whole);
        Ok(text
            .map_err(|error| {
                Failure::new(Code::Internal, "the stored text of a file is damaged")
                    .caused_by(error)
            })?
            .into())
    }
}
