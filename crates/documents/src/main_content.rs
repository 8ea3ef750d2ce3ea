//! The main content of a page: what it is about, without navigation, advertisements, related links and the like.

mod appended;
mod category;
mod context;
mod features;
mod landmarks;
mod model;
mod names;
mod repeats;
mod stats;
mod structure;
mod whole;

use std::collections::HashMap;

use html5ever::local_name;

use self::features::Features;
use self::model::Model;
use crate::html::block::Kind;
use crate::html::page::Page;
use crate::html::tree::Id;
use crate::{Limits, Options, Unreadable};

/// An element counts as the main one from this share of the page's text.
const ENOUGH: f32 = 0.15;

/// Ratings that promise less than this F1 are not worth more than a look at the tags.
const UNSURE: f32 = 0.25;

/// The least rating of a block of an article.
const DOUBTFUL: f32 = 0.55;

/// Blocks above this rating are content, those above the other one may be.
const CERTAIN: f32 = 0.75;
const POSSIBLE: f32 = 0.3;

/// An article has more certain words, and a larger share of all that may be content.
const ARTICLE_WORDS: f32 = 100.0;
const ARTICLE_SHARE: f32 = 0.3;

/// Blocks of so many words are written once, even if other parts of the page repeat them.
const ONCE: f32 = 8.0;

/// Pages of more blocks are chosen from by tags: the features of so many would take more memory than a reader has.
const MOST: usize = 50_000;

/// A main element of at most so many words is short.
const SHORT_MAIN: f32 = 150.0;

/// Text of at least so many words is content.
const SUBSTANTIAL: usize = 40;

/// The main content of a page.
#[derive(Debug)]
pub(crate) struct MainContent {
    /// Text that the page gives in its data only, such as the description of a product.
    pub(crate) data: Option<String>,
    /// The visible blocks, as indices in reading order.
    pub(crate) blocks: Vec<usize>,
}

/// Chooses the main content: its running text, and `with_labels` also the page's heading and the captions of its figures. The
/// heading is in the metadata, too.
pub(crate) fn choose(page: &Page, with_labels: bool) -> MainContent {
    if page.blocks.blocks.len() > MOST {
        return MainContent { data: None, blocks: by_tags(page) };
    }
    let features = features::features(page);
    let first: Vec<f32> = features.rows.iter().map(|row| Model::blocks().rate(row)).collect();
    let contexts = context::context(&features, &first);
    let mut ratings: Vec<f32> = contexts.iter().map(|row| Model::context().rate(row)).collect();
    if says_article(page) {
        features.appended.rate_down(&features.words, &mut ratings);
    }
    let mut chosen = best(&ratings, &features.words);
    if is_article(page, &ratings, &features.words) {
        chosen.retain(|at| ratings[*at] >= DOUBTFUL);
    }
    if chosen.is_empty() {
        chosen = by_tags(page);
    }
    add_short_main(page, &features.words, &mut chosen);
    drop_copies(page, &features.words, &mut chosen);
    drop_last_headings(page, &mut chosen);
    whole::complete(page, with_labels, &mut chosen);
    let words: f32 = chosen.iter().map(|at| features.words[*at]).sum();
    MainContent { data: data(page, words), blocks: chosen }
}

/// Whether the page says that it is an article, and nothing else.
fn says_article(page: &Page) -> bool {
    let hints = &page.hints;
    hints.article && !hints.forum && !hints.product && !hints.list
}

/// Whether the page says that it is an article, and its content is distinct. What is doubtful then is teasers and comments, of
/// which a page has many alike: the model is wrong about all of them or none.
fn is_article(page: &Page, ratings: &[f32], words: &[f32]) -> bool {
    if !says_article(page) {
        return false;
    }
    let rated = |low: f32, high: f32| -> f32 {
        let within = ratings.iter().zip(words).filter(|(it, _)| **it > low && **it <= high);
        within.map(|(_, words)| words.max(1.0)).sum()
    };
    let (certain, doubtful) = (rated(CERTAIN, 1.0), rated(POSSIBLE, CERTAIN));
    certain > ARTICLE_WORDS && certain > (certain + doubtful) * ARTICLE_SHARE
}

