//! Finds tables, in the confined process.

use analysis::tables::{self, Method as FoundBy};
use documents::layout::PageLayout;
use documents::{Limits, Options};
use kit::{Done, Refused};
use serde::Deserialize;
use serde_json::Value;

use super::grid::{markdown, rows};
use super::{Cell, Method, ReadTables, Region, Table};
use crate::pages::{MOST_PAGES, Pages};

/// The most cells of all tables together; an answer has a few hundred bytes for each.
const MOST_CELLS: usize = 100_000;

/// The most places of all tables together that are written as rows. Tables with more are mostly empty, and an empty place
/// costs the server ten times what it costs here.
const MOST_PLACES: usize = 1_000_000;

#[derive(Deserialize)]
struct TableOptions {
    media_type: String,
    pages: Vec<(usize, usize)>,
    regions: Vec<Region>,
}

pub(super) fn read(options: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    let asked: TableOptions = serde_json::from_value(options)
        .map_err(|error| Refused::new("unsupported", format!("its options: {error}")))?;
    let mut found = if asked.media_type == "application/pdf" {
        of_pdf(&asked, bytes)?
    } else {
        of_others(&asked, &bytes)?
    };
    let mut cells = 0;
    let all = found.tables.len();
    found.tables.retain(|table| {
        cells += table.cells.len();
        cells <= MOST_CELLS
    });
    found.truncated |= found.tables.len() < all;
    let mut places = MOST_PLACES;
    for table in &mut found.tables {
        match rows(&table.cells, &mut places) {
            Some(rows) => {
                table.markdown = markdown(&table.cells, &rows, table.header_rows);
                table.rows = rows;
            }
            None => found.truncated = true,
        }
    }
    let value = serde_json::to_value(found)
        .map_err(|error| Refused::new("damaged", format!("its tables are not JSON: {error}")))?;
    Ok(Done::new(value))
}

fn of_pdf(asked: &TableOptions, bytes: Vec<u8>) -> Result<ReadTables, Refused> {
    let pages = Pages::of_ranges(asked.pages.clone());
    let is_asked = |number: usize| {
        let region = asked.regions.iter().any(|region| region.page == number);
        number <= MOST_PAGES && (region || (asked.regions.is_empty() && pages.contains(number)))
    };
    let (layouts, page_count) = documents::pdf_pages(bytes, &Limits::default(), is_asked)?;
    let expected = (1..=page_count).filter(|number| is_asked(*number)).count();
    let cut = layouts.iter().any(|layout| layout.cut) || layouts.len() < expected;
    let tables = if asked.regions.is_empty() {
        layouts
            .iter()
            .flat_map(|page| {
                tables::find(page).into_iter().map(move |table| of_page(page, Some(table)))
            })
            .collect()
    } else {
        asked.regions.iter().filter_map(|region| in_region(&layouts, region)).collect()
    };
    let truncated = cut || (page_count > MOST_PAGES && asked.regions.is_empty());
    Ok(ReadTables { tables, page_count, truncated })
}

fn in_region(layouts: &[PageLayout], region: &Region) -> Option<Table> {
    let page = layouts.iter().find(|page| page.number == region.page)?;
    let table = of_page(page, tables::in_region(page, &page.from_page(region.bbox)));
    Some(Table { bbox: Some(table.bbox.unwrap_or(region.bbox)), ..table })
}

/// A table of a page; a region without text has one without cells.
fn of_page(page: &PageLayout, table: Option<tables::Table>) -> Table {
    let round = |value: f64| (value * 10.0).round() / 10.0;
    let bbox = table.as_ref().map(|table| page.to_page(&table.area).map(round));
    let method = match table.as_ref().map(|table| table.method) {
        Some(FoundBy::Lines) => Method::Lines,
        Some(FoundBy::Text) | None => Method::Text,
    };
    let header_rows = table.as_ref().map_or(0, |table| table.header_rows);
    let cells = table.map(|table| table.cells).unwrap_or_default();
    written(page.number, bbox, cells, header_rows, method)
}

fn of_others(asked: &TableOptions, bytes: &[u8]) -> Result<ReadTables, Refused> {
    let options = Options::new(&asked.media_type);
    let (native, page_count) = documents::tables(bytes, &options, &Limits::default())?;
    let pages = Pages::of_ranges(asked.pages.clone());
    let tables = native
        .into_iter()
        .filter(|table| pages.contains(table.page))
        .map(|table| written(table.page, None, table.cells, table.header_rows, Method::Native))
        .collect();
    Ok(ReadTables { tables, page_count, truncated: false })
}

fn written(
    page: usize,
    bbox: Option<[f64; 4]>,
    cells: Vec<documents::table::Cell>,
    header_rows: usize,
    method: Method,
) -> Table {
    let cells: Vec<Cell> = cells
        .into_iter()
        .map(|cell| Cell {
            row: cell.row,
            col: cell.col,
            row_end: cell.row_end,
            col_end: cell.col_end,
            text: cell.text,
        })
        .collect();
    // The rows and the Markdown come last, when it is known which tables there is room for.
    Table { page, bbox, cells, rows: Vec::new(), header_rows, markdown: String::new(), method }
}
