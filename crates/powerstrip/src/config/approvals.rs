use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How people decide about calls that need approval, beside the dashboard and `powerstrip approvals`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Approvals {
    /// Whether the person at the caller's own MCP client may decide, where the client can ask them.
    pub(crate) elicitation: Elicitation,
}

/// When the person at the caller's client is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Elicitation {
    /// Without `auth`, where the caller is this machine's user. Never with it.
    #[default]
    Auto,
    /// Never.
    Off,
}

impl Elicitation {
    pub(crate) fn is_on(self) -> bool {
        self == Self::Auto
    }
}
