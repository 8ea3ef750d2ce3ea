//! Runs typst.

use markup::Document;
use rayon::ThreadPoolBuilder;
use serde::Serialize;
use typst::diag::SourceDiagnostic;
use typst_layout::PagedDocument;
use typst_pdf::{PdfOptions, pdf};

use crate::content;
use crate::failure::TypesetError;
use crate::fonts::Fonts;
use crate::layout::Layout;
use crate::world::MemoryWorld;

/// A document of more pages is refused.
pub const MAX_PAGES: usize = 2_000;
/// Threads of one layout: readers may have few.
const THREADS: usize = 2;
/// Lists and tables recurse.
const STACK_BYTES: usize = 16 << 20;
/// The file that templates read.
const DATA: &str = "data.json";
const TEMPLATE: &str = include_str!("templates/document.typ");

/// A PDF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdf {
    pub bytes: Vec<u8>,
    pub pages: usize,
    /// Pictures that are not drawn, and characters without a glyph.
    pub warnings: Vec<String>,
}

/// Sets a document as PDF.
pub fn to_pdf(document: &Document, layout: &Layout) -> Result<Pdf, TypesetError> {
    let prepared = content::prepare(document, layout)?;
    let mut pdf = render(TEMPLATE, &prepared.content, prepared.files)?;
    pdf.warnings = prepared.warnings;
    pdf.warnings.extend(Fonts::shipped().warn_about(&prepared.text));
    Ok(pdf)
}

/// Runs a template on what it reads.
pub(crate) fn render(
    template: &str,
    content: &impl Serialize,
    mut files: Vec<(String, Vec<u8>)>,
) -> Result<Pdf, TypesetError> {
    let data =
        serde_json::to_vec(content).map_err(|error| TypesetError::Layout(error.to_string()))?;
    files.push((DATA.to_owned(), data));
    let world = MemoryWorld::new(template, files)?;
    let pool = ThreadPoolBuilder::new().num_threads(THREADS).stack_size(STACK_BYTES).build();
    let pool = pool.map_err(|error| TypesetError::Layout(error.to_string()))?;
    let rendered = pool.install(|| compile(&world));
    // Otherwise every document would stay in memory.
    comemo::evict(0);
    rendered
}

fn compile(world: &MemoryWorld) -> Result<Pdf, TypesetError> {
    let document: PagedDocument =
        typst::compile(world).output.map_err(|errors| failure(&errors))?;
    let pages = document.pages().len();
    if pages > MAX_PAGES {
        return Err(TypesetError::TooLarge { what: "pages", limit: MAX_PAGES });
    }
    let bytes = pdf(&document, &PdfOptions::default()).map_err(|errors| failure(&errors))?;
    Ok(Pdf { bytes, pages, warnings: Vec::new() })
}

fn failure(errors: &[SourceDiagnostic]) -> TypesetError {
    let message = errors.first().map_or("typst gave no reason", |error| error.message.as_str());
    TypesetError::Layout(message.chars().take(300).collect())
}
