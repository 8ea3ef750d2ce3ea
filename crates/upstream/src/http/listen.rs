//! Follows notifications of a server: a modern subscription, or the GET stream of a legacy session.

use std::collections::BTreeSet;

use egress::http::Body;
use http::Method;
use proto::sse::Position;
use tokio::sync::watch;

use super::exchange::{Endpoint, encode};
use super::headers;
use super::listener::Listener;
use super::replica::Replica;
use crate::caller::Caller;
use crate::era::Era;
use crate::error::TransportError;
use crate::rpc::{Params, RpcRequest};
use crate::subscription;

/// Follows notifications until the stream ends; calls `opened` once it is open.
pub(super) async fn follow(
    replica: &Replica,
    watched: &watch::Sender<BTreeSet<String>>,
    opened: impl FnOnce(),
) -> Result<(), TransportError> {
    let Some(info) = replica.info() else { return Ok(()) };
    let exchange = &replica.exchange;
    if info.era == Era::Legacy {
        let session = replica.own_session().await?;
        let endpoint = replica.endpoint(None, &session);
        let following = async {
            if let Some(channel) = &session.channel {
                // Its one stream is open already and carries the notifications, too.
                opened();
                channel.wait_until_ended().await;
                replica.close_own(&session);
                return Ok(());
            }
            let (body, position) = (Body::none(), &mut Position::default());
            exchange.follow(&endpoint, Method::GET, body, Listener::Gateway, position, opened).await
        };
        let ended = tokio::select! {
            ended = following => ended,
            error = subscribe(replica, watched.subscribe()) => Err(error),
        };
        if let Err(TransportError::Status { status: 400 | 404, .. }) = ended {
            replica.close_own(&session);
        }
        return ended;
    }
    let mut watched = watched.subscribe();
    let mut opened = Some(opened);
    loop {
        let params =
            subscription::listen_params(info.capabilities.as_ref(), &watched.borrow_and_update());
        let request = RpcRequest::plain("subscriptions/listen", Params::Map(&params));
        let mut headers = exchange.common();
        headers::modern(&mut headers, &request);
        let url = replica.url.clone();
        let endpoint = Endpoint { url, headers, caller: None, resumable: false };
        let body = encode(&request, replica.next_id(), Era::Modern)?;
        let position = &mut Position::default();
        let on_open = || {
            if let Some(opened) = opened.take() {
                opened();
            }
        };
        tokio::select! {
            ended = exchange.follow(&endpoint, Method::POST, body, Listener::Gateway, position, on_open) => return ended,
            // Other resources are watched: a new stream names them.
            Ok(()) = watched.changed() => {}
        }
    }
}

/// Keeps the subscriptions at a legacy server equal to the watched resources.
async fn subscribe(
    replica: &Replica,
    mut watched: watch::Receiver<BTreeSet<String>>,
) -> TransportError {
    let mut current = BTreeSet::new();
    loop {
        let requested = watched.borrow_and_update().clone();
        for (method, params) in subscription::changes(&current, &requested) {
            let request = RpcRequest::plain(method, Params::Map(&params));
            // The server may refuse one resource and still accept others.
            if let Err(error) = replica.ask(None, &request).await {
                return error;
            }
        }
        current = requested;
        if watched.changed().await.is_err() {
            return TransportError::lost("no client listens any more");
        }
    }
}

/// Keeps a caller's session, subscribed to the watched resources, until there are none; an error if it ends before.
pub(super) async fn keep(
    replica: &Replica,
    caller: &Caller,
    mut watched: watch::Receiver<BTreeSet<String>>,
) -> Result<(), TransportError> {
    // Holding the slot keeps the session from being closed as idle.
    let slot = replica.slot(Some(caller))?;
    let session = slot.open(|| replica.initialize(Some(caller))).await?;
    let mut current = BTreeSet::new();
    loop {
        let requested = watched.borrow_and_update().clone();
        for (method, params) in subscription::changes(&current, &requested) {
            let request = RpcRequest::plain(method, Params::Map(&params));
            // The server may refuse one resource and still accept others.
            let _answer = replica.ask_legacy(Some(caller), &request).await?;
        }
        if requested.is_empty() {
            return Ok(());
        }
        current = requested;
        tokio::select! {
            changed = watched.changed() => if changed.is_err() { return Ok(()) },
            () = session.wait_until_gone() => {
                slot.close(&session);
                return Err(TransportError::Expired);
            }
        }
    }
}
