//! Lines of a page that look like the rows of a table.

use documents::layout::Area;

use super::columns;
use super::lines::{Line, Piece};
use super::prose;
use super::rules::{Rule, Rules};

/// The most lines with one piece of text between two rows.
const WEAK: usize = 3;

/// As many lines of a block say how far its lines are apart.
const RECENT: usize = 40;

/// Groups of lines that look like tables, from top to bottom.
pub(super) fn blocks(lines: &[Line], rules: &Rules) -> Vec<Vec<Line>> {
    let prose = prose::prose(lines);
    let walls = prose::walls(lines, &prose);
    let mut blocks = Vec::new();
    let mut open: Vec<Vec<Line>> = Vec::new();
    for (line, prose) in lines.iter().zip(&prose) {
        let rest = line.pieces.iter().zip(prose).filter(|(_, prose)| !**prose);
        for pieces in strips(rest.map(|(piece, _)| piece.clone()), &walls) {
            let Some(line) = with_pieces(line, pieces) else { continue };
            add(join_bullets(&line), &mut open, &mut blocks, &walls);
        }
    }
    blocks.extend(open);
    let mut tables: Vec<Vec<Line>> =
        blocks.into_iter().flat_map(|block| finish(block, rules)).collect();
    tables.sort_by(|one, other| one[0].area.top.total_cmp(&other[0].area.top));
    tables
}

/// Adds a line to the open block above it, or begins another; blocks that end far above are moved to `blocks`.
fn add(line: Line, open: &mut Vec<Vec<Line>>, blocks: &mut Vec<Vec<Line>>, walls: &[Area]) {
    let overlap = |block: &[Line]| {
        let (mut left, mut right) = (f64::INFINITY, f64::NEG_INFINITY);
        for line in block.iter().rev().take(6) {
            (left, right) = (left.min(line.area.left), right.max(line.area.right));
        }
        let shared = right.min(line.area.right) - left.max(line.area.left);
        shared / (right - left).min(line.area.width()).max(1.0)
    };
    let ended =
        |block: &[Line]| block.last().is_some_and(|last| !follows(block, last, &line, walls));
    let mut at = 0;
    while at < open.len() {
        if ended(&open[at]) && (overlap(&open[at]) > 0.0 || is_far(&open[at], &line)) {
            blocks.push(open.swap_remove(at));
        } else {
            at += 1;
        }
    }
    // Short heads at different heights are blocks of their own until the row below them joins them.
    let mut near: Vec<usize> = (0..open.len()).filter(|at| overlap(&open[*at]) > 0.3).collect();
    near.sort_by_key(|at| std::cmp::Reverse(open[*at].len()));
    let small = near.iter().skip(1).take_while(|at| open[**at].len() <= 2).count();
    near.truncate(small + 1);
    let Some(main) = near.first().copied() else {
        open.push(vec![line]);
        return;
    };
    let mut joined = std::mem::take(&mut open[main]);
    if is_strong(&line) {
        for block in near.iter().skip(1).map(|at| std::mem::take(&mut open[*at])) {
            joined.extend(block);
        }
        joined.sort_by(|one, other| one.baseline.total_cmp(&other.baseline));
    }
    joined.push(line);
    open[main] = joined;
    open.retain(|block| !block.is_empty());
}

/// Whether a line is so far below a block that no further line can belong to it.
fn is_far(block: &[Line], line: &Line) -> bool {
    block.last().is_some_and(|last| line.area.top - last.area.bottom > line.size * 8.0)
}

/// Divides the pieces of a line at the columns of running text next to them.
fn strips(pieces: impl Iterator<Item = Piece>, walls: &[Area]) -> Vec<Vec<Piece>> {
    let mut strips: Vec<(Vec<i8>, Vec<Piece>)> = Vec::new();
    for piece in pieces {
        let middle = piece.area.middle();
        let near = walls.iter().filter(|wall| (wall.top..=wall.bottom).contains(&middle));
        let key: Vec<i8> = near
            .map(|wall| match piece.area.center() {
                center if center < wall.left => -1,
                center if center > wall.right => 1,
                _ => 0,
            })
            .collect();
        match strips.iter_mut().find(|(known, _)| *known == key) {
            Some((_, pieces)) => pieces.push(piece),
            None => strips.push((key, vec![piece])),
        }
    }
    strips.into_iter().map(|(_, pieces)| pieces).collect()
}

