//! Switching servers. Each change leaves an audit row.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use config::BadConfig;
use config::edit::{self, EditError};
use operations::servers::{ServerChange, ServerState, ServerSwitch};
use operations::{Caller, OperationError};
use proto::{Code, TraceId, digest};
use store::AuditRow;

use super::GatewayConsole;

/// The config file of a gateway that follows it.
#[async_trait]
pub trait ConfigSource: Send + Sync {
    /// The file, if there is one.
    async fn file(&self) -> Option<PathBuf>;

    /// Reads the file again and applies it.
    async fn reload(&self) -> Result<(), BadConfig>;
}

/// A change of a server that leaves an audit row.
#[derive(Clone, Copy)]
pub(crate) struct Audited<'a> {
    /// Such as `servers.restart`.
    pub(crate) operation: &'static str,
    /// The decision of the row, such as `restarted`.
    pub(crate) done: &'static str,
    pub(crate) server: &'a str,
}

impl<'a> Audited<'a> {
    fn switch(switch: ServerSwitch, server: &'a str) -> Self {
        Self { operation: switch.operation(), done: switch.participle(), server }
    }
}

impl GatewayConsole {
    pub(super) async fn switch_server(
        &self,
        caller: &Caller,
        name: &str,
        switch: ServerSwitch,
    ) -> Result<ServerChange, OperationError> {
        match switch {
            ServerSwitch::Restart => self.restart_server(caller, name).await,
            ServerSwitch::Enable | ServerSwitch::Disable => {
                self.set_disabled(caller, name, switch).await
            }
        }
    }

    async fn restart_server(
        &self,
        caller: &Caller,
        name: &str,
    ) -> Result<ServerChange, OperationError> {
        let upstream = self.upstream(name)?;
        let restart = async {
            let status = upstream.status();
            let unusable = match (status.state, status.state.ended_by()) {
                (state, Some(command)) => {
                    let is = state.label();
                    Some(format!("server `{name}` is {is}: `{command} {name}`"))
                }
                (ServerState::Invalid, None) => {
                    let why = status.reason.unwrap_or_default();
                    Some(format!("server `{name}` cannot be started: {why}"))
                }
                _ => None,
            };
            if let Some(message) = unusable {
                let error = OperationError::new(Code::Unavailable, message);
                return Err(OperationError { retryable: false, ..error });
            }
            if !self.upstreams.restart(name).await && !self.registry.restart(name).await {
                let message = format!("server `{name}` was removed a moment ago");
                return Err(OperationError::not_found(message));
            }
            Ok(())
        };
        self.audited(caller, Audited::switch(ServerSwitch::Restart, name), restart).await?;
        Ok(ServerChange {
            name: name.to_owned(),
            state: self.upstream(name)?.status().state,
            message: format!("server `{name}` is restarted; calls under way have failed"),
        })
    }

    async fn set_disabled(
        &self,
        caller: &Caller,
        name: &str,
        switch: ServerSwitch,
    ) -> Result<ServerChange, OperationError> {
        let upstream = self.upstream(name)?;
        if upstream.status().announced {
            let message = format!(
                "server `{name}` registered itself and is not in the config file: stop it where it runs, or free its \
                 name with `powerstrip servers release {name}`"
            );
            return Err(OperationError::new(Code::Unsupported, message));
        }
        self.audited(caller, Audited::switch(switch, name), self.edit(name, switch)).await?;
        let state = self.upstream(name).map_or(ServerState::Disabled, |new| new.status().state);
        let message = format!("server `{name}` is {}", switch.participle());
        Ok(ServerChange { name: name.to_owned(), state, message })
    }

