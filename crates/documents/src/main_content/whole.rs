//! Adds to the chosen blocks what a reader would miss: the page's own heading, the other items of a list, and structures.

use std::cell::LazyCell;
use std::ops::Range;

use html5ever::local_name;

use super::category::{Categories, Categorizer, NAMES};
use super::structure;
use crate::html::block::{Block, Format, Kind};
use crate::html::page::Page;

/// Items of more words are added only by their own rating.
const SHORT: usize = 8;

/// The categories of elements of which nothing is added.
const OUTSIDE: [&str; 19] = [
    "tag_nav",
    "tag_footer",
    "tag_aside",
    "tag_form",
    "tag_dialog",
    "tag_button",
    "tag_select",
    "nav",
    "breadcrumb",
    "footer",
    "sidebar",
    "related",
    "ad",
    "share",
    "popup",
    "subscribe",
    "pagination",
    "filter",
    "locale",
];

/// Adds structures and items, and `with_labels` the heading and captions, but nothing of navigation and the like.
pub(super) fn complete(page: &Page, with_labels: bool, chosen: &mut Vec<usize>) {
    // Most pages have nothing to add.
    let outside = LazyCell::new(|| outside(page));
    let is_outside = |block: &Block| outside[block.container];
    structure::add_structures(page, is_outside, with_labels, chosen);
    add_items(page, is_outside, chosen);
    if with_labels {
        add_heading(page, is_outside, chosen);
    }
}

/// The blocks of a range that are neither navigation and the like, nor links, nor the label of a list of links.
pub(super) fn own_blocks(page: &Page, range: Range<usize>) -> Vec<usize> {
    let outside = outside(page);
    let blocks = &page.blocks.blocks;
    let is_link = |block: &Block| block.linked * 2 > block.text.len();
    let is_label = |at: usize| {
        let next = blocks.get(at + 1);
        blocks[at].kind == Kind::Paragraph
            && blocks[at].text.split_whitespace().count() <= SHORT
            && next.is_some_and(|next| matches!(next.kind, Kind::Item(_)) && is_link(next))
    };
    let is_own =
        |at: &usize| !is_link(&blocks[*at]) && !is_label(*at) && !outside[blocks[*at].container];
    range.filter(is_own).collect()
}

/// Whether each container is navigation and the like, or within it.
fn outside(page: &Page) -> Vec<bool> {
    let bit = |name: &&str| NAMES.iter().position(|known| known == name).map_or(0, |at| 1 << at);
    let mask: Categories = OUTSIDE.iter().map(bit).fold(0, |mask, bit: Categories| mask | bit);
    let containers = &page.blocks.containers;
    let mut outside = vec![false; containers.len()];
    for at in 1..containers.len() {
        let container = &containers[at];
        let found = || Categorizer::shared().of(&page.tree, container.node);
        outside[at] = outside[container.parent] || found() & mask != 0;
    }
    outside
}

/// Adds the short items of lists of which at least half of the items are chosen.
fn add_items(page: &Page, is_outside: impl Fn(&Block) -> bool, chosen: &mut Vec<usize>) {
    let blocks = &page.blocks.blocks;
    let mut is_chosen = vec![false; blocks.len()];
    for at in chosen.iter() {
        is_chosen[*at] = true;
    }
    // Items that are links lead to other pages, whatever the list is called.
    let fits = |block: &Block| {
        block.linked * 2 <= block.text.len()
            && block.text.split_whitespace().count() <= SHORT
            && !is_outside(block)
    };
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
        for at in list.first..list.end {
            let item = matches!(blocks[at].kind, Kind::Item(_));
            if item && !is_chosen[at] && fits(&blocks[at]) {
                (added, is_chosen[at]) = (true, true);
            }
        }
    }
    if added {
        *chosen = (0..blocks.len()).filter(|at| is_chosen[*at]).collect();
    }
}

/// Puts the page's heading before the content that it introduces: that of the first level if it repeats the title or is the
/// only one, or that of the highest level if there is no first one and it repeats the title.
fn add_heading(page: &Page, is_outside: impl Fn(&Block) -> bool, chosen: &mut Vec<usize>) {
    let blocks = &page.blocks.blocks;
    let Some(first) = chosen.first().copied() else { return };
    let title = page.meta.title.as_deref().unwrap_or_default();
    let levels = blocks.iter().filter_map(|block| match block.kind {
        Kind::Heading(level) if level == 1 || !is_outside(block) => Some(level),
        _ => None,
    });
    let Some(top) = levels.min() else { return };
    let is_top = |at: &usize| blocks[*at].kind == Kind::Heading(top);
    let is_only = top == 1 && (0..blocks.len()).filter(is_top).count() == 1;
    if is_top(&first) {
        return;
    }
    let heading = (0..first).rev().find(is_top);
    if let Some(heading) = heading.filter(|at| {
        let block = &blocks[*at];
        (is_only || names(title, &block.text)) && !names_site(page, block) && !is_outside(block)
    }) {
        chosen.insert(0, heading);
    }
}

