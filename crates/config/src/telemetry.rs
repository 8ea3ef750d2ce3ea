//! `telemetry`: logs and traces of the gateway.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize};

use crate::secret::HeaderSource;

/// Logs and traces.
#[derive(Clone, Debug, Default, PartialEq, DeriveDeserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Telemetry {
    /// The OTLP/HTTP collector for traces: a URL, or an endpoint with headers.
    pub otlp: Option<Otlp>,
    /// The format of log lines on standard error.
    pub logs: LogFormat,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, DeriveDeserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for programs.
    Json,
}

/// An OTLP collector.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(with = "UrlOrCollector")]
pub struct Otlp {
    pub endpoint: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, HeaderSource>,
}

#[derive(DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Collector {
    /// The collector's base URL; `/v1/traces` is added to it.
    endpoint: String,
    /// Headers to send, such as `authorization: {env: OTLP_TOKEN}`.
    #[serde(default)]
    headers: BTreeMap<String, HeaderSource>,
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the shape of the setting, for its JSON Schema")]
enum UrlOrCollector {
    /// The collector's base URL.
    Url(String),
    Collector(Collector),
}

impl Otlp {
    fn checked<E: de::Error>(collector: Collector) -> Result<Self, E> {
        let Collector { endpoint, headers } = collector;
        if !(endpoint.starts_with("http://") || endpoint.starts_with("https://")) {
            return Err(E::custom(format_args!(
                "`{endpoint}` is not a collector's URL, such as `http://127.0.0.1:4318`"
            )));
        }
        Ok(Self { endpoint: endpoint.trim_end_matches('/').to_owned(), headers })
    }
}

impl<'de> Deserialize<'de> for Otlp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct UrlOrMap;
        impl<'de> Visitor<'de> for UrlOrMap {
            type Value = Otlp;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a URL, or `{endpoint: URL, headers: {…}}`")
            }

            fn visit_str<E: de::Error>(self, url: &str) -> Result<Otlp, E> {
                Otlp::checked(Collector { endpoint: url.to_owned(), headers: BTreeMap::new() })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Otlp, A::Error> {
                Otlp::checked(Collector::deserialize(MapAccessDeserializer::new(map))?)
            }
        }
        deserializer.deserialize_any(UrlOrMap)
    }
}
