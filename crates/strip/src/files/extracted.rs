//! The text of files: extracted once, then kept as an object of its own.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{TryStreamExt as _, stream};
use proto::{Blame, Code};
use serde_json::json;
use store::{ObjectKey, PutFault};

use super::text::{ExtractedText, TextOf};
use super::{FileRecord, Files, broken, over_quota, unreadable};
use crate::Failure;

/// The longest text that is kept of a file.
const MAX_TEXT: u64 = 64 << 20;

/// The text of what is nothing but text.
pub struct PlainText;

#[async_trait]
impl TextOf for PlainText {
    async fn text(
        &self,
        source: &Path,
        media_type: &str,
        _: Option<&str>,
    ) -> Result<ExtractedText, Failure> {
        let unread = |error: std::io::Error| {
            Failure::new(Code::Unavailable, "the file cannot be read now").caused_by(error)
        };
        let bytes = tokio::fs::read(source).await.map_err(unread)?;
        let text = String::from_utf8(bytes).map_err(|_| {
            let message = format!("no text can be extracted of {media_type}");
            Failure::new(Code::Unsupported, message).blame(Blame::Caller)
        })?;
        let (text, removed) = proto::clean::text(&text);
        let media_type = media_type.to_owned();
        Ok(ExtractedText { text, media_type, parts: 1, removed, ..ExtractedText::default() })
    }
}

/// Tells plain text from all else, by the bytes alone.
pub fn plain_or_not(head: &[u8], _: &str) -> String {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // A character may be cut where the head ends.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => "\0",
    };
    let binary = text.chars().any(|c| c.is_control() && !c.is_whitespace());
    if binary { "application/octet-stream" } else { "text/plain" }.to_owned()
}

impl Files {
    /// The text of a file. The first who asks has it extracted; those who ask meanwhile wait for it.
    pub async fn text(&self, record: &FileRecord) -> Result<Arc<str>, Failure> {
        if let Some(known) = &record.text {
            return self.read_text(record, known).await;
        }
        let turn = {
            let mut extracting = self.extracting.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(extracting.entry(record.id.clone()).or_default())
        };
        let held = turn.lock().await;
        let text = self.extract(record).await;
        drop(held);
        let mut extracting = self.extracting.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever still waits holds the turn, too, and takes it out of the map after us.
        if Arc::strong_count(&turn) <= 2 {
            extracting.remove(&record.id);
        }
        text
    }

    async fn extract(&self, record: &FileRecord) -> Result<Arc<str>, Failure> {
        let now = self.clock.unix_ms();
        let found = self.database.file(&record.tenant, &record.id, now).await.map_err(broken)?;
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
            let _turn = self.turns.take(&record.tenant).await;
            if let Some(failure) = self.turns.failure(&record.id) {
                return Err(failure);
            }
            self.read_document(record).await
        };
        if let Err(failure) = &read
            && failure.code != Code::Unavailable
        {
            self.turns.failed(&record.id, failure);
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
        self.keep_text(record, &text, rules.quota).await?;
        Ok(text.into())
    }

    /// Readers of documents want a file that they can go back and forth in.
    async fn read_document(&self, record: &FileRecord) -> Result<ExtractedText, Failure> {
        let (kind, name) = (record.media_type.as_str(), Some(record.name.as_str()));
        if let Some(path) = self.objects.path(&record.object) {
            return self.text.text(&path, kind, name).await;
        }
        let bytes = self.objects.open(&record.object, None).await;
        let bytes = bytes.map_err(|error| unreadable(record, error))?;
        let spooled = self.drafts.spool(bytes).await.map_err(broken)?;
        self.text.text(spooled.path(), kind, name).await
    }

    async fn keep_text(
        &self,
        record: &FileRecord,
        text: &str,
        quota: Option<u64>,
    ) -> Result<(), Failure> {
        let key = ObjectKey::random();
        let whole = stream::iter([Ok::<_, Failure>(Bytes::copy_from_slice(text.as_bytes()))]);
        self.objects.put(&key, whole).await.map_err(|fault| match fault {
            PutFault::Sender(failure) => failure,
            PutFault::Store(error) => broken(error),
        })?;
        let (id, size) = (&record.id, text.len() as u64);
        let set = self.database.set_file_text(id, &key, size, quota).await;
        // Deleted meanwhile, another was faster, or the room is gone: then nobody names this object.
        if !set.map_err(broken)? {
            let _ = self.objects.remove(&key).await;
        }
        Ok(())
    }

    async fn read_text(&self, record: &FileRecord, key: &ObjectKey) -> Result<Arc<str>, Failure> {
        let opened = self.objects.open(key, None).await;
        let mut bytes = opened.map_err(|error| unreadable(record, error))?;
        let mut whole = Vec::new();
        while let Some(chunk) = bytes.try_next().await.map_err(broken)? {
            whole.extend_from_slice(&chunk);
        }
        let text = String::from_utf8(whole);
        Ok(text
            .map_err(|error| {
                Failure::new(Code::Internal, "the kept text of a file is damaged").caused_by(error)
            })?
            .into())
    }
}
