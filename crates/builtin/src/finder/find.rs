//! Searches the tools that a caller can see, with the index and the use history of `search_tools`.

use std::sync::Arc;

use language::tools::ToolSearch;
use proto::{Failure, Principal};
use strip::catalog::Entry;

use super::Finder;
use super::index::{Index, Words};

/// A search over one state of the catalog, for one caller.
#[derive(Clone)]
pub struct Searcher {
    index: Arc<Index>,
    /// Whether the caller sees each tool; `None` if it sees all.
    sight: Option<Arc<[bool]>>,
    history: Vec<f32>,
}

impl Finder {
    /// Prepares searches for a caller.
    pub async fn searcher(&self, principal: &Principal) -> Result<Searcher, Failure> {
        let strip = self.strip()?;
        let index = self.index(strip.catalog().snapshot().revision()).await?;
        let view = strip.view(principal);
        let sight = self.sights.of(principal, &view, &index, &strip.agents());
        let words = &index.words;
        let used = strip.recent_tools(principal);
        let mut history = Vec::new();
        for (position, share) in
            used.iter().filter_map(|(id, used)| Some((*words.positions.get(id)?, used)))
        {
            history.resize(words.entries.len(), 0.0);
            history[position] = *share;
        }
        Ok(Searcher { index, sight, history })
    }
}

impl Searcher {
    /// The tools that fit a request best, with their scores, best first.
    pub fn find(&self, query: &str, limit: usize) -> Vec<(usize, f32)> {
        let sees = self.sight.as_deref().map(|sight| move |position: usize| sight[position]);
        let hits = self.words().tools.find(&ToolSearch {
            query,
            limit,
            history: (!self.history.is_empty()).then_some(&self.history),
            visible: sees.as_ref().map(|sees| sees as &dyn Fn(usize) -> bool),
        });
        hits.into_iter().map(|hit| (hit.index, hit.score)).collect()
    }

    /// All tools of the index, also those that the caller does not see.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.words().entries
    }

    /// Whether the caller sees a tool, by its position.
    pub fn sees(&self, position: usize) -> bool {
        self.sight.as_deref().is_none_or(|sight| sight[position])
    }

    /// How many tools the caller sees.
    pub fn count(&self) -> usize {
        match &self.sight {
            None => self.entries().len(),
            Some(sight) => sight.iter().filter(|seen| **seen).count(),
        }
    }

    /// Whether both search the same tools.
    pub fn has_tools_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.index.words, &other.index.words)
    }

    fn words(&self) -> &Words {
        &self.index.words
    }
}
