//! Content that React sends at the end of a page, hidden, and moves to its place with a script.

use std::collections::{HashMap, HashSet};

use html5ever::local_name;

use super::look::Looks;
use super::tree::{Id, Tree};

/// Which elements take the place of which.
#[derive(Debug, Default)]
pub(super) struct Streamed {
    contents: HashMap<Id, Id>,
    moved: HashSet<Id>,
}

impl Streamed {
    /// Finds pairs of `<template id="B:0">` and `<div hidden id="S:0">` for which a script calls `$RC("B:0","S:0")`; the
    /// names and the number are React's own. Without that call browsers never show the content; it counts nevertheless where
    /// it is nearly all of the page, since saved copies of pages have no scripts and there would be nothing left to read.
    pub(super) fn find(tree: &Tree, looks: &Looks<'_>) -> Self {
        let mut places: HashMap<&str, Id> = HashMap::new();
        let mut streamed = Self::default();
        if !tree.elements().any(|node| *tree.name(node) == local_name!("template")) {
            return streamed;
        }
        let moves = moves(tree);
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
                    if let Some(place) = places.remove(number)
                        && (moves.contains(number) || looks.is_whole_page(node))
                    {
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

/// The numbers of the contents that scripts of the page move to their places.
fn moves(tree: &Tree) -> HashSet<String> {
    let mut moves = HashSet::new();
    for node in tree.elements().filter(|node| *tree.name(*node) == local_name!("script")) {
        let kind = tree.attribute(node, &local_name!("type")).unwrap_or_default().trim();
        let runs = kind.is_empty() || kind == "module" || kind.ends_with("/javascript");
        if !runs || tree.attribute(node, &local_name!("src")).is_some() {
            continue;
        }
        for call in tree.text_of(node).split("(\"B:").skip(1) {
            if let Some((number, rest)) = call.split_once("\",\"S:")
                && rest.strip_prefix(number).is_some_and(|rest| rest.starts_with('"'))
            {
                moves.insert(number.to_owned());
            }
        }
    }
    moves
}
