//! The rows and cells of a table without ruled lines.

use crate::lines;
use crate::regions::gutter::free;
use crate::regions::median_size;
use crate::words::Word;

/// The rows of a table, `None` if there are not at least two rows and columns.
pub(super) fn rows(words: &[Word]) -> Option<Vec<Vec<String>>> {
    if words.iter().any(|word| word.inset.is_some()) {
        return None;
    }
    let size = median_size(words);
    let cuts = free(words.iter().map(|word| word.x), size * 0.6);
    let cuts: Vec<f64> = cuts
        .get(1..cuts.len().saturating_sub(1))?
        .iter()
        .map(|gap| (gap.0 + gap.1) / 2.0)
        .collect();
    if cuts.is_empty() {
        return None;
    }
    let mut table: Vec<Vec<String>> = Vec::new();
    let mut above: Option<f64> = None;
    for row in lines::rows(words.to_vec()) {
        let y = row.first().map_or(0.0, |word| word.y);
        let mut cells: Vec<Vec<Word>> = vec![Vec::new(); cuts.len() + 1];
        for word in row {
            let column = cuts.partition_point(|cut| *cut < word.middle());
            cells[column].push(word);
        }
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| lines::line(cell).map(|line| line.text).unwrap_or_default())
            .collect();
        let near = above.is_some_and(|above| y - above < size * 1.35);
        above = Some(y);
        match table.last_mut() {
            Some(last) if near && continues(&cells) => join(last, cells),
            _ => table.push(cells),
        }
    }
    (table.len() > 1).then_some(table)
}

/// Whether a row holds nothing but the rest of a cell above.
fn continues(cells: &[String]) -> bool {
    let mut filled = cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
    match (filled.next(), filled.next()) {
        (Some((column, cell)), None) => column > 0 && cell.chars().any(char::is_alphabetic),
        _ => false,
    }
}

fn join(row: &mut [String], rest: Vec<String>) {
    for (cell, rest) in row.iter_mut().zip(rest) {
        if !rest.is_empty() && !cell.is_empty() {
            cell.push('\n');
        }
        cell.push_str(&rest);
    }
}
