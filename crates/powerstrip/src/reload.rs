//! The config file, followed: `SIGHUP` or a change puts it in force, a broken one leaves things as they are.

use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::config::{BadConfig, Config, FILE_NAME, Loaded, Overrides, Servers, load};
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
        let (config, servers) = (loaded.config.clone(), loaded.servers.clone());
        let seen = Mutex::new(Seen { config, servers, refused: None });
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

    async fn reload(&self, asked: bool) {
        let mut seen = self.seen.lock().await;
        match load(&self.flags, &self.context.environment) {
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
                let Loaded { config, servers, .. } = loaded;
                self.gateway.reconfigure(&seen.config, &config, servers.clone()).await;
                tracing::info!("the config is reloaded");
                *seen = Seen { config, servers, refused: None };
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
