//! One visit: opens a page, waits until it is quiet, and takes its HTML.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::http::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::cdp::{CdpError, Connection};
use super::chromium::Chromium;
use super::messages::{
    Attached, ContextCreated, Evaluated, IsolatedWorld, Navigated, Nothing, TargetId,
};
use super::observe::{Observed, Observer};
use super::{BrowserError, Pending, Rendered, script};
use crate::http::{FetchError, Target};
use crate::proxy::Pass;

/// A page counts as finished when nothing has changed for this long.
const QUIET: Duration = Duration::from_millis(500);

/// A page that waits for an answer counts as finished when nothing has changed for this long: some requests never end.
const STALLED: Duration = Duration::from_secs(3);

/// How often the page is asked for changes.
const INTERVAL: Duration = Duration::from_millis(100);

/// How often a page's cookies are accepted.
const MAX_CONSENTS: u8 = 2;

/// UTF-16 units of HTML in one message.
const SLICE: usize = 2 << 20;

/// What one visit asks for, with its limits applied.
pub(super) struct Order {
    pub(super) target: Target,
    pub(super) max_bytes: usize,
    pub(super) max_traffic: u64,
    pub(super) capture: Option<fn(&str) -> bool>,
    pub(super) pending: Option<fn(&str) -> Option<Pending>>,
    /// When to stop waiting for the content of a quiet page.
    pub(super) pending_until: Instant,
    /// When to stop waiting for changes.
    pub(super) settle_until: Instant,
    /// When to stop waiting for the HTML.
    pub(super) end: Instant,
    /// The time that the visit was given.
    pub(super) deadline: Duration,
}

/// A page in a browser context of its own. Dropping it removes the context with all cookies and storage.
struct Page<'a> {
    connection: &'a Connection,
    context: String,
    /// The id of the page, which is also that of its main frame.
    target: String,
    session: String,
}

impl Drop for Page<'_> {
    fn drop(&mut self) {
        self.connection.forget(&self.session);
        let context = json!({ "browserContextId": self.context });
        self.connection.post("", "Target.disposeBrowserContext", context);
    }
}

/// Renders one page.
pub(super) async fn visit(chromium: &Chromium, order: &Order) -> Result<Rendered, BrowserError> {
    let pass = chromium.proxy.admit(order.max_traffic);
    let page = Page::open(&chromium.connection).await?;
    let observed = Mutex::new(Observed::new());
    let observer = Observer {
        connection: page.connection,
        session: &page.session,
        frame: &page.target,
        pass: &pass,
        capture: order.capture,
        max_captured: order.max_traffic,
        observed: &observed,
    };
    let events = page.connection.listen(&page.session);
    let visit = Running { page: &page, order, pass: &pass, observed: &observed };
    let outcome = tokio::select! {
        outcome = visit.run() => outcome,
        () = observer.follow(events) => Err(BrowserError::Crashed),
        () = page.connection.closed() => Err(BrowserError::Crashed),
    };
    outcome
}

impl<'a> Page<'a> {
    async fn open(connection: &'a Connection) -> Result<Self, BrowserError> {
        let ContextCreated { context } =
            connection.call("", "Target.createBrowserContext", json!({})).await?;
        // From here on the context is removed whatever happens.
        let mut page = Self { connection, context, target: String::new(), session: String::new() };
        let blank = json!({ "url": "about:blank", "browserContextId": page.context });
        let TargetId { target } = connection.call("", "Target.createTarget", blank).await?;
        page.target = target;
        let attach = json!({ "targetId": page.target, "flatten": true });
        let Attached { session } = connection.call("", "Target.attachToTarget", attach).await?;
        page.session = session;
        Ok(page)
    }

    async fn call<T: DeserializeOwned>(&self, method: &str, params: Value) -> Result<T, CdpError> {
        self.connection.call(&self.session, method, params).await
    }

