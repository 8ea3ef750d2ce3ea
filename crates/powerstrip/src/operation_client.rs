//! Runs operations for commands that need no strip: in the process that owns the data folder, or without one here.

use std::sync::Arc;

use anyhow::Context as _;
use auth::secrets::{SecretService, SecretStore, operations as secret_operations};
use auth::{ApiKeys, KeyService, LocalAccess, key_operations};
use config::Loaded;
use egress::http::{AddressPolicy, Client, OwnListeners};
use files::Files;
use gateway::database;
use gateway::foundation::key_source;
use gateway::install::RunOperation;
use operations::{Caller, Operation, RawInput, Table};
use proto::Clock;
use store::{CommitQueue, DataFolder, Database};
use strip::files::operations::FileService;

use crate::context::Context;
use crate::owner::{OwnerProcess, Ownership, claim_or_connect};

/// Runs an operation in this process, as the operator.
pub(crate) async fn run_here<O: Operation>(
    table: &Table,
    input: &O::Input,
) -> anyhow::Result<O::Output> {
    let caller = Caller::operator(LocalAccess::default().user());
    let input = RawInput::Params(serde_json::to_value(input)?);
    Ok(serde_json::from_value(table.run(O::NAME, caller, input).await?)?)
}

/// Access to some operations of a data folder. No tool and no server is started for them.
pub(crate) enum OperationClient {
    Owner(Box<OwnerProcess>),
    Here { table: Table, database: Database, audit: Option<CommitQueue>, _folder: DataFolder },
}

impl OperationClient {
    /// Operations on keys.
    pub(crate) async fn for_keys(loaded: &Loaded) -> anyhow::Result<Self> {
        let config = &loaded.config;
        let folder = match claim_or_connect(&config.data_dir, None).await? {
            Ownership::Other(owner) => return Ok(Self::Owner(Box::new(owner))),
            Ownership::Ours(folder) => folder,
        };
        let database = database::open(loaded, folder.path()).await?;
        let keys = ApiKeys::open(database.clone(), Clock::default()).await?;
        let audit = CommitQueue::start(database.clone());
        let table = key_operations::table(&KeyService::new(Arc::new(keys), audit.clone()));
        Ok(Self::Here { table, database, audit: Some(audit), _folder: folder })
    }

    /// Operations on secrets.
    pub(crate) async fn for_secrets(context: &Context, loaded: &Loaded) -> anyhow::Result<Self> {
        let folder = match claim_or_connect(&loaded.config.data_dir, None).await? {
            Ownership::Other(owner) => return Ok(Self::Owner(Box::new(owner))),
            Ownership::Ours(folder) => folder,
        };
        let database = database::open(loaded, folder.path()).await?;
        let key = key_source(&context.environment, folder.path());
        let store = SecretStore::new(database.clone(), key, Clock::default());
        if loaded.config.auth.is_some() {
            store.set_multi_user();
        }
        let audit = CommitQueue::start(database.clone());
        let service = SecretService::new(store, audit.clone(), loaded.secret_names());
        let table = secret_operations::table(&service);
        Ok(Self::Here { table, database, audit: Some(audit), _folder: folder })
    }

    /// Operations on files.
    pub(crate) async fn for_files(loaded: &Loaded) -> anyhow::Result<Self> {
        let config = &loaded.config;
        let folder = match claim_or_connect(&config.data_dir, None).await? {
            Ownership::Other(owner) => return Ok(Self::Owner(Box::new(owner))),
            Ownership::Ours(folder) => folder,
        };
        let policy = AddressPolicy::new(config.egress.rules(), OwnListeners::default());
        let client = Client::new(policy).context("the guarded HTTP client cannot be built")?;
        let path = folder.path();
        let database = database::open(loaded, path).await?;
        let parts =
            gateway::files::parts(loaded, path, database.clone(), &client, &Clock::default())?;
        let service = Arc::new(FileService::Folder(Box::new(Files::new(parts))));
        let table = gateway::path_files::table(&service);
        Ok(Self::Here { table, database, audit: None, _folder: folder })
    }

    /// Runs an operation.
    pub(crate) async fn run<O: Operation>(&self, input: &O::Input) -> anyhow::Result<O::Output> {
        match self {
            Self::Owner(owner) => owner.run::<O>(input).await,
            Self::Here { table, .. } => run_here::<O>(table, input).await,
        }
    }

    /// Closes the database and releases the folder.
    pub(crate) async fn close(self) {
        if let Self::Here { database, audit, .. } = self {
            if let Some(audit) = audit
                && let Err(error) = audit.close().await
            {
                tracing::error!(%error, "the last audit rows could not be written");
            }
            database.close().await;
        }
    }
}

impl RunOperation for OperationClient {
    async fn run<O: Operation>(&self, input: &O::Input) -> anyhow::Result<O::Output>
    where
        O::Input: Sync,
    {
        Self::run::<O>(self, input).await
    }
}
