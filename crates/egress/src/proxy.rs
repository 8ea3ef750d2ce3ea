//! An HTTP proxy on loopback that checks every target like [`http::Client`], for programs that open their own connections.
//!
//! A program gets a [`Pass`], a user name and password for one use. Requests without one are answered with 407. What
//! a pass may send and receive is bounded, and its connections end when it is dropped.

mod forward;
mod pass;

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::http::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::http::{Client, Connector, HEADER_CEILING, OwnListeners};
pub(crate) use forward::OWN_ANSWER;
use pass::Account;
pub use pass::Pass;

/// Connections from programs, open at once.
const MAX_CONNECTIONS: usize = 512;

/// Connections of one pass, open at once.
const MAX_CONNECTIONS_PER_PASS: usize = 128;

/// How long a connection may be without a request, and how long a request's headers may take.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a listener that cannot accept waits before it tries again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A running proxy. Dropping it closes the port and all connections.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: CancellationToken,
    _stop_on_drop: DropGuard,
}

/// What all connections share.
struct Shared {
    connector: Connector,
    /// The valid passes by their `Proxy-Authorization` header.
    passes: Mutex<HashMap<Vec<u8>, Arc<Account>>>,
}

impl Shared {
    fn passes(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Arc<Account>>> {
        self.passes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn account(&self, authorization: Option<&HeaderValue>) -> Option<Arc<Account>> {
        self.passes().get(authorization?.as_bytes()).map(Arc::clone)
    }
}

/// Keeps our own clients away from the proxy while it runs.
struct Registration {
    listeners: OwnListeners,
    address: SocketAddr,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.listeners.forget(self.address);
    }
}

impl Proxy {
    /// Listens on a free loopback port; targets are resolved and checked as `client` does.
    pub async fn start(client: &Client) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let connector = client.connector().clone();
        let listeners = client.policy().own_listeners().clone();
        listeners.register(address);
        let registration = Registration { listeners, address };
        let shared = Arc::new(Shared { connector, passes: Mutex::default() });
        let stop = CancellationToken::new();
        let (accepting, stopped) = (Arc::clone(&shared), stop.clone());
        tokio::spawn(async move {
            let _registration = registration;
            tokio::select! {
                () = accept(&listener, &accepting, &stopped) => {}
                () = stopped.cancelled() => {}
            }
        });
        let guard = stop.clone().drop_guard();
        Ok(Self { address, shared, stop, _stop_on_drop: guard })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A new pass, whose holder may send and receive this many bytes in all.
    pub fn admit(&self, max_bytes: u64) -> Pass {
        Pass::new(Arc::clone(&self.shared), max_bytes, self.stop.child_token())
    }
}

async fn accept(listener: &TcpListener, shared: &Arc<Shared>, stop: &CancellationToken) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "the browser's proxy cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // A connection beyond the limit is closed at once.
        let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else { continue };
        let (shared, stop) = (Arc::clone(shared), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = serve(stream, shared) => {}
                () = stop.cancelled() => {}
            }
            drop(slot);
        });
    }
}

/// Answers the requests of one connection until it ends or its pass does.
async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let (identify, identified) = oneshot::channel::<Arc<Account>>();
    let identify = Mutex::new(Some(identify));
    let service = service_fn(|request| {
        let account = shared.account(request.headers().get(::http::header::PROXY_AUTHORIZATION));
        if let Some(account) = &account
            && let Some(identify) = identify.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            let _ = identify.send(Arc::clone(account));
        }
        let connector = shared.connector.clone();
        async move {
            Ok::<_, std::convert::Infallible>(match account {
                Some(account) => forward::answer(request, account, connector).await,
                None => forward::unauthorized(),
            })
        }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(HEADER_CEILING as usize)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let revoked = async {
        match identified.await {
            Ok(account) => account.revoked().await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        // A client that breaks off is not worth a message.
        _ = serving => {}
        () = revoked => {}
    }
}
