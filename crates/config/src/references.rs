//! `references`: which parts of answers are stored as files, for all tools and for one server.

use std::fmt;
use std::time::Duration;

use files::{InlineLimits, InlineOverrides};
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::units::{Size, Span};

/// What stays in a tool's answer. Larger parts are stored as files and replaced by references.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct References {
    /// Images and audio of MCP results up to this size. Four of this size may be in one answer.
    pub media: Size,
    /// Text up to this size, or up to the tool's own `maxOutputBytes` where that is larger.
    pub text: Size,
    /// Other binary data up to this size: embedded files, base64.
    pub data: Size,
    /// How long stored parts are kept.
    pub ttl: Span,
}

impl References {
    /// The limits as the strip takes them.
    pub fn limits(&self) -> InlineLimits {
        let (media, text, data) = (self.media.0, self.text.0, self.data.0);
        InlineLimits { media, text, data, ..InlineLimits::default() }
    }
}

impl Default for References {
    fn default() -> Self {
        let InlineLimits { media, text, data, .. } = InlineLimits::default();
        let ttl = Span(Duration::from_secs(24 * 3600));
        Self { media: Size(media), text: Size(text), data: Size(data), ttl }
    }
}

/// Whether large parts of a server's answers are stored, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ServerReferences {
    Switch(StoreLarge),
    Limits(OwnLimits),
}

/// Whether large parts of answers are stored: `on` or `off`, or a YAML boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoreLarge {
    /// They are stored and replaced by references.
    On,
    /// They are passed to the caller unchanged.
    Off,
}

/// The sizes in which a server differs from `references`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OwnLimits {
    /// Images and audio up to this size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media: Option<Size>,
    /// Text up to this size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Size>,
    /// Other binary data up to this size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Size>,
}

impl ServerReferences {
    /// Whether large parts are stored at all.
    pub(crate) fn stores(self) -> bool {
        self != Self::Switch(StoreLarge::Off)
    }

    /// The sizes in which the server differs.
    pub(crate) fn limits(self) -> InlineOverrides {
        match self {
            Self::Switch(_) => InlineOverrides::default(),
            Self::Limits(OwnLimits { media, text, data }) => {
                let bytes = |size: Option<Size>| size.map(|size| size.0);
                InlineOverrides { media: bytes(media), text: bytes(text), data: bytes(data) }
            }
        }
    }
}

impl Default for ServerReferences {
    fn default() -> Self {
        Self::Switch(StoreLarge::On)
    }
}

impl<'de> Deserialize<'de> for ServerReferences {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;
        impl<'de> Visitor<'de> for Written {
            type Value = ServerReferences;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`on`, `off` or sizes, such as `{media: 4MB}`")
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<ServerReferences, E> {
                let switch = if on { StoreLarge::On } else { StoreLarge::Off };
                Ok(ServerReferences::Switch(switch))
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<ServerReferences, E> {
                match word {
                    "on" => self.visit_bool(true),
                    "off" => self.visit_bool(false),
                    other => Err(E::custom(format!(
                        "`{other}` is neither `on` nor `off` nor sizes, such as `{{media: 4MB}}`"
                    ))),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, sizes: A) -> Result<ServerReferences, A::Error> {
                OwnLimits::deserialize(MapAccessDeserializer::new(sizes))
                    .map(ServerReferences::Limits)
            }
        }
        deserializer.deserialize_any(Written)
    }
}
