//! Smaller copies of stored pictures, which models can look at.

use std::time::Duration;

use bytes::Bytes;
use store::FileRecord;

use super::files::Files;
use super::text::Source;

/// The longest side of a smaller copy, in pixels.
pub const LONGEST_SIDE: u32 = 1_024;

/// How long a copy may take. The answer is sent without it then.
const TIME: Duration = Duration::from_secs(4);

/// A picture in a format that models take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub bytes: Bytes,
    pub media_type: String,
}

impl Files {
    /// A copy of a stored picture whose longest side has at most [`LONGEST_SIDE`] pixels; none if it cannot be made.
    pub async fn smaller_picture(&self, record: &FileRecord) -> Option<Picture> {
        let copy = async {
            let _slot = self.queue.wait(&record.tenant).await;
            let source = |path| Source {
                path,
                media_type: &record.media_type,
                name: &record.name,
                tenant: record.tenant.as_str(),
            };
            if let Some(path) = self.objects.path(&record.object) {
                return self.text.smaller_picture(source(&path), LONGEST_SIDE).await;
            }
            let bytes = self.objects.open(&record.object, None).await.ok()?;
            let spooled = self.drafts.spool(bytes).await.ok()?;
            self.text.smaller_picture(source(spooled.path()), LONGEST_SIDE).await
        };
        tokio::time::timeout(TIME, copy).await.ok().flatten()
    }
}
