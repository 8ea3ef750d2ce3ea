//! `convert_subtitles`: pure work on text, without ffmpeg.

use kit::jobs::{JobCtx, JobResult};
use kit::{Ctx, Fault, Linked};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use subtitles::{FindingKind, Format, check, decode, parse, write};

use crate::input::{FrameRates, JobInput, SubtitleFormat, refuse};
use crate::stored_text::Content;

/// The largest file of subtitles, in bytes.
const MAX_FILE: usize = 10 << 20;

/// The longest text, in characters.
const MAX_TEXT: usize = 2_000_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The subtitles; a gateway fills them in for a file id.
    content: Option<String>,
    /// Or a reference of an earlier answer.
    #[schemars(length(min = 1, max = 100))]
    source_ref_id: Option<String>,
    /// The format of the text, if it is not found by itself.
    from: Option<SubtitleFormat>,
    /// The new format.
    to: SubtitleFormat,
    /// Later by this many milliseconds, earlier if negative.
    #[serde(default)]
    #[schemars(range(min = -360_000_000, max = 360_000_000))]
    shift_ms: i64,
    /// Frame rates before and after.
    fps: Option<FrameRates>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    #[serde(flatten)]
    text: Content,
    /// How many cues the result has.
    cues: usize,
    /// What the new format cannot hold: styles, positions, effects, drawings, speakers, comments, cue_names.
    lost: Vec<&'static str>,
    findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// A problem that viewers would notice.
#[derive(Debug, Serialize, JsonSchema)]
struct Finding {
    /// overlap: it begins before an earlier cue ends. too_fast: more than 25 characters per second. too_long: shown for
    /// more than 7 s, or a line of more than 42 characters.
    kind: Kind,
    /// The number of the cue, from 1.
    cue: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Overlap,
    TooFast,
    TooLong,
}

/// The formats and changes of one conversion.
struct Conversion {
    /// The argument that names the file, for messages.
    argument: &'static str,
    from: Option<SubtitleFormat>,
    to: SubtitleFormat,
    shift_ms: i64,
    fps: Option<FrameRates>,
}

/// The new text, and all of the answer but it.
type Converted = (String, Output);

/// The tool.
pub(crate) async fn convert_subtitles(input: Input, ctx: Ctx) -> Result<Linked<Output>, Fault> {
    let conversion = Conversion {
        argument: "/content",
        from: input.from,
        to: input.to,
        shift_ms: input.shift_ms,
        fps: input.fps,
    };
    let bytes = match (input.content, input.source_ref_id) {
        (Some(content), None) => content.into_bytes(),
        (None, Some(ref_id)) => ctx.load(&ref_id).await?.bytes.to_vec(),
        _ => return Err(refuse("/content", "give exactly one of content and source_ref_id")),
    };
    let (text, mut output) = kit::blocking(move || convert(&bytes, &conversion)).await??;
    let (content, stored) = Content::of_call(&ctx, text, kind_of(input.to)).await?;
    output.text = content;
    Ok(Linked::new(output, stored))
}

/// The job, on a file of subtitles at a URL.
pub(crate) async fn convert_download(input: &JobInput, ctx: &JobCtx) -> Result<JobResult, Fault> {
    let options = &input.options;
    let to = options.to.ok_or_else(|| refuse("/options/to", "the new format is missing"))?;
    let conversion = Conversion {
        argument: "/input_url",
        from: options.from,
        to,
        shift_ms: options.shift_ms.unwrap_or(0),
        fps: options.fps,
    };
    let fetched = ctx.fetch(&input.input_url, 0.8).await?;
    if fetched.size > MAX_FILE as u64 {
        return Err(too_large(conversion.argument, fetched.size));
    }
    ctx.step(0.8, "converting");
    let path = fetched.path().to_owned();
    let (text, mut output) = kit::blocking(move || {
        let unreadable = |_| Fault::internal("the download cannot be read");
        convert(&std::fs::read(path).map_err(unreadable)?, &conversion)
    })
    .await??;
    let (content, stored) = Content::of_job(ctx, text, kind_of(to)).await?;
    output.text = content;
    JobResult::new(&output, stored)
}

fn kind_of(format: SubtitleFormat) -> crate::stored_text::FileKind {
    crate::input::TextFormat::from(format).into()
}

fn too_large(argument: &str, size: u64) -> Fault {
    refuse(argument, &format!("{size} bytes are no subtitles; at most {MAX_FILE} are read"))
        .details(json!({"reason": "too_large", "size": size, "limit": MAX_FILE}))
}

fn convert(bytes: &[u8], conversion: &Conversion) -> Result<Converted, Fault> {
    if bytes.len() > MAX_FILE {
        return Err(too_large(conversion.argument, bytes.len() as u64));
    }
    let decoded = decode(bytes);
    if decoded.text.trim().is_empty() {
        return Err(refuse(conversion.argument, "the text is empty"));
    }
    if decoded.text.chars().nth(MAX_TEXT).is_some() {
        return Err(refuse(
            conversion.argument,
            &format!("it has more than {MAX_TEXT} characters"),
        ));
    }
    let track = parse(&decoded.text, conversion.from.map(Format::from))
        .map_err(|error| refuse(conversion.argument, &error.to_string()))?;
    if track.cues.is_empty() {
        return Err(refuse(conversion.argument, "no cue can be read; check `from` and the times"));
    }
    let factor = FrameRates::factor(conversion.fps);
    let written = write(&track, conversion.to.into(), conversion.shift_ms, factor);
    let findings = check(&written.cues).into_iter().map(|finding| Finding {
        kind: match finding.kind {
            FindingKind::Overlap => Kind::Overlap,
            FindingKind::TooFast => Kind::TooFast,
            FindingKind::TooLong => Kind::TooLong,
        },
        cue: finding.cue,
    });
    let output = Output {
        text: Content::default(),
        cues: written.cues.len(),
        lost: written.lost.iter().map(|lost| lost.name()).collect(),
        findings: findings.collect(),
        warnings: [decoded.warning.into_iter().collect(), track.warnings, written.warnings]
            .concat(),
    };
    Ok((written.content, output))
}
