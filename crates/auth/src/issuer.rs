//! The identity provider and its current keys. Fetched keys stay in use while the provider is down.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use egress::http::{Client, Request, Rule, Scope};
use proto::{Clock, digest};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use url::Url;

use crate::claims::{Bearer, Rules};
use crate::client;
use crate::fault::{Rejected, TokenFault, Unreachable};
use crate::introspection::Introspection;
use crate::jwt::{KeySet, is_signed};
use crate::options::{AccessOptions, IssuerOptions, issuer_limits};
use crate::verdicts::Verdicts;

/// Older keys are fetched again in the background and stay in use until then.
const FRESH_MS: u64 = 10 * 60 * 1000;

/// The least time between requests to the issuer, however many unknown keys callers name and however often it fails.
const MIN_INTERVAL_MS: u64 = 15 * 1000;

/// How long the outcome of a check is cached.
const VERDICT_MS: u64 = 60 * 1000;

/// An identity provider whose tokens are accepted.
#[derive(Clone)]
pub(crate) struct Issuer(Arc<Inner>);

struct Inner {
    options: IssuerOptions,
    rules: Rules,
    client: Client,
    clock: Clock,
    keys: ArcSwapOption<Fetched>,
    /// The last request for keys. The lock is held during a request, so that one caller asks and the others wait.
    last_request: Mutex<Option<LastRequest>>,
    verdicts: Verdicts,
    introspection: Option<Introspection>,
}

struct Fetched {
    keys: KeySet,
    at_ms: u64,
}

struct LastRequest {
    at_ms: u64,
    failed: Option<Unreachable>,
}

impl Issuer {
    /// An issuer; its client may reach the hosts that the options name, and the public internet.
    pub(crate) fn new(
        options: &IssuerOptions,
        all: &AccessOptions,
        client: &Client,
        clock: Clock,
    ) -> Self {
        let named = [Some(&options.issuer), options.jwks_uri.as_ref()];
        let introspected = options.introspection.as_ref().map(|endpoint| &endpoint.url);
        let mut policy = client.policy().clone();
        for url in named.into_iter().flatten().chain(introspected) {
            if let Ok(rule) = Rule::for_url(url) {
                policy = policy.allowing(rule);
            }
        }
        let client = client.with_policy(policy);
        let rules = Rules::new(options, all);
        let introspection = options.introspection.clone().map(|endpoint| {
            Introspection::new(endpoint, rules.clone(), client.clone(), clock.clone())
        });
        Self(Arc::new(Inner {
            options: options.clone(),
            rules,
            client,
            clock,
            keys: ArcSwapOption::empty(),
            last_request: Mutex::new(None),
            verdicts: Verdicts::default(),
            introspection,
        }))
    }

    /// The bearer of a token that this issuer made.
    pub(crate) async fn bearer(&self, token: &str) -> Result<Bearer, Rejected> {
        match &self.0.introspection {
            _ if is_signed(token) => self.signed(token).await,
            Some(introspection) => introspection.bearer(token).await,
            None => Err(TokenFault::Unknown.into()),
        }
    }

    /// Whether the check of a token needs a request to the introspection endpoint.
    pub(crate) fn must_ask(&self, token: &str) -> bool {
        let introspection = self.0.introspection.as_ref();
        introspection.is_some_and(|endpoint| !is_signed(token) && !endpoint.knows(token))
    }

    async fn signed(&self, token: &str) -> Result<Bearer, Rejected> {
        let inner = &self.0;
        let token_digest = digest(token.as_bytes());
        if let Some(Ok(bearer)) = inner.verdicts.get(token_digest, inner.clock.unix_ms()) {
            return Ok(bearer);
        }
        let claims = self.claims(token).await?;
        let now = inner.clock.unix_ms();
        let bearer = inner.rules.bearer(&claims, now)?;
        inner.verdicts.insert(token_digest, Ok(bearer.clone()), now, VERDICT_MS);
        Ok(bearer)
    }

    /// The claims of a token that this issuer signed, for any purpose.
    pub(crate) async fn claims(&self, token: &str) -> Result<Map<String, Value>, Rejected> {
        let fetched = self.keys().await?;
        Ok(match fetched.keys.claims(token) {
            // The issuer may have rotated its keys.
            Err(TokenFault::Key) => match self.0.refetch(fetched.at_ms).await {
                Some(newer) => newer.keys.claims(token),
                None => Err(TokenFault::Key),
            },
            claims => claims,
        }?)
    }

    /// The client that may reach it.
    pub(crate) fn http(&self) -> &Client {
        &self.0.client
    }

    /// The current keys. The first caller fetches them; old ones are fetched again in the background.
    async fn keys(&self) -> Result<Arc<Fetched>, Unreachable> {
        let inner = &self.0;
        if let Some(fetched) = inner.keys.load_full() {
            if inner.clock.unix_ms() >= fetched.at_ms.saturating_add(FRESH_MS) {
                let (inner, seen) = (Arc::clone(inner), fetched.at_ms);
                tokio::spawn(async move { inner.refetch(seen).await });
            }
            return Ok(fetched);
        }
        inner.request_keys(None).await
    }
}

impl Inner {
    /// Keys newer than `seen_ms`, if they can be fetched now.
    async fn refetch(&self, seen_ms: u64) -> Option<Arc<Fetched>> {
        let fetched = self.request_keys(Some(seen_ms)).await.ok()?;
        (fetched.at_ms > seen_ms).then_some(fetched)
    }

