//! What a document becomes: XML of the body, and what it needs in other parts.

use super::footnotes::Footnotes;
use super::numbering::Lists;
use super::package::Relation;
use super::styles::StyleIds;

/// The space for text on a page, in twentieths of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) width: u32,
    pub(super) height: u32,
}

/// Content that is being written.
#[derive(Debug)]
pub(super) struct Content<'a> {
    pub(super) styles: &'a StyleIds,
    pub(super) room: Room,
    pub(super) out: String,
    pub(super) lists: Lists,
    pub(super) notes: Footnotes,
    pub(super) relations: Relations,
    pub(super) pictures: Vec<Picture>,
}

#[derive(Debug)]
pub(super) struct Picture {
    pub(super) bytes: Vec<u8>,
    pub(super) extension: &'static str,
    /// Its relation of the document.
    pub(super) relation: String,
}

/// The relations of one part, with ids that no template has.
#[derive(Debug, Default)]
pub(super) struct Relations {
    pub(super) list: Vec<Relation>,
}

impl Relations {
    /// The id of the relation to a target, which is added once.
    pub(super) fn id(&mut self, kind: &'static str, target: &str, is_external: bool) -> String {
        // The last ones only: a document with very many links would compare each with all.
        let recent = self.list.iter().rev().take(64);
        let known = recent.into_iter().find(|it| it.kind == kind && it.target == target);
        if let Some(relation) = known {
            return relation.id.clone();
        }
        let id = format!("rIdText{}", self.list.len() + 1);
        let target = target.to_owned();
        self.list.push(Relation { id: id.clone(), kind, target, is_external });
        id
    }
}
