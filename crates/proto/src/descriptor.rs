use std::time::Duration;

use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::canonical::{self, Digest, digest};
use crate::{FileRule, ToolId, clean};

/// The key of MCP Apps in a tool's `_meta`, and the key of the app's URI in it.
pub const UI_META: &str = "ui";
pub const UI_RESOURCE: &str = "resourceUri";

/// The older key of the app's URI in a tool's `_meta`.
pub const UI_RESOURCE_META: &str = "ui/resourceUri";

/// The definition of a tool.
#[derive(Clone, Debug)]
pub struct Descriptor {
    pub id: ToolId,
    /// Whether MCP clients see the name without its server, where no other tool has that name.
    pub unprefixed: bool,
    pub version: Version,
    pub title: Option<String>,
    pub description: String,
    pub input_schema: Value,
    pub output_schema: Option<Value>,
    /// Equal inputs give equal answers, so that an answer may be recorded and given again.
    pub deterministic: bool,
    pub limits: RequestedLimits,
    pub caps: Caps,
    pub annotations: Annotations,
    /// The digest of the tool's code (a script, a command), if it is known.
    pub implementation: Option<Digest>,
    /// How it takes files, if declared.
    pub files: Option<FileRule>,
    /// The `_meta` of a server's tool, for MCP clients.
    pub meta: Option<Map<String, Value>>,
    /// Other fields of a server's tool, as the server lists them (`icons`, `execution`, …). `annotations` has the hints
    /// that are not among [`Annotations`].
    pub extra: Map<String, Value>,
}

/// Limits that a tool requests, within the operator's bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestedLimits {
    pub timeout: Option<Duration>,
    pub max_input_bytes: Option<usize>,
    pub max_output_bytes: Option<usize>,
}

/// Limits in force for a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub timeout: Duration,
    pub max_input_bytes: usize,
    pub max_output_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            max_input_bytes: 65_536,
            max_output_bytes: 262_144,
        }
    }
}

impl RequestedLimits {
    /// The limits in force: the tool's or the operator's default, never above the operator's maximum.
    pub fn within(self, default: Limits, max: Limits) -> Limits {
        Limits {
            timeout: self.timeout.unwrap_or(default.timeout).min(max.timeout),
            max_input_bytes: self
                .max_input_bytes
                .unwrap_or(default.max_input_bytes)
                .min(max.max_input_bytes),
            max_output_bytes: self
                .max_output_bytes
                .unwrap_or(default.max_output_bytes)
                .min(max.max_output_bytes),
        }
    }
}

/// The network and files that a tool may access; the sandbox refuses everything else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Caps {
    /// Schemes (`https`) or hosts (`api.example.com`).
    pub network: Vec<String>,
    pub files: FileCaps,
}

/// Folders and files outside its own working folder that a tool may access.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileCaps {
    pub read: Vec<String>,
    pub write: Vec<String>,
}

/// MCP's hints about a tool's behaviour.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Annotations {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl Descriptor {
    /// Whether a call may have side effects; its answer then waits for its audit row.
    pub fn side_effecting(&self) -> bool {
        !self.deterministic && self.annotations.read_only_hint != Some(true)
    }

    /// The URI of the app in which hosts with MCP Apps show the tool's results.
    pub fn ui_resource(&self) -> Option<&str> {
        let meta = self.meta.as_ref()?;
        let nested = meta.get(UI_META).and_then(|ui| ui.get(UI_RESOURCE));
        nested.or_else(|| meta.get(UI_RESOURCE_META))?.as_str()
    }

    /// Whether models may call the tool; some tools are only for the apps of their server.
    pub fn is_for_models(&self) -> bool {
        self.is_visible_to("model")
    }

    /// Whether the apps of its server may call the tool.
    pub fn is_for_apps(&self) -> bool {
        self.is_visible_to("app")
    }

    fn is_visible_to(&self, who: &str) -> bool {
        let ui = self.meta.as_ref().and_then(|meta| meta.get(UI_META));
        let visibility = ui.and_then(|ui| ui.get("visibility")?.as_array());
        visibility.is_none_or(|visibility| visibility.iter().any(|one| one == who))
    }

    /// The digest of the definition that a model or a reviewer sees, and of the tool's code.
    pub fn definition_hash(&self) -> Digest {
        let mut definition = json!({
            "id": self.id,
            "version": self.version,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
            "annotations": self.annotations,
            "implementation": self.implementation,
        });
        if let Some(files) = &self.files {
            definition["files"] = json!(files);
        }
        if !self.extra.is_empty() {
            definition["extra"] = json!(self.extra);
        }
        digest(&canonical::bytes(&definition))
    }

    /// Removes invisible and control characters from all text for models; returns how many were removed.
    pub fn clean(&mut self) -> usize {
        let mut removed = clean::text_in_place(&mut self.description);
        for text in [&mut self.title, &mut self.annotations.title].into_iter().flatten() {
            removed += clean::text_in_place(text);
        }
        removed += clean::json_in_place(&mut self.input_schema);
        removed += self.output_schema.as_mut().map_or(0, clean::json_in_place);
        let extra = self.extra.values_mut();
        for value in self.meta.iter_mut().flat_map(Map::values_mut).chain(extra) {
            removed += clean::json_in_place(value);
        }
        removed
    }
}
