//! What is sent to the gateway, through the guarded client and nowhere else.

use std::time::Duration;

use egress::http::{
    AddressPolicy, Client, Limits, OwnListeners, Refusal, Request, Rule, Scope, Target,
};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Identity;

const LEASE: HeaderName = HeaderName::from_static("powerstrip-lease");

/// A gateway that takes longer is asked again.
const PATIENCE: Duration = Duration::from_secs(5);

/// As much as is shown of what the gateway says against us.
const SHOWN: usize = 300;

/// Why the gateway cannot even be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Misaddressed {
    #[error("--gateway: {0}")]
    Gateway(Refusal),
    #[error("--public-url: {0}")]
    PublicUrl(Refusal),
    #[error("--name: `{0}` is no server name: letters, digits, `.`, `_` and `-` are taken")]
    Name(String),
    #[error("no HTTP client: {0}")]
    Client(#[from] std::io::Error),
}

/// Why the gateway did not do what we asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("{0}")]
    NoToken(String),
    #[error("the gateway cannot be reached: {0}")]
    Away(String),
    #[error("the gateway does not know our lease")]
    Forgotten,
    #[error("the gateway answers {status}: {why}")]
    Declined { status: u16, why: String },
}

/// What the gateway gave us.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Lease {
    lease_id: String,
    heartbeat_every_ms: u64,
}

impl Lease {
    /// When the next heartbeat is due; never so often that it is a burden.
    pub(super) fn heartbeat(&self) -> Duration {
        Duration::from_millis(self.heartbeat_every_ms.clamp(50, 3_600_000))
    }
}

/// The way to the gateway.
pub(super) struct Wire {
    client: Client,
    limits: Limits,
    servers: String,
    name: String,
}

impl Wire {
    pub(super) fn new(gateway: &str, identity: &Identity) -> Result<Self, Misaddressed> {
        let name = identity.name.clone();
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || !name.chars().all(allowed) {
            return Err(Misaddressed::Name(name));
        }
        Target::parse(&identity.url).map_err(Misaddressed::PublicUrl)?;
        let rule = Rule::for_url(gateway).map_err(Misaddressed::Gateway)?;
        let policy = AddressPolicy::new(vec![rule], OwnListeners::default());
        // A redirect could carry the token elsewhere.
        let limits = Limits {
            deadline: Some(PATIENCE),
            connect: PATIENCE,
            max_body_bytes: 64 * 1024,
            max_redirects: 0,
            ..Limits::default()
        };
        let servers = format!("{}/v1/servers", gateway.trim_end_matches('/'));
        Ok(Self { client: Client::new(policy)?, limits, servers, name })
    }

    pub(super) async fn register(
        &self,
        token: &str,
        identity: &Identity,
    ) -> Result<Lease, Refused> {
        let mut announcement =
            json!({"name": identity.name, "url": identity.url, "version": identity.version});
        if identity.replica {
            announcement["replica"] = json!(true);
        }
        let url = self.servers.clone();
        let (status, body) = self.send(Method::POST, url, token, None, Some(announcement)).await?;
        granted(status, &body)
    }

    pub(super) async fn heartbeat(&self, token: &str, lease: &Lease) -> Result<Lease, Refused> {
        let url = format!("{}/{}/heartbeat", self.servers, self.name);
        let (status, body) = self.send(Method::POST, url, token, Some(lease), None).await?;
        granted(status, &body)
    }

    pub(super) async fn goodbye(&self, token: &str, lease: &Lease) -> Result<(), Refused> {
        let url = format!("{}/{}", self.servers, self.name);
        let (status, body) = self.send(Method::DELETE, url, token, Some(lease), None).await?;
        // A lease that somebody replaced is gone, as we wished.
        if status.is_success() || status == StatusCode::NOT_FOUND {
            return Ok(());
        }
        Err(declined(status, &body))
    }

    async fn send(
        &self,
        method: Method,
        url: String,
        token: &str,
        lease: Option<&Lease>,
        body: Option<Value>,
    ) -> Result<(StatusCode, Value), Refused> {
        let mut headers = HeaderMap::new();
        let mut bearer = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| Refused::NoToken("the registration token is not plain text".to_owned()))?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
        if let Some(lease) = lease.and_then(|lease| HeaderValue::try_from(&lease.lease_id).ok()) {
            headers.insert(LEASE, lease);
        }
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let body = body.map(|body| body.to_string()).unwrap_or_default().into_bytes().into();
        let request = Request { method, url, headers, body };
        let sent = self.client.send(request, &self.limits, &Scope::everything()).await;
        let response = sent.map_err(|error| Refused::Away(error.to_string()))?;
        Ok((response.status, serde_json::from_slice(&response.body).unwrap_or_default()))
    }
}

fn granted(status: StatusCode, body: &Value) -> Result<Lease, Refused> {
    match status {
        StatusCode::NOT_FOUND => Err(Refused::Forgotten),
        status if status.is_success() => Lease::deserialize(body).map_err(|error| {
            let why = format!("something else than a lease: {error}");
            Refused::Declined { status: status.as_u16(), why }
        }),
        status => Err(declined(status, body)),
    }
}

fn declined(status: StatusCode, body: &Value) -> Refused {
    let why = body["errors"][0]["message"].as_str().unwrap_or("no reason given");
    Refused::Declined { status: status.as_u16(), why: why.chars().take(SHOWN).collect() }
}
