//! Text of answers: short in the answer, long in a reference.

use kit::jobs::JobCtx;
use kit::{Ctx, Fault, StoredRef};
use schemars::JsonSchema;
use serde::Serialize;

/// The longest text in an answer, in bytes.
pub(crate) const MAX_INLINE: usize = 100_000;

/// The text of an answer: `content`, or `ref_id` with what belongs to it.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Content {
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// The reference of a long text.
    #[serde(skip_serializing_if = "Option::is_none")]
    ref_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// In bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<usize>,
}

impl Content {
    /// The text in the answer.
    pub(crate) fn inline(text: String) -> Self {
        Self { content: Some(text), ..Self::default() }
    }

    pub(crate) fn reference(stored: &StoredRef) -> Self {
        Self {
            content: None,
            ref_id: Some(stored.ref_id.clone()),
            media_type: Some(stored.media_type.clone()),
            name: Some(stored.name.clone()),
            size: Some(stored.size),
        }
    }

    /// The text of a job's answer, and the reference if there is one.
    pub(crate) async fn of_job(
        ctx: &JobCtx,
        text: String,
        kind: FileKind,
    ) -> Result<(Self, Option<StoredRef>), Fault> {
        if text.len() <= MAX_INLINE {
            return Ok((Self::inline(text), None));
        }
        let stored = ctx.store_as("subtitles", text, kind.media_type, kind.name).await?;
        Ok((Self::reference(&stored), Some(stored)))
    }

    /// The text of a call's answer, and the reference if there is one.
    pub(crate) async fn of_call(
        ctx: &Ctx,
        text: String,
        kind: FileKind,
    ) -> Result<(Self, Option<StoredRef>), Fault> {
        if text.len() <= MAX_INLINE {
            return Ok((Self::inline(text), None));
        }
        let stored = ctx.store_as("subtitles", text, kind.media_type, kind.name).await?;
        Ok((Self::reference(&stored), Some(stored)))
    }
}

/// The media type and the name of a stored text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileKind {
    media_type: &'static str,
    name: &'static str,
}

impl From<crate::input::TextFormat> for FileKind {
    fn from(format: crate::input::TextFormat) -> Self {
        use crate::input::TextFormat;
        let (media_type, name) = match format {
            TextFormat::Srt => ("application/x-subrip", "subtitles.srt"),
            TextFormat::Vtt => ("text/vtt", "subtitles.vtt"),
            TextFormat::Ass => ("text/x-ssa", "subtitles.ass"),
            TextFormat::Text => ("text/plain", "transcript.txt"),
            TextFormat::Json => ("application/json", "transcript.json"),
        };
        Self { media_type, name }
    }
}
