//! Removes expired files and uploads, and objects that a crash left without a row.

use std::sync::PoisonError;
use std::time::Duration;

use store::{Objects, StoreError};
use tokio::time::MissedTickBehavior;

use super::files::Files;
use super::owners::is_marker;

/// How often expired files are removed.
const INTERVAL: Duration = Duration::from_secs(60);

/// Every so many sweeps, the whole storage is searched for orphans.
const SWEEPS_PER_SEARCH: u64 = 24 * 60;

/// The row of a younger object may not be written yet. S3 dates an object by the start of its upload.
const GRACE_MS: u64 = 24 * 60 * 60 * 1000;

/// What a sweep removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub files: u64,
    pub uploads: u64,
    pub orphans: u64,
}

impl Files {
    /// Sweeps at intervals, forever.
    pub async fn sweep_forever(&self) {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for sweep in 1_u64.. {
            ticks.tick().await;
            if sweep == 1
                && let Err(error) = self.mark_storage().await
            {
                tracing::warn!(%error, "the marker of this gateway could not be stored");
            }
            let swept = match self.sweep().await {
                Ok(swept) if sweep.is_multiple_of(SWEEPS_PER_SEARCH) => {
                    self.sweep_orphans().await.map(|orphans| Swept { orphans, ..swept })
                }
                swept => swept,
            };
            match swept {
                Ok(swept) if swept == Swept::default() => {}
                Ok(swept) => tracing::debug!(?swept, "files were swept"),
                Err(error) => {
                    tracing::warn!(%error, "files could not be swept; the next sweep retries")
                }
            }
        }
    }

    /// Removes files and uploads that have expired.
    pub async fn sweep(&self) -> Result<Swept, StoreError> {
        let now = self.clock.unix_ms();
        let mut swept = Swept::default();
        let unremoved =
            std::mem::take(&mut *self.unremoved.lock().unwrap_or_else(PoisonError::into_inner));
        for key in unremoved {
            if self.objects.remove(&key).await.is_err() {
                self.unremoved.lock().unwrap_or_else(PoisonError::into_inner).push(key);
            }
        }
        self.database.forget_references(now).await?;
        loop {
            let expired = self.database.remove_expired_files(now).await?;
            if expired.is_empty() {
                break;
            }
            for file in expired {
                swept.files += 1;
                match file {
                    Ok(file) => {
                        self.remove_objects(&file.id, &file.object, file.text.as_ref()).await;
                    }
                    Err(error) => tracing::error!(
                        %error,
                        "the record of an expired file was damaged; the search for orphans removes its bytes"
                    ),
                }
            }
        }
        for id in self.database.expired_uploads(now).await? {
            // No request can add to an upload with a damaged id.
            let lock = id.parse().ok().map(|id| self.upload_locks.try_lock(&id));
            if matches!(lock, Some(None)) {
                // A request is adding to it.
                continue;
            }
            self.database.remove_upload(&id).await?;
            swept.uploads += 1;
        }
        for id in self.drafts.all().await? {
            let Some(_lock) = self.upload_locks.try_lock(&id) else { continue };
            let row = self.database.upload(None, &id).await;
            // A damaged row is there, too: it goes when it expires.
            if row.as_ref().is_err_and(|error| error.damaged_column().is_some()) {
                continue;
            }
            if row?.is_none() {
                self.drafts.remove(&id).await?;
            }
        }
        Ok(swept)
    }

    /// Removes objects without a row; returns their number.
    pub async fn sweep_orphans(&self) -> Result<u64, StoreError> {
        self.mark_storage().await?;
        if !self.is_alone().await? {
            return Ok(0);
        }
        let before = self.clock.unix_ms().saturating_sub(GRACE_MS);
        let mut removed = 0;
        for shard in Objects::shards() {
            let found = self.objects.shard(&shard).await?;
            let old =
                found.into_iter().filter(|object| object.at_ms < before).map(|object| object.key);
            let old: Vec<_> = old.filter(|key| !is_marker(key)).collect();
            for orphan in self.database.unknown_objects(&old).await? {
                self.objects.remove(&orphan).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}
