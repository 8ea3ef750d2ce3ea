//! Holders of names. A name stays with its holder while it has no server: agents trust names, and a third party could
//! wait for one to become free.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::terms::{Holder, MAX_NAMES, RegistryFault};

/// Stores names and their holders across restarts.
#[async_trait]
pub trait NameStore: Send + Sync + 'static {
    /// Stores the holder of a name; returns once it is durable.
    async fn hold(&self, name: &str, holder: &Holder) -> Result<(), String>;

    /// Removes the holder of a name.
    async fn release(&self, name: &str) -> Result<(), String>;
}

/// Every name that has a holder.
pub(super) struct Names {
    held: Mutex<BTreeMap<String, Holder>>,
    store: Arc<dyn NameStore>,
}

impl Names {
    pub(super) fn new(held: BTreeMap<String, Holder>, store: Arc<dyn NameStore>) -> Self {
        Self { held: Mutex::new(held), store }
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<String, Holder>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn all(&self) -> BTreeMap<String, Holder> {
        self.held().clone()
    }

    /// Assigns a name to its first holder; a fault if it belongs to another.
    pub(super) async fn hold(&self, name: &str, holder: &Holder) -> Result<(), RegistryFault> {
        {
            let held = self.held();
            match held.get(name) {
                Some(known) if known == holder => return Ok(()),
                Some(_) => return Err(RegistryFault::Held(name.to_owned())),
                None => {}
            }
            if held.values().filter(|known| *known == holder).count() >= MAX_NAMES {
                return Err(RegistryFault::ManyNames(MAX_NAMES));
            }
        }
        // Stored before it counts, so that a granted name survives a crash.
        self.store.hold(name, holder).await.map_err(RegistryFault::NotStored)?;
        self.held().insert(name.to_owned(), holder.clone());
        Ok(())
    }

    /// Releases a name; returns the former holder.
    pub(super) async fn release(&self, name: &str) -> Result<Option<Holder>, RegistryFault> {
        self.store.release(name).await.map_err(RegistryFault::NotStored)?;
        Ok(self.held().remove(name))
    }
}
