//! Labels of nodes, wrapped to a width.

use notes::text::is_invisible;

/// The font size in pixels.
pub(super) const FONT: f64 = 13.0;

/// The most characters of a label that are drawn or read aloud.
const MAX_CHARACTERS: usize = 600;

/// A label as visible text on one line: no control characters, which XML does not allow either.
pub(super) fn visible(label: &str) -> String {
    let shown: String = label
        .chars()
        .take(MAX_CHARACTERS)
        .map(|c| if c.is_control() || c.is_whitespace() { ' ' } else { c })
        .filter(|c| !is_invisible(*c) && !matches!(c, '\u{fffe}' | '\u{ffff}'))
        .collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The lines of a label; what does not fit ends with an ellipsis.
pub(super) fn wrap(label: &str, width: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut used = 0.0;
    for word in label.split(' ') {
        for piece in pieces(word, width) {
            let length = measure(piece);
            let space = if line.is_empty() { 0.0 } else { measure(" ") };
            // The pieces of a long word follow each other without a space.
            let glue = !std::ptr::eq(piece.as_ptr(), word.as_ptr());
            if !line.is_empty() && used + space + length > width {
                lines.push(std::mem::take(&mut line));
                used = 0.0;
            }
            if !line.is_empty() && !glue {
                line.push(' ');
                used += space;
            }
            line.push_str(piece);
            used += length;
        }
    }
    lines.extend((!line.is_empty()).then_some(line));
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while measure(last) + measure("…") > width && last.pop().is_some() {}
            *last = format!("{}…", last.trim_end_matches([' ', ',', '.', ';', ':']));
        }
    }
    lines
}

/// A word that is wider than the line in parts that fit.
fn pieces(word: &str, width: f64) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut used = 0.0;
    for (at, c) in word.char_indices() {
        let length = advance(c);
        if used + length > width && at > start {
            pieces.push(&word[start..at]);
            start = at;
            used = 0.0;
        }
        used += length;
    }
    pieces.push(&word[start..]);
    pieces
}

/// About how wide a text is drawn.
pub(super) fn measure(text: &str) -> f64 {
    text.chars().map(advance).sum()
}

/// About how wide a character is in a sans-serif font, rather too wide than too narrow.
fn advance(c: char) -> f64 {
    let share = match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.36,
        ' ' => 0.32,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        'A'..='Z' => 0.72,
        _ if u32::from(c) < 0x0e00 => 0.6,
        _ => 1.05,
    };
    share * FONT
}