    /// Prepares the page. Chromium keeps up to `max_kept` bytes of its answers.
    async fn prepare(&self, max_kept: u64) -> Result<(), CdpError> {
        let kept = json!({ "maxTotalBufferSize": max_kept, "maxResourceBufferSize": max_kept });
        let everything = json!({ "handleAuthRequests": true, "patterns": [{ "urlPattern": "*" }] });
        let no_downloads = json!({ "behavior": "deny", "browserContextId": self.context });
        let deny = self.connection.call::<Nothing>("", "Browser.setDownloadBehavior", no_downloads);
        let script = json!({ "source": script::WITHOUT_BACKGROUND });
        tokio::try_join!(
            deny,
            self.call::<Nothing>("Page.enable", json!({})),
            self.call::<Nothing>("Network.enable", kept),
            self.call::<Nothing>("Network.setBypassServiceWorker", json!({ "bypass": true })),
            self.call::<Nothing>("Fetch.enable", everything),
            self.call::<Value>("Page.addScriptToEvaluateOnNewDocument", script),
        )?;
        Ok(())
    }

    /// Runs a script in our own world of the page's current document.
    async fn evaluate<T: DeserializeOwned>(&self, expression: &str) -> Result<T, CdpError> {
        let world = json!({ "frameId": self.target, "worldName": "powerstrip" });
        let world: IsolatedWorld = self.call("Page.createIsolatedWorld", world).await?;
        let params = json!({
            "expression": expression,
            "contextId": world.execution_context_id,
            "returnByValue": true,
        });
        let answer: Evaluated<T> = self.call("Runtime.evaluate", params).await?;
        answer.result.value.ok_or_else(|| CdpError::Refused("the script has no result".to_owned()))
    }
}

#[derive(Deserialize)]
struct Probe {
    /// Milliseconds.
    quiet: f64,
    loaded: bool,
}

/// What a reader sees.
#[derive(Deserialize)]
struct Shown {
    /// The title and the beginning of the text.
    text: String,
    /// Whether the page can change by itself.
    moves: bool,
}

#[derive(Deserialize)]
struct Serialized {
    length: usize,
    cut: bool,
}

/// A visit whose events are being followed.
struct Running<'a> {
    page: &'a Page<'a>,
    order: &'a Order,
    pass: &'a Pass,
    observed: &'a Mutex<Observed>,
}

