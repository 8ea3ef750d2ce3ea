//! How well an identifier fits a field, and which of two equal values comes first.

use super::{PROSE, is_about_files};
use crate::mention::{IdKind, Mention, Written};
use crate::tool::{Field, Sense};

/// Names of fields for the first and for the second of two things: `old_file_id`, `new_file_id`.
const FIRST: [&str; 7] = ["old", "before", "first", "left", "original", "previous", "base"];
const SECOND: [&str; 6] = ["new", "after", "second", "right", "other", "changed"];

/// The fit of an identifier, `None` if the field takes others.
pub(super) fn id_fit(field: &Field, kind: IdKind) -> Option<f32> {
    let (takes_file, takes_reference) = (field.takes_file_id, field.takes_reference);
    match kind {
        IdKind::File if takes_file => return Some(4.0),
        IdKind::Reference if takes_reference && !takes_file => return Some(4.0),
        // Servers have references of their own: `doc_…`.
        IdKind::Named if takes_reference && !takes_file => return Some(3.0),
        IdKind::Reference if takes_reference || takes_file => return Some(3.0),
        // The id of a file is not its text, and a reference is no file of another kind.
        _ if takes_file || takes_reference || field.is_named(&PROSE) => return None,
        _ => {}
    }
    let is_file = matches!(kind, IdKind::File | IdKind::Reference);
    let names_machine = field.is_named(&["ip", "host", "address", "location", "version"]);
    match field.sense {
        Sense::Date | Sense::Time | Sense::Email | Sense::Url | Sense::Phone | Sense::Path => None,
        _ if kind == IdKind::Dotted && names_machine => Some(1.5),
        Sense::Id if kind == IdKind::Dotted => None,
        Sense::Id if is_file && is_about_files(field) => Some(1.0),
        Sense::Id if is_file && field.name_words.len() > 1 => Some(-1.0),
        Sense::Id => Some(0.8),
        _ if is_file => is_about_files(field).then_some(0.3),
        Sense::Place => None,
        _ => Some(0.0),
    }
}

/// In `compare A with B`, A is the old one and B the new one.
pub(super) fn order_score(field: &Field, mentions: &[Mention], place: usize) -> f32 {
    let mention = &mentions[place];
    let is_object = matches!(mention.value, Written::Path | Written::Url | Written::Id(_));
    let group = |place: usize| mentions.get(place).map(|mention| mention.group);
    let follows = place > 0 && group(place) == group(place - 1);
    let leads = group(place) == group(place + 1) && !follows;
    let fits = leads && field.is_named(&FIRST) || follows && field.is_named(&SECOND);
    if is_object && fits { 0.2 } else { 0.0 }
}
