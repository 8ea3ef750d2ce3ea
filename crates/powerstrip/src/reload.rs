//! The config file, followed: `SIGHUP` or a change puts it in force, a broken one leaves things as they are.

use std::path::PathBuf;
use std::sync::Arc;

use config::{BadConfig, Config, FILE_NAME, Fault, Loaded, Overrides, Servers, load, loosened};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::gateway::{Gateway, needs_restart};
use crate::watch::watch;

/// What is followed, and what was last seen.
pub(crate) struct Reload {
    gateway: Arc<Gateway>,
    flags: Overrides,
    context: Arc<Context>,
    seen: Mutex<Seen>,
    /// Listened to from the first moment on: an unheard SIGHUP would end the process.
    hangups: Option<Signal>,
}

struct Seen {
    /// What is in force.
    config: Config,
    /// The file it was read from.
    file: Option<PathBuf>,
    servers: Servers,
    /// The latest attempt that failed, so that it is told once.
    refused: Option<BadConfig>,
}

impl Reload {
    /// Follows the file that a configuration was loaded from, or that would have been.
    pub(crate) fn new(
        gateway: Arc<Gateway>,
        context: Arc<Context>,
        flags: Overrides,
        loaded: &Loaded,
    ) -> Self {
        let Loaded { config, servers, file, .. } = loaded.clone();
        let seen = Mutex::new(Seen { config, file, servers, refused: None });
        let hangups = signal(SignalKind::hangup()).ok();
        Self { gateway, flags, context, seen, hangups }
    }

    /// Reloads on `SIGHUP` and on changes of the file, until cancelled.
    pub(crate) async fn follow(mut self, loaded: Loaded, cancel: CancellationToken) {
        let hangups = self.hangups.take();
        let signals = async {
            let Some(mut hangups) = hangups else { return std::future::pending().await };
            while hangups.recv().await.is_some() {
                tracing::info!("SIGHUP: looking at the config");
                self.reload(true).await;
            }
        };
        let changes = async {
            // Where none is named, the usual file may still come.
            let file = loaded.file.unwrap_or_else(|| FILE_NAME.into());
            watch(file, cancel.clone(), || self.reload(false)).await;
        };
        tokio::select! {
            () = signals => {}
            () = changes => {}
            () = cancel.cancelled() => {}
        }
    }

    /// Loads the config anew. A file that was there is not given up for the defaults: an editor may be replacing it.
    fn load(&self, seen: &Seen) -> Result<Loaded, BadConfig> {
        let loaded = load(&self.flags, &self.context.environment)?;
        match (&seen.file, &loaded.file) {
            (Some(file), None) => {
                let message = "is gone; what it said stays in force until the next start";
                Err(BadConfig(vec![Fault::of_file(file, None, message)]))
            }
            _ => Ok(loaded),
        }
    }

    async fn reload(&self, asked: bool) {
        let mut seen = self.seen.lock().await;
        match self.load(&seen) {
            // A secret may be another one although the file is as it was.
            Ok(loaded) if loaded.config == seen.config && loaded.servers == seen.servers => {
                if asked || seen.refused.take().is_some() {
                    tracing::info!("the config is as it was");
                }
            }
            Ok(loaded) => {
                for key in needs_restart(&seen.config, &loaded.config) {
                    tracing::warn!("`{key}` has changed: it takes effect at the next start");
                }
                self.context.secrets.store(Arc::new(loaded.scrubber()));
                let Loaded { config, servers, file, .. } = loaded;
                for key in loosened(&seen.config, &config) {
                    tracing::warn!("the changed config removes a protection: `{key}`");
                    self.gateway.audit_removal(&key, &config).await;
                }
                self.gateway.reconfigure(&seen.config, &config, servers.clone()).await;
                tracing::info!("the config is reloaded");
                *seen = Seen { config, file, servers, refused: None };
            }
            Err(refused) => {
                if asked || seen.refused.as_ref() != Some(&refused) {
                    for fault in &refused.0 {
                        tracing::error!("the config is not reloaded: {fault}");
                    }
                }
                seen.refused = Some(refused);
            }
        }
    }
}
