//! Hearing that a server's lists or resources have changed: a modern subscription, or the GET stream of a legacy session.

use std::collections::BTreeSet;
use std::sync::Arc;

use egress::http::Body;
use http::Method;
use tokio::sync::watch;

use super::HttpLink;
use super::ears::Ears;
use super::exchange::Way;
use super::headers;
use super::replica::{Replica, encode};
use crate::backoff::Backoff;
use crate::broken::Broken;
use crate::era::Era;
use crate::rpc::{Ask, Params};
use crate::wishes::{differences, filter};

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
            let ended = follow(replica, &self.news.watched, || opened = true).await;
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

async fn follow(
    replica: &Replica,
    watched: &watch::Sender<BTreeSet<String>>,
    opened: impl FnOnce(),
) -> Result<(), Broken> {
    let Some(facts) = replica.facts() else { return Ok(()) };
    if facts.era == Era::Legacy {
        let session = replica.own_session().await?;
        let way = replica.way(None, &session);
        let following =
            replica.exchange.follow(&way, Method::GET, Body::none(), Ears::Gateway, opened);
        let ended = tokio::select! {
            ended = following => ended,
            broken = subscribe(replica, watched.subscribe()) => Err(broken),
        };
        if let Err(Broken::Status { status: 400 | 404, .. }) = ended {
            replica.close_own(&session);
        }
        return ended;
    }
    let mut wishes = watched.subscribe();
    let mut opened = Some(opened);
    loop {
        let params = filter(facts.capabilities.as_ref(), &wishes.borrow_and_update());
        let ask = Ask::plain("subscriptions/listen", Params::Map(&params));
        let mut headers = replica.exchange.common();
        headers::modern(&mut headers, &ask);
        let way = Way { url: replica.url.clone(), headers, who: None };
        let body = encode(&ask, replica.next_id(), Era::Modern)?;
        let flows = || {
            if let Some(opened) = opened.take() {
                opened();
            }
        };
        tokio::select! {
            ended = replica.exchange.follow(&way, Method::POST, body, Ears::Gateway, flows) => return ended,
            // Other resources are wanted: a new stream names them.
            Ok(()) = wishes.changed() => {}
        }
    }
}

/// Keeps a legacy server told which resources somebody wants to hear of.
async fn subscribe(replica: &Replica, mut wishes: watch::Receiver<BTreeSet<String>>) -> Broken {
    let mut told = BTreeSet::new();
    loop {
        let wanted = wishes.borrow_and_update().clone();
        for (method, params) in differences(&told, &wanted) {
            // A server that refuses one resource may still tell of others.
            if let Err(broken) = replica.ask(None, &Ask::plain(method, Params::Map(&params))).await
            {
                return broken;
            }
        }
        told = wanted;
        if wishes.changed().await.is_err() {
            return Broken::lost("nobody listens any more");
        }
    }
}
