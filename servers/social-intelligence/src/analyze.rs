//! `analyze_creative`: one post or ad.

use std::time::Duration;

use creatives::features::Features;
use creatives::findings;
use creatives::picture::{Measured, covered};
use creatives::rounding::rounded;
use creatives::score::{Scale, Score};
use creatives::text::{HookKind, TextReport};
use kit::{Ctx, Engine, Fault, Program, Skipped, Task};
use schemars::JsonSchema;
use serde::Serialize;

use crate::creative::{Creative, Input};
use crate::parts::{Part, ScoreParts};

/// One small picture.
const DEADLINE: Duration = Duration::from_secs(30);

/// The table of a small picture full of text is a hundredth of this.
const MAX_TABLE: u64 = 8 << 20;

/// Words that tesseract is less sure of are patterns of the picture.
const SURE: f64 = 0.4;

/// Fields about a missing text or picture are null.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// From 0 to 100: the total of the contributions of all parts.
    score: f64,
    parts: Vec<Part>,
    /// The first sentence or line.
    hook: Option<Hook>,
    /// The last one of the text.
    call_to_action: Option<CallToAction>,
    /// Flesch reading ease: 60 and more is plain. Null for other languages than English, German, French and Spanish.
    reading_ease: Option<f64>,
    emotion: Option<Emotion>,
    length: Option<Length>,
    hashtags: Vec<String>,
    links: Vec<String>,
    mentions: Vec<String>,
    emoji: Vec<String>,
    /// As an ISO 639-1 code, if it is known.
    language: Option<&'static str>,
    image: Option<Image>,
    /// What to improve, the worst first.
    findings: Vec<Finding>,
    /// The engine that read the text on the picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<Engine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<Skipped>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Hook {
    text: String,
    kind: Kind,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Question,
    HowTo,
    Story,
    Offer,
    Number,
    Claim,
    None,
}

