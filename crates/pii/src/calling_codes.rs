//! Country calling codes of ITU-T E.164 and how many digits follow them.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// Region, calling code, and the shortest and longest national number.
const TABLE: &str = include_str!("../data/calling_codes.txt");

struct Row {
    region: &'static str,
    code: &'static str,
    lengths: RangeInclusive<usize>,
}

static CODES: LazyLock<Vec<Row>> = LazyLock::new(|| TABLE.lines().filter_map(row).collect());

fn row(text: &'static str) -> Option<Row> {
    let mut cells = text.split(' ');
    let (region, code) = (cells.next()?, cells.next()?);
    let (shortest, longest) = (cells.next()?.parse().ok()?, cells.next()?.parse().ok()?);
    Some(Row { region, code, lengths: shortest..=longest })
}

/// Whether digits begin with a calling code that so many digits may follow. A trunk zero after the code counts as one.
pub(super) fn fits(digits: &str) -> bool {
    CODES.iter().any(|row| {
        digits.strip_prefix(row.code).is_some_and(|rest| {
            row.lengths.contains(&rest.len())
                || rest.starts_with('0') && row.lengths.contains(&(rest.len() - 1))
        })
    })
}

/// Whether digits are as long as a number within a region, with or without its trunk zero.
pub(super) fn fits_national(region: &str, digits: &str) -> bool {
    let rest = digits.strip_prefix('0').unwrap_or(digits);
    let mut rows = CODES.iter().filter(|row| row.region.eq_ignore_ascii_case(region));
    rows.any(|row| rest.len() >= 7 && row.lengths.contains(&rest.len()))
}
