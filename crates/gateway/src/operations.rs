//! The one list of all operations of a gateway.

use std::sync::Arc;

use auth::client::OAuthClient;
use auth::secrets::{SecretService, operations as secret_operations};
use auth::{ApiKeys, KeyService, key_operations};
use operations::Table;
use strip::Strip;
use strip::files::operations::FileService;
use upstream::{Registry, Upstreams};
use workflow::Workflows;

use super::console::GatewayConsole;
use flow::operations::FlowService;

use super::login::{self, LoginService};
use super::quarantine::{self, Quarantine};
use super::{call_operations, server_operations, waiting};
use crate::collection_files::{self, CollectionFiles};
use crate::path_files;

/// What the operations work on.
pub(super) struct Services<'a> {
    pub(super) strip: &'a Arc<Strip>,
    pub(super) keys: &'a Arc<ApiKeys>,
    pub(super) registry: &'a Arc<Registry>,
    pub(super) upstreams: &'a Arc<Upstreams>,
    pub(super) console: &'a Arc<GatewayConsole>,
    pub(super) quarantine: &'a Arc<Quarantine>,
    pub(super) keyring: &'a Arc<OAuthClient>,
    pub(super) secrets: &'a Arc<SecretService>,
    pub(super) workflows: &'a Workflows,
    pub(super) collections: &'a Arc<CollectionFiles>,
}

/// All operations.
pub(super) fn table(services: &Services<'_>) -> Table {
    let Services { strip, keys, registry, upstreams, console, quarantine, keyring, .. } = services;
    let logins = LoginService { upstreams: Arc::clone(upstreams), keyring: Arc::clone(keyring) };
    let key_service = KeyService::new(Arc::clone(keys), strip.commits().clone());
    strip::operations::table(strip)
        .merge(path_files::path_table(&Arc::new(FileService::Strip(Arc::clone(strip)))))
        .merge(key_operations::table(&key_service))
        .merge(upstream::operations::table(registry))
        .merge(server_operations::table(console))
        .merge(call_operations::table(console))
        .merge(login::table(&Arc::new(logins)))
        .merge(quarantine::table(quarantine))
        .merge(waiting::table(strip))
        .merge(secret_operations::table(services.secrets))
        .merge(workflow::operations::table(&Arc::new(services.workflows.clone())))
        .merge(collection_files::table(services.collections))
        .merge(flow::operations::table(&Arc::new(FlowService {
            strip: Arc::clone(services.strip),
        })))
}
