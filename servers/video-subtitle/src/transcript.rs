//! `generate_transcript`.

use kit::jobs::{JobCtx, JobResult};
use kit::{Engine, Fault, Fetched};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use subtitles::{Cue, Format, Track, write};

use crate::audio;
use crate::extract::{choose, read_track};
use crate::input::{JobInput, JobOptions, TextFormat, check_language};
use crate::media::Media;
use crate::probe::{Kind, SubtitleStreams, read_shape, read_subtitles};
use crate::speech::Speech;
use crate::stored_text::Content;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// An http or https URL of the video; a gateway fills it in for a file id.
    #[schemars(length(min = 1, max = 8192))]
    input_url: String,
    /// A language code such as `de`: of the track, or of the speech.
    #[schemars(length(min = 2, max = 20))]
    language: Option<String>,
    #[serde(default)]
    format: TranscriptFormat,
}

/// The form of the transcript.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TranscriptFormat {
    #[default]
    Srt,
    Vtt,
    Text,
    Json,
}

impl From<Input> for JobInput {
    fn from(input: Input) -> Self {
        let format = match input.format {
            TranscriptFormat::Srt => TextFormat::Srt,
            TranscriptFormat::Vtt => TextFormat::Vtt,
            TranscriptFormat::Text => TextFormat::Text,
            TranscriptFormat::Json => TextFormat::Json,
        };
        let (language, format) = (input.language, Some(format));
        let options = JobOptions { language, format, ..JobOptions::default() };
        Self { input_url: input.input_url, options }
    }
}

/// A piece of what is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Segment {
    pub(crate) start_ms: u64,
    pub(crate) end_ms: u64,
    pub(crate) text: String,
    /// From 0 to 1, of recognized speech.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) confidence: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    segments: Vec<Segment>,
    /// As the file or the speech program says.
    language: Option<String>,
    origin: Origin,
    #[serde(flatten)]
    text: Content,
    engine: Engine,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// Where the text comes from.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Origin {
    Subtitles,
    Speech,
}

/// A transcript without its text form.
struct Transcript {
    segments: Vec<Segment>,
    language: Option<String>,
    origin: Origin,
    engine: Engine,
    warnings: Vec<String>,
}

impl Transcript {
    /// Without characters that people would not see and a model would read.
    fn cleaned(mut self) -> Self {
        let removed: usize =
            self.segments.iter_mut().map(|it| kit::clean::text_in_place(&mut it.text)).sum();
        if removed > 0 {
            self.segments.retain(|segment| !segment.text.trim().is_empty());
            self.warnings.push(format!("{removed} invisible characters were removed"));
        }
        self
    }
}

/// The job.
pub(crate) async fn generate(
    media: &Media,
    speech: Option<&Speech>,
    input: &JobInput,
    ctx: &JobCtx,
) -> Result<JobResult, Fault> {
    if let Some(speech) = speech {
        ctx.require(speech.program()).await?;
    }
    let language = input.options.language.as_deref();
    language.map_or(Ok(()), check_language)?;
    let fetched = media.fetch(input, ctx).await?;
    ctx.step(0.5, "reading the tracks");
    let streams = read_subtitles(media, ctx, fetched.path()).await?;
    // A file without a track in this language may still have speech in it.
    let chosen = choose(&streams.tracks, None, language).ok().flatten();
    let is_text = |index: usize| streams.tracks[index].kind == Kind::Text;
    let transcript = match (chosen, speech) {
        (Some(index), _) if is_text(index) => {
            of_track(media, ctx, &fetched, streams, index).await?
        }
        (_, Some(speech)) => of_speech(media, speech, ctx, &fetched, language).await?,
        (Some(index), None) => of_track(media, ctx, &fetched, streams, index).await?,
        (None, None) => return Err(no_speech(&streams, language)),
    };
    let transcript = transcript.cleaned();
    let format = input.options.format.unwrap_or_default();
    let text = render(&transcript.segments, format)?;
    let (text, stored) = Content::of_job(ctx, text, format.into()).await?;
    let output = Output {
        segments: transcript.segments,
        language: transcript.language,
        origin: transcript.origin,
        text,
        engine: transcript.engine,
        warnings: transcript.warnings,
    };
    JobResult::new(&output, stored)
}

async fn of_track(
    media: &Media,
    ctx: &JobCtx,
    fetched: &Fetched,
    streams: SubtitleStreams,
    index: usize,
) -> Result<Transcript, Fault> {
    let track = read_track(media, ctx, fetched.path(), &streams, index).await?;
    let segments = track.cues.iter().filter_map(|cue| {
        let text = cue.text.plain().split_whitespace().collect::<Vec<_>>().join(" ");
        let (start_ms, end_ms) = (cue.start_ms, cue.end_ms);
        (!text.is_empty()).then_some(Segment { start_ms, end_ms, text, confidence: None })
    });
    Ok(Transcript {
        segments: segments.collect(),
        language: streams.tracks[index].language.clone(),
        origin: Origin::Subtitles,
        engine: streams.engine,
        warnings: track.warnings,
    })
}

async fn of_speech(
    media: &Media,
    speech: &Speech,
    ctx: &JobCtx,
    fetched: &Fetched,
    language: Option<&str>,
) -> Result<Transcript, Fault> {
    if !read_shape(media, ctx, fetched.path()).await?.has_audio {
        return Err(audio::no_audio());
    }
    ctx.step(0.55, "extracting the sound");
    let ran = audio::write_wav(media, ctx, fetched.path(), None).await?;
    let wav = ran.path(audio::WAV).ok_or_else(audio::no_audio)?;
    ctx.step(0.6, "recognizing speech");
    let recognized = speech.listen(ctx, wav, language).await?;
    let mut warnings = Vec::new();
    if recognized.segments.is_empty() {
        warnings.push("no speech was recognized".to_owned());
    }
    Ok(Transcript {
        segments: recognized.segments,
        language: recognized.language,
        origin: Origin::Speech,
        engine: speech.engine(),
        warnings,
    })
}

fn no_speech(streams: &SubtitleStreams, language: Option<&str>) -> Fault {
    let what = match (streams.tracks.is_empty(), language) {
        (false, Some(_)) => "the file has no subtitle track in this language",
        _ => "the file has no subtitle track",
    };
    let fix = "start the server with --speech-command PROGRAM";
    let message = format!("{what}, and this server recognizes no speech: {fix}");
    let details = json!({"program": "speech-command", "package": "whisper.cpp", "fix": fix});
    Fault::unsupported(message).details(details)
}

fn render(segments: &[Segment], format: TextFormat) -> Result<String, Fault> {
    let cues = segments.iter().map(|it| Cue::of_text(it.start_ms, it.end_ms, &it.text));
    let track = || Track::of_cues(cues.collect());
    Ok(match format {
        TextFormat::Vtt => write(&track(), Format::Vtt, 0, 1.0).content,
        TextFormat::Text => {
            let lines: Vec<&str> = segments.iter().map(|it| it.text.as_str()).collect();
            lines.join("\n")
        }
        TextFormat::Json => serde_json::to_string(segments)
            .map_err(|error| Fault::internal(format!("the transcript is not JSON: {error}")))?,
        TextFormat::Srt | TextFormat::Ass => write(&track(), Format::Srt, 0, 1.0).content,
    })
}
