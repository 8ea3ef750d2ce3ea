//! The main content of a page: what it is about, without navigation, advertisements, related links and the like.

use html5ever::local_name;

use crate::html::Page;
use crate::html::tree::Id;

/// An element counts as the main one from this share of the page's text.
const ENOUGH: f32 = 0.15;

/// Chooses the blocks of the main content, as indices in reading order.
pub(crate) fn choose(page: &Page) -> Vec<usize> {
    let root = root(page);
    let containers = &page.blocks.containers;
    let mut dropped = vec![false; containers.len()];
    for at in 1..containers.len() {
        let container = &containers[at];
        dropped[at] =
            dropped[container.parent] || at != root && is_boilerplate(page, container.node);
    }
    let chosen = containers[root].first..containers[root].end;
    chosen.filter(|at| !dropped[page.blocks.blocks[*at].container]).collect()
}

/// The container to read if nothing better is known: `article`, `[role=main]`, `main`, else the whole page.
fn root(page: &Page) -> usize {
    let length = |at: usize| -> usize {
        let container = &page.blocks.containers[at];
        let blocks = &page.blocks.blocks[container.first..container.end];
        blocks.iter().map(|block| block.text.len()).sum()
    };
    let whole = length(0) as f32;
    let is_article = |node: Id| *page.tree.name(node) == local_name!("article");
    let is_role = |node: Id| page.tree.attribute(node, "role") == Some("main");
    let is_main = |node: Id| *page.tree.name(node) == local_name!("main");
    let tests: [&dyn Fn(Id) -> bool; 3] = [&is_article, &is_role, &is_main];
    for is_root in tests {
        let found = (0..page.blocks.containers.len())
            .filter(|at| is_root(page.blocks.containers[*at].node))
            .max_by_key(|at| length(*at));
        if let Some(found) = found
            && length(found) as f32 >= whole * ENOUGH
        {
            return found;
        }
    }
    0
}

fn is_boilerplate(page: &Page, node: Id) -> bool {
    matches!(
        *page.tree.name(node),
        local_name!("nav")
            | local_name!("footer")
            | local_name!("aside")
            | local_name!("form")
            | local_name!("button")
            | local_name!("dialog")
            | local_name!("select")
    )
}
