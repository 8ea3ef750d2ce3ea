//! Combines the results of several providers.

use language::ranking::fuse_merging;

use crate::links::{canonical_url, web_url};
use crate::providers::Hit;

/// Fuses results, each page once. What one provider does not know is taken from another.
pub(super) fn fuse_hits(lists: Vec<Vec<Hit>>) -> Vec<Hit> {
    fuse_merging(lists, hit_key, merge_hits).into_iter().map(|fused| fused.item).collect()
}

fn hit_key(hit: &Hit) -> Option<String> {
    match &hit.image {
        // The same page may show many images.
        Some(image) => web_url(&image.link).map(String::from),
        None => canonical_url(&hit.url),
    }
}

fn merge_hits(kept: &mut Hit, other: Hit) {
    if kept.title.is_empty() {
        kept.title = other.title;
    }
    if kept.snippet.is_empty() {
        kept.snippet = other.snippet;
    }
    kept.published = kept.published.take().or(other.published);
    kept.source = kept.source.take().or(other.source);
}

#[cfg(test)]
mod tests;