impl From<HookKind> for Kind {
    fn from(kind: HookKind) -> Self {
        match kind {
            HookKind::Question => Self::Question,
            HookKind::HowTo => Self::HowTo,
            HookKind::Story => Self::Story,
            HookKind::Offer => Self::Offer,
            HookKind::Number => Self::Number,
            HookKind::Claim => Self::Claim,
            HookKind::None => Self::None,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct CallToAction {
    text: String,
    /// In code points.
    start: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Emotion {
    /// From -1 (negative) to 1 (positive).
    valence: f64,
    /// The words and emoji that it comes from.
    words: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Length {
    /// As the platform counts them.
    characters: usize,
    /// Null without a limit.
    limit: Option<usize>,
    /// How many of them are shown before "see more"; null if all are.
    shown: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Image {
    /// In pixels, as it is displayed.
    width: u32,
    height: u32,
    /// Width through height.
    aspect: f64,
    /// Whether that is a shape of the platform.
    fits: bool,
    /// The five most frequent ones.
    colors: Vec<Color>,
    /// Between the darkest and the brightest parts, from 0 to 1.
    contrast: f64,
    /// From 0 to 1.
    sharpness: f64,
    /// How much of the picture text covers, from 0 to 1; null without tesseract.
    text_share: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Color {
    hex: String,
    /// From 0 to 1.
    share: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Finding {
    kind: &'static str,
    /// `info`, `warning` or `error`.
    severity: &'static str,
    message: String,
    /// In code points; null without a place in the text.
    start: Option<usize>,
    /// In code points, exclusive.
    end: Option<usize>,
}

pub(crate) async fn analyze(input: Input, ctx: Ctx, tesseract: &Program) -> Result<Output, Fault> {
    let creative = Creative::read(input, &ctx).await?;
    let mut skipped = Vec::new();
    let mut seen = None;
    if let Some(picture) = &creative.picture {
        match read_text_share(&ctx, tesseract, picture).await {
            Ok(found) => seen = Some(found),
            Err(why) => skipped.push(skip(tesseract, &why)),
        }
    }
    let (share, engine) = seen.map_or((None, None), |(share, engine)| (Some(share), Some(engine)));
    let report = creative.text_report();
    let picture = creative.picture.as_ref().map(|measured| &measured.report);
    let platform = creative.platform;
    let features = Features::of(report, picture, share, platform);
    let ScoreParts { score, parts } = Score::of(Scale::Craft, &features).into();
    let text = creative.text.as_ref().map_or("", |(text, _)| text.as_str());
    let found = findings::find(report, picture, share, platform);
    let own =
        |list: fn(&TextReport) -> &Vec<String>| report.map_or(Vec::new(), |r| list(r).clone());
    Ok(Output {
        score,
        parts,
        hook: report
            .and_then(|report| report.hook.as_ref())
            .map(|hook| Hook { text: text[hook.place.clone()].to_owned(), kind: hook.kind.into() }),
        call_to_action: report.and_then(|report| report.call_to_action.clone()).map(|place| {
            CallToAction { start: code_points(text, place.start), text: text[place].to_owned() }
        }),
        reading_ease: report.and_then(|report| report.reading_ease),
        emotion: report.and_then(|report| report.emotion.as_ref()).map(|emotion| Emotion {
            valence: rounded(emotion.valence, 3),
            words: emotion.words.clone(),
        }),
        length: report.map(|report| Length {
            characters: report.length.characters,
            limit: report.length.limit,
            shown: report.length.shown,
        }),
        hashtags: own(|report| &report.hashtags),
        links: own(|report| &report.links),
        mentions: own(|report| &report.mentions),
        emoji: own(|report| &report.emoji),
        language: report.and_then(|report| report.language),
        image: picture.map(|picture| Image {
            width: picture.width,
            height: picture.height,
            aspect: rounded(picture.aspect(), 3),
            fits: picture.fits(platform),
            colors: picture
                .colors
                .iter()
                .map(|color| Color { hex: color.hex.clone(), share: color.share })
                .collect(),
            contrast: rounded(picture.contrast, 3),
            sharpness: rounded(picture.sharpness, 3),
            text_share: share,
        }),
        findings: found.into_iter().map(|finding| describe(text, finding)).collect(),
        engine,
        warnings: creative.warnings,
        skipped,
    })
}

fn describe(text: &str, finding: findings::Finding) -> Finding {
    let place = finding.place;
    Finding {
        kind: finding.kind,
        severity: finding.severity.name(),
        message: finding.message,
        start: place.as_ref().map(|place| code_points(text, place.start)),
        end: place.as_ref().map(|place| code_points(text, place.end)),
    }
}

fn code_points(text: &str, bytes: usize) -> usize {
    text[..bytes].chars().count()
}

/// The share of the picture that words cover, and what found them.
async fn read_text_share(
    ctx: &Ctx,
    tesseract: &Program,
    picture: &Measured,
) -> Result<(f64, Engine), Fault> {
    let engine = ctx.engine(tesseract).await?;
    // Words of ads are in no columns: sparse text.
    let task = Task::new(["stdin", "stdout", "--psm", "11", "--dpi", "100", "tsv"])
        .env("OMP_THREAD_LIMIT", "1")
        .stdin(picture.grey.to_pgm())
        .deadline(DEADLINE)
        .max_stdout(MAX_TABLE);
    let ran = ctx.run(tesseract, task).await?;
    if !ran.success {
        return Err(Fault::internal("tesseract could not read the picture"));
    }
    let lines = ocr::tesseract::fragments(&String::from_utf8_lossy(&ran.stdout));
    let words = lines.iter().flat_map(|line| &line.words);
    let sure = words
        .filter(|word| word.confidence >= SURE && word.text.chars().any(char::is_alphanumeric));
    let (width, height) = (picture.grey.width() as f64, picture.grey.height() as f64);
    Ok((rounded(covered(sure.map(|word| word.bbox), width, height), 3), engine))
}

fn skip(tesseract: &Program, why: &Fault) -> Skipped {
    Skipped { what: "image.text_share".to_owned(), why: why.to_string(), fix: tesseract.fix() }
}
