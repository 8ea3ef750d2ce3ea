//! Counts the processes that died while they worked on something durable, so that nothing ends one process after the
//! other.
//!
//! A table of durable work has the columns `lease_owner` (the process that works on a row; null once it was released),
//! `phase`, `crashes` and `crashes_in_all`. A process that claims a row counts a crash if the row was running and another
//! process still holds its lease: a process that stops in an orderly way releases its leases first.

use crate::StoreError;
use crate::sql::Row;

/// How many processes died while they worked on a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Crashes {
    /// Since the last committed result.
    pub in_a_row: u64,
    pub in_all: u64,
}

impl Crashes {
    /// Work that makes no progress between this many crashes is quarantined.
    pub const MAX_IN_A_ROW: u64 = 2;

    /// Work is quarantined after this many crashes, whatever progress it makes in between.
    pub const MAX_IN_ALL: u64 = 5;

    /// The assignments of an `UPDATE` that claims rows of other processes; all its assignments read the old values.
    pub(crate) const COUNT: &str = "\
        crashes = crashes + CASE WHEN phase = 'running' AND lease_owner IS NOT NULL THEN 1 ELSE 0 END, \
        crashes_in_all = crashes_in_all + CASE WHEN phase = 'running' AND lease_owner IS NOT NULL THEN 1 ELSE 0 END";

    /// Whether the work must not be resumed before an operator says so.
    pub fn is_poison(self) -> bool {
        self.in_a_row >= Self::MAX_IN_A_ROW || self.in_all >= Self::MAX_IN_ALL
    }

    /// The condition of rows that are poison.
    pub(crate) fn poison_condition() -> String {
        format!("(crashes >= {} OR crashes_in_all >= {})", Self::MAX_IN_A_ROW, Self::MAX_IN_ALL)
    }

    pub(crate) fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self { in_a_row: row.get("crashes")?, in_all: row.get("crashes_in_all")? })
    }
}

#[cfg(test)]
mod tests {
    use super::Crashes;

    #[test]
    fn two_crashes_without_progress_or_five_in_all_are_poison() {
        for (in_a_row, in_all, poison) in
            [(0, 0, false), (1, 1, false), (2, 2, true), (0, 4, false), (1, 4, false), (0, 5, true)]
        {
            assert_eq!(Crashes { in_a_row, in_all }.is_poison(), poison, "{in_a_row} {in_all}");
        }
    }
}