/// The line with some of its pieces; `None` if there are none.
pub(super) fn with_pieces(line: &Line, pieces: Vec<Piece>) -> Option<Line> {
    let area = pieces.iter().map(|piece| piece.area).reduce(|all, area| all.union(&area))?;
    Some(Line { pieces, area, ..line.clone() })
}

/// Joins a bullet or the number of a paragraph with the text after it.
fn join_bullets(line: &Line) -> Line {
    let mut line = line.clone();
    if line.pieces.len() == 2 && is_bullet(&line.pieces[0].text()) && !line.pieces[1].is_numeric() {
        let second = line.pieces.pop();
        for word in second.into_iter().flat_map(|piece| piece.words) {
            line.pieces[0].push(word);
        }
    }
    line
}

fn is_bullet(text: &str) -> bool {
    let inner = text.trim_matches(|character| matches!(character, '(' | ')' | '.' | '[' | ']'));
    let marked = inner.len() < text.len();
    let short = inner.chars().count() <= 3;
    let mut characters = inner.chars();
    let symbol =
        characters.next().is_some_and(|it| !it.is_alphanumeric()) && inner.chars().count() == 1;
    symbol || (marked && short && inner.chars().all(char::is_alphanumeric)) || text == "o"
}

fn is_strong(line: &Line) -> bool {
    line.pieces.len() > 1
}

