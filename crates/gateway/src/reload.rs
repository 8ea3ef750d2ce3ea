//! Reloads the config file on `SIGHUP` and when it changes. An invalid file leaves the running config unchanged.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use auth::client::Holder;
use config::{
    BadConfig, Config, FILE_NAME, Fault, Loaded, Overrides, ProviderKeys, Resolved, Servers,
    loosened,
};
use environment::Environment;
use proto::Secret;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use crate::Process;
use crate::watch::watch;
use crate::{ConfigSource, Gateway, needs_restart};

/// Watches the config file and applies changes.
pub struct Reload {
    gateway: Arc<Gateway>,
    flags: Overrides,
    process: Process,
    current: Mutex<Current>,
    /// Registered at once: without a handler, SIGHUP ends the process.
    hangups: std::sync::Mutex<Option<Signal>>,
}

struct Current {
    /// The running config.
    config: Config,
    /// The file that it was read from.
    file: Option<PathBuf>,
    /// The variables of the process and of `.env`.
    environment: Environment,
    servers: Servers,
    provider_keys: ProviderKeys,
    model_key: Option<Secret>,
    /// The last error, so that it is logged once.
    refused: Option<BadConfig>,
}

impl Current {
    fn new(loaded: Loaded, resolved: &Resolved) -> Self {
        let Loaded { config, file, environment, .. } = loaded;
        let Resolved { servers, provider_keys, model_key, .. } = resolved.clone();
        Self { config, file, environment, servers, provider_keys, model_key, refused: None }
    }

    /// Whether a loaded config is the running one. Secrets and variables may have changed although the file has not.
    fn is(&self, loaded: &Loaded, resolved: &Resolved) -> bool {
        loaded.config == self.config
            && loaded.environment == self.environment
            && resolved.servers == self.servers
            && resolved.provider_keys == self.provider_keys
            && resolved.model_key == self.model_key
    }
}

impl Reload {
    /// Watches the file that a configuration was loaded from, or the default file.
    pub fn new(
        gateway: Arc<Gateway>,
        process: Process,
        flags: Overrides,
        loaded: &Loaded,
    ) -> Arc<Self> {
        let current = Mutex::new(Current::new(loaded.clone(), &gateway.resolved()));
        let hangups = std::sync::Mutex::new(signal(SignalKind::hangup()).ok());
        let reload = Arc::new(Self { gateway, flags, process, current, hangups });
        let source = Arc::downgrade(&reload);
        reload.gateway.console().set_config(source);
        reload
    }

    /// Reloads on `SIGHUP` and on changes of the file, until cancelled.
    pub async fn follow(self: Arc<Self>, loaded: Loaded, cancel: CancellationToken) {
        let hangups = self.hangups.lock().unwrap_or_else(PoisonError::into_inner).take();
        let signals = async {
            let Some(mut hangups) = hangups else { return std::future::pending().await };
            while hangups.recv().await.is_some() {
                tracing::info!("SIGHUP: reloading the config");
                // It has logged why, if it was refused.
                let _ = self.apply(true).await;
            }
        };
        let secrets = self.follow_secrets();
        let changes = async {
            // Without a file, the default one may still be created.
            let file = loaded.file.unwrap_or_else(|| FILE_NAME.into());
            watch(file, cancel.clone(), async || drop(self.apply(false).await)).await;
        };
        tokio::select! {
            () = signals => {}
            () = changes => {}
            () = secrets => {}
            () = cancel.cancelled() => {}
        }
    }

    /// Loads the config. A missing file does not mean the defaults: an editor may be replacing it.
    fn load(&self, current: &Current) -> Result<Loaded, BadConfig> {
        let loaded = self.process.load(&self.flags)?;
        match (&current.file, &loaded.file) {
            (Some(file), None) => {
                let message = "is missing; its last content stays in effect until the next start";
                Err(BadConfig(vec![Fault::of_file(file, None, message)]))
            }
            _ => Ok(loaded),
        }
    }

    /// Applies changes of secrets in the vault.
    async fn follow_secrets(&self) {
        let mut changes = self.gateway.secrets().changes();
        loop {
            match changes.recv().await {
                Ok(Holder::Gateway) => {}
                Ok(person) => self.gateway.end_sessions_of(&person).await,
                Err(RecvError::Lagged(_)) => self.gateway.end_personal_sessions().await,
                Err(RecvError::Closed) => return std::future::pending().await,
            }
            // It has logged why, if it was refused.
            let _ = self.apply(false).await;
        }
    }

    async fn apply(&self, requested: bool) -> Result<(), BadConfig> {
        let mut current = self.current.lock().await;
        let loaded = match self.load(&current) {
            Ok(loaded) => {
                let resolved = self.gateway.resolve(&loaded).await;
                Ok((loaded, resolved))
            }
            Err(refused) => Err(refused),
        };
        match loaded {
            Ok((loaded, resolved)) if current.is(&loaded, &resolved) => {
                if requested || current.refused.take().is_some() {
                    tracing::info!("the config has not changed");
                }
            }
            Ok((loaded, resolved)) => {
                for fault in loaded.warnings.iter().chain(&resolved.off) {
                    tracing::warn!("{fault}");
                }
                for key in needs_restart(&current.config, &loaded.config) {
                    tracing::warn!("`{key}` has changed: it takes effect at the next start");
                }
                self.process.secrets.store(Arc::new(resolved.scrubber()));
                for key in loosened(&current.config, &loaded.config) {
                    tracing::warn!("the changed config removes a protection: `{key}`");
                    self.gateway.audit_removal(&key, &loaded.config).await;
                }
                let next = Current::new(loaded.clone(), &resolved);
                self.gateway.reconfigure(&current.config, &loaded, resolved).await;
                tracing::info!("the config is reloaded");
                *current = next;
            }
            Err(refused) => {
                if requested || current.refused.as_ref() != Some(&refused) {
                    for fault in &refused.0 {
                        tracing::error!("the config is not reloaded: {fault}");
                    }
                }
                current.refused = Some(refused.clone());
                return Err(refused);
            }
        }
        Ok(())
    }
}

#[async_trait]
impl ConfigSource for Reload {
    async fn file(&self) -> Option<PathBuf> {
        self.current.lock().await.file.clone()
    }

    async fn reload(&self) -> Result<(), BadConfig> {
        self.apply(false).await
    }
}
