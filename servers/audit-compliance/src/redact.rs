use std::collections::BTreeMap;

use analysis::redaction::{MOST_OVERLAP, Mode, Plan, Target, docx, found_in, leftovers};
use documents::Limits;
use kit::{Ctx, Done, Fault, GivenFile, Linked, Refused, StoredRef, Work};
use pii::{Kind, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::input;
use crate::offsets::Offsets;
use crate::pdf;
use crate::personal_data::TypeName;

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/// Redacts a text, a long one in a confined process.
pub(crate) const TEXT: Work = Work::new("redact-text", redact_text);

/// Redacts a Word document, in a confined process.
pub(crate) const DOCX: Work = Work::new("redact-docx", redact_docx);

/// Redacts a PDF, in a confined process.
pub(crate) const PDF: Work = Work::new("redact-pdf", redact_pdf);

/// Counts the values that are left in the text of a redacted document, of a long one in a confined process.
pub(crate) const COUNT: Work = Work::new("count-leftovers", count_leftovers);

/// A format of documents that can be redacted.
struct Format {
    media_type: &'static str,
    name: &'static str,
    file: &'static str,
    work: &'static Work,
}

const FORMATS: [Format; 2] = [
    Format { media_type: WORD, name: "docx", file: "redacted.docx", work: &DOCX },
    Format { media_type: "application/pdf", name: "pdf", file: "redacted.pdf", work: &PDF },
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// A document that an earlier answer of this server named.
    source_ref_id: Option<String>,
    /// The document in base64; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_data: Option<String>,
    /// The media type of `file_data`.
    file_type: Option<String>,
    /// The text, unless a document is given.
    #[schemars(length(min = 1))]
    text: Option<String>,
    /// The types to redact; all if neither `types` nor `spans` is given.
    #[schemars(length(min = 1))]
    types: Option<Vec<TypeName>>,
    /// Places of `text` to redact instead.
    #[schemars(length(min = 1, max = 100_000))]
    spans: Option<Vec<Span>>,
    /// What replaces a value: blocks, its type, nothing, or its type with a number that is the same for equal values.
    #[serde(default)]
    mode: ModeName,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Span {
    /// The type for labels and counts.
    r#type: Option<TypeName>,
    /// In code points.
    start: usize,
    /// In code points, exclusive.
    end: usize,
}

#[derive(Deserialize, JsonSchema, Clone, Copy, Default)]
#[serde(rename_all = "snake_case")]
enum ModeName {
    #[default]
    Mask,
    Label,
    Remove,
    Pseudonym,
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Mask => Self::Mask,
            ModeName::Label => Self::Label,
            ModeName::Remove => Self::Remove,
            ModeName::Pseudonym => Self::Pseudonym,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The redacted text; a document has a reference instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(flatten)]
    stored: Option<StoredRef>,
    /// `text`, `docx` or `pdf`.
    format: String,
    redacted: Vec<Redacted>,
    /// The whole document was read, and none of the redacted values is in the result. False if pages could not be read.
    verified: bool,
    /// Whether the document has no text layer, so that nothing was redacted and no copy was made.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    scanned: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Redacted {
    r#type: String,
    count: usize,
}

/// The values to redact.
enum Selection {
    Kinds(Vec<Kind>),
    Spans(Vec<Span>),
}

pub(crate) async fn redact(input: Input, ctx: Ctx) -> Result<Linked<Output>, Fault> {
    let Input { source_ref_id, file_data, file_type, text, types, spans, mode } = input;
    let selection = match (types, spans) {
        (Some(_), Some(_)) => {
            return Err(Fault::invalid_input("/spans: give `types` or `spans`, not both"));
        }
        (_, Some(spans)) => Selection::Spans(spans),
        (types, None) => {
            Selection::Kinds(types.unwrap_or_default().into_iter().map(|name| name.0).collect())
        }
    };
    if file_type.is_some() && file_data.is_none() {
        return Err(Fault::invalid_input("/file_type: it goes with `file_data`"));
    }
    let file = match (source_ref_id, file_data, text) {
        (None, None, Some(text)) => {
            return of_text(text, selection, mode.into(), Vec::new(), &ctx).await;
        }
        (Some(reference), None, None) => {
            let stored = ctx.load(&reference).await?;
            GivenFile::of_bytes(stored.bytes.to_vec(), None)
        }
        (None, Some(data), None) => GivenFile::decode("file_data", &data, file_type.as_deref())?,
        _ => {
            return Err(Fault::invalid_input(
                "/text: give exactly one of `text`, `file_data` and `source_ref_id`",
            ));
        }
    };
    of_file(file, selection, mode.into(), &ctx).await
}

async fn of_file(
    file: GivenFile,
    selection: Selection,
    mode: Mode,
    ctx: &Ctx,
) -> Result<Linked<Output>, Fault> {
    if let Some(format) = FORMATS.iter().find(|format| format.media_type == file.media_type) {
        let Selection::Kinds(kinds) = selection else {
            return Err(Fault::invalid_input(
                "/spans: they are places of a text; give `types` with a document",
            ));
        };
        return of_document(file, format, kinds, mode, ctx).await;
    }
    if file.is_text() {
        let text = String::from_utf8(file.bytes).map_err(|_| {
            Fault::invalid_input(
                "/file_data: the text is not UTF-8; save it as UTF-8 and send that",
            )
            .details(json!({"reason": "damaged"}))
        })?;
        return of_text(text, selection, mode, file.warnings, ctx).await;
    }
    let message = format!(
        "no redacted copy is made of {}; send DOCX, PDF or plain text, or find the places with `find_pii`",
        file.media_type
    );
    Err(Fault::unsupported(message).details(json!({"media_type": file.media_type})))
}

async fn of_text(
    text: String,
    selection: Selection,
    mode: Mode,
    warnings: Vec<String>,
    ctx: &Ctx,
) -> Result<Linked<Output>, Fault> {
    let text = input::with_words(text)?;
    let places = match selection {
        Selection::Kinds(kinds) => Places::Kinds(kinds),
        Selection::Spans(spans) => Places::Marked(given(&text, &spans)?),
    };
    let done = ctx.compute::<RedactedText>(&TEXT, &TextOptions { places, mode }, &text).await?;
    let done = done.read()?;
    if done.leftovers > 0 {
        return Err(left());
    }
    let output = Output {
        content: Some(done.content),
        stored: None,
        format: "text".to_owned(),
        redacted: listed(done.counts),
        verified: true,
        scanned: false,
        warnings,
    };
    Ok(Linked::new(output, []))
}

async fn of_document(
    file: GivenFile,
    format: &Format,
    kinds: Vec<Kind>,
    mode: Mode,
    ctx: &Ctx,
) -> Result<Linked<Output>, Fault> {
    let options = json!({"kinds": kinds, "mode": mode});
    let done = ctx.work(format.work, &options, file.document()).await?;
    let report: Report = serde_json::from_value(done.value).map_err(|error| {
        Fault::internal(format!("the reader's answer is not understood: {error}"))
    })?;
    if report.scanned {
        let output = Output {
            content: None,
            stored: None,
            format: format.name.to_owned(),
            redacted: Vec::new(),
            verified: false,
            scanned: true,
            warnings: vec![
                "the document is scanned: read it with image-ocr-mcp:extract_document, and redact that text".to_owned(),
            ],
        };
        return Ok(Linked::new(output, []));
    }
    // Read again by the code that reads documents for everyone else.
    let again = input::read(ctx, &GivenFile::of_bytes(done.bytes.clone(), None)).await?;
    if report.leftovers > 0
        || ctx.compute::<usize>(&COUNT, &report.values, &again.text).await?.read()? > 0
    {
        return Err(left());
    }
    let stored = ctx.store_as("redacted", done.bytes, format.media_type, format.file).await?;
    let output = Output {
        content: None,
        stored: Some(stored.clone()),
        format: format.name.to_owned(),
        redacted: listed(report.counts),
        verified: report.unread == 0,
        scanned: false,
        warnings: file.warnings.into_iter().chain(report.warnings).collect(),
    };
    Ok(Linked::new(output, [stored]))
}

fn left() -> Fault {
    Fault::internal("a redacted value is still in the result, which is therefore withheld")
}

fn listed(counts: BTreeMap<String, usize>) -> Vec<Redacted> {
    counts.into_iter().map(|(r#type, count)| Redacted { r#type, count }).collect()
}

fn found(text: &str, kinds: Vec<Kind>) -> Vec<Target> {
    let options = Options { kinds, ..Options::default() };
    pii::find_for_redaction(text, &options)
        .into_iter()
        .map(|finding| Target {
            label: finding.kind.name().to_owned(),
            place: finding.start..finding.end,
        })
        .collect()
}

fn given(text: &str, spans: &[Span]) -> Result<Vec<Mark>, Fault> {
    let offsets = Offsets::of(text);
    let place = |index: usize, span: &Span| {
        let fault = || {
            let message =
                format!("/spans/{index}: {}..{} is no part of the text", span.start, span.end);
            Fault::invalid_input(message)
        };
        if span.start >= span.end {
            return Err(fault());
        }
        let start = offsets.byte(span.start).ok_or_else(fault)?;
        let end = offsets.byte(span.end).ok_or_else(fault)?;
        let label = span.r#type.map_or("REDACTED", |name| name.0.name());
        Ok(Mark { label: label.to_owned(), start, end })
    };
    let marks = spans.iter().enumerate().map(|(index, span)| place(index, span));
    let marks = marks.collect::<Result<Vec<_>, _>>()?;
    if marks.iter().map(|mark| mark.end - mark.start).sum::<usize>() > MOST_OVERLAP * text.len() {
        let message = format!(
            "/spans: together they are more than {MOST_OVERLAP} times as long as the text; join those that overlap"
        );
        return Err(Fault::invalid_input(message));
    }
    Ok(marks)
}

/// The values to redact in a text, and the replacement.
#[derive(Serialize, Deserialize)]
struct TextOptions {
    places: Places,
    mode: Mode,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Places {
    Kinds(Vec<Kind>),
    Marked(Vec<Mark>),
}

/// A place of a text in bytes.
#[derive(Serialize, Deserialize)]
struct Mark {
    label: String,
    start: usize,
    end: usize,
}

#[derive(Serialize, Deserialize)]
struct RedactedText {
    content: String,
    counts: BTreeMap<String, usize>,
    leftovers: usize,
}

fn redact_text(_: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    kit::compute(&bytes, |TextOptions { places, mode }: TextOptions, text| {
        let targets = match places {
            Places::Kinds(kinds) => found_in(text, |text| found(text, kinds.clone())),
            Places::Marked(marks) => {
                let target = |mark: Mark| Target { label: mark.label, place: mark.start..mark.end };
                marks.into_iter().map(target).collect()
            }
        };
        let plan = Plan::new(text, targets, mode);
        let content = plan.apply(text);
        let leftovers = plan.leftovers(&content);
        Ok(RedactedText { content, counts: plan.counts(), leftovers })
    })
}

fn count_leftovers(_: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    kit::compute(&bytes, |values: Vec<String>, text| Ok(leftovers(&values, text)))
}

#[derive(Deserialize)]
struct WorkOptions {
    kinds: Vec<Kind>,
    mode: Mode,
}

#[derive(Serialize, Deserialize)]
struct Report {
    counts: BTreeMap<String, usize>,
    leftovers: usize,
    values: Vec<String>,
    warnings: Vec<String>,
    #[serde(default)]
    scanned: bool,
    /// How many pages could not be read.
    #[serde(default)]
    unread: usize,
}

fn redact_docx(options: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    let WorkOptions { kinds, mode } = understood(options)?;
    let done = docx::redact(&bytes, &Limits::default(), mode, |text| found(text, kinds.clone()))?;
    let report = json!({
        "counts": done.counts, "leftovers": done.leftovers, "values": done.values, "warnings": done.warnings,
    });
    Ok(Done { value: report, bytes: done.bytes })
}

fn redact_pdf(options: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    let WorkOptions { kinds, mode } = understood(options)?;
    let done = pdf::redact(bytes, mode, |text| found(text, kinds.clone()))?;
    let report = json!({
        "counts": done.counts, "leftovers": done.leftovers, "values": done.values, "warnings": done.warnings,
        "scanned": done.scanned, "unread": done.unread.len(),
    });
    Ok(Done { value: report, bytes: done.bytes })
}

fn understood(options: Value) -> Result<WorkOptions, Refused> {
    serde_json::from_value(options).map_err(|error| {
        Refused::new("unsupported", format!("it has options that are not understood: {error}"))
    })
}
