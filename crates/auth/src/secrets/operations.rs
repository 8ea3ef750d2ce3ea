//! Operations on secrets. The operator has those of the gateway; over HTTP, callers have their own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ::operations::{Caller, NoInput, Operation, OperationError, Route, Table};
use proto::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::service::SecretService;
use crate::scope::TOOLS_CALL;

/// The operations on secrets.
pub fn table(service: &Arc<SecretService>) -> Table {
    Table::default()
        .with::<SetSecret>(service)
        .with::<ListSecrets>(service)
        .with::<FindSecret>(service)
        .with::<RemoveSecret>(service)
        .with::<SetOwnSecret>(service)
        .with::<ListOwnSecrets>(service)
        .with::<RemoveOwnSecret>(service)
}

/// A value on its way to the vault; prints as `****`.
#[derive(Clone, JsonSchema)]
#[schemars(with = "String")]
pub struct SecretText(pub Secret);

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("****")
    }
}

impl Serialize for SecretText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.expose())
    }
}

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The default message for another type would repeat the value.
        let text = serde_json::Value::deserialize(deserializer)?;
        let text = text.as_str().map(|text| Self(Secret::new(text)));
        text.ok_or_else(|| serde::de::Error::custom("the value of a secret must be a string"))
    }
}

/// A secret to store.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetSecretInput {
    pub name: String,
    pub value: SecretText,
}

/// Names a secret.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretInput {
    pub name: String,
}

/// A secret of the gateway, without its value.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SecretView {
    pub name: String,
    /// When it was stored; unset if the config asks for it and the vault does not have it.
    pub stored_unix_ms: Option<u64>,
    /// Whether the config uses it, or may use it.
    pub used: bool,
    /// Why it is not known whether the config uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// Whether the vault's key opens it.
    pub readable: bool,
    /// The column of its stored row that cannot be read. If that is the name, `name` is `?`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
}

impl SecretView {
    /// Whether the vault has it, readable or not.
    pub fn is_stored(&self) -> bool {
        self.stored_unix_ms.is_some() || self.damaged.is_some()
    }
}

/// A secret of which each person has a value of their own.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PersonalSecretView {
    pub name: String,
    /// The servers that use it.
    pub servers: Vec<String>,
    /// When the caller has stored a value; unset if they have not.
    pub stored_unix_ms: Option<u64>,
}

/// The caller's own secrets.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PersonalSecretList {
    pub secrets: Vec<PersonalSecretView>,
}

/// What was stored or removed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SecretName {
    pub name: String,
}

pub struct SetSecret;

impl Operation for SetSecret {
    const NAME: &'static str = "powerstrip.secrets.set";
    const SUMMARY: &'static str = "Store a secret of the gateway";
    type Service = SecretService;
    type Input = SetSecretInput;
    type Output = SecretName;

    async fn run(
        service: Arc<SecretService>,
        caller: Caller,
        SetSecretInput { name, value }: SetSecretInput,
    ) -> Result<SecretName, OperationError> {
        service.set_of_gateway(&caller.principal, &name, value.0).await?;
        Ok(SecretName { name })
    }
}

pub struct ListSecrets;

impl Operation for ListSecrets {
    const NAME: &'static str = "powerstrip.secrets.list";
    const SUMMARY: &'static str = "List the secrets of the gateway without their values";
    type Service = SecretService;
    type Input = NoInput;
    type Output = Vec<SecretView>;

    async fn run(
        service: Arc<SecretService>,
        _: Caller,
        _: NoInput,
    ) -> Result<Vec<SecretView>, OperationError> {
        let names = service.names();
        let mut views: BTreeMap<String, SecretView> = BTreeMap::new();
        for secret in service.list_of_gateway().await? {
            let named =
                names.gateway.contains(&secret.name) || names.personal.contains_key(&secret.name);
            let unknown = if secret.is_nameless() {
                Some("its name is damaged".to_owned())
            } else {
                names.incomplete.clone().filter(|_| !named)
            };
            let view = SecretView {
                name: secret.name.clone(),
                stored_unix_ms: secret.at_ms,
                used: named || unknown.is_some(),
                unknown,
                readable: secret.readable,
                damaged: secret.damaged,
            };
            // A second row of the same name has a damaged issuer: the first one is used.
            views.entry(secret.name).or_insert(view);
        }
        for name in &names.gateway {
            views.entry(name.clone()).or_insert_with(|| SecretView {
                name: name.clone(),
                stored_unix_ms: None,
                used: true,
                unknown: None,
                readable: false,
                damaged: None,
            });
        }
        Ok(views.into_values().collect())
    }
}

