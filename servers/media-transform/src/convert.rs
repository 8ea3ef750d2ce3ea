//! `convert`.

use kit::{Ctx, Engine, Fault, Form, GivenFile, Linked, Office, Skipped, StoredRef};
use markup::{DocxOptions, count_parts, to_docx, to_html, to_markdown, to_text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::answer::{Content, Fidelity, Format, embedded};
use crate::csv;
use crate::input::{Given, Notation, Source};
use crate::lost;
use crate::pdf::{self, PdfOptions};
use crate::read::{self, Read};
use crate::works::{TABLES, Tables};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// A document that an earlier answer of this server named.
    source_ref_id: Option<String>,
    /// A document in base64; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_data: Option<String>,
    /// The media type of `file_data`.
    file_type: Option<String>,
    /// The text, unless a document is given.
    #[schemars(length(min = 1))]
    text: Option<String>,
    /// What the text is written in; Markdown by default.
    from: Option<Notation>,
    to: Format,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The text; a long one, DOCX and PDF have a reference instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(flatten)]
    stored: Option<StoredRef>,
    format: Format,
    engine: Engine,
    fidelity: Fidelity,
    /// What the result does not have.
    lost: Vec<String>,
    /// Whether the source is a PDF whose pages are pictures without text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    scanned: bool,
    warnings: Vec<String>,
    skipped: Vec<Skipped>,
}

impl Output {
    fn new(format: Format, content: Content, lost: Vec<String>) -> Self {
        Self {
            content: content.text,
            stored: content.stored,
            format,
            engine: embedded(),
            fidelity: if lost.is_empty() { Fidelity::Exact } else { Fidelity::Approximate },
            lost,
            scanned: false,
            warnings: Vec::new(),
            skipped: Vec::new(),
        }
    }

    fn linked(self) -> Linked<Self> {
        let stored = self.stored.clone();
        Linked::new(self, stored)
    }
}

pub(crate) async fn convert(
    input: Input,
    ctx: Ctx,
    office: Office,
) -> Result<Linked<Output>, Fault> {
    let given = Given {
        source_ref_id: input.source_ref_id,
        file_data: input.file_data,
        file_type: input.file_type,
        text: input.text,
        from: input.from,
    };
    let source = given.source(&ctx).await?;
    let output = match (source, input.to) {
        (source, Format::Pdf) => to_pdf(source, &ctx, &office).await?,
        (Source::File(file), to @ Format::Docx) if file.media_type == to.media_type() => {
            let content = stored(&ctx, to, file.bytes).await?;
            Output { warnings: file.warnings, ..Output::new(to, content, Vec::new()) }
        }
        (Source::File(file), Format::Csv) if file.media_type != "text/csv" => {
            csv_of_file(file, &ctx, &office).await?
        }
        (Source::File(file), Format::Text) if !file.is_text() => {
            text_of_file(file, &ctx, &office).await?
        }
        (Source::File(file), Format::Docx) if is_text_document(file.media_type) => {
            let (file, engine) = read::modern(file, &ctx, &office).await?;
            let content = stored(&ctx, Format::Docx, file.bytes).await?;
            let output = Output::new(Format::Docx, content, Vec::new());
            let engine = engine.unwrap_or_else(embedded);
            Output { engine, warnings: file.warnings, ..output }
        }
        (source, to) => by_model(source, to, &ctx, &office).await?,
    };
    Ok(output.linked())
}

/// Whether LibreOffice makes a DOCX file of it.
fn is_text_document(media_type: &str) -> bool {
    read::old_format(media_type).is_some_and(|(_, to)| to == "docx")
}

async fn stored(ctx: &Ctx, format: Format, bytes: Vec<u8>) -> Result<Content, Fault> {
    Ok(Content { text: None, stored: Some(format.store(ctx, bytes).await?) })
}

