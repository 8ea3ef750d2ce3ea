//! `metadata`.

use documents::{Facts, FormField, Limits, Options, OutlineItem};
use kit::{Ctx, Done, Engine, Fault, GivenFile, Office, Refused, Skipped, Work};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::pages::Pages;
use crate::{office, text};

/// Reads what a document is apart from its text.
pub(crate) const FACTS: Work = Work::new("facts", read_facts);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file in base64; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_data: String,
    /// Its media type; the bytes decide if it is wrong.
    file_type: Option<String>,
}

#[derive(Serialize, JsonSchema, Default)]
pub(crate) struct Output {
    /// As detected from the bytes.
    media_type: String,
    title: Option<String>,
    author: Option<String>,
    /// `YYYY-MM-DD`.
    created: Option<String>,
    /// `YYYY-MM-DD`.
    modified: Option<String>,
    /// Pages, slides or sheets.
    page_count: Option<usize>,
    words: Option<usize>,
    language: Option<String>,
    /// The program that wrote the file.
    producer: Option<String>,
    /// Whether it is encrypted, though it opens without a password.
    encrypted: Option<bool>,
    /// Whether the pages are pictures without text.
    scanned: Option<bool>,
    has_macros: Option<bool>,
    /// Whether it has a digital signature; the signature is not checked.
    signed: Option<bool>,
    outline: Vec<Heading>,
    form_fields: Vec<Field>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<Engine>,
    warnings: Vec<String>,
    skipped: Vec<Skipped>,
}

#[derive(Serialize, JsonSchema)]
struct Heading {
    /// 1 for the outermost.
    level: usize,
    title: String,
    page: Option<usize>,
}

impl From<OutlineItem> for Heading {
    fn from(item: OutlineItem) -> Self {
        let OutlineItem { level, title, page } = item;
        Self { level, title, page }
    }
}

#[derive(Serialize, JsonSchema)]
struct Field {
    name: String,
    /// `text`, `checkbox`, `radio`, `button`, `choice` or `signature`.
    kind: String,
    value: Option<String>,
}

impl From<FormField> for Field {
    fn from(field: FormField) -> Self {
        let FormField { name, kind, value } = field;
        Self { name, kind, value }
    }
}

pub(crate) async fn describe(input: Input, ctx: Ctx, office: Office) -> Result<Output, Fault> {
    let file = GivenFile::decode("file_data", &input.file_data, input.file_type.as_deref())?;
    let media_type = file.media_type.to_owned();
    if let Some(skipped) = office::skipped(&file, &ctx, &office).await {
        let (warnings, skipped) = (file.warnings, vec![skipped]);
        return Ok(Output { media_type, warnings, skipped, ..Output::default() });
    }
    let office::Readable { file, engine } = office::readable(file, &ctx, &office).await?;
    let read = ctx.read(file.document()).await?;
    let facts = facts(&file, &ctx).await?;
    let mut warnings = file.warnings;
    if facts.scanned {
        warnings.push(text::SCANNED.to_owned());
    }
    warnings.extend(text::unreadable_warning(&read, &Pages::default()));
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    Ok(Output {
        media_type,
        title: read.meta.title.clone(),
        author: read.meta.author.clone(),
        created: read.meta.created.clone().or_else(|| read.meta.published.clone()),
        modified: facts.modified.or_else(|| read.meta.modified.clone()),
        page_count: text::page_count(&read).or(facts.pages),
        words: Some(read.text.split_whitespace().filter(is_word).count()),
        language: text::language_of(&read),
        producer: facts.producer,
        encrypted: Some(facts.encrypted),
        scanned: Some(facts.scanned),
        has_macros: Some(facts.has_macros),
        signed: Some(facts.signed),
        outline: facts.outline.into_iter().map(Heading::from).collect(),
        form_fields: facts.form_fields.into_iter().map(Field::from).collect(),
        engine,
        warnings,
        skipped: Vec::new(),
    })
}

/// What the document is apart from its text, read in a confined process.
pub(crate) async fn facts(file: &GivenFile, ctx: &Ctx) -> Result<Facts, Fault> {
    let options = json!({"media_type": file.media_type});
    let mut done = ctx.work(&FACTS, &options, file.document()).await?;
    proto::clean::json_in_place(&mut done.value);
    serde_json::from_value(done.value)
        .map_err(|error| Fault::internal(format!("the reader's answer is not facts: {error}")))
}

fn read_facts(options: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    let media_type = options["media_type"].as_str().unwrap_or_default().to_owned();
    let facts = documents::facts(bytes, &Options::new(&media_type), &Limits::default())?;
    let value = serde_json::to_value(facts)
        .map_err(|error| Refused::new("damaged", format!("it has no facts as JSON: {error}")))?;
    Ok(Done::new(value))
}
