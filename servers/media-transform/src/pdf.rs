//! `convert_to_pdf`.

use kit::{
    Ctx, Document as GivenDocument, Engine, Fault, GivenFile, Linked, Office, OfficeFile, Skipped,
    StoredRef,
};
use language::prose::Language;
use markup::{Document, to_text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use typeset::{Layout, Style};

use crate::answer::{Fidelity, Format, embedded};
use crate::input::{Given, Notation, Source};
use crate::read::{self, Read};
use crate::works::{PDF, PdfReport};

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
    /// The look of a new layout.
    #[serde(default)]
    style: Style,
    #[serde(default)]
    page: PageName,
    #[serde(default)]
    engine: EngineName,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PageName {
    #[default]
    A4,
    Letter,
}

impl From<PageName> for markup::PageSize {
    fn from(page: PageName) -> Self {
        match page {
            PageName::A4 => Self::A4,
            PageName::Letter => Self::Letter,
        }
    }
}

impl From<PageName> for typeset::PageSize {
    fn from(page: PageName) -> Self {
        match page {
            PageName::A4 => Self::A4,
            PageName::Letter => Self::Letter,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EngineName {
    /// LibreOffice for Office files if it is installed.
    #[default]
    Auto,
    Embedded,
    Libreoffice,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    #[serde(flatten)]
    stored: StoredRef,
    format: Format,
    page_count: usize,
    engine: Engine,
    fidelity: Fidelity,
    warnings: Vec<String>,
    skipped: Vec<Skipped>,
}

/// A PDF, and how it was made.
#[derive(Debug)]
pub(crate) struct MadePdf {
    pub(crate) bytes: Vec<u8>,
    pub(crate) page_count: usize,
    pub(crate) engine: Engine,
    pub(crate) fidelity: Fidelity,
    pub(crate) warnings: Vec<String>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) lost: Vec<String>,
}

/// How a PDF is to be made.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PdfOptions {
    pub(crate) style: Style,
    pub(crate) page: PageName,
    pub(crate) engine: EngineName,
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
    let options = PdfOptions { style: input.style, page: input.page, engine: input.engine };
    let pdf = make(given.source(&ctx).await?, options, &ctx, &office).await?;
    let stored = Format::Pdf.store(&ctx, pdf.bytes).await?;
    let not_kept = pdf.lost.into_iter().map(|lost| format!("not kept: {lost}"));
    let output = Output {
        stored: stored.clone(),
        format: Format::Pdf,
        page_count: pdf.page_count,
        engine: pdf.engine,
        fidelity: pdf.fidelity,
        warnings: pdf.warnings.into_iter().chain(not_kept).collect(),
        skipped: pdf.skipped,
    };
    Ok(Linked::new(output, [stored]))
}

/// Makes a PDF of a text or file.
pub(crate) async fn make(
    source: Source,
    options: PdfOptions,
    ctx: &Ctx,
    office: &Office,
) -> Result<MadePdf, Fault> {
    let mut skipped = Vec::new();
    let source = match source {
        Source::File(file) if file.media_type == "application/pdf" => return same(file, ctx).await,
        Source::File(file) => {
            let extension = office_extension(file.media_type);
            match (extension, options.engine) {
                (Some(extension), EngineName::Auto | EngineName::Libreoffice) => {
                    let engine = ctx.engine(office.program()).await;
                    if engine.is_ok() || options.engine == EngineName::Libreoffice {
                        return by_office(file, extension, ctx, office).await;
                    }
                    skipped.push(Skipped {
                        what: "the layout of the original".to_owned(),
                        why: format!("the program `{}` was not found", office.program().name()),
                        fix: office.program().fix(),
                    });
                }
                (None, EngineName::Libreoffice) => return Err(for_office_files()),
                _ => {}
            }
            Source::File(file)
        }
        Source::Text(..) if options.engine == EngineName::Libreoffice => {
            return Err(for_office_files());
        }
        source => source,
    };
    let Read { document, warnings, lost, is_approximate, .. } =
        read::read(source, ctx, office).await?.with_text()?;
    let mut pdf = set(&document, options, ctx).await?;
    if is_approximate || !lost.is_empty() {
        pdf.fidelity = Fidelity::Approximate;
    }
    pdf.warnings.splice(0..0, warnings);
    pdf.lost = lost;
    pdf.skipped = skipped;
    Ok(pdf)
}

fn for_office_files() -> Fault {
    Fault::invalid_input("/engine: LibreOffice converts Office files only; leave `engine` out")
}

/// Lays a document out, in a confined process.
pub(crate) async fn set(
    document: &Document,
    options: PdfOptions,
    ctx: &Ctx,
) -> Result<MadePdf, Fault> {
    let text = to_text(document);
    let layout = Layout {
        style: options.style,
        page: options.page.into(),
        language: Language::detect(&text).map(|language| language.code().to_owned()),
        ..Layout::default()
    };
    let json = serde_json::to_vec(document)
        .map_err(|error| Fault::internal(format!("the document is not JSON: {error}")))?;
    let done = ctx.work(&PDF, &layout, GivenDocument::new(json, "application/json")).await?;
    let report: PdfReport = serde_json::from_value(done.value)
        .map_err(|error| Fault::internal(format!("the reader's answer is no report: {error}")))?;
    Ok(MadePdf {
        bytes: done.bytes,
        page_count: report.pages,
        engine: embedded(),
        fidelity: Fidelity::Exact,
        warnings: report.warnings,
        skipped: Vec::new(),
        lost: Vec::new(),
    })
}

/// A PDF stays as it is.
async fn same(file: GivenFile, ctx: &Ctx) -> Result<MadePdf, Fault> {
    let page_count = ctx.read(file.document()).await?.parts;
    Ok(MadePdf {
        bytes: file.bytes,
        page_count,
        engine: embedded(),
        fidelity: Fidelity::Exact,
        warnings: file.warnings,
        skipped: Vec::new(),
        lost: Vec::new(),
    })
}

async fn by_office(
    file: GivenFile,
    extension: &str,
    ctx: &Ctx,
    office: &Office,
) -> Result<MadePdf, Fault> {
    let OfficeFile { bytes, engine } = office.convert(ctx, file.bytes, extension, "pdf").await?;
    let read = ctx.read(GivenDocument::new(bytes.clone(), "application/pdf")).await?;
    Ok(MadePdf {
        bytes,
        page_count: read.parts,
        engine,
        fidelity: Fidelity::Exact,
        warnings: file.warnings,
        skipped: Vec::new(),
        lost: Vec::new(),
    })
}

/// The extension of a file that LibreOffice converts.
fn office_extension(media_type: &str) -> Option<&'static str> {
    match media_type {
        kind if kind.ends_with("wordprocessingml.document") => Some("docx"),
        kind if kind.ends_with("presentationml.presentation") => Some("pptx"),
        kind if kind.ends_with("spreadsheetml.sheet") => Some("xlsx"),
        kind => read::old_format(kind).map(|(extension, _)| extension),
    }
}
