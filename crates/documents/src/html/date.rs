//! Dates as pages write them.

use extraction::metadata::iso_date;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A date as `YYYY-MM-DD`: from an ISO date, `2026/03/15`, `20260315`, `March 15, 2026` or `15 Mar 2026`. Others are not
/// understood, since day and month could be confused.
pub(crate) fn date(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(date) = iso_date(text) {
        return Some(date);
    }
    let mut numbers: Vec<&str> = Vec::new();
    let mut month = None;
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(6) {
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            numbers.push(word);
        } else if month.is_none() {
            month = month_of(word);
        }
    }
    match (month, numbers.as_slice()) {
        (Some(month), [day, year, ..]) if year.len() == 4 => on(year, month, day),
        (None, [year, month, day, ..]) if year.len() == 4 => on(year, month.parse().ok()?, day),
        (None, [all, ..]) if all.len() == 8 => on(&all[..4], all[4..6].parse().ok()?, &all[6..]),
        _ => None,
    }
}

/// The number of a month, from 1.
pub(crate) fn month_of(word: &str) -> Option<usize> {
    let lower = word.to_lowercase();
    let named = |name: &&str| lower.starts_with(*name);
    MONTHS.iter().position(|name| word.len() >= 3 && named(name)).map(|at| at + 1)
}

fn on(year: &str, month: usize, day: &str) -> Option<String> {
    let day: usize = day.parse().ok()?;
    iso_date(&format!("{year}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_understood_if_they_are_clear() {
        for text in [
            "2026-03-15T08:00:00Z",
            "2026/03/15",
            "2026/3/15",
            "20260315",
            "March 15, 2026",
            "15 Mar 2026",
            "Sun, 15 Mar 2026 08:00:00 GMT",
        ] {
            assert_eq!(date(text).as_deref(), Some("2026-03-15"), "{text}");
        }
        for text in [
            "",
            "03/15/2026",
            "15.03.2026",
            "2026",
            "yesterday",
            "15th March",
            "é2026",
            "2026-13-40",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }
}
