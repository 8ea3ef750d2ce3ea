//! Secrets at rest: sealed under a key of the gateway's own, each bound to the place where it lies, so that nobody who
//! can write to the database can give one person another's token.

mod key;

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use proto::Clock;
use secrecy::zeroize::Zeroizing;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{Database, StoreError, VaultPlace, VaultRow};

pub use key::{KeyFault, KeySource};

/// As much as a record may need while it is written, so that no copy is left behind by growing.
const ROOM: usize = 16 * 1024;

/// Why something cannot be kept or had back.
#[derive(Debug, thiserror::Error)]
pub enum VaultFault {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Key(#[from] KeyFault),
    #[error(
        "what is kept for server `{server}` cannot be opened: it was sealed with another key than the gateway has now \
         (`POWERSTRIP_KEY`, or `vault.key` in the data folder), or it was changed"
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
    /// Opens the vault in a database; the key file is made if it is not there.
    pub fn open(database: Database, source: &KeySource, clock: Clock) -> Result<Self, VaultFault> {
        let key = RandomizedNonceKey::new(&AES_256_GCM, &*source.key()?)
            .map_err(|_| VaultFault::Sealing)?;
        Ok(Self { database, key, clock })
    }

    /// Seals a record and keeps it, in place of the one that lay there.
    pub(crate) async fn put(
        &self,
        place: VaultPlace,
        record: &impl Serialize,
    ) -> Result<(), VaultFault> {
        let mut text = Vec::with_capacity(ROOM);
        serde_json::to_writer(&mut text, record).map_err(|_| VaultFault::Sealing)?;
        let nonce = self
            .key
            .seal_in_place_append_tag(Aad::from(bound(&place)), &mut text)
            .map_err(|_| VaultFault::Sealing)?;
        let sealed = [nonce.as_ref(), &text[..]].concat();
        let row = VaultRow { place, sealed, at_ms: self.clock.unix_ms() };
        Ok(self.database.save_vault_row(&row).await?)
    }

    /// Everything of a kind that is kept for a server, the newest first; what cannot be opened says so by itself.
    pub(crate) async fn all<T: DeserializeOwned>(
        &self,
        kind: &'static str,
        server: &str,
    ) -> Result<Vec<(VaultPlace, Result<T, VaultFault>)>, VaultFault> {
        let rows = self.database.vault_rows(kind, server).await?;
        Ok(rows
            .into_iter()
            .map(|row| {
                let opened = self.opened(&row);
                (row.place, opened)
            })
            .collect())
    }

    /// Takes a record out, if there is one.
    pub(crate) async fn remove(&self, place: &VaultPlace) -> Result<(), VaultFault> {
        Ok(self.database.remove_vault_row(place).await?)
    }

    fn opened<T: DeserializeOwned>(&self, row: &VaultRow) -> Result<T, VaultFault> {
        let fault = || VaultFault::Sealed { server: row.place.server.clone() };
        let (nonce, sealed) = row.sealed.split_at_checked(NONCE_LEN).ok_or_else(fault)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| fault())?;
        let mut sealed = Zeroizing::new(sealed.to_vec());
        let text = self
            .key
            .open_in_place(nonce, Aad::from(bound(&row.place)), &mut sealed)
            .map_err(|_| fault())?;
        serde_json::from_slice(text).map_err(|_| fault())
    }
}

/// The place as bytes, each part with its length before it: no two places look alike.
fn bound(place: &VaultPlace) -> Vec<u8> {
    let VaultPlace { kind, server, tenant, owner, issuer } = place;
    let mut bytes = b"powerstrip vault 1".to_vec();
    for part in [*kind, server, tenant, owner, issuer] {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests;