impl Running<'_> {
    async fn run(&self) -> Result<Rendered, BrowserError> {
        // Without a capture no body is read.
        let max_kept = self.order.capture.map_or(1, |_| self.order.max_traffic);
        self.page.prepare(max_kept).await?;
        self.navigate().await?;
        let settled = self.settle().await?;
        self.check_document()?;
        let (html, cut) = self.html(settled).await?;
        // Asked again: the page may have gone elsewhere before its HTML was taken.
        let (final_url, status) = self.check_document()?;
        let captured = std::mem::take(&mut self.observed().captured);
        let truncated = cut || !settled || self.pass.is_overdrawn();
        Ok(Rendered { final_url, status, html, captured, truncated })
    }

    fn observed(&self) -> MutexGuard<'_, Observed> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn navigate(&self) -> Result<(), BrowserError> {
        let url = json!({ "url": self.order.target.url().as_str() });
        let navigating = self.page.call::<Navigated>("Page.navigate", url);
        let Ok(navigated) = timeout_at(self.order.settle_until, navigating).await else {
            return Err(BrowserError::Timeout { after: self.order.deadline });
        };
        let navigated = navigated?;
        if navigated.is_download {
            let why = "it is a download and not a page".to_owned();
            return Err(BrowserError::Load { why });
        }
        match navigated.error_text.filter(|why| !why.is_empty()) {
            Some(why) => Err(self.failure(why)),
            None => Ok(()),
        }
    }

    /// Why the page that was asked for last is not there.
    fn failure(&self, why: String) -> BrowserError {
        let requested = self.observed().requested.clone();
        let target = requested.and_then(|url| Target::parse(&url).ok());
        match target.and_then(|target| self.pass.failure(&target)) {
            Some(FetchError::Refused(refusal)) => BrowserError::Refused(refusal),
            Some(error) => BrowserError::Fetch(error),
            None => BrowserError::Load { why },
        }
    }

    /// Waits until nothing changes any more; false if the time for that is over.
    async fn settle(&self) -> Result<bool, BrowserError> {
        let mut consents = 0;
        loop {
            let probe = self.page.evaluate::<Probe>(script::PROBE);
            match timeout_at(self.order.settle_until, probe).await {
                Ok(Ok(probe)) if self.is_quiet(&probe) => {
                    if !self.is_pending(&mut consents).await {
                        return Ok(true);
                    }
                }
                Ok(Err(CdpError::Closed)) => return Err(BrowserError::Crashed),
                // The page is going elsewhere.
                Ok(Err(CdpError::Refused(_))) => self.observed().touch(),
                Ok(Ok(_)) => {}
                Err(_) => return Ok(false),
            }
            if Instant::now() + INTERVAL >= self.order.settle_until {
                return Ok(false);
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Whether a quiet page still waits for its content. Accepts its cookies if it waits for that.
    async fn is_pending(&self, consents: &mut u8) -> bool {
        let Some(pending) = self.order.pending else { return false };
        let until = self.order.pending_until.min(self.order.settle_until);
        if Instant::now() >= until {
            return false;
        }
        let shown = self.page.evaluate::<Shown>(script::SHOWN);
        let Ok(Ok(Shown { text, moves })) = timeout_at(until, shown).await else { return true };
        let waits_for = pending(&text);
        if waits_for == Some(Pending::Consent) && *consents < MAX_CONSENTS {
            *consents += 1;
            let accept = self.page.evaluate::<bool>(script::ACCEPT_COOKIES);
            let accepted = timeout_at(until, accept).await.is_ok_and(|it| it.unwrap_or(false));
            self.observed().touch();
            return accepted || moves;
        }
        moves && waits_for.is_some()
    }

    fn is_quiet(&self, probe: &Probe) -> bool {
        let observed = self.observed();
        let unchanged = Duration::try_from_secs_f64(probe.quiet / 1000.0).unwrap_or_default();
        let quiet = unchanged.min(observed.changed.elapsed());
        let waits = !probe.loaded || observed.waits();
        quiet >= if waits { STALLED } else { QUIET }
    }

    /// The final URL and status, unless the page shows an error of the proxy or of Chromium.
    fn check_document(&self) -> Result<(Url, StatusCode), BrowserError> {
        let (location, document) = {
            let observed = self.observed();
            (observed.location.clone(), observed.document())
        };
        let Some(document) = document.filter(|document| !document.is_own_answer) else {
            return Err(self.failure("there was no answer".to_owned()));
        };
        if !self.pass.is_used() {
            let why =
                "Chromium does not use the gateway's proxy; a policy of this machine may forbid it";
            return Err(BrowserError::Start { why: why.to_owned() });
        }
        let url = Url::parse(&location).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(url) = url else {
            return Err(self.failure("it led to something that is not an http page".to_owned()));
        };
        let status = StatusCode::from_u16(document.status).unwrap_or(StatusCode::OK);
        Ok((url, status))
    }

    /// Takes the HTML, and whether some of it was left out.
    async fn html(&self, settled: bool) -> Result<(String, bool), BrowserError> {
        let reading = async {
            if !settled {
                self.stop_scripts().await;
            }
            self.read_html().await
        };
        match timeout_at(self.order.end, reading).await {
            Ok(html) => Ok(html?),
            Err(_) => Err(BrowserError::Timeout { after: self.order.deadline }),
        }
    }

    /// Ends scripts that may be running without end. Both commands reach the page even then.
    async fn stop_scripts(&self) {
        let off = json!({ "value": true });
        self.page.connection.post(&self.page.session, "Emulation.setScriptExecutionDisabled", off);
        loop {
            let (session, none) = (&self.page.session, json!({}));
            self.page.connection.post(session, "Runtime.terminateExecution", none);
            let answer = self.page.evaluate::<u8>("1");
            if tokio::time::timeout(INTERVAL, answer).await.is_ok() {
                return;
            }
        }
    }

    async fn read_html(&self) -> Result<(String, bool), CdpError> {
        let max = self.order.max_bytes;
        let Serialized { length, mut cut } = self.page.evaluate(&script::serialize(max)).await?;
        let (mut html, mut read) = (String::new(), 0);
        while read < length {
            let slice: String = self.page.evaluate(&script::slice(read, SLICE)).await?;
            if slice.is_empty() {
                break;
            }
            read += slice.encode_utf16().count();
            html.push_str(&slice);
            if html.len() > max {
                let end = html.floor_char_boundary(max);
                html.truncate(end);
                cut = true;
                break;
            }
        }
        Ok((html, cut))
    }
}

impl From<CdpError> for BrowserError {
    fn from(error: CdpError) -> Self {
        match error {
            CdpError::Closed => Self::Crashed,
            CdpError::Refused(why) => Self::Load { why },
        }
    }
}