    /// Sets or removes `disabled` in the config file, and applies it.
    async fn edit(&self, name: &str, switch: ServerSwitch) -> Result<(), OperationError> {
        let disabled = switch == ServerSwitch::Disable;
        let source = self.config_source()?;
        let unlisted = |place: String| {
            let message = format!(
                "server `{name}` is not in {place}, so it cannot be {} here: a server of `--mcp-json` is \
                 switched in that file (`disabled`), or moved into the config with `powerstrip import`",
                switch.participle()
            );
            OperationError::new(Code::Unsupported, message)
        };
        let file = source.file().await;
        let file = file.ok_or_else(|| unlisted("a config file (there is none)".to_owned()))?;
        let _one = self.editing.lock().await;
        let (edited, servers) = (file.clone(), [name.to_owned()]);
        let edit =
            tokio::task::spawn_blocking(move || edit::switch_servers(&edited, &servers, disabled));
        let edit = edit.await.map_err(|error| {
            OperationError::new(Code::Internal, format!("the config file was not edited: {error}"))
        })?;
        edit.map_err(|fault| match fault {
            EditError::ReadOnly => OperationError::new(
                Code::Unavailable,
                format!(
                    "{} is read-only and was not changed: make it writable, or write `disabled: {disabled}` where it \
                     comes from",
                    file.display()
                ),
            ),
            EditError::NoServer(_) => unlisted(file.display().to_string()),
            why => OperationError::new(
                Code::Unavailable,
                format!("{} was not changed: {why}", file.display()),
            ),
        })?;
        source.reload().await.map_err(|bad| not_applied(&file, &bad))
    }

    fn config_source(&self) -> Result<Arc<dyn ConfigSource>, OperationError> {
        let source = self.config.get().and_then(std::sync::Weak::upgrade);
        source.ok_or_else(|| {
            let message = "this process does not follow its config file: edit the file and restart";
            OperationError::new(Code::Unsupported, message)
        })
    }

    /// Changes the config file and applies it.
    pub(crate) async fn edit_config(
        &self,
        file: PathBuf,
        change: impl FnOnce(&Path) -> Result<(), EditError> + Send + 'static,
    ) -> Result<(), OperationError> {
        let source = self.config_source()?;
        let _one = self.editing.lock().await;
        let edited = file.clone();
        let edit = tokio::task::spawn_blocking(move || change(&edited)).await.map_err(|error| {
            OperationError::new(Code::Internal, format!("the config file was not edited: {error}"))
        })?;
        edit.map_err(|why| {
            OperationError::new(
                Code::Unavailable,
                format!("{} was not changed: {why}", file.display()),
            )
        })?;
        source.reload().await.map_err(|bad| not_applied(&file, &bad))
    }

    /// Does the work and writes an audit row about it, whatever its outcome.
    pub(crate) async fn audited<T>(
        &self,
        caller: &Caller,
        change: Audited<'_>,
        work: impl Future<Output = Result<T, OperationError>>,
    ) -> Result<T, OperationError> {
        let done = work.await;
        let name = change.server;
        let row = AuditRow {
            trace: caller.trace.unwrap_or_else(TraceId::random),
            at_unix_ms: self.clock.unix_ms(),
            caller: Arc::clone(&caller.principal),
            door: if caller.trace.is_some() { "http" } else { "cli" }.into(),
            tool: format!("{}:{name}", change.operation).into(),
            version: "".into(),
            definition: None,
            arguments: digest(name.as_bytes()),
            // Not `refused`: statistics count that as a call.
            decision: if done.is_ok() { change.done } else { "attempted" }.into(),
            outcome: done.as_ref().err().map_or("OK", |error| error.code.as_str()).into(),
            blame: None,
            duration_us: 0,
        };
        let commits = self.strip.commits();
        let written = async { commits.record(row).await?.committed().await }.await;
        if let Err(error) = written {
            tracing::error!(%error, server = name, "the audit row of a changed server could not be written");
        }
        tracing::info!(
            server = name,
            subject = caller.principal.subject,
            done = done.is_ok(),
            "{}",
            change.operation
        );
        done
    }
}

fn not_applied(file: &Path, BadConfig(faults): &BadConfig) -> OperationError {
    let why: Vec<_> = faults.iter().map(ToString::to_string).collect();
    OperationError::new(
        Code::Unavailable,
        format!(
            "{} was changed but cannot be applied, because it has faults: {}",
            file.display(),
            why.join("; ")
        ),
    )
}
