use std::collections::BTreeMap;
use std::sync::Arc;

use auth::{Access, AccessOptions, ApiKeys, IssuerOptions, Refusal, ScopeNames, TokenFault};
use egress::http::{AddressPolicy, Client, OwnListeners};
use http::{HeaderMap, HeaderValue};
use proto::{Clock, Principal};
use serde_json::Value;
use store::Database;
use tempfile::TempDir;
use testkit::Issuer;

/// The public URL of the gateway under test.
pub(crate) const GATEWAY: &str = "https://gw.example";

pub(crate) struct Setup {
    pub(crate) access: Access,
    pub(crate) keys: Arc<ApiKeys>,
    pub(crate) clock: Clock,
    _folder: TempDir,
}

pub(crate) fn options(issuer: &str) -> AccessOptions {
    AccessOptions {
        public_url: GATEWAY.to_owned(),
        issuer: Some(IssuerOptions {
            issuer: issuer.to_owned(),
            audience: Vec::new(),
            jwks_uri: None,
            tenant_claim: Some("org".to_owned()),
            agent_claim: None,
            roles_claim: None,
            roles: BTreeMap::new(),
            introspection: None,
            sign_in: None,
        }),
        api_keys: true,
        scopes: ScopeNames::default(),
    }
}

pub(crate) async fn setup(options: AccessOptions) -> Setup {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    // Tokens carry the time of day, so the clock starts there; only the test advances it.
    let clock = Clock::manual(Clock::default().unix_ms());
    let keys = Arc::new(ApiKeys::open(database, clock.clone()).await.unwrap());
    let client = Client::new(AddressPolicy::new(Vec::new(), OwnListeners::default())).unwrap();
    let access = Access::guarded(options, Arc::clone(&keys), &client, clock.clone());
    Setup { access, keys, clock, _folder: folder }
}

impl Setup {
    pub(crate) async fn of(issuer: &Issuer) -> Self {
        setup(options(issuer.url())).await
    }

    pub(crate) async fn admit(&self, token: &str) -> Result<Arc<Principal>, Refusal> {
        self.admit_header(&format!("Bearer {token}")).await
    }

    pub(crate) async fn admit_header(&self, value: &str) -> Result<Arc<Principal>, Refusal> {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_str(value).unwrap());
        self.access.admit("/mcp", &headers, None).await
    }

    pub(crate) async fn fault(&self, token: &str) -> TokenFault {
        match self.admit(token).await {
            Err(Refusal::BadToken(fault)) => fault,
            other => panic!("{token}: {other:?}"),
        }
    }
}

pub(crate) fn good(issuer: &Issuer) -> Value {
    issuer.claims(GATEWAY, serde_json::json!({}))
}
