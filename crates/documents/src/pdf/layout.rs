//! From placed glyphs to lines and paragraphs.
//!
//! The order in which a page draws its text is nearly always the order in which it is read, columns included, and
//! no order computed from positions alone is as good. Only a page that is drawn from the bottom is sorted.

use super::glyphs::Glyph;

/// A line: its text, where it begins and ends, and how large it is.
#[derive(Debug)]
struct Line {
    text: String,
    x: f64,
    end: f64,
    y: f64,
    size: f64,
}

/// The paragraphs of a page.
pub(super) fn paragraphs(glyphs: Vec<&Glyph>) -> Vec<String> {
    let mut lines = lines(glyphs);
    let steps = lines.windows(2);
    let upwards = steps.clone().filter(|pair| pair[1].y < pair[0].y - pair[0].size * 0.5).count();
    if upwards * 2 > lines.len() {
        lines.sort_by(|one, other| one.y.total_cmp(&other.y).then(one.x.total_cmp(&other.x)));
        lines = joined(lines);
    }
    let usual = usual_step(&lines);
    let mut paragraphs: Vec<String> = Vec::new();
    let mut above: Option<&Line> = None;
    for line in lines.iter().filter(|line| !line.text.trim().is_empty()) {
        match (paragraphs.last_mut(), above) {
            (Some(paragraph), Some(above)) if belongs(above, line, usual) => {
                paragraph.push('\n');
                paragraph.push_str(line.text.trim_end());
            }
            _ => paragraphs.push(line.text.trim_end().to_owned()),
        }
        above = Some(line);
    }
    paragraphs
}

/// How far apart the lines of this page usually are, in sizes of their type.
fn usual_step(lines: &[Line]) -> f64 {
    let step = |pair: &[Line]| (pair[1].y - pair[0].y) / pair[0].size.max(pair[1].size);
    let mut steps: Vec<f64> =
        lines.windows(2).map(step).filter(|step| (0.5..3.0).contains(step)).collect();
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied().unwrap_or(1.2)
}

/// Whether a line continues the paragraph of the one above: at the usual distance, in about the same size. Rows of a table
/// are further apart.
fn belongs(above: &Line, line: &Line, usual: f64) -> bool {
    let size = above.size.max(line.size);
    let step = (line.y - above.y) / size;
    let rows = above.text.contains('\t') && line.text.contains('\t');
    let most = if rows { 3.0 } else { (usual * 1.35).clamp(1.45, 3.0) };
    step > -0.3 && step < most && above.size.min(line.size) > size * 0.8
}

fn lines(glyphs: Vec<&Glyph>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for glyph in glyphs {
        match lines.last_mut() {
            Some(line) if goes_on(line, glyph) => {
                line.text.push_str(between(line, glyph.x));
                line.text.push_str(&glyph.text);
                line.end = glyph.x + glyph.width;
                line.size = line.size.max(glyph.size);
            }
            _ => lines.push(Line {
                text: glyph.text.clone(),
                x: glyph.x,
                end: glyph.x + glyph.width,
                y: glyph.y,
                size: glyph.size,
            }),
        }
    }
    lines
}

/// Whether a glyph continues the line to the right; superscripts and subscripts do as well.
fn goes_on(line: &Line, glyph: &Glyph) -> bool {
    let size = line.size.max(glyph.size);
    (glyph.y - line.y).abs() < size * 0.45 && glyph.x > line.end - size * 0.6
}

/// The separator between the end of a line and the next glyph at `x`: none, a space or a tab for a table's gap.
fn between(line: &Line, x: f64) -> &'static str {
    let gap = x - line.end;
    let spaced = line.text.ends_with([' ', '\t', '\u{a0}']);
    match () {
        () if gap > line.size * 1.8 => "\t",
        () if gap > line.size * 0.16 && !spaced => " ",
        () => "",
    }
}

/// Pieces on one line, after sorting.
fn joined(pieces: Vec<Line>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for piece in pieces {
        match lines.last_mut() {
            Some(line) if (piece.y - line.y).abs() < line.size * 0.3 && piece.x >= line.end => {
                line.text.push_str(between(line, piece.x));
                line.text.push_str(&piece.text);
                line.end = piece.end;
            }
            _ => lines.push(piece),
        }
    }
    lines
}
