use serde::{Deserialize, Serialize};

/// The answer of `GET /mcp/discover`, `mcp.discover` and `powerstrip tools --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Discovery {
    pub server: ServerInfo,
    pub tools: Vec<ListedTool>,
    /// Tools that are not served until their definitions are approved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quarantined: Vec<ListedQuarantine>,
    pub prompts: Vec<ListedPrompt>,
    pub health: Health,
}

/// The gateway that answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerInfo {
    pub name: String,
    pub version: String,
}

/// One tool in one major version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedTool {
    pub name: String,
    pub version: String,
    pub description: String,
    pub input_schema_ref: String,
    pub output_schema_ref: Option<String>,
    pub caps: ListedCaps,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
}

/// A tool that waits for approval. Its definition is not included, because it is not approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedQuarantine {
    pub name: String,
    pub reason: String,
    /// The parts of its definition that changed.
    pub changed: Vec<String>,
    /// The digest of the pending definition.
    pub definition: String,
}

/// The limits in force for a listed tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedCaps {
    pub timeout_ms: u64,
    pub max_input_bytes: usize,
    pub max_output_bytes: usize,
    pub network: Vec<String>,
}

/// One prompt with all its versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedPrompt {
    pub id: String,
    pub versions: Vec<ListedPromptVersion>,
}

/// One major version of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedPromptVersion {
    pub major: u64,
    pub description: String,
    pub spec_ref: String,
}

/// The gateway's health.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    pub status: String,
    pub uptime_sec: u64,
}
