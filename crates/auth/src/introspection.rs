//! Opaque tokens, which are checked by asking their issuer (RFC 7662).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use egress::http::{Client, Request, Scope};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use proto::{Clock, digest};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use url::form_urlencoded;

use crate::claims::{Bearer, Rules};
use crate::fault::{Rejected, TokenFault, Unreachable};
use crate::options::{IntrospectionOptions, issuer_limits};
use crate::verdicts::Verdicts;

/// How long a positive answer is cached; a revoked token stays usable for this long.
const GOOD_MS: u64 = 30_000;

/// How long a negative answer is cached.
const BAD_MS: u64 = 10_000;

/// The most concurrent requests; further callers wait.
const MAX_CONCURRENT: usize = 32;

pub(crate) struct Introspection {
    endpoint: IntrospectionOptions,
    rules: Rules,
    client: Client,
    clock: Clock,
    verdicts: Verdicts,
    permits: Semaphore,
}

impl Introspection {
    pub(crate) fn new(
        endpoint: IntrospectionOptions,
        rules: Rules,
        client: Client,
        clock: Clock,
    ) -> Self {
        let (verdicts, permits) = (Verdicts::default(), Semaphore::new(MAX_CONCURRENT));
        Self { endpoint, rules, client, clock, verdicts, permits }
    }

    /// Whether the outcome for a token is cached.
    pub(crate) fn knows(&self, token: &str) -> bool {
        self.verdicts.get(digest(token.as_bytes()), self.clock.unix_ms()).is_some()
    }

    /// The bearer of an opaque token.
    pub(crate) async fn bearer(&self, token: &str) -> Result<Bearer, Rejected> {
        let token_digest = digest(token.as_bytes());
        if let Some(verdict) = self.verdicts.get(token_digest, self.clock.unix_ms()) {
            return Ok(verdict?);
        }
        let claims = self.ask(token).await?;
        let now = self.clock.unix_ms();
        let active = claims.get("active") == Some(&Value::Bool(true));
        let verdict =
            if active { self.rules.introspected(&claims, now) } else { Err(TokenFault::Unknown) };
        let for_ms = if verdict.is_ok() { GOOD_MS } else { BAD_MS };
        self.verdicts.insert(token_digest, verdict.clone(), now, for_ms);
        Ok(verdict?)
    }

    async fn ask(&self, token: &str) -> Result<Map<String, Value>, Unreachable> {
        let unreachable = |why: &str| Unreachable(why.to_owned());
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await.map_err(|_| unreachable("it is gone"))?;
        let mut headers = HeaderMap::new();
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, form);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(AUTHORIZATION, self.credentials()?);
        let body = form_urlencoded::Serializer::new(String::new())
            .append_pair("token", token)
            .append_pair("token_type_hint", "access_token")
            .finish();
        let request = Request {
            method: Method::POST,
            url: self.endpoint.url.clone(),
            headers,
            body: Bytes::from(body).into(),
        };
        let sent = self.client.send(request, &issuer_limits(), &Scope::everything()).await;
        let response = sent.map_err(|error| Unreachable(error.to_string()))?;
        if !response.status.is_success() {
            return Err(Unreachable(format!("it answered {}", response.status)));
        }
        serde_json::from_slice(&response.body)
            .map_err(|_| unreachable("its answer is not a JSON object"))
    }

    fn credentials(&self) -> Result<HeaderValue, Unreachable> {
        // Both parts are encoded as in a form before they are joined (RFC 6749, section 2.3.1).
        let encoded =
            |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let (id, secret) = (&self.endpoint.client_id, self.endpoint.client_secret.expose());
        let pair = STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
        let mut value = HeaderValue::from_str(&format!("Basic {pair}"))
            .map_err(|_| Unreachable("its client secret cannot be sent".to_owned()))?;
        value.set_sensitive(true);
        Ok(value)
    }
}
