//! Moves the secrets of new servers into the vault.

use auth::secrets::operations::{
    FindSecret, FindSecretInput, SecretText, SetSecret, SetSecretInput,
};
use config::client_files::Imported;
use operations::Operation;

/// Runs operations on secrets, in this process or in the one that owns the data folder.
pub trait RunOperation: Sync {
    /// Runs an operation.
    fn run<O: Operation>(
        &self,
        input: &O::Input,
    ) -> impl Future<Output = anyhow::Result<O::Output>> + Send
    where
        O::Input: Sync;
}

/// Refers to the secrets that are in the vault already, under whatever name, in place of equal ones of the import.
pub async fn reuse_secrets(
    client: &impl RunOperation,
    imported: &mut Imported,
) -> anyhow::Result<()> {
    let names: Vec<_> = imported.secrets.keys().cloned().collect();
    for name in names {
        let value = SecretText(imported.secrets[&name].clone());
        if let Some(stored) = client.run::<FindSecret>(&FindSecretInput { value }).await?.name {
            imported.use_stored(&name, &stored);
        }
    }
    Ok(())
}

/// Stores the secrets of an import that the vault does not have.
pub async fn store_secrets(
    client: &impl RunOperation,
    imported: &mut Imported,
) -> anyhow::Result<()> {
    reuse_secrets(client, imported).await?;
    for (name, value) in &imported.secrets {
        let input = SetSecretInput { name: name.clone(), value: SecretText(value.clone()) };
        client.run::<SetSecret>(&input).await?;
    }
    Ok(())
}
