//! Functions on untrusted bytes, run in confined readers.

use std::collections::BTreeMap;
use std::io::Cursor;

use analysis::tables;
use documents::{Limits, Options};
use kit::{Done, Refused, Work};
use markup::{Document, DocxOptions, PageSize, Template};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use typeset::Layout;

use crate::merge::join::MERGE;
use crate::parts::{parse, split};

/// Sets a document as PDF.
pub(crate) const PDF: Work = Work::new("pdf", set_pdf);
/// Fills a template.
pub(crate) const FILL: Work = Work::new("fill", fill_template);
/// Reads the tables of a document as rows.
pub(crate) const TABLES: Work = Work::new("tables", read_tables);
/// Counts the parts of an Office file that its text does not have.
pub(crate) const INVENTORY: Work = Work::new("inventory", take_inventory);
pub(crate) const ALL: [Work; 5] = [PDF, FILL, TABLES, INVENTORY, MERGE];

/// The most parts of a package that are counted.
const MAX_PARTS: usize = 2_000;
/// Pages whose tables are read.
const MAX_PAGES: usize = 2_000;
/// The most places of all tables together.
const MAX_PLACES: usize = 1_000_000;

fn document_of(bytes: &[u8]) -> Result<Document, Refused> {
    serde_json::from_slice(bytes).map_err(|error| Refused::new("options", error.to_string()))
}

/// What the layout of a PDF reports.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PdfReport {
    pub(crate) pages: usize,
    pub(crate) warnings: Vec<String>,
}

fn set_pdf(options: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    let layout: Layout = parse(options)?;
    let pdf = typeset::to_pdf(&document_of(&bytes)?, &layout)
        .map_err(|error| Refused::new(error.kind(), error.to_string()))?;
    let report = PdfReport { pages: pdf.pages, warnings: pdf.warnings };
    let value =
        serde_json::to_value(report).map_err(|error| Refused::new("options", error.to_string()))?;
    Ok(Done { value, bytes: pdf.bytes })
}

/// How a template is filled.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Filling {
    pub(crate) document: Option<Document>,
    pub(crate) title: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) data: Value,
}

/// The bytes are the template and a [`Filling`]; the options are their lengths.
fn fill_template(options: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    let lengths: Vec<usize> = parse(options)?;
    let parts = split(&lengths, bytes)?;
    let [template, filling] = parts.as_slice() else {
        return Err(Refused::new("options", "it is a template and what fills it"));
    };
    let Filling { document, title, author, data } = serde_json::from_slice(filling)
        .map_err(|error| Refused::new("options", error.to_string()))?;
    let options = DocxOptions { title, author, page: PageSize::A4, page_numbers: false };
    let template = Template { bytes: template, data: &data };
    let docx = markup::fill_template(template, document.as_ref(), &options)
        .map_err(|error| Refused::new(error.kind(), error.to_string()))?;
    Ok(Done { value: Value::Null, bytes: docx })
}

/// The tables of a document.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tables {
    pub(crate) tables: Vec<Vec<Vec<String>>>,
    /// Cells that cover several places.
    pub(crate) merged: usize,
}

fn read_tables(options: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    let media_type: String = parse(options)?;
    let limits = Limits::default();
    let found: Vec<Vec<documents::table::Cell>> = if media_type == "application/pdf" {
        let (pages, _) = documents::pdf_pages(bytes, &limits, |page| page <= MAX_PAGES)?;
        pages.iter().flat_map(tables::find).map(|table| table.cells).collect()
    } else {
        let (tables, _) = documents::tables(&bytes, &Options::new(&media_type), &limits)?;
        tables.into_iter().map(|table| table.cells).collect()
    };
    let mut read = Tables::default();
    let mut places = 0_usize;
    for cells in found {
        let height = cells.iter().map(|cell| cell.row_end + 1).max().unwrap_or(0);
        let width = cells.iter().map(|cell| cell.col_end + 1).max().unwrap_or(0);
        places = places.saturating_add(width.saturating_mul(height));
        if places > MAX_PLACES {
            let why = "it has tables of more than a million cells; send it in several files";
            return Err(Refused::new("too_large", why));
        }
        let mut rows = vec![vec![String::new(); width]; height];
        for cell in cells {
            read.merged += usize::from(cell.row_end > cell.row || cell.col_end > cell.col);
            rows[cell.row][cell.col] = cell.text;
        }
        read.tables.push(rows);
    }
    Ok(Done::new(json!(read)))
}

/// Parts of a package by what they are, for people.
const KINDS: [(&str, &str, &str); 6] = [
    ("/media/", "", "pictures"),
    ("comments", ".xml", "comments"),
    ("/charts/chart", ".xml", "charts"),
    ("vbaProject.bin", "", "macros"),
    ("/embeddings/", "", "embedded files"),
    ("/diagrams/data", ".xml", "diagrams"),
];

fn take_inventory(_: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    let archive = zip::ZipArchive::new(Cursor::new(&bytes))
        .map_err(|error| Refused::new("damaged", error.to_string()))?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in archive.file_names().flatten().take(MAX_PARTS) {
        let is =
            |(within, end, _): &&(&str, &str, &str)| name.contains(within) && name.ends_with(end);
        if let Some((_, _, kind)) = KINDS.iter().find(is).filter(|_| !name.contains("_rels/")) {
            *counts.entry(kind).or_default() += 1;
        }
    }
    Ok(Done::new(json!(counts)))
}
