//! Adds to the chosen blocks what a reader would miss: the page's own heading, and the other items of a list.

use html5ever::local_name;

use crate::html::block::Kind;
use crate::html::page::Page;

/// Items of more words are added only by their own rating.
const SHORT: usize = 8;

/// Adds the short items of lists of which at least half of the items are chosen.
pub(super) fn add_items(page: &Page, chosen: &mut Vec<usize>) {
    let blocks = &page.blocks.blocks;
    let mut is_chosen = vec![false; blocks.len()];
    for at in chosen.iter() {
        is_chosen[*at] = true;
    }
    let mut added = false;
    for list in page
        .blocks
        .containers
        .iter()
        .filter(|it| matches!(*page.tree.name(it.node), local_name!("ul") | local_name!("ol")))
    {
        let items =
            || (list.first..list.end).filter(|at| matches!(blocks[*at].kind, Kind::Item(_)));
        let (all, kept) = (items().count(), items().filter(|at| is_chosen[*at]).count());
        if kept == all || kept * 2 < all {
            continue;
        }
        for at in items().filter(|at| blocks[*at].text.split_whitespace().count() <= SHORT) {
            added |= !is_chosen[at];
            is_chosen[at] = true;
        }
    }
    if added {
        *chosen = (0..blocks.len()).filter(|at| is_chosen[*at]).collect();
    }
}

/// Puts the page's first-level heading before the content that it introduces, if it repeats the title.
pub(super) fn add_heading(page: &Page, chosen: &mut Vec<usize>) {
    let blocks = &page.blocks.blocks;
    let Some(first) = chosen.first().copied() else { return };
    let Some(title) = page.meta.title.as_deref() else { return };
    if matches!(blocks[first].kind, Kind::Heading(1)) {
        return;
    }
    let heading = (0..first).rev().find(|at| matches!(blocks[*at].kind, Kind::Heading(1)));
    if let Some(heading) = heading.filter(|at| names(title, &blocks[*at].text)) {
        chosen.insert(0, heading);
    }
}

/// Whether a heading and a title say the same, but for the site's name.
fn names(title: &str, heading: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let (title, heading) = (letters(title), letters(heading));
    !heading.is_empty()
        && (title.contains(&heading) || !title.is_empty() && heading.contains(&title))
}
