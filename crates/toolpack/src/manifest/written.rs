//! The fields of a `*.tool.yaml` as they are written.

use std::collections::BTreeMap;

use proto::{Annotations, Caps, FileStrategy, WrittenFileArgs};
use schema::yaml::{Location, Spanned};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Written {
    pub(super) id: Spanned<String>,
    pub(super) version: Spanned<String>,
    pub(super) title: Option<String>,
    pub(super) description: Option<Spanned<String>>,
    #[serde(default = "yes")]
    pub(super) deterministic: bool,
    pub(super) timeout_ms: Option<Spanned<usize>>,
    #[serde(default)]
    pub(super) limits: Limits,
    #[serde(default = "no_caps")]
    pub(super) caps: Spanned<Caps>,
    pub(super) input_schema: Spanned<Value>,
    pub(super) output_schema: Spanned<Value>,
    pub(super) execution: Execution,
    #[serde(default)]
    pub(super) env: Env,
    #[serde(default)]
    pub(super) templating: Templating,
    pub(super) on_success: Option<OnSuccess>,
    #[serde(default)]
    pub(super) annotations: Annotations,
    #[serde(rename = "file_strategy")]
    pub(super) file_strategy: Option<Spanned<FileStrategy>>,
    #[serde(rename = "file_args")]
    pub(super) file_args: Option<Spanned<WrittenFileArgs>>,
    pub(super) idempotency: Option<Spanned<Idempotency>>,
    #[serde(default)]
    pub(super) examples: Vec<Example>,
}

/// An example call of a pack, run by `check --run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    pub input: Value,
    pub data: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Limits {
    pub(super) max_input_bytes: Option<Spanned<usize>>,
    pub(super) max_output_bytes: Option<Spanned<usize>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Env {
    pub(super) passthrough: Vec<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Templating {
    /// Read only to refuse any other engine.
    #[serde(rename = "engine")]
    _engine: Engine,
    pub(super) cache_key: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Engine {
    #[default]
    Jinja2,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OnSuccess {
    pub(super) path: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Idempotency {
    pub(super) key: Key,
}

/// Whether a call must have an idempotency key.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Key {
    Optional,
    Required,
}

impl Key {
    pub(super) fn required(self) -> bool {
        self == Self::Required
    }
}

/// The fields of all kinds; which of them belong together is checked later, with better messages.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Execution {
    pub(super) kind: Spanned<Kind>,
    pub(super) cmd: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) allow_leading_dash: Option<Spanned<bool>>,
    pub(super) module: Option<Spanned<String>>,
    pub(super) script: Option<Spanned<String>>,
    pub(super) python: Option<Spanned<String>>,
    pub(super) node: Option<Spanned<String>>,
    pub(super) node_binary: Option<Spanned<String>>,
    pub(super) php: Option<Spanned<String>>,
    pub(super) php_binary: Option<Spanned<String>>,
    pub(super) workers: Option<Spanned<usize>>,
    pub(super) url: Option<Spanned<String>>,
    pub(super) method: Option<Spanned<String>>,
    pub(super) headers: Option<Spanned<BTreeMap<String, Spanned<String>>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Cli,
    Python,
    Node,
    Php,
    Http,
}

fn yes() -> bool {
    true
}

fn no_caps() -> Spanned<Caps> {
    Spanned::new(Caps::default(), Location::UNKNOWN, Location::UNKNOWN)
}
