//! Which of several findings at one place is reported.

use std::collections::BTreeMap;

use super::Finding;

/// Keeps the surest findings that do not overlap, in the order of the text. Of equally sure ones the longer stays.
pub(super) fn settle(mut found: Vec<Finding>) -> Vec<Finding> {
    found.retain(|finding| finding.start < finding.end);
    found.sort_by(|a, b| {
        b.confidence
            .total_cmp(&a.confidence)
            .then((b.end - b.start).cmp(&(a.end - a.start)))
            .then(a.start.cmp(&b.start))
            .then(a.kind.cmp(&b.kind))
    });
    let mut kept: BTreeMap<usize, Finding> = BTreeMap::new();
    for finding in found {
        let before = kept.range(..finding.end).next_back();
        if before.is_none_or(|(_, earlier)| earlier.end <= finding.start) {
            kept.insert(finding.start, finding);
        }
    }
    kept.into_values().collect()
}
