//! The heads of columns, with those that span several.

use documents::layout::Area;
use documents::table::Cell;

use super::columns::Column;
use super::rows::{Part, Row};
use super::rules::Rules;

/// The most lines of a header.
const MOST: usize = 12;

/// The cells of a header, and over how many rows they reach.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub(super) cells: Vec<Cell>,
    pub(super) levels: usize,
}

/// How many of the rows are the header.
pub(super) fn height(rows: &[Row], rules: &Rules, area: &Area) -> usize {
    let most = rows.len().saturating_sub(1).min(MOST);
    // Lines with gaps are those below heads that span columns.
    let full = |at: &usize| {
        let (before, row) = (&rows[*at - 1], &rows[*at]);
        rules.horizontal.iter().any(|rule| {
            rule.at > before.area.middle()
                && rule.at < row.area.middle()
                && rule.within(area.left, area.right) > area.width() * 0.75
        })
    };
    if let Some(at) = (1..=most).find(full) {
        return at;
    }
    // Without a line, the first row with a name and values begins the body.
    let is_body = |row: &Row| {
        let (stub, values): (Vec<&Part>, Vec<&Part>) =
            row.parts.iter().partition(|part| part.first == 0);
        let numeric = values.iter().filter(|part| part.piece.is_value()).count();
        !stub.is_empty() && !values.is_empty() && numeric * 2 >= values.len()
    };
    let first = rows.iter().take(most + 1).position(is_body);
    match first {
        // A heading of a group of rows above the first values belongs to the body.
        Some(at) => {
            let mut at = at;
            while at > 1 && rows[at - 1].parts.len() == 1 && rows[at - 1].parts[0].first == 0 {
                at -= 1;
            }
            at
        }
        None => most.min(1),
    }
}

/// Puts the lines of a header into cells.
pub(super) fn header(rows: &[Row], columns: &[Column], rules: &Rules) -> Header {
    let mut open: Vec<Head> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let groups = rows.get(at + 1).and_then(|below| groups(row, below, columns));
        for (number, part) in row.parts.iter().enumerate() {
            let group = groups.as_ref().and_then(|groups| groups.get(number).copied());
            let (first, last) = group.unwrap_or_else(|| {
                let (first, last) = span(part, row, at + 1 == rows.len(), columns, rules);
                // A head that spans columns is above all others of these columns.
                let below =
                    open.iter().any(|head| head.first <= last && first <= head.last && !head.wide);
                if below { (part.first, part.last) } else { (first, last) }
            });
            let above = open.iter().rposition(|head| head.first <= last && first <= head.last);
            let joined = above.filter(|above| {
                let head = &open[*above];
                let same = (head.first, head.last) == (first, last)
                    || (head.first <= first && last <= head.last && !head.wide);
                same && !is_between(rules, head, part)
            });
            match joined {
                Some(at) => {
                    let head = &mut open[at];
                    head.text.push(' ');
                    head.text.push_str(&part.piece.text());
                    head.area = head.area.union(&part.piece.area);
                    head.first = head.first.min(first);
                    head.last = head.last.max(last);
                }
                None => {
                    let level = open
                        .iter()
                        .filter(|head| head.first <= last && first <= head.last)
                        .map(|head| head.level + 1)
                        .max();
                    open.push(Head {
                        first,
                        last,
                        level: level.unwrap_or(0),
                        text: part.piece.text(),
                        area: part.piece.area,
                        wide: first != last,
                    });
                }
            }
        }
    }
    let levels = open.iter().map(|head| head.level + 1).max().unwrap_or(0);
    let ends: Vec<usize> = open
        .iter()
        .map(|head| {
            let below = open.iter().filter(|other| {
                other.level > head.level && other.first <= head.last && head.first <= other.last
            });
            below.map(|other| other.level).min().map_or(levels - 1, |level| level - 1)
        })
        .collect();
    let cells = open.into_iter().zip(ends).map(|(head, end)| Cell {
        row: head.level,
        col: head.first,
        row_end: end,
        col_end: head.last,
        text: head.text,
    });
    Header { cells: cells.collect(), levels }
}