    async fn request_keys(&self, seen_ms: Option<u64>) -> Result<Arc<Fetched>, Unreachable> {
        let mut last_request = self.last_request.lock().await;
        let known = self.keys.load_full();
        if let Some(known) = &known
            && seen_ms.is_none_or(|seen| known.at_ms > seen)
        {
            return Ok(Arc::clone(known));
        }
        let now = self.clock.unix_ms();
        if let Some(last) = &*last_request
            && now < last.at_ms.saturating_add(MIN_INTERVAL_MS)
        {
            return match (&last.failed, known) {
                (_, Some(known)) => Ok(known),
                (Some(failed), None) => Err(failed.clone()),
                (None, None) => Err(Unreachable("it gave no keys".to_owned())),
            };
        }
        let fetched = self.fetch().await;
        *last_request = Some(LastRequest { at_ms: now, failed: fetched.as_ref().err().cloned() });
        match fetched {
            Ok(keys) => {
                // Two fetches within one tick of the clock need different times.
                let at_ms = known.map_or(now, |known| now.max(known.at_ms + 1));
                let fetched = Arc::new(Fetched { keys, at_ms });
                self.keys.store(Some(Arc::clone(&fetched)));
                self.verdicts.clear();
                Ok(fetched)
            }
            Err(unreachable) => {
                let issuer = &self.options.issuer;
                tracing::warn!(issuer, error = %unreachable, "keys of the issuer could not be fetched");
                known.ok_or(unreachable)
            }
        }
    }

    async fn fetch(&self) -> Result<KeySet, Unreachable> {
        let url = match &self.options.jwks_uri {
            Some(url) => url.clone(),
            None => self.discover().await?,
        };
        let document = self.get(&url).await?;
        match KeySet::read(&document) {
            Some(keys) if !keys.is_empty() => Ok(keys),
            _ => Err(Unreachable("its key set holds no key that signs tokens".to_owned())),
        }
    }

    /// The URL of the keys, from the issuer's metadata.
    async fn discover(&self) -> Result<String, Unreachable> {
        let mut last = Unreachable("its URL cannot be read".to_owned());
        for url in metadata_urls(&self.options.issuer) {
            match self.get(&url).await {
                Ok(metadata) => return jwks_uri(&self.options.issuer, &metadata),
                Err(unreachable) => last = unreachable,
            }
        }
        Err(last)
    }

    async fn get(&self, url: &str) -> Result<Value, Unreachable> {
        let fetched =
            self.client.send(Request::get(url), &issuer_limits(), &Scope::everything()).await;
        let response = fetched.map_err(|error| Unreachable(error.to_string()))?;
        if !response.status.is_success() {
            return Err(Unreachable(format!("it answered {}", response.status)));
        }
        serde_json::from_slice::<Map<String, Value>>(&response.body)
            .map(Value::Object)
            .map_err(|_| Unreachable("its answer is not a JSON object".to_owned()))
    }
}

/// The possible metadata URLs of an issuer; none if its name is not a URL.
fn metadata_urls(issuer: &str) -> Vec<String> {
    let urls = Url::parse(issuer).map(|url| client::metadata_urls(&url)).unwrap_or_default();
    urls.into_iter().map(String::from).collect()
}

/// The URL of the keys, from metadata that names this issuer; it must use https if the issuer does.
fn jwks_uri(issuer: &str, metadata: &Value) -> Result<String, Unreachable> {
    if metadata.get("issuer").and_then(Value::as_str) != Some(issuer) {
        return Err(Unreachable("its metadata names another issuer".to_owned()));
    }
    let url = metadata.get("jwks_uri").and_then(Value::as_str).unwrap_or_default();
    let safe =
        url.starts_with("https://") || issuer.starts_with("http://") && url.starts_with("http://");
    if !safe {
        return Err(Unreachable("its metadata names no usable `jwks_uri`".to_owned()));
    }
    Ok(url.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metadata_is_looked_for_at_the_standard_urls() {
        assert_eq!(
            metadata_urls("https://id.example/"),
            [
                "https://id.example/.well-known/oauth-authorization-server",
                "https://id.example/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            metadata_urls("https://id.example:8443/realms/a"),
            [
                "https://id.example:8443/.well-known/oauth-authorization-server/realms/a",
                "https://id.example:8443/.well-known/openid-configuration/realms/a",
                "https://id.example:8443/realms/a/.well-known/openid-configuration"
            ]
        );
    }

    #[test]
    fn metadata_of_another_issuer_or_with_an_unsafe_url_is_refused() {
        let issuer = "https://id.example";
        let good = json!({"issuer": issuer, "jwks_uri": "https://id.example/keys"});
        assert_eq!(jwks_uri(issuer, &good), Ok("https://id.example/keys".to_owned()));
        for bad in [
            json!({"issuer": "https://id.example/", "jwks_uri": "https://id.example/keys"}),
            json!({"issuer": "https://evil.example", "jwks_uri": "https://id.example/keys"}),
            json!({"jwks_uri": "https://id.example/keys"}),
            json!({"issuer": issuer}),
            json!({"issuer": issuer, "jwks_uri": "http://id.example/keys"}),
            json!({"issuer": issuer, "jwks_uri": "file:///etc/passwd"}),
            json!({"issuer": issuer, "jwks_uri": 7}),
        ] {
            assert!(jwks_uri(issuer, &bad).is_err(), "{bad}");
        }
    }
}
