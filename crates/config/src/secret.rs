//! Secrets. The config names their source and never contains them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::auth::secrets::{SecretValues, check_name};
use environment::Environment;
use proto::Secret;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// How a secret is written.
const FORMS: &str = "`{env: NAME}`, `{file: PATH}` or `{secret: NAME}`";

/// Takes the place of any secret while a config is checked without its secrets.
const ASSUMED: &str = "assumed";

/// The largest file of a secret, such as a chain of certificates.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Where a secret comes from: `{env: NAME}`, `{file: PATH}` or `{secret: NAME}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SecretSource {
    Env {
        /// The environment variable that holds the secret.
        env: String,
    },
    File {
        /// The file that holds the secret; a newline at its end is not part of it.
        file: PathBuf,
    },
    Vault {
        /// The secret's name in the vault, as `powerstrip secret set NAME` stores it.
        secret: String,
        /// `person`: each person stores a value of their own, which is used for their calls only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        per: Option<Per>,
    },
}

/// Whether each person has a value of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    Person,
}

/// Why a secret could not be fetched. The messages say how to provide it and never contain it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretFault {
    #[error(
        "the environment variable `{0}` is not set; set it where the gateway runs, or write it to `.env` next to the \
         config file"
    )]
    Unset(String),
    #[error("cannot read the secret in {path}: {why}")]
    Unreadable { path: PathBuf, why: std::io::Error },
    #[error("the secret in {0} is empty")]
    Empty(PathBuf),
    #[error("the vault has no secret `{0}`; store it with `powerstrip secret set {0}`")]
    NotStored(String),
    #[error("`per: person` is possible only in `env` and `headers` of a server")]
    Personal,
    #[error(
        "is needed before the vault is open: write `{{env: NAME}}` or `{{file: PATH}}` instead of `{{secret: NAME}}`"
    )]
    BeforeVault,
}

/// The secrets of the vault that a config can use.
#[derive(Clone, Debug, Default)]
pub struct VaultSecrets {
    /// Those of the gateway.
    pub gateway: Arc<SecretValues>,
    /// Those of the local user, where there is no other: tools may be listed with them.
    pub local_user: Option<Arc<SecretValues>>,
}

impl VaultSecrets {
    /// The value with which the tools of a server are listed that takes a value of each person.
    fn for_listing(&self, name: &str) -> Option<&Secret> {
        let own = || self.local_user.as_ref().and_then(|values| values.get(name));
        self.gateway.get(name).or_else(own)
    }
}

/// Fetches secrets.
#[derive(Clone, Copy)]
pub(crate) struct SecretReader<'a> {
    environment: &'a Environment,
    /// The folder of the config file, at which relative files start.
    base: &'a Path,
    vault: Vault<'a>,
}

#[derive(Clone, Copy)]
enum Vault<'a> {
    /// Every secret is taken to exist, wherever it comes from.
    Assumed,
    /// The vault is not open yet.
    Closed,
    Open(&'a VaultSecrets),
}

impl<'a> SecretReader<'a> {
    /// For checking a config without its secrets.
    pub(crate) fn assuming(environment: &'a Environment, base: &'a Path) -> Self {
        Self { environment, base, vault: Vault::Assumed }
    }

    /// For secrets that are needed before the vault is open.
    pub(crate) fn without_vault(environment: &'a Environment, base: &'a Path) -> Self {
        Self { environment, base, vault: Vault::Closed }
    }

    pub(crate) fn with_vault(
        environment: &'a Environment,
        base: &'a Path,
        vault: &'a VaultSecrets,
    ) -> Self {
        Self { environment, base, vault: Vault::Open(vault) }
    }

    /// Whether values refer to others.
    pub(crate) fn is_assuming(&self) -> bool {
        matches!(self.vault, Vault::Assumed)
    }

    /// The folder at which relative files start.
    pub(crate) fn base(&self) -> &Path {
        self.base
    }

    /// The value with which the tools of a server are listed that takes a value of each person.
    pub(crate) fn for_listing(&self, name: &str) -> Option<Secret> {
        match self.vault {
            Vault::Open(vault) => vault.for_listing(name).cloned(),
            Vault::Assumed | Vault::Closed => None,
        }
    }
}

impl SecretSource {
    /// Fetches the secret.
    pub(crate) fn fetch(&self, reader: &SecretReader<'_>) -> Result<Secret, SecretFault> {
        match (self, reader.vault) {
            (Self::Vault { per: Some(Per::Person), .. }, _) => Err(SecretFault::Personal),
            (Self::Vault { .. }, Vault::Closed) => Err(SecretFault::BeforeVault),
            (_, Vault::Assumed) => Ok(Secret::new(ASSUMED)),
            (Self::Vault { secret, .. }, Vault::Open(vault)) => vault
                .gateway
                .get(secret)
                .cloned()
                .ok_or_else(|| SecretFault::NotStored(secret.clone())),
            (Self::Env { env }, _) => reader
                .environment
                .secret(env)
                .map(Secret::new)
                .ok_or_else(|| SecretFault::Unset(env.clone())),
            (Self::File { file }, _) => {
                let path = reader.base.join(file);
                match userfiles::read_text(&path, MAX_FILE_BYTES) {
                    Ok(text) if text.trim_end_matches(['\r', '\n']).is_empty() => {
                        Err(SecretFault::Empty(path))
                    }
                    Ok(text) => Ok(Secret::new(text.trim_end_matches(['\r', '\n']))),
                    Err(why) => Err(SecretFault::Unreadable { path, why }),
                }
            }
        }
    }

