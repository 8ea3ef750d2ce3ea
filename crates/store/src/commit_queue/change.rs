use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::workflows::Submitted;
use crate::{AuditRow, CallChange, CallDetail, RunChanges};

/// The most changes in memory, those being committed included; further callers wait.
pub(super) const MAX_ROWS: usize = 32_768;

/// One permit of the queue covers a row or this many bytes of an answer.
const BYTES_OF_ROW: usize = 1024;

/// A change that the writer commits, in the order in which changes were submitted.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Change {
    /// A call has ended; `ends` is the number under which its beginning was written.
    Row {
        row: AuditRow,
        ends: Option<u64>,
        /// Boxed to keep rows small: most have none.
        detail: Option<Box<CallDetail>>,
    },
    /// A call has begun; `row` is its audit row if it never ends.
    Begun {
        number: u64,
        row: AuditRow,
    },
    /// Boxed to keep rows small.
    Call(Box<CallChange>),
    Runs(Arc<RunChanges>),
    /// Boxed to keep rows small.
    Workflow(Box<Submitted>),
}

impl Change {
    /// The audit row that it carries.
    pub(crate) fn row(&self) -> Option<&AuditRow> {
        match self {
            Self::Row { row, .. } | Self::Begun { row, .. } => Some(row),
            Self::Call(_) | Self::Runs(_) | Self::Workflow(_) => None,
        }
    }

    /// The bytes of the answer that it carries.
    pub(crate) fn answer_bytes(&self) -> usize {
        match self {
            Self::Call(change) => change.bytes(),
            Self::Row { .. } | Self::Begun { .. } | Self::Runs(_) | Self::Workflow(_) => 0,
        }
    }

    /// How many rows' worth of memory it takes.
    pub(super) fn permits(&self) -> u32 {
        let more = match self {
            Self::Row { detail, .. } => detail.as_ref().map_or(0, |d| d.bytes() / BYTES_OF_ROW),
            Self::Begun { .. } => 0,
            Self::Call(_) => self.answer_bytes() / BYTES_OF_ROW,
            Self::Runs(changes) => changes.runs.len() + changes.calls.len(),
            Self::Workflow(step) => step.change.bytes() / BYTES_OF_ROW,
        };
        u32::try_from((1 + more).min(MAX_ROWS)).unwrap_or(u32::MAX)
    }
}
