//! Content that React sends at the end of a page, hidden, and moves to its place with a script.

use std::collections::{HashMap, HashSet};

use html5ever::local_name;

use super::tree::{Id, Tree};

/// Which elements take the place of which.
#[derive(Debug, Default)]
pub(super) struct Streamed {
    contents: HashMap<Id, Id>,
    moved: HashSet<Id>,
}

impl Streamed {
    /// Finds pairs of `<template id="B:0">` and `<div hidden id="S:0">`; the names and the number are React's own.
    pub(super) fn find(tree: &Tree) -> Self {
        let mut places: HashMap<&str, Id> = HashMap::new();
        let mut streamed = Self::default();
        if !tree.elements().any(|node| *tree.name(node) == local_name!("template")) {
            return streamed;
        }
        for node in tree.elements() {
            let Some((kind, number)) =
                tree.attribute(node, &local_name!("id")).and_then(|id| id.split_once(':'))
            else {
                continue;
            };
            let hidden = || tree.attribute(node, &local_name!("hidden")).is_some();
            match (tree.name(node), kind) {
                (&local_name!("template"), "B") => {
                    places.insert(number, node);
                }
                (&local_name!("div"), "S") if hidden() => {
                    if let Some(place) = places.remove(number) {
                        streamed.contents.insert(place, node);
                        streamed.moved.insert(node);
                    }
                }
                _ => {}
            }
        }
        streamed
    }

    /// The element whose children replace this one. It is given once, so that a page cannot contain itself.
    pub(super) fn take_content_of(&mut self, node: Id) -> Option<Id> {
        self.contents.remove(&node)
    }

    /// Whether the content of an element is shown elsewhere.
    pub(super) fn is_moved(&self, node: Id) -> bool {
        self.moved.contains(&node)
    }
}
