//! Programs and secrets that servers need and that are not there, found without starting anything.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use auth::secrets::operations::ListSecrets;
use config::Loaded;
use environment::Environment;
use operations::NoInput;
use operations::servers::how_to_install;
use proto::{Finding, Severity};
use store::DATABASE_FILE;

use crate::context::Context;
use crate::operation_client::OperationClient;

/// Warnings about both.
pub(super) async fn find(context: &Context, loaded: &Loaded, file: &Path) -> Vec<Finding> {
    let mut used = loaded.clone();
    used.config.servers.retain(|_, server| !server.disabled);
    let mut messages = missing_programs(&used, &context.environment);
    messages.extend(missing_secrets(context, &used).await);
    let warning = |message| Finding {
        severity: Severity::Warning,
        file: file.to_owned(),
        line: None,
        message,
    };
    messages.into_iter().map(warning).collect()
}

fn missing_programs(loaded: &Loaded, environment: &Environment) -> Vec<String> {
    let folders = environment.paths("PATH");
    let servers = loaded.config.servers.iter();
    let servers = servers.filter(|(name, _)| !loaded.invalid.contains_key(*name));
    let missing = servers.filter_map(|(name, server)| {
        let program = server.command.as_deref()?;
        let exists = candidates(program, loaded.base(), &folders).iter().any(|path| path.is_file());
        (!exists).then(|| {
            let fix = how_to_install(program);
            format!("servers.{name}: the program `{program}` is not installed; {fix}")
        })
    });
    missing.collect()
}

/// Where a program may be: a path as it is, a name in the folders of PATH.
fn candidates(program: &str, base: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
    if program.contains('/') {
        return vec![base.join(program)];
    }
    folders.iter().map(|folder| folder.join(program)).collect()
}

async fn missing_secrets(context: &Context, loaded: &Loaded) -> Vec<String> {
    let mut needed = loaded.vault_secrets();
    if needed.is_empty() {
        return Vec::new();
    }
    match stored_secrets(context, loaded).await {
        Ok(stored) => needed.retain(|name| !stored.contains(name)),
        Err(error) => return vec![format!("the vault cannot be read: {error:#}")],
    }
    let message = |name: &String| {
        format!("the secret `{name}` is not stored: store it with `powerstrip secret set {name}`")
    };
    needed.iter().map(message).collect()
}

/// The names in the vault. Looking creates neither a data folder nor a database.
async fn stored_secrets(context: &Context, loaded: &Loaded) -> anyhow::Result<BTreeSet<String>> {
    let folder = &loaded.config.data_dir;
    if loaded.database_url()?.is_none() && !folder.join(DATABASE_FILE).exists() {
        return Ok(BTreeSet::new());
    }
    let client = OperationClient::for_secrets(context, loaded).await?;
    let listed = client.run::<ListSecrets>(&NoInput {}).await;
    client.close().await;
    let stored = listed?.into_iter().filter(|secret| secret.stored_unix_ms.is_some());
    Ok(stored.map(|secret| secret.name).collect())
}
