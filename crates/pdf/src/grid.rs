//! Tables that are drawn with ruled lines.

use hayro_interpret::kurbo::Rect;

use super::content::Rule;
use super::lines;
use super::regions::Tables;
use super::words::Word;

/// Lines that are this close are one line, and lines that end this close meet.
const NEAR: f64 = 3.0;

/// The most lines of one table in each direction.
const LINES: usize = 200;

/// The most tables of one page.
const GRIDS: usize = 60;

/// A cell with more lines than this is a column of text in a frame.
const LONGEST: usize = 15;

/// Takes the words of ruled tables and puts one word for each table in their place.
pub(super) fn take_tables(words: &mut Vec<Word>, rules: &[Rule]) -> Tables {
    let mut tables = Vec::new();
    for grid in grids(rules) {
        let (inside, outside): (Vec<Word>, Vec<Word>) = words
            .drain(..)
            .partition(|word| word.table.is_none() && grid.area().contains(word.area().center()));
        *words = outside;
        match grid.rows(&inside) {
            Some(rows) => {
                words.push(placeholder(grid.area(), tables.len()));
                tables.push(rows);
            }
            None => words.extend(inside),
        }
    }
    tables
}

fn placeholder(area: Rect, number: usize) -> Word {
    // Chosen so that the word's top and bottom are those of the table.
    let size = area.height() / 0.8;
    Word {
        text: String::new(),
        x: (area.x0, area.x1),
        y: area.y0 + size * 0.7,
        size,
        run: 0,
        row: usize::MAX,
        artifact: false,
        pitch: None,
        glued: false,
        table: Some(number),
        ink: area,
    }
}

/// Ruled lines that meet.
#[derive(Debug)]
struct Grid {
    columns: Vec<f64>,
    rows: Vec<f64>,
}

impl Grid {
    fn area(&self) -> Rect {
        let ends = |lines: &[f64]| {
            (lines.first().copied().unwrap_or(0.0), lines.last().copied().unwrap_or(0.0))
        };
        let ((x0, x1), (y0, y1)) = (ends(&self.columns), ends(&self.rows));
        Rect::new(x0, y0, x1, y1)
    }

    /// The cells' text; `None` if fewer than two rows or columns have any.
    fn rows(&self, words: &[Word]) -> Option<Vec<Vec<String>>> {
        let (width, height) = (self.columns.len() - 1, self.rows.len() - 1);
        let mut cells: Vec<Vec<Vec<Word>>> = vec![vec![Vec::new(); width]; height];
        for word in words {
            let middle = word.area().center();
            let index = |lines: &[f64], at: f64, count: usize| {
                lines.partition_point(|line| *line <= at).clamp(1, count) - 1
            };
            let row = index(&self.rows, middle.y, height);
            cells[row][index(&self.columns, middle.x, width)].push(word.clone());
        }
        let mut longest = 0;
        let mut text = |cell: Vec<Word>| {
            let lines = lines::lines(cell);
            longest = longest.max(lines.len());
            lines.into_iter().map(|line| line.text).collect::<Vec<_>>().join(" ")
        };
        let table: Vec<Vec<String>> = cells
            .into_iter()
            .map(|row| row.into_iter().map(&mut text).collect::<Vec<String>>())
            .filter(|row| row.iter().any(|cell| !cell.is_empty()))
            .collect();
        let filled = (0..width)
            .filter(|column| {
                table.iter().any(|row| row.get(*column).is_some_and(|it| !it.is_empty()))
            })
            .count();
        (table.len() > 1 && filled > 1 && longest <= LONGEST).then_some(table)
    }
}

/// Groups lines that meet. Only those with at least three lines in each direction make a table.
fn grids(rules: &[Rule]) -> Vec<Grid> {
    let areas: Vec<Rect> =
        rules.iter().map(|rule| Rect::from_points(rule.start, rule.end)).collect();
    let mut parent: Vec<usize> = (0..areas.len()).collect();
    let mut order: Vec<usize> = (0..areas.len()).collect();
    order.sort_by(|one, other| areas[*one].x0.total_cmp(&areas[*other].x0));
    for (at, one) in order.iter().enumerate() {
        let reach = areas[*one].inflate(NEAR, NEAR);
        // Sorted by their left end: none after the right end of this line can meet it.
        for other in
            order[at + 1..].iter().take_while(|other| areas[**other].x0 <= reach.x1).take(500)
        {
            let shared = reach.intersect(areas[*other].inflate(NEAR, NEAR));
            if shared.width() > 0.0 && shared.height() > 0.0 {
                let (one, other) = (root(&mut parent, *one), root(&mut parent, *other));
                parent[one] = other;
            }
        }
    }
    let mut groups: std::collections::BTreeMap<usize, (Vec<f64>, Vec<f64>)> = Default::default();
    for (at, area) in areas.iter().enumerate() {
        let (columns, rows) = groups.entry(root(&mut parent, at)).or_default();
        if area.width() > area.height() { rows.push(area.y0) } else { columns.push(area.x0) }
    }
    let mut grids: Vec<Grid> = groups
        .into_values()
        .map(|(columns, rows)| Grid { columns: distinct(columns), rows: distinct(rows) })
        .filter(|grid| {
            (3..LINES).contains(&grid.columns.len()) && (3..LINES).contains(&grid.rows.len())
        })
        .collect();
    grids.sort_by(|one, other| one.area().y0.total_cmp(&other.area().y0));
    grids.truncate(GRIDS);
    grids
}

fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}

fn distinct(mut lines: Vec<f64>) -> Vec<f64> {
    lines.sort_by(f64::total_cmp);
    let mut distinct: Vec<f64> = Vec::new();
    for line in lines {
        if distinct.last().is_none_or(|last| line - last > NEAR) {
            distinct.push(line);
        }
    }
    distinct
}
