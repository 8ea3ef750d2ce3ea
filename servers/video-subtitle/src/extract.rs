//! `extract_subtitles`.

use std::path::Path;

use kit::jobs::{JobCtx, JobResult};
use kit::{Code, Engine, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use subtitles::{Format, Track, is_same_language, parse, track_of_packets, write};

use crate::input::{JobInput, JobOptions, SubtitleFormat, TextFormat};
use crate::media::{Conversion, Media};
use crate::pictures;
use crate::probe::{Kind, SubtitleStreams, SubtitleTrack, read_subtitles};
use crate::stored_text::Content;

/// The largest track as text, in bytes.
const MAX_TRACK: u64 = 16 << 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// An http or https URL of the video; a gateway fills it in for a file id.
    #[schemars(length(min = 1, max = 8192))]
    input_url: String,
    /// The `index` of a track; otherwise the language decides, or else the default track.
    track: Option<usize>,
    /// A language code such as `de` or `ger`.
    #[schemars(length(min = 2, max = 20))]
    language: Option<String>,
    #[serde(default)]
    format: SubtitleFormat,
}

impl From<Input> for JobInput {
    fn from(input: Input) -> Self {
        let options = JobOptions {
            track: input.track,
            language: input.language,
            format: Some(input.format.into()),
            ..JobOptions::default()
        };
        Self { input_url: input.input_url, options }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    tracks: Vec<SubtitleTrack>,
    /// The `index` of the track that was taken; `null` if there is none.
    track: Option<usize>,
    /// How many cues it has.
    cues: usize,
    #[serde(flatten)]
    text: Content,
    engine: Engine,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// The job.
pub(crate) async fn extract(
    media: &Media,
    input: &JobInput,
    ctx: &JobCtx,
) -> Result<JobResult, Fault> {
    let options = &input.options;
    let format = options.format.unwrap_or_default();
    let fetched = media.fetch(input, ctx).await?;
    ctx.step(0.5, "reading the tracks");
    let streams = read_subtitles(media, ctx, fetched.path()).await?;
    let chosen = choose(&streams.tracks, options.track, options.language.as_deref())?;
    let Some(chosen) = chosen else {
        let warning = "the file has no subtitle track; `generate_transcript` may read its sound";
        let output = Output {
            tracks: streams.tracks,
            track: None,
            cues: 0,
            text: Content::default(),
            engine: streams.engine,
            warnings: vec![warning.to_owned()],
        };
        return JobResult::new(&output, []);
    };
    let mut track = read_track(media, ctx, fetched.path(), &streams, chosen).await?;
    let written = write(&track, subtitle_format(format), 0, 1.0);
    let mut warnings = std::mem::take(&mut track.warnings);
    if !written.lost.is_empty() {
        let lost: Vec<&str> = written.lost.iter().map(|lost| lost.name()).collect();
        warnings.push(format!("this format cannot hold: {}", lost.join(", ")));
    }
    // They are kept: they may belong to a script that is written from right to left.
    let (_, invisible) = kit::clean::text(&written.content);
    if invisible > 0 {
        warnings.push(format!("the track has {invisible} invisible characters"));
    }
    if written.cues.is_empty() {
        warnings.push("the track has no cues; the file may be cut off".to_owned());
    }
    let (text, stored) = Content::of_job(ctx, written.content, format.into()).await?;
    let output = Output {
        track: Some(chosen),
        cues: written.cues.len(),
        text,
        engine: streams.engine,
        tracks: streams.tracks,
        warnings,
    };
    JobResult::new(&output, stored)
}

fn subtitle_format(format: TextFormat) -> Format {
    match format {
        TextFormat::Vtt => Format::Vtt,
        TextFormat::Ass => Format::Ass,
        _ => Format::Srt,
    }
}

/// The track that the caller names, or the one that viewers would see. `None` if there are no tracks.
pub(crate) fn choose(
    tracks: &[SubtitleTrack],
    index: Option<usize>,
    language: Option<&str>,
) -> Result<Option<usize>, Fault> {
    if let Some(index) = index {
        return if index < tracks.len() { Ok(Some(index)) } else { Err(no_such_track(tracks)) };
    }
    let is_asked = |track: &&SubtitleTrack| match (language, &track.language) {
        (Some(asked), Some(own)) => is_same_language(asked, own),
        (Some(_), None) => false,
        (None, _) => true,
    };
    // Text before pictures, whole tracks before those with foreign parts only, then the default one.
    let fitting = tracks.iter().filter(is_asked);
    let best =
        fitting.min_by_key(|track| (track.kind == Kind::Image, track.forced, !track.default));
    match best {
        Some(track) => Ok(Some(track.index)),
        None if tracks.is_empty() => Ok(None),
        None => Err(no_such_track(tracks)),
    }
}

fn no_such_track(tracks: &[SubtitleTrack]) -> Fault {
    let name = |track: &SubtitleTrack| {
        format!("{} ({})", track.index, track.language.as_deref().unwrap_or("language unknown"))
    };
    let listed: Vec<String> = tracks.iter().take(40).map(name).collect();
    let message = match listed.len() {
        0 => "the file has no subtitle tracks; `generate_transcript` may read its sound".to_owned(),
        _ => format!("the file has no such track; it has {}", listed.join(", ")),
    };
    Fault::new(Code::NotFound, message).details(json!({"tracks": tracks.len()}))
}

/// Reads a track, by its packets if they are text, else through ffmpeg or tesseract.
pub(crate) async fn read_track(
    media: &Media,
    ctx: &JobCtx,
    file: &Path,
    streams: &SubtitleStreams,
    index: usize,
) -> Result<Track, Fault> {
    let about = &streams.tracks[index];
    let codec = about.codec.as_deref().unwrap_or_default();
    let data = streams.track_data(media, ctx, file, index).await?;
    if about.kind == Kind::Image {
        let changes: Vec<u64> = data.packets.iter().map(|packet| packet.start_ms).collect();
        return pictures::read(media, ctx, file, about, &changes).await;
    }
    if let Ok(track) = track_of_packets(codec, &data.head, &data.packets) {
        return Ok(track);
    }
    ctx.step(0.7, "converting the track");
    let map = format!("0:s:{index}");
    let job = Conversion {
        before_input: &[],
        after_input: &["-map", &map, "-c:s", "srt", "-f", "srt", "pipe:1"],
        max_file: 0,
        max_stdout: MAX_TRACK,
    };
    let ran = media.convert(ctx, file, job).await?;
    let text = String::from_utf8_lossy(&ran.stdout);
    // The format is given, so the text can be read.
    parse(&text, Some(Format::Srt)).map_err(|error| Fault::internal(error.to_string()))
}
