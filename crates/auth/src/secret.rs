use std::fmt;

use secrecy::{ExposeSecret as _, SecretString};

/// A secret's text: printed as `****`, wiped when it is dropped.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(SecretString::from(value.into()))
    }

    /// The value, for the one place that sends or seals it.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("****")
    }
}

/// Only for detecting config changes: the comparison is not constant-time.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl Eq for Secret {}

/// Serialization in plain text, only for records that the vault seals.
pub(crate) mod sealed {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::Secret;

    pub(crate) fn serialize<S: Serializer>(secret: &Secret, to: S) -> Result<S::Ok, S::Error> {
        secret.expose().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Secret, D::Error> {
        String::deserialize(from).map(Secret::new)
    }

    /// The same for a secret that may be missing.
    pub(crate) mod optional {
        use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

        use super::Secret;

        pub(crate) fn serialize<S: Serializer>(
            secret: &Option<Secret>,
            to: S,
        ) -> Result<S::Ok, S::Error> {
            secret.as_ref().map(Secret::expose).serialize(to)
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
            from: D,
        ) -> Result<Option<Secret>, D::Error> {
            Ok(Option::<String>::deserialize(from)?.map(Secret::new))
        }
    }
}
