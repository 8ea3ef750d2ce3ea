//! Secrets at rest: sealed with the gateway's key, each bound to its row, so that write access to the database does not
//! allow one person's token to be moved to another.

mod key;

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use proto::Clock;
use secrecy::zeroize::Zeroizing;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{Database, Listed, StoreError, VaultRow, VaultSlot};

pub use key::{KeyFault, KeySource};

/// The initial capacity for a record, large enough that growing leaves no copies in memory.
const RECORD_CAPACITY: usize = 16 * 1024;

/// Why a record cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum VaultFault {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Key(#[from] KeyFault),
    #[error(
        "the vault's entry for `{server}` cannot be opened: it was sealed with another key than the current one \
        (`POWERSTRIP_KEY`, or `vault.key` in the data folder), or was altered"
    )]
    Sealed { server: String },
    #[error("a secret could not be sealed")]
    Sealing,
}

/// The gateway's vault.
pub struct Vault {
    database: Database,
    key: RandomizedNonceKey,
    clock: Clock,
}

impl Vault {
    /// Opens the vault in a database; makes the key file if it is missing.
    pub fn open(database: Database, source: &KeySource, clock: Clock) -> Result<Self, VaultFault> {
        let key = RandomizedNonceKey::new(&AES_256_GCM, &*source.key()?)
            .map_err(|_| VaultFault::Sealing)?;
        Ok(Self { database, key, clock })
    }

    /// Seals and stores a record, replacing any previous one.
    pub(crate) async fn put(
        &self,
        place: VaultSlot,
        record: &impl Serialize,
    ) -> Result<(), VaultFault> {
        let mut text = Vec::with_capacity(RECORD_CAPACITY);
        serde_json::to_writer(&mut text, record).map_err(|_| VaultFault::Sealing)?;
        let nonce = self
            .key
            .seal_in_place_append_tag(Aad::from(associated_data(&place)), &mut text)
            .map_err(|_| VaultFault::Sealing)?;
        let sealed = [nonce.as_ref(), &text[..]].concat();
        let row = VaultRow { slot: place, sealed, at_ms: self.clock.unix_ms() };
        Ok(self.database.save_vault_row(&row).await?)
    }

    /// All records of a kind for a server, newest first, each with its own error if it cannot be opened.
    pub(crate) async fn all<T: DeserializeOwned>(
        &self,
        kind: &'static str,
        server: &str,
    ) -> Result<Vec<(VaultSlot, Result<T, VaultFault>)>, VaultFault> {
        let rows = self.database.vault_rows(kind, server).await?;
        Ok(rows
            .into_iter()
            .map(|row| {
                let record = self.unseal(&row);
                (row.slot, record)
            })
            .collect())
    }

    /// All records of a kind that an owner has, each with its time and its own error if it cannot be opened, and which
    /// rows are damaged.
    pub(crate) async fn of_owner<T: DeserializeOwned>(
        &self,
        kind: &'static str,
        tenant: &str,
        owner: &str,
    ) -> Result<Listed<(VaultRow, Result<T, VaultFault>)>, VaultFault> {
        let listed = self.database.vault_rows_of(kind, tenant, owner).await?;
        let open = |row: VaultRow| {
            let record = self.unseal(&row);
            (row, record)
        };
        Ok(listed.map(open))
    }

    /// Removes a record, if there is one.
    pub(crate) async fn remove(&self, place: &VaultSlot) -> Result<(), VaultFault> {
        Ok(self.database.remove_vault_row(place).await?)
    }

    fn unseal<T: DeserializeOwned>(&self, row: &VaultRow) -> Result<T, VaultFault> {
        let fault = || VaultFault::Sealed { server: row.slot.server.clone() };
        let (nonce, sealed) = row.sealed.split_at_checked(NONCE_LEN).ok_or_else(fault)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| fault())?;
        let mut sealed = Zeroizing::new(sealed.to_vec());
        let text = self
            .key
            .open_in_place(nonce, Aad::from(associated_data(&row.slot)), &mut sealed)
            .map_err(|_| fault())?;
        serde_json::from_slice(text).map_err(|_| fault())
    }
}

/// The row's address as bytes, each part prefixed with its length so that no two addresses are equal.
fn associated_data(place: &VaultSlot) -> Vec<u8> {
    let VaultSlot { kind, server, tenant, owner, issuer } = place;
    let mut bytes = b"powerstrip vault 1".to_vec();
    for part in [*kind, server, tenant, owner, issuer] {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests;
