//! What a page repeats: elements of one kind, and texts.

use std::collections::HashMap;

use html5ever::{LocalName, local_name};

use crate::html::page::Page;

/// Numbers containers by tag and first class.
pub(super) fn signatures(page: &Page) -> Vec<u32> {
    let mut numbers: HashMap<(&LocalName, &str), u32> = HashMap::new();
    let containers = page.blocks.containers.iter().map(|container| {
        let class = page.tree.attribute(container.node, &local_name!("class")).unwrap_or_default();
        let class = class.split_whitespace().next().unwrap_or_default();
        let next = numbers.len() as u32;
        *numbers.entry((page.tree.name(container.node), class)).or_insert(next)
    });
    containers.collect()
}

/// How often the text of each block occurs on the page.
pub(super) fn copies(page: &Page) -> Vec<f32> {
    let mut counts: HashMap<&str, f32> = HashMap::new();
    for block in &page.blocks.blocks {
        *counts.entry(&block.text).or_default() += 1.0;
    }
    page.blocks.blocks.iter().map(|block| counts[block.text.as_str()]).collect()
}
