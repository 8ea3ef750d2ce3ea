use std::time::Duration;

use proto::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Span;
use crate::secret::{SecretReader, SecretSource};

/// How people decide about calls that need approval, in addition to the dashboard and `powerstrip approvals`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Approvals {
    /// Whether the user of the calling MCP client may decide, if the client supports elicitation.
    pub elicitation: Elicitation,
    /// A webhook that is notified of each pending approval, with signed links to approve or reject.
    pub webhook: Option<Webhook>,
    /// How long the links of the webhook are valid; at most until the approval expires.
    pub link_ttl: Span,
}

impl Default for Approvals {
    fn default() -> Self {
        let link_ttl = Span(Duration::from_secs(60 * 60));
        Self { elicitation: Elicitation::default(), webhook: None, link_ttl }
    }
}

/// A webhook for pending approvals.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// The URL that receives a JSON message by POST. A private address must be in `egress.allow`.
    pub url: String,
    /// The secret that signs the message, as `{env: NAME}`, `{file: PATH}` or `{secret: NAME}`.
    pub secret: SecretSource,
}

impl Webhook {
    /// The secret to sign with.
    pub(super) fn resolve(
        &self,
        reader: &SecretReader<'_>,
    ) -> Result<Secret, (&'static str, String)> {
        ::auth::check_url(&self.url).map_err(|why| ("url", why.to_string()))?;
        let secret = self.secret.fetch(reader);
        secret.map_err(|why| ("secret", why.to_string()))
    }
}

/// When the user of the calling client is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Elicitation {
    /// Without `auth`, where the caller is the local user. Never with `auth`.
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
