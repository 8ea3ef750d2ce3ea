//! What has expired goes, and so does what a crash left behind.

use std::sync::PoisonError;
use std::time::Duration;

use store::{Objects, StoreError};
use tokio::time::MissedTickBehavior;

use super::Files;
use super::owners::is_mark;

/// How often expired files are looked for.
const EVERY: Duration = Duration::from_secs(60);

/// Every so many of these looks, the whole storage is walked for orphans.
const WALK: u64 = 24 * 60;

/// A younger object may belong to a row that is about to be written. S3 dates an object by the begin of its upload.
const GRACE_MS: u64 = 24 * 60 * 60 * 1000;

/// What a sweep removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub files: u64,
    pub uploads: u64,
    pub orphans: u64,
}

impl Files {
    /// Sweeps for as long as it is polled.
    pub async fn tend(&self) {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for look in 1_u64.. {
            ticks.tick().await;
            if look == 1
                && let Err(error) = self.mark_storage().await
            {
                tracing::warn!(%error, "this gateway's mark could not be left in the storage");
            }
            let swept = match self.sweep().await {
                Ok(swept) if look.is_multiple_of(WALK) => {
                    self.sweep_orphans().await.map(|orphans| Swept { orphans, ..swept })
                }
                swept => swept,
            };
            match swept {
                Ok(swept) if swept == Swept::default() => {}
                Ok(swept) => tracing::debug!(?swept, "files were swept"),
                Err(error) => {
                    tracing::warn!(%error, "files could not be swept; another try follows")
                }
            }
        }
    }

    /// Removes files and uploads that have expired.
    pub async fn sweep(&self) -> Result<Swept, StoreError> {
        let now = self.clock.unix_ms();
        let mut swept = Swept::default();
        let left = std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner));
        for key in left {
            if self.objects.remove(&key).await.is_err() {
                self.left.lock().unwrap_or_else(PoisonError::into_inner).push(key);
            }
        }
        self.database.forget_references(now).await?;
        loop {
            let expired = self.database.expired_files(now).await?;
            if expired.is_empty() {
                break;
            }
            for file in expired {
                if let Some(removed) = self.database.remove_file(&file.tenant, &file.id).await? {
                    self.remove_objects(&removed).await;
                    swept.files += 1;
                }
            }
        }
        for id in self.database.expired_uploads(now).await? {
            // Whoever adds to it now is let finish.
            let Some(_turn) = self.busy.take(&id) else { continue };
            self.database.remove_upload(&id).await?;
            swept.uploads += 1;
        }
        for id in self.drafts.all().await? {
            let Some(_turn) = self.busy.take(&id) else { continue };
            if self.database.upload(&id).await?.is_none() {
                self.drafts.remove(&id).await?;
            }
        }
        Ok(swept)
    }

    /// Removes objects that no row names, and says how many there were.
    pub async fn sweep_orphans(&self) -> Result<u64, StoreError> {
        self.mark_storage().await?;
        if !self.is_alone().await? {
            return Ok(0);
        }
        let before = self.clock.unix_ms().saturating_sub(GRACE_MS);
        let mut removed = 0;
        for shard in Objects::shards() {
            let met = self.objects.shard(&shard).await?;
            let old = met.into_iter().filter(|met| met.at_ms < before).map(|met| met.key);
            let old: Vec<_> = old.filter(|key| !is_mark(key)).collect();
            for orphan in self.database.unknown_objects(&old).await? {
                self.objects.remove(&orphan).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}
