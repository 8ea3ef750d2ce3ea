//! Orders sources by their scores, and removes what better ones have.

use std::sync::Arc;

use crate::scores::{Aging, LEAST_RELEVANCE, Scored, score};
use crate::scrape::cut::cut;
use crate::scrape::page::Page;
use crate::similar::Paragraphs;
use crate::tools::{ContentType, QualityScores, SearchAndScrape};

/// A page that was read, on its way to become a source.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) page: Arc<Page>,
    pub(super) url: String,
    pub(super) title: Option<String>,
    pub(super) text: String,
    pub(super) content_type: ContentType,
    pub(super) scores: QualityScores,
    /// Whether the text is not all of the page.
    pub(super) truncated: bool,
}

impl Candidate {
    /// The first `most` bytes of a page. `title` is the search provider's, for pages without their own.
    pub(super) fn new(url: &str, title: &str, page: Arc<Page>, most: usize) -> Self {
        let text = cut(&page.text, most).into_owned();
        let listed = Some(title.trim()).filter(|title| !title.is_empty()).map(str::to_owned);
        Self {
            url: url.to_owned(),
            title: page.title.clone().or(listed),
            truncated: page.incomplete || text.len() < page.length,
            text,
            content_type: page.content_type,
            scores: QualityScores::default(),
            page,
        }
    }
}

/// The sources that stay, best first, and the URLs of the others.
pub(super) struct Ranked {
    pub(super) sources: Vec<Candidate>,
    pub(super) filtered: Vec<String>,
}

/// Scores, orders, filters and deduplicates.
pub(super) fn rank(
    mut sources: Vec<Candidate>,
    input: &SearchAndScrape,
    today: i64,
    warnings: &mut Vec<String>,
) -> Ranked {
    for source in &mut sources {
        let scored = Scored {
            url: &source.url,
            title: source.title.as_deref(),
            // All of it: a long page is not less relevant than a short one.
            text: &source.page.text,
            author: source.page.author.as_deref(),
            date: source.page.published(),
        };
        source.scores = score(&input.query, &scored, Aging::on(today));
    }
    // Stable: equal scores stay in the order of the search.
    sources.sort_by(|a, b| b.scores.overall.total_cmp(&a.scores.overall));
    let mut filtered = Vec::new();
    if input.filter_by_query {
        let dropped = sources.extract_if(.., |source| source.scores.relevance < LEAST_RELEVANCE);
        filtered.extend(dropped.map(|source| source.url));
    }
    if input.deduplicate {
        let mut known = Paragraphs::default();
        sources.retain_mut(|source| {
            let unique = known.remove_known(&source.text);
            source.text = unique.text;
            if !unique.has_content && unique.removed > 0 {
                warnings.push(format!(
                    "{}: left out, because better sources have all of its text.",
                    source.url
                ));
                filtered.push(std::mem::take(&mut source.url));
                return false;
            }
            true
        });
    }
    Ranked { sources, filtered }
}

#[cfg(test)]
mod tests;
