//! Secrets. The config names their source and never contains them.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use crate::environment::Environment;

/// A secret's value; prints as `****`.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(SecretString::from(value.into()))
    }

    /// The value, for sending it.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("****")
    }
}

/// Where a secret comes from: `{env: NAME}` or `{file: PATH}`.
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
}

/// Why a secret could not be fetched. The messages never contain it.
#[derive(Debug, thiserror::Error)]
pub enum SecretFault {
    #[error("the environment variable `{0}` is not set")]
    Unset(String),
    #[error("cannot read the secret in {path}: {why}")]
    Unreadable { path: PathBuf, why: std::io::Error },
    #[error("the secret in {0} is empty")]
    Empty(PathBuf),
}

impl SecretSource {
    /// Fetches the secret; relative files are relative to `base`, the folder of the config file.
    pub fn fetch(&self, environment: &Environment, base: &Path) -> Result<Secret, SecretFault> {
        match self {
            Self::Env { env } => environment
                .secret(env)
                .map(Secret::new)
                .ok_or_else(|| SecretFault::Unset(env.clone())),
            Self::File { file } => {
                let path = base.join(file);
                match std::fs::read_to_string(&path) {
                    Ok(text) if text.trim_end_matches(['\r', '\n']).is_empty() => {
                        Err(SecretFault::Empty(path))
                    }
                    Ok(text) => Ok(Secret::new(text.trim_end_matches(['\r', '\n']))),
                    Err(why) => Err(SecretFault::Unreadable { path, why }),
                }
            }
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
}

impl fmt::Debug for HeaderSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Users do write tokens here, although the reference says not to.
            Self::Plain(_) => f.write_str("****"),
            Self::Secret(source) => fmt::Debug::fmt(source, f),
        }
    }
}

impl HeaderSource {
    /// The value to send.
    pub fn fetch(&self, environment: &Environment, base: &Path) -> Result<Secret, SecretFault> {
        match self {
            Self::Plain(text) => Ok(Secret::new(text)),
            Self::Secret(source) => source.fetch(environment, base),
        }
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Reference {
    env: Option<String>,
    file: Option<PathBuf>,
}

impl Reference {
    fn source<E: de::Error>(self) -> Result<SecretSource, E> {
        match (self.env, self.file) {
            (Some(env), None) if !env.is_empty() => Ok(SecretSource::Env { env }),
            (None, Some(file)) if !file.as_os_str().is_empty() => Ok(SecretSource::File { file }),
            _ => Err(E::custom("a secret is written `{env: NAME}` or `{file: PATH}`")),
        }
    }
}

impl<'de> Deserialize<'de> for SecretSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SecretOnly;
        impl<'de> Visitor<'de> for SecretOnly {
            type Value = SecretSource;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`{env: NAME}` or `{file: PATH}`")
            }

            // The default message would repeat the value, which may be the secret.
            fn visit_str<E: de::Error>(self, _: &str) -> Result<SecretSource, E> {
                Err(E::custom(
                    "a secret is not written in the config, but `{env: NAME}` or `{file: PATH}`",
                ))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SecretSource, A::Error> {
                Reference::deserialize(MapAccessDeserializer::new(map))?.source()
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
                f.write_str("text, `{env: NAME}` or `{file: PATH}`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<HeaderSource, E> {
                Ok(HeaderSource::Plain(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HeaderSource, A::Error> {
                Reference::deserialize(MapAccessDeserializer::new(map))?
                    .source()
                    .map(HeaderSource::Secret)
            }
        }
        deserializer.deserialize_any(TextOrSecret)
    }
}