async fn to_pdf(source: Source, ctx: &Ctx, office: &Office) -> Result<Output, Fault> {
    let pdf = pdf::make(source, PdfOptions::default(), ctx, office).await?;
    let content = stored(ctx, Format::Pdf, pdf.bytes).await?;
    Ok(Output {
        engine: pdf.engine,
        fidelity: pdf.fidelity,
        warnings: pdf.warnings,
        skipped: pdf.skipped,
        ..Output::new(Format::Pdf, content, pdf.lost)
    })
}

/// By way of the model of documents.
async fn by_model(source: Source, to: Format, ctx: &Ctx, office: &Office) -> Result<Output, Fault> {
    let Read { document, warnings, mut lost, engine, is_approximate, scanned } =
        read::read(source, ctx, office).await?;
    lost.extend(lost::by_writing(&count_parts(&document), to));
    let content = match to {
        Format::Docx => {
            let options = DocxOptions { page_numbers: true, ..DocxOptions::default() };
            let bytes = kit::blocking(move || to_docx(&document, &options)).await?;
            stored(ctx, to, bytes.map_err(|error| Fault::invalid_input(error.to_string()))?).await?
        }
        to => {
            let text = kit::blocking(move || match to {
                Format::Html => (to_html(&document), None),
                Format::Text => (to_text(&document), None),
                Format::Csv => {
                    let written = csv::write(&csv::tables_of(&document));
                    let lost = written.lost();
                    (written.text, lost)
                }
                _ => (to_markdown(&document), None),
            });
            let (text, changed) = text.await?;
            lost.extend(changed);
            if to == Format::Csv && text.is_empty() {
                return Err(no_tables());
            }
            Content::new(ctx, to, text).await?
        }
    };
    let mut output = Output { warnings, scanned, ..Output::new(to, content, lost) };
    if is_approximate {
        output.fidelity = Fidelity::Approximate;
    }
    output.engine = engine.unwrap_or(output.engine);
    Ok(output)
}

async fn text_of_file(file: GivenFile, ctx: &Ctx, office: &Office) -> Result<Output, Fault> {
    let (file, engine) = read::modern(file, ctx, office).await?;
    let mut document = file.document();
    document.form = Form::Text;
    let read = ctx.read(document).await?;
    let scanned =
        file.media_type == "application/pdf" && !read.text.chars().any(char::is_alphanumeric);
    let mut lost = lost::by_reading(ctx, &file).await?;
    lost.push("bold and italic texts, addresses of links".to_owned());
    let content = Content::new(ctx, Format::Text, read.text).await?;
    let mut output =
        Output { warnings: file.warnings, scanned, ..Output::new(Format::Text, content, lost) };
    if scanned {
        output.warnings.push(read::SCANNED.to_owned());
    }
    output.engine = engine.unwrap_or(output.engine);
    Ok(output)
}

/// The tables as the document describes them, with merged cells.
async fn csv_of_file(file: GivenFile, ctx: &Ctx, office: &Office) -> Result<Output, Fault> {
    let (file, engine) = read::modern(file, ctx, office).await?;
    let mut done = ctx.work(&TABLES, &file.media_type, file.document()).await?;
    proto::clean::json_in_place(&mut done.value);
    let Tables { tables, merged } = serde_json::from_value(done.value)
        .map_err(|error| Fault::internal(format!("the reader's answer is not tables: {error}")))?;
    if tables.iter().all(Vec::is_empty) {
        return Err(no_tables());
    }
    let mut lost = lost::by_reading(ctx, &file).await?;
    lost.push("all text outside of tables".to_owned());
    if merged > 0 {
        lost.push(format!("merged cells, whose text is in the first of their places: {merged}"));
    }
    let written = csv::write(&tables);
    lost.extend(written.lost());
    let content = Content::new(ctx, Format::Csv, written.text).await?;
    let mut output = Output { warnings: file.warnings, ..Output::new(Format::Csv, content, lost) };
    output.engine = engine.unwrap_or(output.engine);
    Ok(output)
}

fn no_tables() -> Fault {
    Fault::invalid_input("/to: the document has no tables; choose another format than csv")
        .details(json!({"reason": "no_tables"}))
}