/// The columns of each head of a row, if each is centred above several columns whose heads are in the row below.
fn groups(row: &Row, below: &Row, columns: &[Column]) -> Option<Vec<(usize, usize)>> {
    let heads: Vec<&Part> = row.parts.iter().filter(|part| part.first > 0).collect();
    if heads.len() < 2 {
        return None;
    }
    let center = |part: &Part| part.piece.area.center();
    let borders: Vec<f64> =
        heads.windows(2).map(|pair| (center(pair[0]) + center(pair[1])) / 2.0).collect();
    let mut groups: Vec<Option<(usize, usize)>> = vec![None; heads.len()];
    for (at, column) in columns.iter().enumerate().skip(1) {
        let group = &mut groups[borders.partition_point(|border| *border < column.center())];
        *group = Some(group.map_or((at, at), |(first, _)| (first, at)));
    }
    let groups: Vec<(usize, usize)> = groups.into_iter().collect::<Option<_>>()?;
    let fits = groups.iter().zip(&heads).all(|((first, last), head)| {
        let middle = (columns[*first].left + columns[*last].right) / 2.0;
        let filled = (*first..=*last).all(|column| {
            below.parts.iter().any(|part| (part.first..=part.last).contains(&column))
        });
        last > first && filled && (middle - center(head)).abs() < row.size * 1.5
    });
    if !fits {
        return None;
    }
    let stub = row.parts.iter().filter(|part| part.first == 0).map(|_| (0, 0));
    Some(stub.chain(groups).collect())
}

#[derive(Debug)]
struct Head {
    first: usize,
    last: usize,
    level: usize,
    text: String,
    area: Area,
    wide: bool,
}

/// Whether a line lies between a head and the text below it.
fn is_between(rules: &Rules, head: &Head, part: &Part) -> bool {
    let center = part.piece.area.center();
    rules.horizontal.iter().any(|rule| {
        rule.at > head.area.bottom - head.area.height() * 0.3
            && rule.at < part.piece.area.middle()
            && rule.start <= center
            && rule.end >= center
    })
}

/// The columns that a head covers.
fn span(
    part: &Part,
    row: &Row,
    is_last: bool,
    columns: &[Column],
    rules: &Rules,
) -> (usize, usize) {
    if is_last && part.first == part.last {
        return (part.first, part.last);
    }
    let center = part.piece.area.center();
    // A line below the head that is as wide as the columns under it.
    let line = rules.horizontal.iter().find(|rule| {
        rule.at > part.piece.area.middle()
            && rule.at < part.piece.area.bottom + row.size * 0.9
            && rule.start <= part.piece.area.left + 2.0
            && rule.end >= part.piece.area.right - 2.0
    });
    if let Some(line) = line {
        let below: Vec<usize> = (0..columns.len())
            .filter(|at| (line.start..=line.end).contains(&columns[*at].center()))
            .collect();
        if let (Some(first), Some(last)) = (below.first(), below.last())
            && below.len() < columns.len()
        {
            let free = |at: usize| {
                !row.parts.iter().any(|other| {
                    other.piece != part.piece && (other.first..=other.last).contains(&at)
                })
            };
            if (*first..=*last).all(free) {
                return (*first, *last);
            }
        }
    }
    if is_last {
        return (part.first, part.last);
    }
    let left = row.parts.iter().filter(|other| other.last < part.first).map(|other| other.last + 1);
    let left = left.max().unwrap_or(1).max(usize::from(part.first > 0)).min(part.first);
    let right = row.parts.iter().filter(|other| other.first > part.last).map(|other| other.first);
    let right = right.min().unwrap_or(columns.len()).max(part.last + 1) - 1;
    let sole = row.parts.iter().filter(|other| other.first > 0).count() == 1;
    if part.first == part.last && !(sole && part.first > 0) {
        return (part.first, part.last);
    }
    let off = |first: usize, last: usize| {
        ((columns[first].left + columns[last].right) / 2.0 - center).abs()
    };
    // The widest range that is centred at the head.
    let mut best = (part.first, part.last);
    for first in left..=part.first {
        for last in part.last..=right {
            let wider = last - first > best.1 - best.0;
            if wider && off(first, last) < row.size * 1.2 {
                best = (first, last);
            }
        }
    }
    best
}
