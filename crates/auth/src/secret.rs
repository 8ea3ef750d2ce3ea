use proto::Secret;

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

    /// Serializes a secret that may be missing.
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
