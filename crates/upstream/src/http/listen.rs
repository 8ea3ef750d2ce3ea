//! Hearing that a server's tools have changed: a modern subscription, or the GET stream of a legacy session.

use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use serde_json::{Map, json};

use super::HttpLink;
use super::exchange::Way;
use super::headers;
use super::replica::{Replica, encode};
use crate::backoff::Backoff;
use crate::broken::Broken;
use crate::era::Era;
use crate::rpc::{Ask, Params};

impl HttpLink {
    /// Listens as long as there is a server that tells.
    pub(super) async fn listen(&self) {
        let mut backoff = Backoff::new(self.timing.backoff, self.timing.relist);
        loop {
            let Some(replica) = self.telling() else {
                self.met.notified().await;
                continue;
            };
            let mut opened = false;
            let ended = follow(replica, || opened = true).await;
            tracing::debug!(?ended, opened, "a server stopped telling about changes");
            if opened {
                // What changed in between was not heard.
                self.news.changed.notify_one();
                backoff.reset();
            }
            tokio::time::sleep(backoff.next()).await;
        }
    }

    fn telling(&self) -> Option<&Arc<Replica>> {
        self.replicas
            .iter()
            .find(|replica| replica.facts().is_some_and(|facts| facts.tells_changes))
    }
}

async fn follow(replica: &Replica, opened: impl FnOnce()) -> Result<(), Broken> {
    let legacy = replica.facts().is_none_or(|facts| facts.era == Era::Legacy);
    if legacy {
        let session = replica.own_session().await?;
        let way = replica.way(None, &session);
        let ended = replica.exchange.follow(&way, Method::GET, Bytes::new(), opened).await;
        if let Err(Broken::Status { status: 400 | 404, .. }) = ended {
            replica.close_own(&session);
        }
        return ended;
    }
    let params = Map::from_iter([("notifications".to_owned(), json!({"toolsListChanged": true}))]);
    let ask = Ask::plain("subscriptions/listen", Params::Map(&params));
    let mut headers = replica.exchange.common();
    headers::modern(&mut headers, &ask);
    let way = Way { url: replica.url.clone(), headers, who: None };
    let body = encode(&ask, replica.next_id(), Era::Modern)?;
    replica.exchange.follow(&way, Method::POST, body.into(), opened).await
}
