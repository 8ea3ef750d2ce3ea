//! A gateway whose callers need tokens of an identity provider.

use serde_json::Value;

use crate::{Gateway, GatewayBuilder, Issuer, Signer};

/// A gateway with `auth`, and its identity provider.
pub struct GuardedGateway {
    pub gateway: Gateway,
    pub issuer: Issuer,
    pub signer: Signer,
}

impl GuardedGateway {
    /// Starts the gateway with an `auth` section; `more` is config that follows it.
    pub async fn start(builder: GatewayBuilder, more: &str) -> Self {
        let signer = Signer::ec("key-1");
        let issuer = Issuer::start(&[&signer]).await;
        let auth = format!(
            "auth:\n  issuer: {}\n  tenant_claim: org\n  agent_claim: agent\n{more}",
            issuer.url()
        );
        Self { gateway: builder.config(&auth).start().await, issuer, signer }
    }

    /// A valid token with these changes to its claims.
    pub fn token(&self, changes: Value) -> String {
        self.signer.token(&self.issuer.claims(&self.gateway.url(""), changes))
    }
}
