//! Enumerations of skills: what a job asks for comes first.

use super::relevance::Target;
use super::{Change, ChangeKind, TailoredPart};
use crate::resumes::listed::split_commas;

/// Sorts the items of an enumeration, and notes what it did.
pub(super) fn sort(part: &mut TailoredPart, target: &Target, changes: &mut Vec<Change>) {
    let before = part.text.clone();
    if let Some(sorted) = sorted(&before, target) {
        part.text = sorted;
    } else if !target.matches(&before) {
        return;
    }
    let kind = if part.text == before { ChangeKind::Selected } else { ChangeKind::Moved };
    let (after, start, end) = (Some(part.text.clone()), part.start, part.end);
    changes.push(Change { kind, before, after, start, end });
}

/// The enumeration with its matching items first; None if it has none, or is no enumeration.
fn sorted(text: &str, target: &Target) -> Option<String> {
    let (label, list) = match text.split_once(": ") {
        Some((label, list)) if label.split_whitespace().count() <= 4 => (Some(label), list),
        _ => (None, text),
    };
    let (list, end) = list.strip_suffix('.').map_or((list, ""), |list| (list, "."));
    let separator = [" | ", " · ", " • ", "; "].into_iter().find(|sign| list.contains(sign));
    let items: Vec<&str> = match separator {
        Some(sign) => list.split(sign.trim()).collect(),
        None => split_commas(list),
    };
    let mut items: Vec<&str> =
        items.into_iter().map(str::trim).filter(|item| !item.is_empty()).collect();
    if items.len() < 2 || !items.iter().any(|item| target.matches(item)) {
        return None;
    }
    items.sort_by(|left, right| target.relevance(right).total_cmp(&target.relevance(left)));
    let list = items.join(separator.unwrap_or(", "));
    let label = label.map_or_else(String::new, |label| format!("{label}: "));
    Some(format!("{label}{list}{end}"))
}
