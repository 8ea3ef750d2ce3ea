use crate::{AuditRow, CallChange};

/// So many bytes of an answer take as much room as a row.
const BYTES_OF_ROW: usize = 1024;

/// What the writer commits, in the order in which it came in.
#[derive(Debug)]
pub(crate) enum Entry {
    /// A call has ended; `ends` is the number under which it was written that it had begun.
    Row { row: AuditRow, ends: Option<u64> },
    /// A call has begun; `row` is what the trail says of it should it never end.
    Begun { number: u64, row: AuditRow },
    /// Boxed to keep rows small.
    Call(Box<CallChange>),
}

impl Entry {
    /// The audit row that it carries.
    pub(crate) fn row(&self) -> Option<&AuditRow> {
        match self {
            Self::Row { row, .. } | Self::Begun { row, .. } => Some(row),
            Self::Call(_) => None,
        }
    }

    /// The call whose end it is, if its beginning was written.
    pub(crate) fn ends(&self) -> Option<u64> {
        match self {
            Self::Row { ends, .. } => *ends,
            Self::Begun { .. } | Self::Call(_) => None,
        }
    }

    /// The bytes of the answer that it carries.
    pub(crate) fn answer_bytes(&self) -> usize {
        match self {
            Self::Row { .. } | Self::Begun { .. } => 0,
            Self::Call(change) => change.bytes(),
        }
    }

    /// How much of the room in memory it takes.
    pub(super) fn permits(&self) -> u32 {
        u32::try_from(1 + self.answer_bytes() / BYTES_OF_ROW).unwrap_or(u32::MAX)
    }
}
