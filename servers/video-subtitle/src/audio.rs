//! The sound of a video as a WAV file: 16 kHz, mono.

use std::path::Path;

use kit::jobs::{JobCtx, JobResult};
use kit::{Fault, Ran};
use serde::Serialize;
use serde_json::json;

use crate::input::JobInput;
use crate::media::{Conversion, Media};
use crate::probe::read_shape;

/// The name of the file that ffmpeg writes.
pub(crate) const WAV: &str = "audio.wav";

/// The longest part that one job of `extract_audio` gives: a reference must be small enough to be read.
const MAX_PART_MS: u64 = 600_000;

/// Bytes of a second.
const BYTES_PER_SECOND: u64 = 32_000;

/// The longest sound that is recognized: 8 hours.
const MAX_WAV: u64 = 8 * 3600 * BYTES_PER_SECOND;

#[derive(Debug, Serialize)]
struct Output {
    ref_id: String,
    media_type: String,
    name: String,
    size: usize,
    start_ms: u64,
    duration_ms: u64,
    /// Whether the sound goes on: then `start_ms` of the next job is the end of this part.
    truncated: bool,
}

/// The operation `extract_audio`.
pub(crate) async fn extract(
    media: &Media,
    input: &JobInput,
    ctx: &JobCtx,
) -> Result<JobResult, Fault> {
    let start_ms = input.options.start_ms.unwrap_or(0);
    let asked_ms = input.options.duration_ms.unwrap_or(MAX_PART_MS).min(MAX_PART_MS);
    let fetched = media.fetch(input, ctx).await?;
    let shape = read_shape(media, ctx, fetched.path()).await?;
    if !shape.has_audio {
        return Err(no_audio());
    }
    ctx.step(0.6, "extracting the sound");
    let ran = write_wav(media, ctx, fetched.path(), Some((start_ms, asked_ms))).await?;
    let bytes = ran.file(WAV, MAX_WAV).await?;
    let duration_ms = (bytes.len() as u64).saturating_sub(44) * 1000 / BYTES_PER_SECOND;
    if duration_ms == 0 {
        let why = "/options/start_ms: the sound ends before";
        return Err(Fault::invalid_input(why).details(json!({"duration_ms": shape.duration_ms})));
    }
    let stored = ctx.store_as("audio", bytes, "audio/wav", WAV).await?;
    let end = start_ms + duration_ms;
    let output = Output {
        ref_id: stored.ref_id.clone(),
        media_type: stored.media_type.clone(),
        name: stored.name.clone(),
        size: stored.size,
        start_ms,
        duration_ms,
        // The sound may be a little shorter than the file.
        truncated: shape.duration_ms.is_some_and(|whole| end + 500 < whole),
    };
    JobResult::new(&output, [stored])
}

/// Writes the sound, or a part of it that begins at a time and has a length.
pub(crate) async fn write_wav(
    media: &Media,
    ctx: &JobCtx,
    file: &Path,
    part: Option<(u64, u64)>,
) -> Result<Ran, Fault> {
    let (start, length) = match part {
        Some((start, length)) => (format!("{start}ms"), Some(format!("{length}ms"))),
        None => ("0".to_owned(), None),
    };
    let mut after = vec!["-map", "0:a:0", "-vn", "-sn", "-dn"];
    if let Some(length) = &length {
        after.extend(["-t", length]);
    }
    after.extend(["-ac", "1", "-ar", "16000", "-c:a", "pcm_s16le", "-f", "wav"]);
    // Without the tags of the file.
    after.extend(["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact", WAV]);
    let job = Conversion {
        before_input: &["-ss", &start],
        after_input: &after,
        max_file: MAX_WAV,
        max_stdout: 1 << 20,
    };
    media.convert(ctx, file, job).await
}

pub(crate) fn no_audio() -> Fault {
    Fault::invalid_input("/input_url: the file has no sound").details(json!({"reason": "no_audio"}))
}
