//! Distinguishes the labels of a chart from the cells of a table.

use documents::table::Cell;

use super::table::Table;

/// A table that is found by its text has at least this many cells.
const FEWEST: usize = 6;

/// The fewest numbers of an axis.
const SHORTEST: usize = 3;

/// Whether a table is rather the labels of a chart: numbers alone, or the numbers of its axes.
pub(super) fn is_chart(table: &Table) -> bool {
    let has_words = table.cells.iter().any(|cell| cell.text.chars().any(char::is_alphabetic));
    if !has_words || table.cells.len() < FEWEST {
        return true;
    }
    let width = table.cells.iter().map(|cell| cell.col_end + 1).max().unwrap_or(0);
    let height = table.cells.iter().map(|cell| cell.row_end + 1).max().unwrap_or(0);
    let column = |at: usize| numbers(table.cells.iter().filter(move |cell| cell.col == at));
    let row = |at: usize| numbers(table.cells.iter().filter(move |cell| cell.row == at));
    let upright = width > 1 && is_axis(&column(0)) && is_axis(&column(width - 1));
    let level = |at: usize| {
        let all = table.cells.iter().filter(|cell| cell.row == at).count();
        let numbers = row(at);
        let are_years = numbers.iter().all(|number| (1800.0..2200.0).contains(number));
        all == numbers.len() && numbers.len() > SHORTEST && is_axis(&numbers) && !are_years
    };
    upright || (height > 0 && (level(0) || level(height - 1)))
}

/// The values of cells that are numbers.
fn numbers<'a>(cells: impl Iterator<Item = &'a Cell>) -> Vec<f64> {
    let number = |cell: &Cell| {
        let plain: String =
            cell.text.chars().filter(|it| !matches!(it, ',' | ' ' | '%' | '$')).collect();
        plain.parse::<f64>().ok().filter(|number| number.is_finite())
    };
    cells.filter_map(number).collect()
}

/// Whether numbers grow or fall in equal steps.
fn is_axis(numbers: &[f64]) -> bool {
    if numbers.len() < SHORTEST {
        return false;
    }
    let step = numbers[1] - numbers[0];
    let even = |pair: &[f64]| (pair[1] - pair[0] - step).abs() < step.abs() * 0.01;
    step != 0.0 && numbers.windows(2).all(even)
}

#[cfg(test)]
mod tests {
    use documents::layout::Area;

    use super::*;
    use crate::tables::table::Method;

    fn table(rows: &[&[&str]]) -> Table {
        let cells = rows.iter().enumerate().flat_map(|(row, texts)| {
            texts.iter().enumerate().map(move |(col, text)| Cell {
                row,
                col,
                row_end: row,
                col_end: col,
                text: (*text).to_owned(),
            })
        });
        let cells = cells.collect();
        Table { area: Area::default(), cells, header_rows: 1, method: Method::Text }
    }

    #[test]
    fn axes_at_both_sides_are_a_chart() {
        let axes: [&[&str]; 4] =
            [&["a", "b"], &["7,400", "0.12"], &["7,300", "0.11"], &["7,200", "0.10"]];
        assert!(is_chart(&table(&axes)));
        let below: [&[&str]; 2] = [&["x", "y", "z", "u"], &["0%", "10%", "20%", "30%"]];
        assert!(is_chart(&table(&below)));
        assert!(is_chart(&table(&[&["1", "2", "7"], &["4", "1", "9"]])));
    }

    #[test]
    fn years_and_values_are_a_table() {
        let years: [&[&str]; 4] =
            [&["Year", "Tons"], &["1997", "12"], &["1998", "11"], &["1999", "17"]];
        assert!(!is_chart(&table(&years)));
        let heads: [&[&str]; 2] = [&["2001", "2002", "2003", "2004"], &["a", "1", "5", "7"]];
        assert!(!is_chart(&table(&heads)));
    }
}
