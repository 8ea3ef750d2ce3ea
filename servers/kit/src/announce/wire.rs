//! Registration requests to the gateway, through the guarded client.

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
const TIMEOUT: Duration = Duration::from_secs(5);

/// The most characters of the gateway's message that are logged.
const MAX_MESSAGE: usize = 300;

/// Why the options for registration are invalid.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvalidRegistration {
    #[error("--gateway: {0}")]
    Gateway(Refusal),
    #[error("--public-url: {0}")]
    PublicUrl(Refusal),
    #[error("--name: `{0}` is not a server name: use A-Z a-z 0-9 . _ -")]
    Name(String),
    #[error("no HTTP client: {0}")]
    Client(#[from] std::io::Error),
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("{0}")]
    NoToken(String),
    #[error("the gateway cannot be reached: {0}")]
    Unreachable(String),
    #[error("the gateway does not know our lease")]
    UnknownLease,
    #[error("the gateway answers {status}: {why}")]
    Declined { status: u16, why: String },
}

/// A registration's lease.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Lease {
    lease_id: String,
    heartbeat_every_ms: u64,
}

impl Lease {
    /// The time to the next heartbeat, at least 50 ms.
    pub(super) fn heartbeat(&self) -> Duration {
        Duration::from_millis(self.heartbeat_every_ms.clamp(50, 3_600_000))
    }
}

/// The client of the gateway's registration routes.
pub(super) struct Wire {
    client: Client,
    limits: Limits,
    servers: String,
    name: String,
}

impl Wire {
    pub(super) fn new(gateway: &str, identity: &Identity) -> Result<Self, InvalidRegistration> {
        let name = identity.name.clone();
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || !name.chars().all(allowed) {
            return Err(InvalidRegistration::Name(name));
        }
        Target::parse(&identity.url).map_err(InvalidRegistration::PublicUrl)?;
        let rule = Rule::for_url(gateway).map_err(InvalidRegistration::Gateway)?;
        let policy = AddressPolicy::new(vec![rule], OwnListeners::default());
        // A redirect could carry the token elsewhere.
        let limits = Limits {
            deadline: Some(TIMEOUT),
            connect: TIMEOUT,
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

    pub(super) async fn unregister(&self, token: &str, lease: &Lease) -> Result<(), Refused> {
        let url = format!("{}/{}", self.servers, self.name);
        let (status, body) = self.send(Method::DELETE, url, token, Some(lease), None).await?;
        // A lease that another process replaced is gone as well.
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
        let response = sent.map_err(|error| Refused::Unreachable(error.to_string()))?;
        // may fail: a refusal without a JSON body is known by its status.
        Ok((response.status, serde_json::from_slice(&response.body).unwrap_or_default()))
    }
}

fn granted(status: StatusCode, body: &Value) -> Result<Lease, Refused> {
    match status {
        StatusCode::NOT_FOUND => Err(Refused::UnknownLease),
        status if status.is_success() => Lease::deserialize(body).map_err(|error| {
            let why = format!("the answer is not a lease: {error}");
            Refused::Declined { status: status.as_u16(), why }
        }),
        status => Err(declined(status, body)),
    }
}

fn declined(status: StatusCode, body: &Value) -> Refused {
    let why = body["errors"][0]["message"].as_str().unwrap_or("no reason given");
    Refused::Declined { status: status.as_u16(), why: why.chars().take(MAX_MESSAGE).collect() }
}
