//! Starts a server that is not in the config once, to see whether it works.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use operations::OperationError;
use operations::install::ServerTrial;
use operations::servers::{ServerState, ServerTool, fix_missing_program};
use server_entry::{ServerConfig, Start};
use strip::Tool;
use tokio::time::Instant;
use upstream::{Deps, ListStore, Timing, ToolList, Upstreams};

use super::{Installer, Prepared};

/// How long a server may take to list its tools. A package that is downloaded first takes long.
const TRIAL_TIMEOUT: Duration = Duration::from_secs(45);

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How many tools and log lines are shown.
const MAX_TOOLS: usize = 200;
const MAX_LINES: usize = 60;

/// Lists of trials are not kept.
struct NoLists;

#[async_trait]
impl ListStore for NoLists {
    async fn load(&self, _: &str) -> Option<ToolList> {
        None
    }

    async fn save(&self, _: &str, _: &ToolList) {}
}

impl Installer {
    /// Starts the server apart from the others, waits for its tools, and stops it.
    pub(super) async fn start_once(
        &self,
        name: &str,
        prepared: Prepared,
    ) -> Result<ServerTrial, OperationError> {
        let _one = self.trying.lock().await;
        let vault = prepared.vault(&self.vault).await;
        let mut loaded = prepared.loaded.clone();
        loaded.config.servers = prepared.imported.servers.clone();
        loaded.invalid.clear();
        let folder = prepared.folder();
        let server = loaded.resolve(&vault).servers.into_iter().find(|(known, _)| known == name);
        let Some((_, server)) = server else {
            return Err(OperationError::invalid(format!("`{name}` has no usable entry")));
        };
        if !server.missing.is_empty() {
            let error = Some(server.missing.join("; "));
            let fix = Some("give the missing secrets in the form".to_owned());
            return Ok(ServerTrial { error, fix, ..ServerTrial::default() });
        }
        let command = server.command.map(|command| match command.strip_prefix("./") {
            Some(below) => folder.join(below).to_string_lossy().into_owned(),
            None => command,
        });
        let server = ServerConfig { command, folder: Some(folder), start: Start::Eager, ..server };
        Ok(self.watch_start(name, server, loaded.environment.texts()).await)
    }

    async fn watch_start(
        &self,
        name: &str,
        server: ServerConfig,
        environment: std::collections::BTreeMap<String, String>,
    ) -> ServerTrial {
        let listed: Arc<Mutex<Vec<ServerTool>>> = Arc::default();
        let publish = Arc::clone(&listed);
        let deps = Deps {
            runner: Arc::clone(&self.runner),
            http: self.client.clone(),
            publish: Arc::new(move |_, tools| {
                let tools = tools.iter().take(MAX_TOOLS).map(describe).collect();
                *publish.lock().unwrap_or_else(PoisonError::into_inner) = tools;
            }),
            publish_own: Arc::new(|_, _, _| false),
            // A sign-in belongs to a server that is in the config.
            keyring: None,
            secrets: None,
            servers: Arc::default(),
            lists: Arc::new(NoLists),
            began_unix_ms: self.clock.unix_ms(),
            clock: self.clock.clone(),
            environment,
            timing: Timing::default(),
        };
        let trial = Upstreams::start(vec![(name.to_owned(), server)], deps);
        let failed = wait_until_known(&trial, name).await;
        let log = trial.get(name).map(|server| server.log_lines(None, MAX_LINES).lines);
        trial.stop().await;
        let tools = std::mem::take(&mut *listed.lock().unwrap_or_else(PoisonError::into_inner));
        ServerTrial {
            tools: if failed.is_none() { tools } else { Vec::new() },
            fix: failed.as_deref().and_then(fix_missing_program),
            error: failed,
            log: log.unwrap_or_default(),
        }
    }
}

/// Waits until the server has listed its tools; returns why it has not.
async fn wait_until_known(trial: &Upstreams, name: &str) -> Option<String> {
    let deadline = Instant::now() + TRIAL_TIMEOUT;
    loop {
        let status = trial.get(name)?.status();
        let error = status.reason.or(status.last_error);
        match status.state {
            ServerState::Ready if status.list_age.is_some() => return None,
            ServerState::NeedsSignIn => {
                return Some("it needs a sign-in: add it, then sign in on its page".to_owned());
            }
            ServerState::Down
            | ServerState::Degraded
            | ServerState::Invalid
            | ServerState::NeedsSecret
                if error.is_some() =>
            {
                return error;
            }
            _ if Instant::now() > deadline => {
                let seconds = TRIAL_TIMEOUT.as_secs();
                let late = format!("it has not listed its tools within {seconds} s");
                return Some(error.unwrap_or(late));
            }
            _ => tokio::time::sleep(POLL_INTERVAL).await,
        }
    }
}

fn describe(tool: &Arc<dyn Tool>) -> ServerTool {
    let descriptor = tool.descriptor();
    ServerTool {
        id: descriptor.id.to_string(),
        wire_name: String::new(),
        title: descriptor.title.clone(),
        description: descriptor.description.clone(),
    }
}