    /// The name of the secret of which each person has a value of their own.
    pub(crate) fn personal(&self) -> Option<&str> {
        match self {
            Self::Vault { secret, per: Some(Per::Person) } => Some(secret),
            _ => None,
        }
    }

    /// The name of the gateway's secret in the vault.
    pub(crate) fn vault_name(&self) -> Option<&str> {
        match self {
            Self::Vault { secret, per: None } => Some(secret),
            _ => None,
        }
    }
}

/// A header's value: plain text, or a secret.
#[derive(Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum HeaderSource {
    /// Plain text.
    Plain(String),
    /// A secret, by name.
    Secret(SecretSource),
    /// A secret behind a text, such as `Bearer `.
    #[schemars(skip)]
    Prefixed {
        prefix: String,
        #[serde(flatten)]
        source: SecretSource,
    },
}

impl fmt::Debug for HeaderSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Users do write tokens here, although the reference says not to.
            Self::Plain(_) => f.write_str("****"),
            Self::Secret(source) | Self::Prefixed { source, .. } => fmt::Debug::fmt(source, f),
        }
    }
}

impl HeaderSource {
    /// The value to send.
    pub(crate) fn fetch(&self, reader: &SecretReader<'_>) -> Result<Secret, SecretFault> {
        match self {
            Self::Plain(text) => Ok(Secret::new(text)),
            Self::Secret(source) => source.fetch(reader),
            Self::Prefixed { prefix, source } => {
                Ok(Secret::new(format!("{prefix}{}", source.fetch(reader)?.expose())))
            }
        }
    }

    /// The source of a secret, and the text before it.
    pub(crate) fn source(&self) -> Option<(&SecretSource, &str)> {
        match self {
            Self::Plain(_) => None,
            Self::Secret(source) => Some((source, "")),
            Self::Prefixed { prefix, source } => Some((source, prefix)),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reference {
    env: Option<String>,
    file: Option<PathBuf>,
    secret: Option<String>,
    per: Option<Per>,
    prefix: Option<String>,
}

impl Reference {
    fn source<E: de::Error>(self) -> Result<SecretSource, E> {
        if self.per.is_some() && self.secret.is_none() {
            return Err(E::custom("`per` goes with `{secret: NAME}`"));
        }
        match (self.env, self.file, self.secret) {
            (Some(env), None, None) if !env.is_empty() => Ok(SecretSource::Env { env }),
            (None, Some(file), None) if !file.as_os_str().is_empty() => {
                Ok(SecretSource::File { file })
            }
            (None, None, Some(secret)) => {
                check_name(&secret).map_err(E::custom)?;
                Ok(SecretSource::Vault { secret, per: self.per })
            }
            _ => Err(E::custom(format_args!("a secret is written {FORMS}"))),
        }
    }
}

impl<'de> Deserialize<'de> for SecretSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SecretOnly;
        impl<'de> Visitor<'de> for SecretOnly {
            type Value = SecretSource;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(FORMS)
            }

            // The default message would repeat the value, which may be the secret.
            fn visit_str<E: de::Error>(self, _: &str) -> Result<SecretSource, E> {
                Err(E::custom(format_args!("a secret is not written in the config, but {FORMS}")))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SecretSource, A::Error> {
                let reference = Reference::deserialize(MapAccessDeserializer::new(map))?;
                if reference.prefix.is_some() {
                    return Err(de::Error::custom(
                        "`prefix` is possible only in `env` and `headers`",
                    ));
                }
                reference.source()
            }
        }
        deserializer.deserialize_any(SecretOnly)
    }
}

impl<'de> Deserialize<'de> for HeaderSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrSecret;
        impl<'de> Visitor<'de> for TextOrSecret {
            type Value = HeaderSource;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "text, {FORMS}")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<HeaderSource, E> {
                Ok(HeaderSource::Plain(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HeaderSource, A::Error> {
                let mut reference = Reference::deserialize(MapAccessDeserializer::new(map))?;
                let prefix = reference.prefix.take();
                let source = reference.source()?;
                Ok(match prefix {
                    Some(prefix) => HeaderSource::Prefixed { prefix, source },
                    None => HeaderSource::Secret(source),
                })
            }
        }
        deserializer.deserialize_any(TextOrSecret)
    }
}

#[cfg(test)]
mod tests;
