//! Tables as CSV.

use markup::{Block, Document, to_text};

/// Tables that were written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) text: String,
    /// How many cells begin with an apostrophe now, so that spreadsheets do not run them.
    pub(crate) formulas: usize,
}

impl Written {
    /// What differs from the source, for people.
    pub(crate) fn lost(&self) -> Option<String> {
        let count = self.formulas;
        (count > 0).then(|| {
            format!(
                "cells that a spreadsheet would run as formulas begin with an apostrophe: {count}"
            )
        })
    }
}

/// The tables of a document; an empty line separates them.
pub(crate) fn write(tables: &[Vec<Vec<String>>]) -> Written {
    let tables = tables.iter().filter(|rows| !rows.is_empty());
    let formulas = tables.clone().flatten().flatten().filter(|cell| is_formula(cell)).count();
    let tables = tables.map(|rows| rows.iter().map(|row| line(row)).collect::<String>());
    Written { text: tables.collect::<Vec<_>>().join("\n"), formulas }
}

/// Whether a spreadsheet may run a cell: it begins as a formula, and is neither a number nor plain words.
fn is_formula(cell: &str) -> bool {
    let cell = cell.trim_start();
    let number = |c: char| c.is_ascii_digit() || " ()+-./,%".contains(c);
    match cell.chars().next() {
        Some('=' | '＝') => true,
        Some('+' | '-' | '@' | '＋' | '－' | '＠') => {
            cell.contains(['(', '|', '!', '（', '｜', '！']) && !cell.chars().all(number)
        }
        _ => false,
    }
}

fn line(cells: &[String]) -> String {
    let cells = cells.iter().map(|cell| {
        let guard = if is_formula(cell) { "'" } else { "" };
        if cell.contains(['"', ',', '\n', '\r']) {
            format!("\"{guard}{}\"", cell.replace('"', "\"\""))
        } else {
            format!("{guard}{cell}")
        }
    });
    format!("{}\n", cells.collect::<Vec<_>>().join(","))
}

/// The tables of a document, without marks.
pub(crate) fn tables_of(document: &Document) -> Vec<Vec<Vec<String>>> {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    let tables = blocks.filter_map(|block| match block {
        Block::Table { header, rows, .. } => {
            let rows = std::iter::once(header).chain(rows);
            Some(rows.map(|row| row.iter().map(|cell| plain(cell)).collect()).collect())
        }
        _ => None,
    });
    tables.collect()
}

fn plain(cell: &str) -> String {
    let section = markup::Section {
        blocks: vec![Block::Paragraph { text: cell.to_owned() }],
        level: 1,
        ..markup::Section::default()
    };
    let document = Document { sections: vec![section], ..Document::default() };
    to_text(&document).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_tables_kept_apart() {
        let document = markup::from_markdown(
            "| a | b |\n|---|---|\n| 1, **2** | \"x\" |\n\ntext\n\n| c |\n|---|\n| [d](https://e.org) |\n",
        );
        let written = write(&tables_of(&document));
        assert_eq!(written.text, "a,b\n\"1, 2\",\"\"\"x\"\"\"\n\nc\nd\n");
        assert_eq!(written.lost(), None);
    }

    #[test]
    fn spreadsheets_run_no_cell() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let kept = row(&["-5", "+49 (30) 123", "- item", "@anna", "a=b", "-1,5 %"]);
        let run = row(&["=1+1", " =A1", "+cmd|' /C calc'!A0", "-SUM(A1)", "@SUM(1)", "＝1"]);
        let written = write(&[vec![kept.clone(), run.clone()]]);
        let expected: Vec<String> = run.iter().map(|cell| format!("'{cell}")).collect();
        let kept = kept.join(",").replace("-1,5 %", "\"-1,5 %\"");
        assert_eq!(written.text, format!("{kept}\n{}\n", expected.join(",")));
        assert_eq!(written.formulas, run.len());
        assert!(written.lost().is_some_and(|lost| lost.ends_with(": 6")));
    }
}
