//! A real authorization server, `oidc-provider`, on loopback.

use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use crate::skip::skip_without;

/// The version that `scripts/test` installs.
const PACKAGE: &str = "oidc-provider@9.13.3";

/// A running `oidc-provider`, killed on drop. Its clients are listed in `tests/provider/oidc.mjs`.
pub struct OidcProvider {
    _child: Child,
    /// Kept open, because the program ends when it cannot print.
    _stdout: BufReader<ChildStdout>,
    issuer: String,
}

impl OidcProvider {
    /// Starts it; prints a notice and returns `None` if it is not installed.
    pub async fn start() -> Option<Self> {
        Self::start_at("127.0.0.1").await
    }

    /// Starts it as `localhost`, which browsers treat as another site than `127.0.0.1`.
    pub async fn start_as_another_site() -> Option<Self> {
        Self::start_at("localhost").await
    }

    async fn start_at(host: &str) -> Option<Self> {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let cache = std::env::var_os("XDG_CACHE_HOME").map_or(home.join(".cache"), PathBuf::from);
        let modules = cache.join("powerstrip/node-tools").join(PACKAGE).join("node_modules");
        if !modules.join("oidc-provider").is_dir() {
            skip_without(format_args!("{PACKAGE}, which scripts/test installs"));
            return None;
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/provider/oidc.mjs");
        let mut child = Command::new("node")
            .arg(script)
            .arg(&modules)
            .arg(host)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("node runs");
        let mut issuer = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        stdout.read_line(&mut issuer).await.expect("it prints its address");
        let issuer = issuer.trim().to_owned();
        assert!(issuer.starts_with(&format!("http://{host}:")), "it ended early: {issuer}");
        Some(Self { _child: child, _stdout: stdout, issuer })
    }

    /// Its issuer URL.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }
}
