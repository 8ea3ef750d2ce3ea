//! Operations on the names of registered servers. Only the operator has them.

use std::sync::Arc;

use ::operations::{Caller, NoInput, Operation, OperationError, Table};
use proto::{Code, clean};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Registry, RegistryFault};

/// The operations on names.
pub fn table(registry: &Arc<Registry>) -> Table {
    Table::default().with::<ListNames>(registry).with::<ReleaseName>(registry)
}

/// A name and its holder.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HeldName {
    pub name: String,
    pub tenant: String,
    pub owner: String,
    /// Whether a server is registered under it now.
    pub served: bool,
}

pub struct ListNames;

impl Operation for ListNames {
    const NAME: &'static str = "powerstrip.names";
    const SUMMARY: &'static str = "List the names of registered servers and their holders";
    type Service = Registry;
    type Input = NoInput;
    type Output = Vec<HeldName>;

    async fn run(
        registry: Arc<Registry>,
        _: Caller,
        _: NoInput,
    ) -> Result<Vec<HeldName>, OperationError> {
        let leases = registry.leases();
        let names = registry.names().into_iter().map(|(name, holder)| {
            let served = leases.contains_key(&name);
            HeldName { name, tenant: holder.tenant, owner: holder.owner, served }
        });
        Ok(names.collect())
    }
}

/// Names the server whose name is released.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseInput {
    pub name: String,
}

/// A released name and its former holder.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReleasedName {
    pub name: String,
    pub tenant: String,
    pub owner: String,
}

pub struct ReleaseName;

impl Operation for ReleaseName {
    const NAME: &'static str = "powerstrip.release";
    const SUMMARY: &'static str = "Release a name so that another token can register it";
    type Service = Registry;
    type Input = ReleaseInput;
    type Output = ReleasedName;

    async fn run(
        registry: Arc<Registry>,
        _: Caller,
        ReleaseInput { name }: ReleaseInput,
    ) -> Result<ReleasedName, OperationError> {
        let released = registry.release(&name).await;
        let released = released.map_err(|fault: RegistryFault| {
            OperationError::new(Code::Unavailable, fault.to_string())
        })?;
        let Some(holder) = released else {
            let shown: String = clean::visible(&name).chars().take(200).collect();
            return Err(OperationError::not_found(format!("no token holds the name `{shown}`")));
        };
        tracing::info!(server = name, "the operator released a name");
        Ok(ReleasedName { name, tenant: holder.tenant, owner: holder.owner })
    }
}