/// Whether a heading and a title say the same, but for the site's name and the heading's number.
fn names(title: &str, heading: &str) -> bool {
    let number = |c: char| c.is_ascii_digit() || c == '.';
    let unnumbered = match heading.split_once(char::is_whitespace) {
        Some((first, rest)) if first.chars().all(number) => rest,
        _ => heading,
    };
    let (title, heading) = (plain_text(title), plain_text(unnumbered));
    !heading.is_empty()
        && (title.contains(&heading) || !title.is_empty() && heading.contains(&title))
}

/// Whether a heading is the name of the site, as on each of its pages.
fn names_site(page: &Page, heading: &Block) -> bool {
    let leads_home = heading.spans.iter().any(|span| {
        let Format::Link(node) = span.format else { return false };
        let target = page.tree.attribute(node, &local_name!("href")).unwrap_or_default();
        match &page.base {
            Some(base) => base.join(target).is_ok_and(|url| url.path() == "/"),
            None => target == "/",
        }
    });
    let site = page.meta.site.as_deref();
    leads_home || site.is_some_and(|site| plain_text(site) == plain_text(&heading.text))
}

fn plain_text(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::complete;
    use crate::html::page::Page;
    use crate::{Limits, Options};

    /// The page's text after blocks are added to the one that is chosen, and to items of the name `yes`.
    fn completed(html: &str) -> Vec<String> {
        let options =
            Options { url: Some("https://example.org/a/page"), ..Options::new("text/html") };
        let page = Page::read(html.as_bytes(), &options, &Limits::default()).unwrap();
        let text = |at: &usize| page.blocks.blocks[*at].text.clone();
        let is_chosen = |at: &usize| ["chosen", "yes"].contains(&text(at).as_str());
        let mut chosen: Vec<usize> = (0..page.blocks.blocks.len()).filter(is_chosen).collect();
        complete(&page, true, &mut chosen);
        chosen.iter().map(text).collect()
    }

    #[test]
    fn items_are_added_but_no_navigation() {
        let list = |inner: &str| format!("<p>chosen</p><ul><li>yes<li>yes<li>yes{inner}</ul>");
        assert_eq!(completed(&list("<li>a spade<li>tea")).len(), 6);
        for outside in [
            "<li><a href=/flood>flood</a>",
            "<li>by <a href=/people/ann-lee>Ann Lee and others</a>",
            "<li><nav><ul><li>next</ul></nav>",
            "<li><div class=share><p>send</div>",
            "<li>one two three four five six seven eight nine",
        ] {
            assert_eq!(completed(&list(outside)).len(), 4, "{outside}");
        }
        for around in ["nav", "footer", "aside", "div class=main-menu", "div role=navigation"] {
            let html = format!("<{around}>{}</div>", list("<li>Home"));
            assert_eq!(completed(&html).len(), 4, "{around}");
        }
        // Most of the list is not content.
        assert_eq!(completed("<p>chosen<ul><li>yes<li>a<li>b").len(), 2);
    }

    #[test]
    fn the_heading_is_the_page_s_own() {
        let page = |heading: &str| {
            completed(&format!(
                "<title>A page - Example</title><meta property=og:site_name content=Example>{heading}<p>chosen</p>"
            ))
        };
        assert_eq!(page("<h1>A page</h1><p>more"), ["A page", "chosen"]);
        assert_eq!(page("<h1>Another page</h1>"), ["Another page", "chosen"]);
        assert_eq!(page("<p>more<h4>2.3 A page</h4>"), ["2.3 A page", "chosen"]);
        for other in [
            "<h1><a href=/>A page</a></h1>",
            "<h1>Example</h1>",
            "<h1>Another page</h1><h1>A third one</h1>",
            "<nav><h1>A page</h1></nav>",
            "<h1>Example</h1><h2>A page</h2>",
            "<h2>Another page</h2>",
        ] {
            assert_eq!(page(other), ["chosen"], "{other}");
        }
    }
}
