//! Puts sources together into one text.

use super::rank::Candidate;
use crate::blocks::{Fence, open_fence};
use crate::scrape::cut::cut;
use crate::tools::{SizeCategory, SizeMetadata};

/// The name of the source at a rank, which begins with 1.
pub(super) fn source_id(rank: usize) -> String {
    format!("[{rank}]")
}

/// Id, title, URL and text of all sources in at most `max` bytes, and whether something was left out.
pub(super) fn combine(sources: &[Candidate], max: usize) -> (String, bool) {
    let mut combined = String::new();
    for (at, source) in sources.iter().enumerate() {
        if !combined.is_empty() {
            combined.push_str("\n\n---\n\n");
        }
        let title = source.title.as_deref().unwrap_or_default();
        combined.push_str(format!("# {} {title}", source_id(at + 1)).trim_end());
        combined.push_str("\n\n");
        let text = without_title(source);
        combined.push_str(&format!("Source: {}\n\n{text}", source.url));
        // An open code block would take in the sources that follow.
        if let Some(Fence(fence)) = open_fence(text) {
            combined.push_str(&format!("\n{fence}"));
        }
        if combined.len() > max {
            return (cut(&combined, max).into_owned(), true);
        }
    }
    (combined, false)
}

/// The text without a first heading that repeats the title.
fn without_title(source: &Candidate) -> &str {
    let text = source.text.trim_start();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let heading = first.strip_prefix("# ").map(str::trim);
    if heading.is_some() && heading == source.title.as_deref().map(str::trim) {
        rest.trim_start()
    } else {
        text
    }
}

pub(super) fn size_of(combined: &str, truncated: bool) -> SizeMetadata {
    SizeMetadata {
        total_length: combined.len(),
        estimated_tokens: combined.len() / 4,
        size_category: SizeCategory::of(combined.chars().count()),
        truncated,
    }
}

#[cfg(test)]
mod tests;
