//! `[1]`, `[1, 3–5]`, `[^1]` and raised numbers.

use super::citation::{InTextCitation, Kind};
use super::index::Index;

/// A range such as `[1–9]` names no more references.
const MAX_RANGE: usize = 500;
/// Larger numbers are years.
const MAX_NUMBER: usize = 99_999;

pub(super) fn find(
    raw: &str,
    masked: &str,
    base: usize,
    index: &Index<'_>,
    found: &mut Vec<InTextCitation>,
) {
    brackets(masked, base, index, found);
    if index.has_labels() {
        raised(raw, base, index, found);
    }
}

fn brackets(masked: &str, base: usize, index: &Index<'_>, found: &mut Vec<InTextCitation>) {
    let mut from = 0;
    while let Some(open) = masked[from..].find('[').map(|at| from + at) {
        from = open + 1;
        let limit = masked.floor_char_boundary(open + 120);
        let Some(close) = masked[open..limit].find(']').map(|at| open + at) else { continue };
        let inner = &masked[open + 1..close];
        let range = base + open..base + close + 1;
        if let Some(label) = inner.strip_prefix('^') {
            let reference = index.footnote(label);
            if !label.is_empty() && !label.contains([' ', '[']) && !index.is_note(label) {
                found.push(InTextCitation {
                    range,
                    reference,
                    shown: format!("[^{label}]"),
                    kind: Kind::Footnote,
                    certain: true,
                });
            }
            from = close + 1;
            continue;
        }
        let Some(numbers) = numbers(inner) else { continue };
        let largest = index.largest_number().max(999);
        // `[2020]` is a year, unless there are so many references.
        if numbers.iter().any(|number| *number > largest || *number == 0) {
            continue;
        }
        push(numbers, range, index, found);
        from = close + 1;
    }
}

fn push(
    numbers: Vec<usize>,
    range: std::ops::Range<usize>,
    index: &Index<'_>,
    found: &mut Vec<InTextCitation>,
) {
    found.extend(numbers.into_iter().map(|number| InTextCitation {
        range: range.clone(),
        reference: index.number(number),
        shown: format!("[{number}]"),
        kind: Kind::Number,
        certain: true,
    }));
}

/// The numbers of `1, 3–5` or `2, p. 4`.
fn numbers(inner: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for part in inner.split([',', ';']) {
        let part = part.trim();
        let locator = part.starts_with(|c: char| c.is_alphabetic() || c == '§');
        if locator && !numbers.is_empty() {
            break;
        }
        let (first, last) = part.split_once(['-', '–', '—', '‐', '‑']).unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if last < first || last - first > MAX_RANGE || numbers.len() > MAX_RANGE {
            return None;
        }
        numbers.extend(first..=last);
    }
    (!numbers.is_empty()).then_some(numbers)
}

fn number(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().filter(|number| *number <= MAX_NUMBER)
}

/// `<sup>1,2</sup>` and `¹`.
fn raised(raw: &str, base: usize, index: &Index<'_>, found: &mut Vec<InTextCitation>) {
    for (open, _) in raw.match_indices("<sup>") {
        let from = open + 5;
        let limit = raw.floor_char_boundary(from + 60);
        let Some(close) = raw[from..limit].find("</sup>").map(|at| from + at) else { continue };
        if let Some(numbers) = numbers(&raw[from..close])
            && numbers.iter().all(|number| index.number(*number).is_some())
        {
            push(numbers, base + open..base + close + 6, index, found);
        }
    }
    let mut from = 0;
    while let Some(start) = raw[from..].find(raised_digit_or_none).map(|at| from + at) {
        let run = &raw[start..];
        let end = run
            .find(|c: char| raised_digit(c).is_none() && !matches!(c, ',' | '⁻' | '–'))
            .unwrap_or(run.len());
        from = start + end.max(1);
        let text: String = run[..end]
            .trim_end_matches([',', '–', '⁻'])
            .chars()
            .map(|c| match c {
                '⁻' => '–',
                c => raised_digit(c).unwrap_or(c),
            })
            .collect();
        let word = raw[..start].rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        // Powers of units.
        if word.chars().count() <= 2
            && !raw[..start].ends_with(['.', ',', ')', '”', '"', ';', ':', '?', '!'])
        {
            continue;
        }
        if let Some(numbers) = numbers(&text)
            && numbers.iter().all(|number| index.number(*number).is_some())
        {
            push(numbers, base + start..base + start + end, index, found);
        }
    }
}

fn raised_digit_or_none(c: char) -> bool {
    raised_digit(c).is_some()
}

fn raised_digit(c: char) -> Option<char> {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = RAISED.iter().position(|raised| *raised == c)?;
    char::from_digit(u32::try_from(digit).ok()?, 10)
}
