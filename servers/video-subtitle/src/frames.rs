//! Pictures of a video.

use kit::Fault;
use kit::jobs::{JobCtx, JobResult};
use serde::Serialize;
use serde_json::json;

use crate::input::{JobInput, refuse};
use crate::media::{Conversion, Media};
use crate::probe::read_shape;

/// The largest picture, in bytes.
const MAX_PICTURE: u64 = 8 << 20;

/// The name of the file that ffmpeg writes.
const PICTURE: &str = "frame.jpg";

#[derive(Debug, Serialize)]
struct Output {
    frames: Vec<Frame>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Frame {
    at_ms: u64,
    ref_id: String,
    media_type: String,
    name: String,
    size: usize,
}

/// The operation `extract_frames`.
pub(crate) async fn extract(
    media: &Media,
    input: &JobInput,
    ctx: &JobCtx,
) -> Result<JobResult, Fault> {
    let times = input.options.at_ms.clone().unwrap_or_default();
    let fetched = media.fetch(input, ctx).await?;
    let shape = read_shape(media, ctx, fetched.path()).await?;
    if !shape.has_video {
        let fault = Fault::invalid_input("/input_url: the file has no picture");
        return Err(fault.details(json!({"reason": "no_video"})));
    }
    let (mut frames, mut links, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    for (number, at_ms) in times.iter().enumerate() {
        ctx.step(0.5 + 0.5 * number as f64 / times.len() as f64, "taking pictures");
        // For some files ffmpeg gives any picture instead of none.
        if shape.duration_ms.is_some_and(|end| *at_ms > end) {
            warnings.push(no_picture(*at_ms));
            continue;
        }
        let start = format!("{at_ms}ms");
        let job = Conversion {
            before_input: &["-ss", &start],
            after_input: &[
                "-map",
                "0:v:0",
                "-frames:v",
                "1",
                "-vf",
                "scale='min(1920,iw)':-2",
                "-c:v",
                "mjpeg",
                "-q:v",
                "3",
                "-f",
                "image2",
                "-update",
                "1",
                PICTURE,
            ],
            max_file: MAX_PICTURE,
            max_stdout: 1 << 20,
        };
        let ran = media.convert(ctx, fetched.path(), job).await?;
        // ffmpeg writes nothing and succeeds if the film ends before.
        if ran.path(PICTURE).is_none() {
            warnings.push(no_picture(*at_ms));
            continue;
        }
        let bytes = ran.file(PICTURE, MAX_PICTURE).await?;
        let name = format!("frame_{at_ms}.jpg");
        let stored = ctx.store_as("frame", bytes, "image/jpeg", &name).await?;
        frames.push(Frame {
            at_ms: *at_ms,
            ref_id: stored.ref_id.clone(),
            media_type: stored.media_type.clone(),
            name: stored.name.clone(),
            size: stored.size,
        });
        links.push(stored);
    }
    if frames.is_empty() {
        return Err(refuse("/options/at_ms", "the film ends before these times"));
    }
    JobResult::new(&Output { frames, warnings }, links)
}

fn no_picture(at_ms: u64) -> String {
    format!("there is no picture at {at_ms} ms")
}
