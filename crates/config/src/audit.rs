//! `audit`: what is kept of calls in addition to their audit rows.

use std::time::Duration;

use schemars::JsonSchema;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use crate::Span;

/// What is kept of calls in addition to their audit rows, which are always written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Audit {
    /// How long messages of failures, and arguments and results if they are kept, are stored. Audit rows stay.
    pub keep: Span,
    /// Whether arguments and results are kept: `off`, or `redacted` for the first 16 KiB of each, with known secrets
    /// and values of keys such as `password` masked.
    pub payloads: Payloads,
}

impl Default for Audit {
    fn default() -> Self {
        let keep = Span(Duration::from_secs(90 * 24 * 60 * 60));
        Self { keep, payloads: Payloads::default() }
    }
}

/// Whether arguments and results of calls are kept: `off` or `redacted`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Payloads {
    /// They are not kept.
    #[default]
    Off,
    /// They are kept, with secrets masked and long ones cut.
    Redacted,
}

impl<'de> Deserialize<'de> for Payloads {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Word;
        impl Visitor<'_> for Word {
            type Value = Payloads;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`off` or `redacted`")
            }

            // YAML reads `off` as a boolean.
            fn visit_bool<E: de::Error>(self, on: bool) -> Result<Payloads, E> {
                if on {
                    Err(E::custom("`on` is not one of `off`, `redacted`"))
                } else {
                    Ok(Payloads::Off)
                }
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Payloads, E> {
                match word {
                    "off" => Ok(Payloads::Off),
                    "redacted" => Ok(Payloads::Redacted),
                    other => Err(E::custom(format!("`{other}` is not one of `off`, `redacted`"))),
                }
            }
        }
        deserializer.deserialize_any(Word)
    }
}
