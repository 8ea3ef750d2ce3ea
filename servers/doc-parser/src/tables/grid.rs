//! A table as rows and as Markdown.

use super::Cell;

/// The rows of a table; a merged cell has its text in its first place. `None` if they have more places than are left, which
/// they use up.
pub(super) fn rows(cells: &[Cell], places: &mut usize) -> Option<Vec<Vec<String>>> {
    let height = cells.iter().map(|cell| cell.row_end + 1).max().unwrap_or(0);
    let width = cells.iter().map(|cell| cell.col_end + 1).max().unwrap_or(0);
    *places = places.checked_sub(width.saturating_mul(height))?;
    let mut rows = vec![vec![String::new(); width]; height];
    for cell in cells {
        rows[cell.row][cell.col].clone_from(&cell.text);
    }
    Some(rows)
}

/// The table in Markdown, which has one row of heads: those of several rows are joined.
pub(super) fn markdown(cells: &[Cell], rows: &[Vec<String>], header_rows: usize) -> String {
    let Some(width) = rows.first().map(Vec::len) else { return String::new() };
    let header_rows = header_rows.min(rows.len());
    let mut heads = vec![Vec::<&str>::new(); width];
    for cell in cells.iter().filter(|cell| cell.row < header_rows) {
        for head in &mut heads[cell.col..=cell.col_end] {
            head.push(&cell.text);
        }
    }
    let heads: Vec<String> = heads.into_iter().map(|texts| texts.join(" / ")).collect();
    let mut lines = vec![line(&heads), format!("|{}", " --- |".repeat(width))];
    lines.extend(rows[header_rows..].iter().map(|row| line(row)));
    lines.join("\n")
}

fn line(cells: &[String]) -> String {
    let escaped = cells.iter().map(|cell| cell.replace('\\', "\\\\").replace('|', "\\|"));
    format!("| {} |", escaped.collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(row: usize, col: usize, row_end: usize, col_end: usize, text: &str) -> Cell {
        Cell { row, col, row_end, col_end, text: text.to_owned() }
    }

    #[test]
    fn heads_of_several_rows_are_joined() {
        let cells = [
            cell(0, 0, 1, 0, "Name"),
            cell(0, 1, 0, 2, "Items"),
            cell(1, 1, 1, 1, "Number"),
            cell(1, 2, 1, 2, "a|b"),
            cell(2, 0, 2, 0, "x"),
            cell(2, 2, 2, 2, "7"),
        ];
        let mut places = 20;
        let rows = rows(&cells, &mut places).expect("room");
        assert_eq!(places, 11);
        assert_eq!(rows[0], ["Name", "Items", ""]);
        assert_eq!(
            markdown(&cells, &rows, 2),
            "| Name | Items / Number | Items / a\\|b |\n| --- | --- | --- |\n| x |  | 7 |"
        );
    }

    #[test]
    fn the_places_of_all_tables_are_bounded() {
        let sparse = [cell(0, 0, 0, 0, "a"), cell(99, 99, 99, 99, "b")];
        let mut places = 15_000;
        assert!(rows(&sparse, &mut places).is_some());
        assert!(rows(&sparse, &mut places).is_none());
        // A smaller one still has room.
        assert!(rows(&sparse[..1], &mut places).is_some());
    }

    #[test]
    fn a_table_without_cells_is_empty() {
        assert_eq!(rows(&[], &mut 0), Some(Vec::new()));
        assert_eq!(markdown(&[], &[], 1), "");
    }
}
