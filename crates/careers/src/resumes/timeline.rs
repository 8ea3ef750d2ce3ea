//! How long a person has worked, and the gaps between positions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::profile::Position;

/// A month of the calendar, counted from year 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month(i32);

impl Month {
    pub fn new(year: i16, month: u8) -> Self {
        Self(i32::from(year) * 12 + i32::from(month) - 1)
    }

    fn text(self) -> String {
        format!("{:04}-{:02}", self.0.div_euclid(12), self.0.rem_euclid(12) + 1)
    }

    /// The month of `YYYY-MM`, `YYYY` or `present`; a year is its first or last month.
    fn read(date: &str, last: bool, today: Self) -> Option<Self> {
        if date == "present" {
            return Some(today);
        }
        let (year, month) =
            date.split_once('-').map_or((date, None), |(year, month)| (year, Some(month)));
        let month = match month {
            Some(month) => month.parse().ok().filter(|month| (1..=12).contains(month))?,
            None if last => 12,
            None => 1,
        };
        let year: i16 = year.parse().ok().filter(|year| (1900..=2100).contains(year))?;
        Some(Self::new(year, month))
    }
}

/// The months of work, overlaps counted once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    pub months: u32,
    /// Gaps between positions of two months and more.
    pub gaps: Vec<Gap>,
}

/// The months between two positions, both included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    pub from: String,
    pub to: String,
    pub months: u32,
}

/// Shorter gaps are the time between two employers.
const SHORTEST_GAP: i32 = 2;

impl Timeline {
    /// Adds up positions; `today` ends those that run.
    pub fn of(positions: &[Position], today: Month) -> Self {
        let mut periods: Vec<(Month, Month)> = positions
            .iter()
            .filter_map(|position| {
                let from = Month::read(position.start.as_deref()?, false, today)?;
                let to = Month::read(position.end.as_deref()?, true, today)?.min(today);
                (from <= to).then_some((from, to))
            })
            .collect();
        periods.sort();
        let mut timeline = Self::default();
        let mut last: Option<Month> = None;
        for (from, to) in periods {
            let begin = match last {
                Some(last) if from <= last => Month(last.0 + 1),
                Some(last) => {
                    timeline.gap(last, from);
                    from
                }
                None => from,
            };
            timeline.months += u32::try_from(to.0 - begin.0 + 1).unwrap_or(0);
            last = last.max(Some(to));
        }
        timeline
    }

    fn gap(&mut self, last: Month, next: Month) {
        let months = next.0 - last.0 - 1;
        if months >= SHORTEST_GAP {
            self.gaps.push(Gap {
                from: Month(last.0 + 1).text(),
                to: Month(next.0 - 1).text(),
                months: months.unsigned_abs(),
            });
        }
    }
}
