//! What viewers of subtitles stumble over.

use crate::Cue;

/// The most characters that are read in a second.
pub const MAX_SPEED: u64 = 25;

/// The longest time on the screen, in milliseconds.
pub const MAX_SHOWN_MS: u64 = 7000;

/// The most characters of a line.
pub const MAX_LINE: usize = 42;

/// What is wrong with a cue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// It begins before an earlier one has ended.
    Overlap,
    /// It has more characters than [`MAX_SPEED`] for each second.
    TooFast,
    /// It is shown longer than [`MAX_SHOWN_MS`], or has a line longer than [`MAX_LINE`].
    TooLong,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    pub kind: FindingKind,
    /// The number of the cue, from 1.
    pub cue: usize,
}

/// Checks cues in their order.
pub fn check(cues: &[Cue]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut latest_end = 0;
    for (at, cue) in cues.iter().enumerate() {
        let mut add = |kind| findings.push(Finding { kind, cue: at + 1 });
        if cue.start_ms < latest_end {
            add(FindingKind::Overlap);
        }
        latest_end = latest_end.max(cue.end_ms);
        let text = cue.text.plain();
        let characters = text.chars().filter(|c| *c != '\n').count() as u64;
        let shown = cue.end_ms.saturating_sub(cue.start_ms);
        if characters * 1000 > MAX_SPEED * shown && characters > 0 {
            add(FindingKind::TooFast);
        }
        if shown > MAX_SHOWN_MS || text.lines().any(|line| line.chars().count() > MAX_LINE) {
            add(FindingKind::TooLong);
        }
    }
    findings
}
