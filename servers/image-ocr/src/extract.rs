//! `extract`: one picture.

use kit::{Ctx, Engine, Fault, GivenFile};
use ocr::prepare::Report;
use ocr::tables::{self, Table};
use ocr::word::mean_confidence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::engines::{Engines, Read};
use crate::works::{self, PREPARE, Preparation};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The picture in base64.
    #[schemars(length(min = 1))]
    image_data: String,
    /// Its media type; the content counts if they differ.
    #[serde(default)]
    image_type: Option<String>,
    /// The languages of the text, the main one first, such as `eng` or `de`; chosen among those installed by default.
    #[serde(default)]
    languages: Vec<String>,
    /// Whether tables are looked for.
    #[serde(default)]
    tables: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Extracted {
    /// In reading order: columns one after the other, an empty line between blocks.
    text: String,
    words: Vec<PlacedWord>,
    /// Only if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    tables: Option<Vec<PlacedTable>>,
    /// By how many degrees the picture was turned clockwise to make its text upright: 0, 90, 180 or 270.
    rotation: u16,
    /// By how many degrees the lines, after that turn, fell to the right.
    skew: f64,
    /// Those that were read; empty for models, which read all that they know.
    languages: Vec<String>,
    /// From 0 to 1; null without text.
    mean_confidence: Option<f64>,
    engine: Engine,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlacedWord {
    text: String,
    /// Left, top, right and bottom in pixels of the picture, upright by its EXIF data.
    bbox: [i64; 4],
    /// From 0 to 1.
    confidence: f64,
    /// The line, counted from 0 over the whole picture.
    line: usize,
    /// The block, counted from 0.
    block: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlacedTable {
    bbox: [i64; 4],
    cells: Vec<Cell>,
    rows: Vec<Vec<String>>,
    markdown: String,
    /// How it was found: by ruled `lines`, or by the alignment of `text`.
    method: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Cell {
    row: usize,
    col: usize,
    /// The last row and column that it covers.
    row_end: usize,
    col_end: usize,
    text: String,
}

pub(crate) async fn extract(input: Input, ctx: Ctx, engines: &Engines) -> Result<Extracted, Fault> {
    let sent = GivenFile::decode("image_data", &input.image_data, input.image_type.as_deref())?;
    if ocr::decode::media_type(&sent.bytes).is_none() {
        let message = format!(
            "/image_data: this is {}, not a picture: send PNG, JPEG, WebP, GIF, TIFF or BMP; `extract_document` reads documents",
            sent.media_type
        );
        return Err(Fault::invalid_input(message).details(json!({"reason": "unsupported"})));
    }
    let chosen = engines.choose(&ctx, &input.languages).await?;
    let options = Preparation { scaled: engines.scales(), page: 0 };
    let done = ctx.work(&PREPARE, &options, sent.document()).await?;
    let prepared = works::prepared(done)
        .ok_or_else(|| Fault::internal("the prepared picture cannot be read"))?;
    let read = engines.read(&ctx, &chosen, prepared).await?;
    let mut warnings = sent.warnings;
    if !input.languages.is_empty() && chosen.languages.is_empty() {
        warnings.push(
            "the models read all languages that they know; `languages` is not used".to_owned(),
        );
    }
    let report = &read.prepared.report;
    Ok(Extracted {
        text: read.layout.text(),
        words: words(&read),
        tables: input.tables.then(|| {
            let found = tables::find(&read.layout, &report.rules, report.character_height);
            found.into_iter().map(|table| place_table(table, report)).collect()
        }),
        rotation: report.rotation,
        skew: round(report.skew, 10.0),
        languages: chosen.languages,
        mean_confidence: mean_confidence(read.layout.words()).map(|mean| round(mean, 1000.0)),
        engine: chosen.engine,
        warnings,
    })
}

fn words(read: &Read) -> Vec<PlacedWord> {
    let mut placed = Vec::new();
    let mut line = 0;
    for (block, lines) in read.layout.blocks.iter().enumerate() {
        for words in &lines.lines {
            for word in words {
                placed.push(PlacedWord {
                    text: word.text.clone(),
                    bbox: place(word.bbox, &read.prepared.report),
                    confidence: round(word.confidence, 1000.0),
                    line,
                    block,
                });
            }
            line += 1;
        }
    }
    placed
}

/// A box of the prepared picture as whole pixels of the picture as it came.
fn place(bbox: [f64; 4], report: &Report) -> [i64; 4] {
    let [left, top, right, bottom] = report.origin.apply_box(bbox);
    let (wide, high) = (report.width as f64, report.height as f64);
    [
        left.clamp(0.0, wide).round() as i64,
        top.clamp(0.0, high).round() as i64,
        right.clamp(0.0, wide).round() as i64,
        bottom.clamp(0.0, high).round() as i64,
    ]
}

fn place_table(table: Table, report: &Report) -> PlacedTable {
    PlacedTable {
        bbox: place(table.bbox, report),
        markdown: table.markdown(),
        rows: table.rows(),
        method: if table.ruled { "lines" } else { "text" },
        cells: table
            .cells
            .into_iter()
            .map(|cell| Cell {
                row: cell.row,
                col: cell.column,
                row_end: cell.row_end,
                col_end: cell.column_end,
                text: cell.text,
            })
            .collect(),
    }
}

fn round(value: f64, steps: f64) -> f64 {
    (value * steps).round() / steps
}
