//! The gateway's own tools to search for, describe and call other tools.

mod call;
mod describe;
mod find;
mod index;
mod index_builder;
mod search;
mod sight;

use std::sync::{Arc, Weak};
use std::time::Duration;

use proto::{Code, Failure};
use strip::typed::typed;
use strip::{Strip, Tool};
use tokio::sync::{Notify, watch};

use crate::owner::upgrade;
pub use find::Searcher;
use index::Index;
pub use index_builder::IndexBuilder;
use sight::Sights;

/// The catalog's source name of these tools.
pub const SOURCE: &str = "powerstrip";

/// How long a search waits for an index of the latest catalog before it uses an older one.
const INDEX_TIMEOUT: Duration = Duration::from_millis(250);

/// Returns the state of a server, in one word.
pub type ServerState = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// State shared by the tools. The strip owns the tools, so they only hold a weak reference to it.
pub struct Finder {
    strip: Weak<Strip>,
    server_state: ServerState,
    index: watch::Sender<Option<Arc<Index>>>,
    sights: Sights,
    /// Notified by each search.
    searched: Notify,
}

impl Finder {
    /// A finder of the tools of a strip.
    pub fn new(strip: &Arc<Strip>, server_state: ServerState) -> Arc<Self> {
        Arc::new(Self {
            strip: Arc::downgrade(strip),
            server_state,
            index: watch::channel(None).0,
            sights: Sights::default(),
            searched: Notify::new(),
        })
    }

    /// The tools that find and call other tools.
    pub fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        vec![
            typed(search::SearchTools { finder: Arc::clone(self) }),
            typed(describe::DescribeTool { finder: Arc::clone(self) }),
            Arc::new(call::CallTool::default()),
        ]
    }

    fn strip(&self) -> Result<Arc<Strip>, Failure> {
        upgrade(&self.strip)
    }

    /// The index of this revision of the catalog or, if that takes long, of an earlier one.
    async fn index(&self, revision: u64) -> Result<Arc<Index>, Failure> {
        self.searched.notify_one();
        let mut indexes = self.index.subscribe();
        let fresh = |index: &Option<Arc<Index>>| {
            index.as_ref().is_some_and(|index| index.catalog.revision() >= revision)
        };
        let _ = tokio::time::timeout(INDEX_TIMEOUT, indexes.wait_for(fresh)).await;
        let found = indexes.wait_for(Option::is_some).await.ok().and_then(|index| index.clone());
        found.ok_or_else(|| Failure::new(Code::Unavailable, "the tools are not yet indexed"))
    }
}

#[cfg(test)]
mod tests;
