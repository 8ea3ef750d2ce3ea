//! The arguments of jobs.

use kit::Fault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use subtitles::Format;

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Operation {
    ExtractSubtitles,
    GenerateTranscript,
    ConvertSubtitles,
    Probe,
    ExtractAudio,
    ExtractFrames,
}

impl Operation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ExtractSubtitles => "extract_subtitles",
            Self::GenerateTranscript => "generate_transcript",
            Self::ConvertSubtitles => "convert_subtitles",
            Self::Probe => "probe",
            Self::ExtractAudio => "extract_audio",
            Self::ExtractFrames => "extract_frames",
        }
    }

    /// The options that it takes.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::ExtractSubtitles => &["track", "language", "format"],
            Self::GenerateTranscript => &["language", "format"],
            Self::ConvertSubtitles => &["from", "to", "shift_ms", "fps"],
            Self::Probe => &[],
            Self::ExtractAudio => &["start_ms", "duration_ms"],
            Self::ExtractFrames => &["at_ms"],
        }
    }
}

/// The form of an answer with text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TextFormat {
    #[default]
    Srt,
    Vtt,
    Ass,
    Text,
    Json,
}

/// A format of subtitles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SubtitleFormat {
    #[default]
    Srt,
    Vtt,
    Ass,
}

impl From<SubtitleFormat> for Format {
    fn from(format: SubtitleFormat) -> Self {
        match format {
            SubtitleFormat::Srt => Self::Srt,
            SubtitleFormat::Vtt => Self::Vtt,
            SubtitleFormat::Ass => Self::Ass,
        }
    }
}

impl From<SubtitleFormat> for TextFormat {
    fn from(format: SubtitleFormat) -> Self {
        match format {
            SubtitleFormat::Srt => Self::Srt,
            SubtitleFormat::Vtt => Self::Vtt,
            SubtitleFormat::Ass => Self::Ass,
        }
    }
}

/// Frame rates, for subtitles of a version of the film that runs at another speed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FrameRates {
    /// Frames per second of the film that the subtitles were made for.
    #[schemars(range(min = 1.0, max = 240.0))]
    pub(crate) from: f64,
    /// Frames per second of the film that they are for now.
    #[schemars(range(min = 1.0, max = 240.0))]
    pub(crate) to: f64,
}

impl FrameRates {
    /// By what times are multiplied: at more frames per second the film is shorter.
    pub(crate) fn factor(rates: Option<Self>) -> f64 {
        rates.map_or(1.0, |rates| rates.from / rates.to)
    }
}

/// Options of operations; each takes its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobOptions {
    /// extract_subtitles: the `index` of a track.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) track: Option<usize>,
    /// extract_subtitles, generate_transcript: a language code such as `de`.
    #[schemars(length(min = 2, max = 20))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) language: Option<String>,
    /// extract_subtitles: srt, vtt or ass. generate_transcript: srt, vtt, text or json.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<TextFormat>,
    /// convert_subtitles: the format of the file, if it is not found by its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<SubtitleFormat>,
    /// convert_subtitles: the new format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<SubtitleFormat>,
    /// convert_subtitles: later by this many milliseconds, earlier if negative.
    #[schemars(range(min = -360_000_000, max = 360_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shift_ms: Option<i64>,
    /// convert_subtitles: frame rates before and after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fps: Option<FrameRates>,
    /// extract_audio: where the WAV begins.
    #[schemars(range(max = 360_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start_ms: Option<u64>,
    /// extract_audio: how long the WAV is; at most 10 minutes.
    #[schemars(range(min = 1, max = 600_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<u64>,
    /// extract_frames: when the pictures are taken.
    #[schemars(length(min = 1, max = 20), inner(range(max = 360_000_000)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at_ms: Option<Vec<u64>>,
}

/// The stored input of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct JobInput {
    pub(crate) input_url: String,
    pub(crate) options: JobOptions,
}

/// The arguments of `create_job`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobCall {
    /// An http or https URL of the file; a gateway fills it in for a file id.
    #[schemars(length(min = 1, max = 8192))]
    input_url: String,
    pub(crate) operation: Operation,
    #[serde(default)]
    options: JobOptions,
}

impl JobCall {
    /// The input of the job, whose options fit its operation.
    pub(crate) fn check(self) -> Result<JobInput, Fault> {
        let operation = self.operation;
        let given = serde_json::to_value(&self.options)
            .map_err(|error| Fault::internal(format!("the options are not JSON: {error}")))?;
        let allowed = operation.options();
        for name in given.as_object().into_iter().flat_map(|given| given.keys()) {
            if !allowed.contains(&name.as_str()) {
                let listed =
                    if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
                let why = format!("{} has no such option; it has {listed}", operation.name());
                return Err(refuse(&format!("/options/{name}"), &why));
            }
        }
        let options = &self.options;
        let text_only = matches!(options.format, Some(TextFormat::Text | TextFormat::Json));
        match operation {
            Operation::ConvertSubtitles if options.to.is_none() => {
                Err(refuse("/options/to", "the new format is missing: srt, vtt or ass"))
            }
            Operation::ExtractFrames if options.at_ms.is_none() => {
                Err(refuse("/options/at_ms", "the times of the pictures are missing"))
            }
            Operation::ExtractSubtitles if text_only => {
                Err(refuse("/options/format", "it is srt, vtt or ass"))
            }
            Operation::GenerateTranscript if options.format == Some(TextFormat::Ass) => {
                Err(refuse("/options/format", "it is srt, vtt, text or json"))
            }
            _ => Ok(JobInput { input_url: self.input_url, options: self.options }),
        }
    }
}

/// The arguments of `cancel_job`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobName {
    #[schemars(length(min = 1, max = 100))]
    pub(crate) job_id: String,
}

/// The arguments of `job_status`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatusCall {
    #[schemars(length(min = 1, max = 100))]
    pub(crate) job_id: String,
    /// How long to wait until the job has ended, in milliseconds.
    #[serde(default)]
    #[schemars(range(max = 25_000))]
    pub(crate) wait_ms: u64,
}

/// Refuses what is no language code. It becomes an argument of the operator's speech program, which could take other texts
/// for options.
pub(crate) fn check_language(language: &str) -> Result<(), Fault> {
    let is_code = language.starts_with(|c: char| c.is_ascii_alphabetic())
        && language.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if is_code { Ok(()) } else { Err(refuse("/language", "it is no code such as `de` or `pt-BR`")) }
}

/// A refused argument with its path.
pub(crate) fn refuse(path: &str, why: &str) -> Fault {
    let errors: Value = json!([{"path": path, "reason": why}]);
    Fault::invalid_input(format!("{path}: {why}")).details(json!({"errors": errors}))
}
