//! A headless Chromium that renders pages whose text is made by scripts.
//!
//! Chromium reaches the network only through a checking proxy of ours, under the same policy as [`http::Client`]. It is
//! controlled over a pipe, so no debugging port is open, and each page has a browser context of its own.

mod cdp;
mod chromium;
mod error;
mod messages;
mod observe;
mod page;
mod script;

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use ::http::StatusCode;
use bytes::Bytes;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

use crate::http::{self, Scope, Target};
use crate::process::Runner;

use chromium::{Chromium, OpenPage};
pub use chromium::{find, runs_without_own_sandbox};
pub use error::BrowserError;
use page::Order;

/// The longest visit.
const MAX_DEADLINE: Duration = Duration::from_secs(60);

/// The longest wait for the content of a page that is quiet.
const MAX_PENDING: Duration = Duration::from_secs(15);

/// The most HTML that is kept of a page.
const MAX_BYTES: usize = 32 << 20;

/// The program, limits and environment of a [`Browser`].
#[derive(Clone)]
pub struct Options {
    /// The Chromium to run; without one, the usual names are looked up in `PATH`.
    pub program: Option<PathBuf>,
    /// Its policy, resolver and own listeners are those of the browser's proxy.
    pub client: http::Client,
    /// Starts the process.
    pub runner: Arc<Runner>,
    /// The `User-Agent` to send instead of Chromium's.
    pub user_agent: Option<String>,
    /// Pages that are open at once; further visits wait.
    pub pages: usize,
    /// Bytes that one visit may send and receive.
    pub max_traffic: u64,
    /// Pages after which Chromium is replaced.
    pub pages_per_process: u32,
    /// Time without a page after which Chromium is closed.
    pub idle_timeout: Duration,
}

impl Options {
    /// The default limits.
    pub fn new(client: http::Client, runner: Arc<Runner>) -> Self {
        Self {
            program: None,
            client,
            runner,
            user_agent: None,
            pages: 4,
            max_traffic: 32 << 20,
            pages_per_process: 50,
            idle_timeout: Duration::from_secs(300),
        }
    }
}

/// One page to render.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The http(s) URL to open.
    pub url: String,
    /// Time for everything, the start of Chromium included; at most 60 seconds.
    pub deadline: Duration,
    /// Bytes of HTML to keep; at most 32 MB.
    pub max_bytes: usize,
    /// Chooses by URL the responses whose bodies are kept.
    pub capture: Option<fn(&str) -> bool>,
    /// Says by its title and visible text what a quiet page still waits for. It has half of the time for that, at most 15 seconds.
    pub pending: Option<fn(&str) -> Option<Pending>>,
}

/// The reason why a page without network traffic is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// Its content is still to come, or it will load another page.
    Content,
    /// It shows its content when its cookies are accepted.
    Consent,
}

/// A page after its scripts have run.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// Where the page came from after redirects.
    pub final_url: Url,
    /// The status of the main document.
    pub status: StatusCode,
    /// The document with its open shadow roots as `<template shadowrootmode="open">`.
    pub html: String,
    /// URL and body of each response that the visit's `capture` chose.
    pub captured: Vec<(String, Bytes)>,
    /// Whether a limit of time or size left out a part of the page.
    pub truncated: bool,
}

/// Renders pages with one Chromium, which is started for the first page and ended when it has been idle. Dropping it ends
/// Chromium.
pub struct Browser(Arc<Inner>);

struct Inner {
    options: Options,
    pages: Semaphore,
    /// The Chromium for new pages.
    current: Mutex<Option<Arc<Chromium>>>,
    closed: CancellationToken,
    /// The tasks that end the processes.
    tracker: TaskTracker,
}

impl Browser {
    /// Makes a browser; nothing is started before the first visit.
    pub fn new(options: Options) -> Self {
        Self(Arc::new(Inner {
            pages: Semaphore::new(options.pages.max(1)),
            options,
            current: Mutex::default(),
            closed: CancellationToken::new(),
            tracker: TaskTracker::new(),
        }))
    }

    /// Opens a page, waits until nothing has changed for 500 ms or the deadline is near, and returns its HTML. Dropping
    /// the future closes the page.
    pub async fn render(&self, visit: Visit) -> Result<Rendered, BrowserError> {
        let inner = &self.0;
        let target =
            Target::admit(&visit.url, inner.options.client.policy(), &Scope::everything())?;
        let deadline = visit.deadline.min(MAX_DEADLINE);
        let end = Instant::now() + deadline;
        // The rest of the time is for reading the HTML.
        let rest = (deadline / 10).clamp(Duration::from_millis(300), Duration::from_secs(2));
        let order = Order {
            target,
            max_bytes: visit.max_bytes.min(MAX_BYTES),
            max_traffic: inner.options.max_traffic,
            capture: visit.capture,
            pending: visit.pending,
            pending_until: Instant::now() + (deadline / 2).min(MAX_PENDING),
            settle_until: end.checked_sub(rest).unwrap_or(end),
            end,
            deadline,
        };
        let rendering = async {
            let _permit = inner.pages.acquire().await.map_err(|_| BrowserError::Closed)?;
            let chromium = inner.open_page().await?;
            page::visit(&chromium, &order).await
        };
        tokio::select! {
            biased;
            () = inner.closed.cancelled() => Err(BrowserError::Closed),
            rendered = timeout_at(end, rendering) => {
                rendered.unwrap_or(Err(BrowserError::Timeout { after: deadline }))
            }
        }
    }

    /// Ends Chromium with all its processes and removes its profile. Visits fail from now on.
    pub async fn close(&self) {
        self.0.closed.cancel();
        drop(self.0.current.lock().await.take());
        self.0.tracker.close();
        self.0.tracker.wait().await;
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.0.closed.cancel();
    }
}

impl Inner {
    /// A page of the running Chromium, or else of a new one.
    async fn open_page(self: &Arc<Self>) -> Result<OpenPage, BrowserError> {
        let mut current = self.current.lock().await;
        if self.closed.is_cancelled() {
            return Err(BrowserError::Closed);
        }
        if let Some(chromium) = current.as_ref() {
            let used_up = chromium.opened() >= self.options.pages_per_process;
            if !used_up && !chromium.is_gone() {
                return Ok(chromium.open_page());
            }
            chromium.retire();
            *current = None;
        }
        let chromium = Chromium::start(&self.options, &self.tracker).await?;
        let page = chromium.open_page();
        tokio::spawn(end_when_idle(Arc::downgrade(self), Arc::downgrade(&chromium)));
        *current = Some(chromium);
        Ok(page)
    }
}

/// Ends a Chromium that has had no page for a while.
async fn end_when_idle(inner: Weak<Inner>, chromium: Weak<Chromium>) {
    let Some(timeout) = inner.upgrade().map(|inner| inner.options.idle_timeout) else { return };
    loop {
        let Some(idle) = chromium.upgrade().map(|chromium| chromium.idle()) else { return };
        if idle < timeout {
            tokio::time::sleep(timeout - idle).await;
            continue;
        }
        let (Some(inner), Some(chromium)) = (inner.upgrade(), chromium.upgrade()) else { return };
        let mut current = inner.current.lock().await;
        // A visit may have begun before the lock was ours.
        if chromium.idle() >= timeout {
            chromium.retire();
            if current.as_ref().is_some_and(|it| Arc::ptr_eq(it, &chromium)) {
                *current = None;
            }
            return;
        }
    }
}
