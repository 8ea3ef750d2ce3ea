//! The guards of all providers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use proto::Clock;

use super::slot::Guard;
use crate::settings::{ProviderName, ProviderSettings};

/// Circuit breakers and used quotas, one of each per provider. Adapters keep them when the settings change.
#[derive(Default)]
pub struct Guards(Mutex<BTreeMap<ProviderName, Arc<Guard>>>);

impl Guards {
    /// The guard of a provider. It is a new one if the provider is asked with another quota, key or URL.
    pub fn of(&self, name: ProviderName, settings: &ProviderSettings, clock: &Clock) -> Arc<Guard> {
        let mut guards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match guards.get(&name) {
            Some(guard) if guard.is_for(settings) => Arc::clone(guard),
            _ => {
                let guard = Arc::new(Guard::new(settings, clock));
                guards.insert(name, Arc::clone(&guard));
                guard
            }
        }
    }
}
