//! Finding tools among thousands: the gateway's own tools to search for, read about and call the others.

mod call;
mod describe;
mod index;
mod keeper;
mod search;
mod sight;

use std::sync::{Arc, Weak};
use std::time::Duration;

use proto::{Blame, Code};
use strip::{Failure, Strip, Tool};
use tokio::sync::{Notify, watch};

use index::Index;
pub(crate) use keeper::Keeper;
use sight::Sights;

/// The name that the catalog knows these tools' source by.
pub(crate) const SOURCE: &str = "powerstrip";

/// How long a search waits for an index that knows of the latest change; until then the one before answers.
const FRESHNESS: Duration = Duration::from_millis(250);

/// Tells how a server is, in one word.
pub(crate) type ServerState = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What the tools share. The strip holds them, so they must not hold the strip.
pub(crate) struct Finder {
    strip: Weak<Strip>,
    server_state: ServerState,
    index: watch::Sender<Option<Arc<Index>>>,
    sights: Sights,
    /// Somebody searches.
    wanted: Notify,
}

impl Finder {
    /// Finds among the tools of a strip.
    pub(crate) fn new(strip: &Arc<Strip>, server_state: ServerState) -> Arc<Self> {
        Arc::new(Self {
            strip: Arc::downgrade(strip),
            server_state,
            index: watch::channel(None).0,
            sights: Sights::default(),
            wanted: Notify::new(),
        })
    }

    /// The tools by which others are found.
    pub(crate) fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        vec![
            Arc::new(search::SearchTools::new(Arc::clone(self))),
            Arc::new(describe::DescribeTool::new(Arc::clone(self))),
            Arc::new(call::CallTool::default()),
        ]
    }

    fn strip(&self) -> Result<Arc<Strip>, Failure> {
        self.strip.upgrade().ok_or_else(|| {
            Failure::new(Code::Unavailable, "the gateway is shutting down").blame(Blame::Gateway)
        })
    }

    /// The index of this revision of the catalog or, if that takes long, of an earlier one.
    async fn index(&self, revision: u64) -> Result<Arc<Index>, Failure> {
        self.wanted.notify_one();
        let mut indexes = self.index.subscribe();
        let fresh = |index: &Option<Arc<Index>>| {
            index.as_ref().is_some_and(|index| index.catalog.revision() >= revision)
        };
        let _ = tokio::time::timeout(FRESHNESS, indexes.wait_for(fresh)).await;
        let found = indexes.wait_for(Option::is_some).await.ok().and_then(|index| index.clone());
        found.ok_or_else(|| Failure::new(Code::Unavailable, "the tools are not yet indexed"))
    }
}

#[cfg(test)]
mod tests;
