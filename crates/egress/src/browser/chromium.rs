//! One Chromium process: where it is found, how it is started, and how it ends.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::cdp::Connection;
use super::messages::TargetCreated;
use super::{BrowserError, Options};
use crate::process::{Limits, Piped, Process, Runner, Spec};
use crate::proxy::Proxy;
use crate::sandbox::{Mode, Network, Policy, UnixSockets};

/// Installed programs, ahead of the scripts in `PATH` that start them with flags of their own.
const INSTALLED: [&str; 5] = [
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// Names to look for in `PATH`.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// How long Chromium may take to answer its first command; hosts under heavy load need several seconds.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// What is kept of Chromium's messages for the error of a failed start.
const STDERR_KEPT: usize = 2000;

/// Chromium's own features that talk to servers or start processes for nothing.
const DISABLED_FEATURES: &str = "AcceptCHFrame,AutofillServerCommunication,BackForwardCache,\
    CertificateTransparencyComponentUpdater,DialMediaRouteProvider,InterestFeedContentSuggestions,\
    IsolateOrigins,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,PaintHolding,\
    PreloadTopChromeWebUI,SharedStorageAPI,SpareRendererForSitePerProcess,Translate,\
    WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,WebUIOmniboxPopup,site-per-process";

const SWITCHES: [&str; 48] = [
    "--headless=new",
    // A port would be open to every process of the machine.
    "--remote-debugging-pipe",
    // Relative to the private folder that Chromium starts in and that is removed with it.
    "--user-data-dir=profile",
    // Loopback addresses go through the proxy, too.
    "--proxy-bypass-list=<-loopback>",
    // Chromium itself resolves no name; the proxy does.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--block-new-web-contents",
    "--deny-permission-prompts",
    "--disable-3d-apis",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-gpu",
    "--disable-hang-monitor",
    "--disable-notifications",
    "--disable-print-preview",
    "--disable-prompt-on-repost",
    "--disable-renderer-backgrounding",
    "--disable-search-engine-choice-screen",
    "--disable-software-rasterizer",
    "--disable-speech-api",
    "--disable-sync",
    "--disk-cache-size=1",
    "--hide-scrollbars",
    "--js-flags=--max-old-space-size=512",
    "--lang=en-US",
    "--metrics-recording-only",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--no-startup-window",
    "--password-store=basic",
    "--use-mock-keychain",
    "--window-size=1280,2000",
];

/// Folders outside of the usual ones that a confined Chromium reads.
const READ: [&str; 4] = ["/etc/chromium.d", "/etc/fonts", "/var/cache/fontconfig", "/sys/devices"];

/// Where container engines and system services have their sockets, which a confined Chromium must not see.
const SOCKETS: &str = "/run";

/// Where Chromium is installed: `program`, or else the usual places.
pub async fn find(runner: &Runner, program: Option<&Path>) -> Option<PathBuf> {
    if let Some(program) = program {
        return runner.locate(program).await.ok();
    }
    for candidate in INSTALLED.iter().chain(&NAMES) {
        if let Ok(found) = runner.locate(candidate).await {
            return Some(found);
        }
    }
    None
}

/// Whether Chromium has to run without its own sandbox, which it refuses to set up for root. The gateway's sandbox takes
/// its place then.
pub fn runs_without_own_sandbox() -> bool {
    rustix::process::geteuid().is_root()
}

/// A running Chromium and its proxy.
pub(super) struct Chromium {
    pub(super) connection: Arc<Connection>,
    pub(super) proxy: Proxy,
    stop: CancellationToken,
    ended: CancellationToken,
    /// Pages that it has opened.
    opened: AtomicU32,
    usage: Mutex<Usage>,
    retired: AtomicBool,
    open: AtomicUsize,
}

struct Usage {
    last: Instant,
}

impl Chromium {
    /// Starts a process and waits until it answers. `tracker` sees the task that ends it.
    pub(super) async fn start(
        options: &Options,
        tracker: &TaskTracker,
    ) -> Result<Arc<Self>, BrowserError> {
        let failed = |why: String| BrowserError::Start { why };
        let program = find(&options.runner, options.program.as_deref()).await;
        let mut program = program.ok_or(BrowserError::Missing)?;
        // NixOS names its programs by way of a folder that is hidden below.
        if program.starts_with(SOCKETS) {
            program = program.canonicalize().map_err(|e| failed(e.to_string()))?;
        }
        let proxy = Proxy::start(&options.client).await.map_err(|e| failed(e.to_string()))?;
        let spec = specify(program, &proxy, options);
        let runner = Runner::clone(&options.runner).hiding(SOCKETS);
        let piped = runner.spawn_piped(spec).await;
        let Piped { stdin, stdout, stderr, process } = piped.map_err(|e| failed(e.to_string()))?;
        let connection = Connection::open(stdin, stdout);
        let (stop, ended) = (CancellationToken::new(), CancellationToken::new());
        let messages = tokio::spawn(last_bytes(stderr));
        tracker.spawn(watch(process, Arc::clone(&connection), stop.clone(), ended.clone()));
        let chromium = Arc::new(Self {
            connection,
            proxy,
            stop,
            ended,
            opened: AtomicU32::new(0),
            usage: Mutex::new(Usage { last: Instant::now() }),
            retired: AtomicBool::new(false),
            open: AtomicUsize::new(0),
        });
        let connection = &chromium.connection;
        let popups = connection.listen("");
        let greeting = async {
            connection.call::<Value>("", "Browser.getVersion", json!({})).await?;
            let all = json!({ "discover": true });
            connection.call::<Value>("", "Target.setDiscoverTargets", all).await
        };
        let why = match tokio::time::timeout(START_TIMEOUT, greeting).await {
            Ok(Ok(_)) => {
                tokio::spawn(close_popups(Arc::clone(connection), popups));
                return Ok(chromium);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {} s", START_TIMEOUT.as_secs()),
        };
        chromium.end().await;
        let said = messages.await.unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let said: Vec<_> = said.lines().filter(|line| !line.contains("dbus")).collect();
        Err(failed(format!("{why}\n{}", said.join("\n")).trim_end().to_owned()))
    }

    /// Whether it answers no more.
    pub(super) fn is_gone(&self) -> bool {
        self.connection.is_closed() || self.stop.is_cancelled()
    }

    /// Counts a page; the page ends when the guard is dropped.
    pub(super) fn open_page(self: &Arc<Self>) -> OpenPage {
        self.opened.fetch_add(1, Ordering::AcqRel);
        self.open.fetch_add(1, Ordering::AcqRel);
        OpenPage(Arc::clone(self))
    }

    pub(super) fn opened(&self) -> u32 {
        self.opened.load(Ordering::Acquire)
    }

    /// Ends it after its last page.
    pub(super) fn retire(&self) {
        self.retired.store(true, Ordering::Release);
        if self.open.load(Ordering::Acquire) == 0 {
            self.stop.cancel();
        }
    }

    /// How long it has had no page.
    pub(super) fn idle(&self) -> Duration {
        if self.open.load(Ordering::Acquire) > 0 {
            return Duration::ZERO;
        }
        self.usage.lock().unwrap_or_else(PoisonError::into_inner).last.elapsed()
    }

    /// Resolves when all its processes and its profile are gone.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Ends all its processes and removes its profile.
    pub(super) async fn end(&self) {
        self.stop.cancel();
        self.ended().await;
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A page in use.
pub(super) struct OpenPage(Arc<Chromium>);

impl std::ops::Deref for OpenPage {
    type Target = Chromium;

    fn deref(&self) -> &Chromium {
        &self.0
    }
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        self.0.usage.lock().unwrap_or_else(PoisonError::into_inner).last = Instant::now();
        let last = self.0.open.fetch_sub(1, Ordering::AcqRel) == 1;
        if last && self.0.retired.load(Ordering::Acquire) {
            self.0.stop.cancel();
        }
    }
}

fn specify(program: PathBuf, proxy: &Proxy, options: &Options) -> Spec {
    let mut spec = Spec::new(program)
        .args(SWITCHES)
        .arg(format!("--disable-features={DISABLED_FEATURES}"))
        .arg(format!("--proxy-server=http://{}", proxy.address()))
        // The scripts that distributions put around Chromium call other programs.
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .pipes_as_3_and_4()
        .limits(Limits {
            file_size: 512 << 20,
            private_folder: 1 << 30,
            open_files: 8192,
            ..Limits::default()
        });
    if let Some(agent) = &options.user_agent {
        spec = spec.arg(format!("--user-agent={agent}"));
    }
    if runs_without_own_sandbox() {
        // Chromium does not start without the socket by which a second start would find it.
        let network = Network::Port(proxy.address().port());
        let policy = Policy::new().network(network).unix_sockets(UnixSockets::Allowed);
        let policy = READ.iter().fold(policy, |policy, path| policy.read(*path));
        spec.arg("--no-sandbox").policy(policy)
    } else {
        // Chromium's own sandbox is stricter, and cannot be set up inside of ours.
        spec.policy(Policy::new().mode(Mode::Off))
    }
}

/// Waits for the end of Chromium, or ends it with all that it has started, and removes its profile.
async fn watch(
    mut process: Process,
    connection: Arc<Connection>,
    stop: CancellationToken,
    ended: CancellationToken,
) {
    let by_itself = tokio::select! {
        _ = process.wait() => true,
        () = stop.cancelled() => false,
    };
    connection.close();
    if by_itself {
        // Dropping it removes the profile, which blocks.
        let _ = tokio::task::spawn_blocking(move || drop(process)).await;
    } else {
        process.kill().await;
    }
    ended.cancel();
}

/// Closes the windows that pages open: what they show belongs to no visit.
async fn close_popups(
    connection: Arc<Connection>,
    mut events: tokio::sync::mpsc::Receiver<super::cdp::Event>,
) {
    while let Some(event) = events.recv().await {
        if event.method != "Target.targetCreated" {
            continue;
        }
        let Some(TargetCreated { target }) = event.params() else { continue };
        if target.kind == "page" && target.opener.is_some() {
            connection.post("", "Target.closeTarget", json!({ "targetId": target.id }));
        }
    }
}

/// Reads to the end and keeps the last bytes.
async fn last_bytes(mut pipe: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut kept = Vec::with_capacity(8192);
    while let Ok(1..) = pipe.read_buf(&mut kept).await {
        let over = kept.len().saturating_sub(STDERR_KEPT);
        kept.drain(..over);
    }
    kept
}