/// A value to look for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindSecretInput {
    pub value: SecretText,
}

/// The secret that has the value, if there is one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FoundSecret {
    pub name: Option<String>,
}

/// For the operator only, like all operations without a route: a caller who knows a value learns whether it is stored.
pub struct FindSecret;

impl Operation for FindSecret {
    const NAME: &'static str = "powerstrip.secrets.find";
    const SUMMARY: &'static str = "Find the secret of the gateway that has this value";
    type Service = SecretService;
    type Input = FindSecretInput;
    type Output = FoundSecret;

    async fn run(
        service: Arc<SecretService>,
        _: Caller,
        FindSecretInput { value }: FindSecretInput,
    ) -> Result<FoundSecret, OperationError> {
        Ok(FoundSecret { name: service.find_of_gateway(&value.0).await? })
    }
}

pub struct RemoveSecret;

impl Operation for RemoveSecret {
    const NAME: &'static str = "powerstrip.secrets.remove";
    const SUMMARY: &'static str = "Remove a secret of the gateway";
    type Service = SecretService;
    type Input = SecretInput;
    type Output = SecretName;

    async fn run(
        service: Arc<SecretService>,
        caller: Caller,
        SecretInput { name }: SecretInput,
    ) -> Result<SecretName, OperationError> {
        service.remove_of_gateway(&caller.principal, &name).await?;
        Ok(SecretName { name })
    }
}

pub struct SetOwnSecret;

impl Operation for SetOwnSecret {
    const NAME: &'static str = "powerstrip.secrets.own.set";
    const SUMMARY: &'static str = "Store the caller's own value of a secret";
    const ROUTE: Option<Route> =
        Some(Route::post("/v1/secrets/{name}", TOOLS_CALL, "secrets.setOwn"));
    type Service = SecretService;
    type Input = SetSecretInput;
    type Output = SecretName;

    async fn run(
        service: Arc<SecretService>,
        caller: Caller,
        SetSecretInput { name, value }: SetSecretInput,
    ) -> Result<SecretName, OperationError> {
        service.set_of_person(&caller.principal, &name, value.0).await?;
        Ok(SecretName { name })
    }
}

pub struct ListOwnSecrets;

impl Operation for ListOwnSecrets {
    const NAME: &'static str = "powerstrip.secrets.own.list";
    const SUMMARY: &'static str = "List the secrets of which each person has a value of their own";
    const ROUTE: Option<Route> = Some(Route::get("/v1/secrets", TOOLS_CALL, "secrets.listOwn"));
    type Service = SecretService;
    type Input = NoInput;
    type Output = PersonalSecretList;

    async fn run(
        service: Arc<SecretService>,
        caller: Caller,
        _: NoInput,
    ) -> Result<PersonalSecretList, OperationError> {
        let secrets = service.list_of_person(&caller.principal).await?;
        Ok(PersonalSecretList { secrets })
    }
}

pub struct RemoveOwnSecret;

impl Operation for RemoveOwnSecret {
    const NAME: &'static str = "powerstrip.secrets.own.remove";
    const SUMMARY: &'static str = "Remove the caller's own value of a secret";
    const ROUTE: Option<Route> =
        Some(Route::delete("/v1/secrets/{name}", TOOLS_CALL, "secrets.removeOwn"));
    type Service = SecretService;
    type Input = SecretInput;
    type Output = SecretName;

    async fn run(
        service: Arc<SecretService>,
        caller: Caller,
        SecretInput { name }: SecretInput,
    ) -> Result<SecretName, OperationError> {
        service.remove_of_person(&caller.principal, &name).await?;
        Ok(SecretName { name })
    }
}
