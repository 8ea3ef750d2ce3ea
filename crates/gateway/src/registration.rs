//! Registration of servers: who may register, and how requests reach the registry.

use std::fs::Permissions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use auth::{ApiKeys, KeyKind, LOCAL_TENANT};
use config::Config;
use doors::{Announced, Declined, Granted, ServerRegistration};
use proto::{Digest, TraceId, digest};
use serde_json::{Value, json};
use strip::Strip;
use upstream::{Announcement, Grant, Holder, Registry, RegistryFault, Terms, Upstreams};

use super::{Gateway, servers};

/// The token by which servers of the gateway's own user register without any set-up.
const TOKEN_FILE: &str = "registration-token";

/// No token is longer.
const MAX_TOKEN_BYTES: u64 = 1_024;

/// The terms for servers that register themselves under this config.
pub(super) fn terms(config: &Config) -> Terms {
    Terms {
        lease: config.registration.lease.0,
        // With credentials, who registers may sit behind a proxy and far from this machine.
        loopback: config.listen.is_loopback() && config.auth.is_none(),
    }
}

impl Gateway {
    /// Registration of servers. If callers need credentials (`guarded`), only API keys can register.
    pub fn server_registration(
        &self,
        guarded: bool,
    ) -> anyhow::Result<Arc<dyn ServerRegistration>> {
        let folder = self.store.folder.path();
        let token = if guarded { None } else { Some(local_token(folder)) };
        let token = token.transpose();
        let token = token.context("the registration token cannot be stored in the data folder")?;
        let (upstreams, registry) = (Arc::clone(&self.upstreams), Arc::clone(&self.registry));
        let reported = Arc::clone(&self.strip);
        Ok(Arc::new(Registration::new(
            upstreams,
            registry,
            reported,
            Arc::clone(&self.keys),
            token,
        )))
    }
}

/// Registration as the HTTP door sees it.
pub(super) struct Registration {
    upstreams: Arc<Upstreams>,
    registry: Arc<Registry>,
    strip: Arc<Strip>,
    keys: Arc<ApiKeys>,
    /// The digest of the token in the data folder. Comparing digests does not reveal how much of a guess was right.
    local: Option<Digest>,
}

impl Registration {
    /// Opens registration for bearers of registration keys, and of this token.
    pub(super) fn new(
        upstreams: Arc<Upstreams>,
        registry: Arc<Registry>,
        strip: Arc<Strip>,
        keys: Arc<ApiKeys>,
        token: Option<String>,
    ) -> Self {
        let local = token.map(|token| digest(token.as_bytes()));
        Self { upstreams, registry, strip, keys, local }
    }

    /// The holder that a token belongs to.
    fn holder(&self, token: &str) -> Result<Holder, Declined> {
        if self.local == Some(digest(token.as_bytes())) {
            return Ok(Holder {
                tenant: LOCAL_TENANT.to_owned(),
                owner: "the token in the data folder".to_owned(),
            });
        }
        let principal = self.keys.check(token, KeyKind::Registration).ok_or(Declined::Token)?;
        Ok(Holder { tenant: principal.tenant.to_string(), owner: principal.subject.clone() })
    }
}

#[async_trait]
impl ServerRegistration for Registration {
    fn report(&self) -> Value {
        let servers = servers::summaries(&self.upstreams, &self.registry, &self.strip);
        json!(servers)
    }

    async fn register(&self, token: &str, announced: Announced) -> Result<Granted, Declined> {
        let holder = self.holder(token)?;
        let Announced { name, url, version, tools, replica } = announced;
        let announcement = Announcement { name, url, version, replica, tools };
        self.registry.register(&holder, announcement).await.map(granted).map_err(declined)
    }

    async fn heartbeat(&self, token: &str, name: &str, lease: &str) -> Result<Granted, Declined> {
        let holder = self.holder(token)?;
        self.registry.heartbeat(&holder, name, lease).map(granted).map_err(declined)
    }

    async fn goodbye(&self, token: &str, name: &str, lease: Option<&str>) -> Result<(), Declined> {
        let holder = self.holder(token)?;
        self.registry.goodbye(&holder, name, lease).await.map_err(declined)
    }
}

fn granted(grant: Grant) -> Granted {
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Granted {
        name: grant.name,
        lease_id: grant.lease,
        expires_in_ms: ms(grant.lasts),
        heartbeat_every_ms: ms(grant.heartbeat),
        replicas: grant.replicas,
    }
}

fn declined(fault: RegistryFault) -> Declined {
    let why = fault.to_string();
    match fault {
        RegistryFault::Invalid { .. } | RegistryFault::Address(_) => Declined::Invalid(why),
        RegistryFault::Name(_) | RegistryFault::Configured(_) | RegistryFault::Held(_) => {
            Declined::Taken(why)
        }
        RegistryFault::NoLease(_) => Declined::Unknown(why),
        RegistryFault::Full { .. } | RegistryFault::ManyNames(_) | RegistryFault::NotStored(_) => {
            Declined::Unavailable(why)
        }
    }
}

/// The token in the data folder, made when it is asked for the first time. Only its owner may read it.
pub(super) fn local_token(folder: &Path) -> io::Result<String> {
    let path = folder.join(TOKEN_FILE);
    let mut file = userfiles::open_private(&path)?;
    let meta = file.metadata()?;
    if meta.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    let mut text = String::new();
    (&mut file).take(MAX_TOKEN_BYTES).read_to_string(&mut text)?;
    let known = text.trim();
    if !known.is_empty() {
        return Ok(known.to_owned());
    }
    let random = || TraceId::random().to_string().replace('-', "");
    let token = format!("psr_{}{}", random(), random());
    file.set_len(0)?;
    io::Seek::rewind(&mut file)?;
    writeln!(file, "{token}")?;
    file.sync_all()?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_made_once_and_for_its_owner_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(TOKEN_FILE);
        let token = local_token(folder.path()).expect("a token");
        assert!(token.len() >= 60, "{token}");
        assert_eq!(local_token(folder.path()).expect("the same token"), token);
        let mode = |path: &Path| std::fs::metadata(path).expect("a file").permissions().mode();
        assert_eq!(mode(&path) & 0o777, 0o600);

        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("it is ours");
        assert_eq!(local_token(folder.path()).expect("the same token"), token);
        assert_eq!(mode(&path) & 0o777, 0o600, "what others could read is closed again");

        std::fs::write(&path, " \n").expect("it is ours");
        assert_ne!(local_token(folder.path()).expect("another token"), token);
    }
}
