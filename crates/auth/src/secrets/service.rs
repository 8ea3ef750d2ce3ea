//! Secrets as people and the operator manage them, with audit rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ::operations::OperationError;
use arc_swap::ArcSwap;
use proto::{Clock, Code, Principal, Secret, TraceId, digest};
use store::{AuditRow, CommitQueue};

use super::operations::PersonalSecretView;
use super::{SecretStore, StoredSecret};
use crate::client::Holder;

/// Stores and lists secrets, and writes audit rows about it.
pub struct SecretService {
    store: Arc<SecretStore>,
    audit: CommitQueue,
    names: ArcSwap<SecretNames>,
}

/// The secrets that the config asks for.
#[derive(Clone, Debug, Default)]
pub struct SecretNames {
    /// Of the gateway.
    pub gateway: BTreeSet<String>,
    /// Of each person, with the servers that use them.
    pub personal: BTreeMap<String, BTreeSet<String>>,
    /// Why there may be more: entries of the config cannot be read, or there is no config file.
    pub incomplete: Option<String>,
}

impl SecretService {
    pub fn new(store: Arc<SecretStore>, audit: CommitQueue, names: SecretNames) -> Arc<Self> {
        Arc::new(Self { store, audit, names: ArcSwap::from_pointee(names) })
    }

    /// Takes the names of a changed config.
    pub fn set_names(&self, names: SecretNames) {
        self.names.store(Arc::new(names));
    }

    pub(super) fn names(&self) -> Arc<SecretNames> {
        self.names.load_full()
    }

    /// Stores a secret of the gateway.
    pub(super) async fn set_of_gateway(
        &self,
        principal: &Arc<Principal>,
        name: &str,
        value: Secret,
    ) -> Result<(), OperationError> {
        self.store.set(&Holder::Gateway, name, value).await?;
        self.record(principal, name, "set").await;
        Ok(())
    }

    /// The stored secrets of the gateway.
    pub(super) async fn list_of_gateway(&self) -> Result<Vec<StoredSecret>, OperationError> {
        Ok(self.store.list(&Holder::Gateway).await?)
    }

    /// The name of the gateway's secret that has this value.
    pub(super) async fn find_of_gateway(
        &self,
        value: &Secret,
    ) -> Result<Option<String>, OperationError> {
        Ok(self.store.values(&Holder::Gateway).await?.name_of(value).map(ToOwned::to_owned))
    }

    /// Removes a secret of the gateway.
    pub(super) async fn remove_of_gateway(
        &self,
        principal: &Arc<Principal>,
        name: &str,
    ) -> Result<(), OperationError> {
        self.remove(principal, &Holder::Gateway, name).await
    }

    /// The secrets that the config asks each person for.
    pub async fn list_of_person(
        &self,
        principal: &Principal,
    ) -> Result<Vec<PersonalSecretView>, OperationError> {
        let stored = self.store.list(&self.store.person(principal)).await?;
        let names = self.names();
        let unused: BTreeSet<String> = BTreeSet::new();
        let known = names.personal.iter();
        // A value that no server asks for any more can still be removed.
        let left = stored
            .iter()
            .filter(|secret| !secret.is_nameless() && !names.personal.contains_key(&secret.name));
        let all = known.chain(left.map(|secret| (&secret.name, &unused)));
        let view = |(name, servers): (&String, &BTreeSet<String>)| PersonalSecretView {
            name: name.clone(),
            servers: servers.iter().cloned().collect(),
            stored_unix_ms: stored
                .iter()
                .find(|secret| secret.name == *name && secret.readable)
                .and_then(|secret| secret.at_ms),
        };
        Ok(all.map(view).collect())
    }

    /// Stores a person's own value.
    pub async fn set_of_person(
        &self,
        principal: &Arc<Principal>,
        name: &str,
        value: Secret,
    ) -> Result<(), OperationError> {
        self.require_person(principal)?;
        let names = self.names();
        let known = &names.personal;
        if !known.contains_key(name) {
            let asked: Vec<_> = known.keys().map(|name| format!("`{name}`")).collect();
            let hint = if asked.is_empty() {
                "the config has no `{secret: NAME, per: person}`".to_owned()
            } else {
                format!("the config asks people for {}", asked.join(", "))
            };
            let shown: String = name.chars().take(64).collect();
            let message = format!("no server asks for a personal secret `{shown}`; {hint}");
            return Err(OperationError::not_found(message));
        }
        self.store.set(&self.store.person(principal), name, value).await?;
        self.record(principal, name, "set").await;
        Ok(())
    }

    /// Removes a person's own value.
    pub async fn remove_of_person(
        &self,
        principal: &Arc<Principal>,
        name: &str,
    ) -> Result<(), OperationError> {
        self.require_person(principal)?;
        self.remove(principal, &self.store.person(principal), name).await
    }

    async fn remove(
        &self,
        principal: &Arc<Principal>,
        holder: &Holder,
        name: &str,
    ) -> Result<(), OperationError> {
        if !self.store.remove(holder, name).await? {
            let shown: String = name.chars().take(64).collect();
            return Err(OperationError::not_found(format!("there is no secret `{shown}`")));
        }
        self.record(principal, name, "removed").await;
        Ok(())
    }

    /// An agent that could change a person's secrets could act as another person.
    fn require_person(&self, principal: &Principal) -> Result<(), OperationError> {
        match &principal.agent {
            None => Ok(()),
            Some(_) => {
                let message = "agents cannot store or remove secrets; a person has to";
                Err(OperationError::new(Code::Denied, message))
            }
        }
    }

    async fn record(&self, principal: &Arc<Principal>, name: &str, decision: &'static str) {
        let row = AuditRow {
            trace: TraceId::random(),
            at_unix_ms: Clock::default().unix_ms(),
            caller: Arc::clone(principal),
            door: "secrets".into(),
            tool: format!("secret:{name}").into(),
            version: "".into(),
            definition: None,
            arguments: digest(name.as_bytes()),
            decision: decision.into(),
            outcome: "OK".into(),
            blame: None,
            duration_us: 0,
        };
        if let Err(error) = self.audit.record(row).await {
            tracing::error!(%error, name, "the audit row of a changed secret could not be written");
        }
    }
}