/// Whether a line may belong to the table of the lines above it.
fn follows(open: &[Line], last: &Line, line: &Line, walls: &[Area]) -> bool {
    let gap = line.area.top - last.area.bottom;
    let size = line.size.max(last.size);
    let recent = &open[open.len().saturating_sub(RECENT)..];
    let mut steps: Vec<f64> =
        recent.windows(2).map(|pair| pair[1].area.top - pair[0].area.bottom).collect();
    let usual = if steps.is_empty() {
        size * 1.5
    } else {
        let middle = steps.len() / 2;
        *steps.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    if gap > (usual * 2.2).max(size * 2.6) {
        return false;
    }
    // Running text between two lines separates them.
    let between = Area::new(
        last.area.left.min(line.area.left),
        last.area.bottom - size * 0.3,
        last.area.right.max(line.area.right),
        line.area.top + size * 0.3,
    );
    !walls.iter().any(|wall| {
        let middle = wall.middle();
        middle > between.top
            && middle < between.bottom
            && wall.left < between.right
            && wall.right > between.left
    })
}

/// Divides lines at long stretches without columns, and keeps those that are tables.
fn finish(lines: Vec<Line>, rules: &Rules) -> Vec<Vec<Line>> {
    let mut parts: Vec<Vec<Line>> = vec![Vec::new()];
    let mut at = 0;
    while at < lines.len() {
        let weak = lines[at..].iter().take_while(|line| !is_strong(line)).count();
        if repeats_head(parts.last(), &lines[at..]) {
            parts.push(Vec::new());
        }
        // A caption ends above the heads that follow it.
        let caption = lines[at..at + weak].iter().rposition(is_sentence).map(|last| last + 1);
        if let Some(skipped) = caption.or_else(|| (weak > WEAK).then(|| weak - 1)) {
            parts.push(Vec::new());
            at += skipped;
            continue;
        }
        if let Some(part) = parts.last_mut() {
            part.extend(lines[at..at + weak.max(1)].iter().cloned());
        }
        at += weak.max(1);
    }
    parts
        .into_iter()
        .filter_map(|part| trimmed(part, rules))
        .filter(|part| is_table(part, rules))
        .collect()
}

/// Whether the next line, or the one after it, repeats a line at the top of the table: another table begins.
fn repeats_head(part: Option<&Vec<Line>>, lines: &[Line]) -> bool {
    let Some(part) = part.filter(|part| part.len() > 3) else { return false };
    // Rows with values may have the same name in several groups.
    let name = |line: &Line| {
        let is_head = !line.pieces.iter().any(Piece::is_value);
        is_head.then(|| line.pieces.iter().map(Piece::text).collect::<Vec<_>>())
    };
    let apart = part
        .last()
        .zip(lines.first())
        .is_some_and(|(last, line)| line.area.top - last.area.bottom > line.size * 0.6);
    let names: Vec<Vec<String>> = part.iter().take(3).filter_map(name).collect();
    apart && lines.iter().take(2).filter_map(name).any(|name| names.contains(&name))
}

/// Whether a line is too long for the heading of some rows.
fn is_sentence(line: &Line) -> bool {
    line.pieces.iter().map(|piece| piece.words.len()).sum::<usize>() > 9
}

/// Without the lines before the first row and after the last, except those between ruled lines.
fn trimmed(lines: Vec<Line>, rules: &Rules) -> Option<Vec<Line>> {
    let first = lines.iter().position(is_strong)?;
    let last = lines.iter().rposition(is_strong)?;
    let area =
        lines[first..=last].iter().map(|line| line.area).reduce(|all, area| all.union(&area))?;
    let crosses = |rule: &&Rule| rule.within(area.left, area.right) > area.width() * 0.5;
    let mut start = first;
    // Heads that span columns are above the first row, below a line that is drawn.
    for at in (0..first).rev() {
        let line = &lines[at];
        let above =
            rules.horizontal.iter().filter(crosses).any(|rule| {
                rule.at < line.area.middle() && rule.at > line.area.top - line.size * 2.5
            });
        let inner = line.area.left > area.left + line.size * 2.0 && line.pieces[0].words.len() <= 6;
        let apart = rules
            .horizontal
            .iter()
            .filter(crosses)
            .any(|rule| rule.at > line.area.middle() && rule.at < lines[start].area.middle());
        if above || (inner && !apart && at + 1 == start) {
            start = at;
        }
    }
    let mut end = last;
    for (at, line) in lines.iter().enumerate().skip(last + 1) {
        let below = rules.horizontal.iter().filter(crosses).any(|rule| {
            rule.at > line.area.middle() && rule.at < line.area.bottom + line.size * 1.5
        });
        if below && line.area.right <= area.right + line.size {
            end = at;
        }
    }
    Some(lines[start..=end].to_vec())
}

/// Whether the pieces of lines fall into columns, and look like values.
fn is_table(lines: &[Line], rules: &Rules) -> bool {
    let strong: Vec<&Line> = lines.iter().filter(|line| is_strong(line)).collect();
    let columns = columns::columns(lines, rules);
    if strong.len() < 2 || columns.len() < 2 {
        return false;
    }
    let (mut values, mut numeric, mut all, mut spanning) = (0_usize, 0_usize, 0_usize, 0_usize);
    for piece in strong.iter().flat_map(|line| &line.pieces) {
        let (first, last) = columns::range(&columns, piece);
        all += 1;
        spanning += usize::from(first != last);
        if first > 0 {
            values += 1;
            numeric += usize::from(piece.is_value());
        }
    }
    let area = lines.iter().map(|line| line.area).reduce(|all, area| all.union(&area));
    let area = area.unwrap_or_default();
    let ruled = rules
        .horizontal
        .iter()
        .filter(|rule| {
            rule.at > area.top - 12.0
                && rule.at < area.bottom + 12.0
                && rule.within(area.left, area.right) > area.width() * 0.6
        })
        .count();
    // The labels of a chart are at both of its sides.
    let far = columns.windows(2).any(|pair| pair[1].left - pair[0].right > area.width() * 0.55);
    if ruled == 0 && columns.len() == 2 && far {
        return false;
    }
    if columns.len() == 2 && is_contents(&strong) {
        return false;
    }
    let fill = all as f64 / (strong.len() * columns.len()) as f64;
    let least = if ruled >= 2 { 2 } else { 3 };
    strong.len() >= least
        && fill > 0.4
        && spanning * 3 <= all
        && (numeric * 3 >= values || (ruled >= 2 && numeric * 5 >= values) || (ruled >= 3))
}

/// Whether lines are a table of contents: dots lead to page numbers that never fall.
fn is_contents(lines: &[&Line]) -> bool {
    let leaders = lines.iter().filter(|line| line.leader).count();
    let numbers: Vec<u32> = lines
        .iter()
        .filter_map(|line| line.pieces.last().and_then(|piece| piece.text().parse().ok()))
        .collect();
    leaders * 2 > lines.len() && numbers.len() * 2 > lines.len() && numbers.is_sorted()
}