/// Chooses all of a short main element of which less than three quarters are chosen: the ratings need more text than that.
fn add_short_main(page: &Page, words: &[f32], chosen: &mut Vec<usize>) {
    let root = &page.blocks.containers[root(page)];
    let count = |blocks: &[usize]| -> f32 { blocks.iter().map(|at| words[*at]).sum() };
    if words[root.first..root.end].iter().sum::<f32>() > SHORT_MAIN {
        return;
    }
    let all = whole::own_blocks(page, root.first..root.end);
    if count(chosen) < count(&all) * 0.75 {
        *chosen = all;
    }
}

/// Drops blocks that the page repeats elsewhere, such as for small screens. What the same element repeats, such as a
/// refrain, stays.
fn drop_copies(page: &Page, words: &[f32], chosen: &mut Vec<usize>) {
    let mut first = HashMap::new();
    chosen.retain(|at| {
        let block = &page.blocks.blocks[*at];
        let own = &page.blocks.containers[block.container];
        let outer = if own.end - own.first == 1 { own.parent } else { block.container };
        words[*at] < ONCE || *first.entry(block.text.as_str()).or_insert(outer) == outer
    });
}

/// Drops headings that have nothing left to introduce, unless the page is a list of headings, such as of products.
fn drop_last_headings(page: &Page, chosen: &mut Vec<usize>) {
    let is_heading = |at: &&usize| matches!(page.blocks.blocks[**at].kind, Kind::Heading(_));
    let headings = chosen.iter().filter(is_heading).count();
    if headings * 4 <= chosen.len()
        && let Some(last) = chosen.iter().rposition(|at| !is_heading(&at))
    {
        chosen.truncate(last + 1);
    }
}

/// The text in the page's data, if it is not visible and the page shows little itself: no reader sees this text, so that it
/// must not come before the content of a page that has some.
fn data(page: &Page, visible: f32) -> Option<String> {
    if visible >= SUBSTANTIAL as f32 {
        return None;
    }
    let text = page.data.text()?;
    if text.split_whitespace().count() < SUBSTANTIAL {
        return None;
    }
    let compact = |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).collect() };
    let shown: String = page.blocks.blocks.iter().map(|block| compact(&block.text)).collect();
    // A part in the middle: beginnings are often shown as teasers.
    let part: String = compact(&text).chars().skip(20).take(60).collect();
    (!shown.contains(&part)).then_some(text)
}

/// The blocks with the best F1 to expect, nothing if even that is low: adding a block is worth it while its rating is above
/// half of the F1 so far.
fn best(ratings: &[f32], words: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ratings.len()).collect();
    order.sort_by(|a, b| ratings[*b].total_cmp(&ratings[*a]));
    let weight = |at: usize| f64::from(words[at].max(1.0));
    let relevant: f64 = order.iter().map(|at| weight(*at) * f64::from(ratings[*at])).sum();
    let (mut right, mut all, mut count, mut highest) = (0.0, 0.0, 0, 0.0);
    for (place, at) in order.iter().enumerate() {
        right += weight(*at) * f64::from(ratings[*at]);
        all += weight(*at);
        let expected = 2.0 * right / (all + relevant);
        if expected > highest {
            (highest, count) = (expected, place + 1);
        }
    }
    if highest < f64::from(UNSURE) {
        return Vec::new();
    }
    order.truncate(count);
    order.sort_unstable();
    order
}

/// Chooses by tags alone.
fn by_tags(page: &Page) -> Vec<usize> {
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
    let is_role = |node: Id| page.tree.attribute(node, &local_name!("role")) == Some("main");
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

/// A block as the scorer sees it, for training.
#[derive(Debug)]
pub struct Sample {
    /// The text of the block.
    pub text: String,
    /// What the scorer knows about it, in the order of [`feature_names`].
    pub features: Vec<f32>,
    /// The ranges of the elements around it.
    pub around: Vec<(usize, usize)>,
    /// Blocks in elements of the same tags and classes have the same number.
    pub alike: usize,
}

/// The blocks of a page with their features, from which `training/train.py` learns.
pub fn samples(
    bytes: &[u8],
    options: &Options<'_>,
    limits: &Limits,
) -> Result<Vec<Sample>, Unreadable> {
    let page = Page::read(bytes, options, limits)?;
    let Features { rows, around, alike, .. } = features::features(&page);
    let known = rows.into_iter().zip(around).zip(alike);
    let blocks = page.blocks.blocks.into_iter().zip(known);
    Ok(blocks
        .map(|(block, ((features, around), alike))| Sample {
            text: block.text,
            features,
            around: around.to_vec(),
            alike,
        })
        .collect())
}

/// The names of the features.
pub fn feature_names() -> Vec<String> {
    names::names()
}
