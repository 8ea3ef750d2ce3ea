//! Smaller copies of stored pictures, which models can look at.

use std::time::Duration;

use bytes::Bytes;
use store::FileRecord;
use tokio::time::Instant;

use super::files::Files;
use super::text::Source;

/// The longest side of a smaller copy, in pixels.
pub const LONGEST_SIDE: u32 = 1_024;

/// How long the copies of one answer may take. It is sent without the others then.
const TIME: Duration = Duration::from_secs(4);

/// How many pixels the pictures may have together of which one answer gets copies.
const PIXELS: u64 = 100_000_000;

/// How many smaller copies of pictures one answer gets.
const COPIES: usize = 4;

/// What the copy of a picture may take.
#[derive(Clone, Copy, Debug)]
pub struct PictureBounds {
    /// Of the copy, in pixels.
    pub longest_side: u32,
    /// Of the picture.
    pub max_pixels: u64,
}

/// What the smaller copies of one answer may still take.
#[derive(Clone, Copy, Debug)]
pub struct CopyBudget {
    copies: usize,
    time: Duration,
    pixels: u64,
}

impl CopyBudget {
    /// For one answer.
    pub fn of_answer() -> Self {
        Self { copies: COPIES, time: TIME, pixels: PIXELS }
    }

    /// For an answer without copies.
    pub fn none() -> Self {
        Self { copies: 0, time: Duration::ZERO, pixels: 0 }
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.copies == 0
    }
}

/// A picture in a format that models take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub bytes: Bytes,
    pub media_type: String,
    /// Of the picture that it was made of.
    pub pixels: u64,
}

impl Files {
    /// A copy of a stored picture whose longest side has at most [`LONGEST_SIDE`] pixels; none if it cannot be made within
    /// the budget, of which nothing is left then: other copies would take as long, and the answer is waiting.
    pub async fn smaller_picture(
        &self,
        record: &FileRecord,
        budget: &mut CopyBudget,
    ) -> Option<Picture> {
        let bounds = PictureBounds { longest_side: LONGEST_SIDE, max_pixels: budget.pixels };
        let copy = async {
            let _slot = self.queue.wait(&record.tenant).await;
            let source = |path| Source {
                path,
                media_type: &record.media_type,
                name: &record.name,
                tenant: record.tenant.as_str(),
            };
            if let Some(path) = self.objects.path(&record.object) {
                return self.text.smaller_picture(source(&path), bounds).await;
            }
            let bytes = self.objects.open(&record.object, None).await.ok()?;
            let spooled = self.drafts.spool(bytes).await.ok()?;
            self.text.smaller_picture(source(spooled.path()), bounds).await
        };
        let began = Instant::now();
        let copy = tokio::time::timeout(budget.time, copy).await.ok().flatten();
        *budget = match &copy {
            Some(copy) => CopyBudget {
                copies: budget.copies.saturating_sub(1),
                time: budget.time.saturating_sub(began.elapsed()),
                pixels: budget.pixels.saturating_sub(copy.pixels),
            },
            None => CopyBudget::none(),
        };
        copy
    }
}
