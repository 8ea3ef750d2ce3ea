//! Subtitle tracks of pictures (DVD, Blu-ray, DVB), read with tesseract.
//!
//! ffmpeg draws the track on an empty picture, ten times a second, and writes each picture that differs from the last.

use std::path::Path;
use std::time::Duration;

use kit::jobs::JobCtx;
use kit::{Fault, Ran, Task};
use subtitles::{Cue, Track, is_same_language};

use crate::media::{Conversion, Media};
use crate::probe::{SubtitleTrack, read_shape};

/// Pictures per second, which is the precision of the times.
const RATE: u64 = 10;

/// More pictures are not read; a film has about 3,000.
const MAX_PICTURES: usize = 6000;

/// One picture.
const DEADLINE: Duration = Duration::from_secs(30);

/// Reads a track; `changes` are the times at which its picture changes, in milliseconds.
pub(crate) async fn read(
    media: &Media,
    ctx: &JobCtx,
    file: &Path,
    about: &SubtitleTrack,
    changes: &[u64],
) -> Result<Track, Fault> {
    ctx.require(media.tesseract()).await?;
    let mut warnings =
        vec!["the track has pictures: its text is recognized and may have errors".to_owned()];
    let language = choose_language(media, ctx, about, &mut warnings).await?;
    ctx.step(0.55, "drawing the subtitles");
    let drawn = draw(media, ctx, file, about.index).await?;
    let mut numbers: Vec<u64> =
        drawn.names()?.iter().filter_map(|name| name.strip_suffix(".png")?.parse().ok()).collect();
    numbers.sort_unstable();
    if numbers.len() > MAX_PICTURES {
        numbers.truncate(MAX_PICTURES);
        warnings.push(format!("only the first {MAX_PICTURES} pictures are read"));
    }
    let mut cues: Vec<Cue> = Vec::new();
    for (at, number) in numbers.iter().enumerate() {
        ctx.step(0.6 + 0.4 * at as f64 / numbers.len() as f64, "recognizing text");
        let text = recognize(media, ctx, &drawn, *number, &language).await?;
        let start_ms = snap(number * 1000 / RATE, changes);
        // The last picture has no next one: it is the empty one at the end, or is shown for a while.
        let end_ms =
            numbers.get(at + 1).map_or(start_ms + 3000, |next| snap(next * 1000 / RATE, changes));
        match cues.last_mut() {
            Some(last) if last.end_ms == start_ms && last.text.plain() == text => {
                last.end_ms = end_ms;
            }
            _ if !text.is_empty() => cues.push(Cue::of_text(start_ms, end_ms, &text)),
            _ => {}
        }
    }
    let mut track = Track::of_cues(cues);
    track.warnings = warnings;
    Ok(track)
}

/// The time of the change that a picture shows: it is drawn up to two pictures later.
fn snap(drawn_ms: u64, changes: &[u64]) -> u64 {
    let earliest = drawn_ms.saturating_sub(2 * 1000 / RATE);
    let near = changes.iter().filter(|change| (earliest..=drawn_ms).contains(*change));
    near.max().copied().unwrap_or(drawn_ms)
}

/// Draws dark text on white, as tesseract expects it.
async fn draw(media: &Media, ctx: &JobCtx, file: &Path, index: usize) -> Result<Ran, Fault> {
    let shape = read_shape(media, ctx, file).await?;
    let (width, height) = shape.size.unwrap_or((1280, 720));
    let (width, height) = (width.clamp(16, 3840), height.clamp(16, 2160));
    let seconds = shape.duration_ms.unwrap_or(0).div_ceil(1000).clamp(1, 8 * 3600);
    // Small pictures are enlarged: characters must have about 30 pixels.
    let scale = if width < 1000 { 2 } else { 1 };
    let filter = format!(
        "color=c=black:s={width}x{height}:r={RATE}:d={seconds}[empty];[empty][0:s:{index}]overlay=eof_action=pass,\
         format=gray,scale=iw*{scale}:-1,negate,mpdecimate=max=0:hi=768:lo=320:frac=0.001"
    );
    // One more than are read, so that it is seen that there are more.
    let most = (MAX_PICTURES + 1).to_string();
    let job = Conversion {
        before_input: &[],
        after_input: &[
            "-filter_complex",
            &filter,
            "-an",
            "-sn",
            "-vsync",
            "passthrough",
            "-frames:v",
            &most,
            "-frame_pts",
            "1",
            "-f",
            "image2",
            "%d.png",
        ],
        max_file: 16 << 20,
        max_stdout: 1 << 20,
    };
    media.convert(ctx, file, job).await
}

async fn recognize(
    media: &Media,
    ctx: &JobCtx,
    drawn: &Ran,
    number: u64,
    language: &str,
) -> Result<String, Fault> {
    let Some(path) = drawn.path(&format!("{number}.png")) else { return Ok(String::new()) };
    let arguments = [path.clone().into_os_string(), "stdout".into(), "-l".into(), language.into()];
    let task = Task::new(arguments.into_iter().chain(["--psm".into(), "6".into()]))
        // Its threads cost more than they gain on small pictures.
        .env("OMP_THREAD_LIMIT", "1")
        .reads(path)
        .deadline(DEADLINE)
        .max_stdout(1 << 20);
    let ran = ctx.run(media.tesseract(), task).await?;
    let text = String::from_utf8_lossy(&ran.stdout);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// The language of the track if its data is installed, else English or the first one.
async fn choose_language(
    media: &Media,
    ctx: &JobCtx,
    about: &SubtitleTrack,
    warnings: &mut Vec<String>,
) -> Result<String, Fault> {
    let ran = ctx.run(media.tesseract(), Task::new(["--list-langs"])).await?;
    let listed = String::from_utf8_lossy(&ran.stdout).into_owned();
    let installed: Vec<&str> =
        listed.lines().skip(1).map(str::trim).filter(|name| !matches!(*name, "" | "osd")).collect();
    let of_track = about.language.as_deref().unwrap_or("eng");
    let find = |asked: &str| installed.iter().find(|name| is_same_language(asked, name));
    if let Some(found) = find(of_track) {
        return Ok((*found).to_owned());
    }
    let Some(other) = find("eng").or(installed.first()) else {
        return Err(Fault::unsupported(
            "tesseract has no languages: apt install tesseract-ocr-eng",
        ));
    };
    warnings.push(format!("tesseract has no data for the track's language, so `{other}` is used"));
    Ok((*other).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_file_where_one_is_near() {
        let changes = [0, 1000, 1490, 1500];
        assert_eq!(
            [100, 1100, 1600, 1750, 50].map(|ms| snap(ms, &changes)),
            [0, 1000, 1500, 1750, 0]
        );
    }
}
