use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::secret::SecretSource;
use crate::{Secret, Span};

/// How people decide about calls that need approval, beside the dashboard and `powerstrip approvals`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Approvals {
    /// Whether the person at the caller's own MCP client may decide, where the client can ask them.
    pub elicitation: Elicitation,
    /// Who is told of every call that begins to wait, with signed links that decide.
    pub webhook: Option<Webhook>,
    /// How long such a link is good. None outlives the time that a person has.
    pub link_ttl: Span,
}

impl Default for Approvals {
    fn default() -> Self {
        let link_ttl = Span(Duration::from_secs(60 * 60));
        Self { elicitation: Elicitation::default(), webhook: None, link_ttl }
    }
}

/// A place that is told.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// Where a JSON message is posted to. A private address must be in `egress.allow`.
    pub url: String,
    /// What the message is signed with, as `{env: NAME}` or `{file: PATH}`.
    pub secret: SecretSource,
}

impl Webhook {
    /// The secret to sign with.
    pub(super) fn resolve(
        &self,
        environment: &Environment,
        base: &Path,
    ) -> Result<Secret, (&'static str, String)> {
        ::auth::check_url(&self.url).map_err(|why| ("url", why.to_string()))?;
        let secret = self.secret.fetch(environment, base);
        secret.map_err(|why| ("secret", why.to_string()))
    }
}

/// When the person at the caller's client is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Elicitation {
    /// Without `auth`, where the caller is this machine's user. Never with it.
    #[default]
    Auto,
    /// Never.
    Off,
}

impl Elicitation {
    pub fn is_on(self) -> bool {
        self == Self::Auto
    }
}
