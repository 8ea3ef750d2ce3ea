//! Browsers, pages and canaries.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use egress::browser::{Browser, BrowserError, Options, Rendered, Visit, find};
use egress::process::Runner;
use tokio::net::{TcpListener, UdpSocket};

use crate::http::server::{Reply, Script, reply, scripted};

/// A browser whose processes and profile can be distinguished from those of other tests.
pub(crate) struct Fixture {
    pub(crate) browser: Browser,
    /// A word in the command line of Chromium.
    pub(crate) needle: String,
    /// Where the profile is.
    pub(crate) folder: tempfile::TempDir,
}

impl Fixture {
    /// A browser under these rules, or `None` where no Chromium is installed.
    pub(crate) async fn new(allow: &[&str]) -> Option<Self> {
        Self::with(allow, Script::default(), |_| {}).await
    }

    pub(crate) async fn with(
        allow: &[&str],
        script: Script,
        change: impl FnOnce(&mut Options),
    ) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let runner = Runner::with_launcher(env!("CARGO_BIN_EXE_egress-launcher")).await.unwrap();
        let runner = runner.scratch_in(folder.path());
        if find(&runner, None).await.is_none() {
            testkit::skip_without("Chromium");
            return None;
        }
        let needle = format!("needle-{}", uuid::Uuid::new_v4());
        let mut options = Options::new(scripted(allow, &Arc::new(script)), Arc::new(runner));
        options.user_agent = Some(format!("Mozilla/5.0 (compatible; {needle})"));
        change(&mut options);
        Some(Self { browser: Browser::new(options), needle, folder })
    }

    pub(crate) async fn render(&self, url: &str) -> Result<Rendered, BrowserError> {
        self.browser.render(visit(url)).await
    }

    pub(crate) async fn render_owned(&self, url: String) -> Result<Rendered, BrowserError> {
        self.render(&url).await
    }

    /// The processes of all runs of this browser, supervisors included.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let runs: Vec<_> = self.main_processes().into_iter().filter_map(run_mark).collect();
        all().filter(|id| run_mark(*id).is_some_and(|mark| runs.contains(&mark))).collect()
    }

    /// Chromium's main processes, oldest first: of each run, the first process that carries the needle. A child that is
    /// not yet another program has the command line of its parent, which can have ended.
    pub(crate) fn main_processes(&self) -> Vec<u32> {
        let mut carrying: Vec<(u64, u32)> = all()
            .filter(|id| {
                let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line);
                line.contains(&self.needle) && !line.contains("--type=")
            })
            .filter_map(|id| Some((started(id)?, id)))
            .collect();
        carrying.sort_unstable();
        let mut runs = Vec::new();
        carrying.retain(|(_, id)| {
            let Some(mark) = run_mark(*id).filter(|mark| !runs.contains(mark)) else {
                return false;
            };
            runs.push(mark);
            true
        });
        carrying.into_iter().map(|(_, id)| id).collect()
    }

    /// Whether the folder of private folders is empty.
    pub(crate) fn is_clean(&self) -> bool {
        std::fs::read_dir(self.folder.path()).unwrap().next().is_none()
    }
}

fn all() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// When a process that is still there began, in ticks since the machine did.
fn started(id: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name before the last bracket can hold spaces.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

fn run_mark(id: u32) -> Option<Vec<u8>> {
    let environment = std::fs::read(format!("/proc/{id}/environ")).ok()?;
    let mut pairs = environment.split(|byte| *byte == 0);
    pairs.find(|pair| pair.starts_with(b"POWERSTRIP_RUN=")).map(<[u8]>::to_vec)
}

/// Whether none of these processes is alive.
pub(crate) fn all_dead(processes: &[u32]) -> bool {
    processes.iter().all(|id| !Path::new(&format!("/proc/{id}")).exists())
}

pub(crate) fn visit(url: &str) -> Visit {
    Visit {
        url: url.to_owned(),
        deadline: Duration::from_secs(30),
        max_bytes: 32 << 20,
        capture: None,
        pending: None,
    }
}

pub(crate) fn html(body: &str) -> Reply {
    let mut reply = reply(200, format!("<!DOCTYPE html><html lang=en><body>{body}</body></html>"));
    reply.headers_mut().insert("content-type", "text/html; charset=utf-8".parse().unwrap());
    reply
}

/// A listener for TCP and UDP on one port, which counts what arrives.
pub(crate) struct Canary {
    pub(crate) address: SocketAddr,
    hits: Arc<AtomicUsize>,
}

impl Canary {
    pub(crate) async fn start() -> Self {
        loop {
            // The port may be free for one of the two only.
            if let Some(canary) = Self::at((Ipv4Addr::LOCALHOST, 0).into()).await {
                return canary;
            }
        }
    }

    pub(crate) async fn at(address: SocketAddr) -> Option<Self> {
        let listener = TcpListener::bind(address).await.ok()?;
        let address = listener.local_addr().unwrap();
        let socket = UdpSocket::bind(address).await.ok()?;
        let hits = Arc::new(AtomicUsize::new(0));
        let (tcp, udp) = (Arc::clone(&hits), Arc::clone(&hits));
        tokio::spawn(async move {
            while listener.accept().await.is_ok() {
                tcp.fetch_add(1, Ordering::SeqCst);
            }
        });
        tokio::spawn(async move {
            while socket.recv(&mut [0; 64]).await.is_ok() {
                udp.fetch_add(1, Ordering::SeqCst);
            }
        });
        Some(Self { address, hits })
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn hits(&self) -> usize {
        self.hits.load(Ordering::SeqCst)
    }
}

/// Waits for something that must become true.
pub(crate) async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(20), "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The TCP ports that these processes listen on.
pub(crate) fn listening(processes: &[u32]) -> Vec<String> {
    let sockets: Vec<PathBuf> = processes
        .iter()
        .filter_map(|id| std::fs::read_dir(format!("/proc/{id}/fd")).ok())
        .flatten()
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .collect();
    let mut found = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in std::fs::read_to_string(table).unwrap_or_default().lines().skip(1) {
            let words: Vec<_> = line.split_ascii_whitespace().collect();
            let socket = PathBuf::from(format!("socket:[{}]", words[9]));
            if words[3] == "0A" && sockets.contains(&socket) {
                found.push(words[1].to_owned());
            }
        }
    }
    found
}
