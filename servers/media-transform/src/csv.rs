//! Tables as CSV.

use markup::{Block, Document, to_text};

/// The tables of a document; an empty line separates them.
pub(crate) fn write(tables: &[Vec<Vec<String>>]) -> String {
    let tables = tables.iter().filter(|rows| !rows.is_empty());
    let tables = tables.map(|rows| rows.iter().map(|row| line(row)).collect::<String>());
    tables.collect::<Vec<_>>().join("\n")
}

fn line(cells: &[String]) -> String {
    let cells = cells.iter().map(|cell| {
        if cell.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.clone()
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
        assert_eq!(write(&tables_of(&document)), "a,b\n\"1, 2\",\"\"\"x\"\"\"\n\nc\nd\n");
    }
}
