//! Whose a name is. It stays theirs while no server stands under it: agents trust names, and a stranger could wait for one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::terms::MAX_NAMES;
use super::{Holder, RegistryFault};

/// Where names and their holders outlive the gateway.
#[async_trait]
pub trait NameStore: Send + Sync + 'static {
    /// Keeps that a name is somebody's from now on; answers when it is safe.
    async fn hold(&self, name: &str, holder: &Holder) -> Result<(), String>;

    /// Forgets whose a name was.
    async fn release(&self, name: &str) -> Result<(), String>;
}

/// Every name that is somebody's.
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

    /// Gives a name to whoever asks first; a fault if it is somebody else's.
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
        // Safe before it counts: a lease that was given is not forgotten.
        self.store.hold(name, holder).await.map_err(RegistryFault::Unkept)?;
        self.held().insert(name.to_owned(), holder.clone());
        Ok(())
    }

    /// Makes a name nobody's; says whose it was.
    pub(super) async fn release(&self, name: &str) -> Result<Option<Holder>, RegistryFault> {
        self.store.release(name).await.map_err(RegistryFault::Unkept)?;
        Ok(self.held().remove(name))
    }
}
