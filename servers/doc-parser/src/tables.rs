//! `extract_tables`.

mod grid;
mod read;

use kit::{Ctx, Engine, Fault, GivenFile, Office, Skipped, Work};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::office;
use crate::pages::Pages;

/// Finds the tables of a document.
pub(crate) const TABLES: Work = Work::new("tables", read::read);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file in base64; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_data: String,
    /// Its media type; the bytes decide if it is wrong.
    file_type: Option<String>,
    /// Pages, slides or sheets such as `1-3,7`; all by default.
    pages: Option<String>,
    /// Where tables of a PDF are; the answer has one table for each, in this order.
    #[schemars(length(min = 1, max = 200))]
    regions: Option<Vec<Region>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Region {
    /// Counted from 1.
    #[schemars(range(min = 1))]
    page: usize,
    /// `[x1, y1, x2, y2]` in points from the lower left corner of the page.
    bbox: [f64; 4],
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    tables: Vec<Table>,
    /// Pages, slides or sheets.
    page_count: usize,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<Engine>,
    warnings: Vec<String>,
    skipped: Vec<Skipped>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Table {
    /// Page, slide or sheet, counted from 1.
    page: usize,
    /// `[x1, y1, x2, y2]` in points from the lower left corner of a PDF's page; null for other documents.
    bbox: Option<[f64; 4]>,
    /// The cells with text; a cell covers `row..=row_end` and `col..=col_end`.
    cells: Vec<Cell>,
    /// The texts of the cells as rows; a merged cell has its text in the first of its positions.
    rows: Vec<Vec<String>>,
    header_rows: usize,
    markdown: String,
    method: Method,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Cell {
    row: usize,
    col: usize,
    row_end: usize,
    col_end: usize,
    text: String,
}

/// How a table was found: by its ruling lines, by the alignment of its text, or as the document describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Method {
    Lines,
    Text,
    Native,
}

/// The answer of the confined process.
#[derive(Debug, Serialize, Deserialize)]
struct ReadTables {
    tables: Vec<Table>,
    page_count: usize,
    truncated: bool,
}

pub(crate) async fn extract(input: Input, ctx: Ctx, office: Office) -> Result<Output, Fault> {
    let pages = Pages::parse(input.pages.as_deref())?;
    let regions = input.regions.unwrap_or_default();
    for (at, Region { bbox: [x1, y1, x2, y2], .. }) in regions.iter().enumerate() {
        if x1 >= x2 || y1 >= y2 {
            return Err(Fault::invalid_input(format!(
                "/regions/{at}/bbox: give [x1, y1, x2, y2] with x1 < x2 and y1 < y2"
            )));
        }
    }
    let file = GivenFile::decode("file_data", &input.file_data, input.file_type.as_deref())?;
    let office::Readable { file, engine } = office::readable(file, &ctx, &office).await?;
    if !regions.is_empty() && file.media_type != "application/pdf" {
        return Err(Fault::invalid_input("/regions: only a PDF has regions"));
    }
    let options = json!({
        "media_type": file.media_type, "pages": pages.ranges(), "regions": regions,
    });
    let mut done = ctx.work(&TABLES, &options, file.document()).await?;
    proto::clean::json_in_place(&mut done.value);
    let found: ReadTables = serde_json::from_value(done.value)
        .map_err(|error| Fault::internal(format!("the reader's answer is not tables: {error}")))?;
    pages.check(found.page_count)?;
    if let Some(at) = regions.iter().position(|region| region.page > found.page_count) {
        return Err(Fault::invalid_input(format!(
            "/regions/{at}/page: the document has {} pages",
            found.page_count
        )));
    }
    Ok(Output {
        tables: found.tables,
        page_count: found.page_count,
        truncated: found.truncated,
        engine,
        warnings: file.warnings,
        skipped: Vec::new(),
    })
}
