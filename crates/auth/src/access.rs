//! Admission of requests at doors that other users can reach, and the challenges for refused ones.

use std::pin::Pin;
use std::sync::Arc;

use egress::http::Client;
use http::header::{AUTHORIZATION, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue};
use proto::{Clock, Principal, Secret};
use serde_json::{Value, json};
use url::Url;

use crate::agent::opens;
use crate::client::SignIn;
use crate::fault::Rejected;
use crate::issuer::Issuer;
use crate::keys::{ApiKeys, KeyKind};
use crate::local::{LocalAccess, is_loopback};
use crate::options::AccessOptions;
use crate::{AdminToken, Refusal, TokenFault, scope};

/// Longer tokens are refused unread.
const MAX_TOKEN: usize = 16 * 1024;

/// The path of protected resource metadata (RFC 9728).
pub const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// Which callers are admitted.
#[derive(Clone)]
pub enum Access {
    /// The local user, from this machine.
    Local(LocalAccess),
    /// Callers with a credential.
    Guarded(Arc<Guarded>),
}

/// Access by tokens of an identity provider and by the gateway's own keys.
pub struct Guarded {
    options: AccessOptions,
    issuer: Option<Issuer>,
    sign_in: Option<Arc<SignIn>>,
    keys: Arc<ApiKeys>,
    origin: Option<String>,
}

impl From<LocalAccess> for Access {
    fn from(local: LocalAccess) -> Self {
        Self::Local(local)
    }
}

impl Access {
    /// Access by credentials; the client fetches the issuer's keys when they are first needed.
    pub fn guarded(
        options: AccessOptions,
        keys: Arc<ApiKeys>,
        client: &Client,
        clock: Clock,
    ) -> Self {
        let named = options.issuer.as_ref();
        let issuer = named.map(|issuer| Issuer::new(issuer, &options, client, clock.clone()));
        let sign_in = issuer.as_ref().and_then(|issuer| SignIn::new(&options, issuer, clock));
        let origin =
            Url::parse(&options.public_url).ok().map(|url| url.origin().ascii_serialization());
        Self::Guarded(Arc::new(Guarded { options, issuer, sign_in, keys, origin }))
    }

    /// The caller of a request for this path, by its headers; every request is checked again.
    pub async fn admit(
        &self,
        path: &str,
        headers: &HeaderMap,
        uri_authority: Option<&Authority>,
    ) -> Result<Arc<Principal>, Refusal> {
        match self {
            Self::Local(local) => local.admit(headers, uri_authority),
            Self::Guarded(guarded) => guarded.admit(path, headers, KeyKind::Api).await,
        }
    }

    /// The caller that registers a server: the local user, or the bearer of a registration key.
    pub async fn admit_registration(
        &self,
        headers: &HeaderMap,
        uri_authority: Option<&Authority>,
    ) -> Result<Arc<Principal>, Refusal> {
        match self {
            Self::Local(local) => local.admit(headers, uri_authority),
            Self::Guarded(guarded) => guarded.admit("", headers, KeyKind::Registration).await,
        }
    }

    /// The caller of a route that needs this scope. The admin token is accepted for the scopes of operators. Decisions need
    /// more than the local user's scopes, because a local agent is the local user as well, and are never open to an agent.
    pub async fn admit_with(
        &self,
        path: &str,
        scope: &str,
        headers: &HeaderMap,
        uri_authority: Option<&Authority>,
        admin: Option<&AdminToken>,
    ) -> Result<Arc<Principal>, Refusal> {
        let admin = admin.filter(|_| scope::OF_OPERATORS.contains(&scope));
        let is_decision = scope::OF_PEOPLE.contains(&scope);
        let token = match admin {
            Some(_) => bearer(headers).ok().filter(|token| AdminToken::has_prefix(token)),
            None => None,
        };
        if let (Some(admin), Some(token)) = (admin, token) {
            self.admit_anyone(headers, uri_authority)?;
            let unknown = Refusal::BadToken(TokenFault::Unknown);
            return admin.verify(token).map(Arc::clone).ok_or(unknown);
        }
        let principal = match scope {
            // Registration keys are valid here only, and no other key is.
            scope::SERVERS_REGISTER => self.admit_registration(headers, uri_authority).await?,
            _ => self.admit(path, headers, uri_authority).await?,
        };
        let people_only = is_decision || matches!(scope, scope::APPROVALS_READ | scope::AUDIT_READ);
        if people_only && principal.agent.is_some() {
            return Err(Refusal::Agent);
        }
        if scope::covers(&principal, scope) {
            Ok(principal)
        } else if is_decision && !self.is_guarded() {
            Err(Refusal::NotOperator)
        } else {
            Err(Refusal::MissingScope)
        }
    }

    /// The principal of a token or key that a person entered in a browser. Agents are refused; so are all where no
    /// credential is needed.
    pub async fn admit_bearer(&self, credential: &Secret) -> Result<Arc<Principal>, Refusal> {
        let Self::Guarded(guarded) = self else { return Err(Refusal::NoToken) };
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_str(&format!("Bearer {}", credential.expose()));
        let value = value.map_err(|_| Refusal::BadToken(TokenFault::Malformed))?;
        headers.insert(AUTHORIZATION, value);
        let principal = guarded.admit("", &headers, KeyKind::Api).await?;
        if principal.agent.is_some() { Err(Refusal::Agent) } else { Ok(principal) }
    }

    /// Admits a request to a route that is open to all. Local access still checks Host and Origin.
    pub fn admit_anyone(
        &self,
        headers: &HeaderMap,
        uri_authority: Option<&Authority>,
    ) -> Result<(), Refusal> {
        match self {
            Self::Local(local) => local.admit(headers, uri_authority).map(drop),
            Self::Guarded(guarded) => guarded.check_origin(headers),
        }
    }

    /// The gateway's public origin, if configured.
    pub fn origin(&self) -> Option<&str> {
        let Self::Guarded(guarded) = self else { return None };
        guarded.origin.as_deref()
    }

    /// Sign-in at the identity provider, if configured.
    pub fn sign_in(&self) -> Option<&Arc<SignIn>> {
        let Self::Guarded(guarded) = self else { return None };
        guarded.sign_in.as_ref()
    }

    /// Whether the token of a request is one that only a request to the identity provider can check.
    pub fn must_ask_issuer(&self, headers: &HeaderMap) -> bool {
        let Self::Guarded(guarded) = self else { return false };
        let asks = |issuer: &Issuer| {
            bearer(headers).is_ok_and(|token| !ApiKeys::is_key(token) && issuer.must_ask(token))
        };
        guarded.issuer.as_ref().is_some_and(asks)
    }

    /// Whether callers need credentials.
    pub fn is_guarded(&self) -> bool {
        matches!(self, Self::Guarded(_))
    }

    /// The metadata of a protected path (RFC 9728); `None` where no token is needed.
    pub fn metadata(&self, path: &str) -> Option<Value> {
        let Self::Guarded(guarded) = self else { return None };
        Some(guarded.metadata(path))
    }

    /// The value of `WWW-Authenticate` for a refusal at this path, naming all scopes that would be sufficient.
    pub fn challenge(&self, path: &str, scopes: &[&str], refusal: &Refusal) -> Option<String> {
        let Self::Guarded(guarded) = self else { return None };
        guarded.challenge(path, scopes, refusal)
    }
}

/// The check of a credential.
type Admitting<'a> = Pin<Box<dyn Future<Output = Result<Arc<Principal>, Refusal>> + Send + 'a>>;

impl Guarded {
    /// The gateway's own keys, if they are accepted.
    pub(crate) fn keys(&self) -> Option<&ApiKeys> {
        self.options.api_keys.then_some(&*self.keys)
    }

    /// The identifier of the issuer, if there is one.
    pub(crate) fn issuer_name(&self) -> Option<&String> {
        self.options.issuer.as_ref().map(|issuer| &issuer.issuer)
    }

    /// Boxed, to keep the future of local access small, and so that it is compiled here and not again in every door.
    fn admit<'a>(&'a self, path: &'a str, headers: &'a HeaderMap, kind: KeyKind) -> Admitting<'a> {
        Box::pin(self.check(path, headers, kind))
    }

    async fn check(
        &self,
        path: &str,
        headers: &HeaderMap,
        kind: KeyKind,
    ) -> Result<Arc<Principal>, Refusal> {
        self.check_origin(headers)?;
        let token = bearer(headers)?;
        if ApiKeys::is_key(token) {
            let known = |kind| self.keys().and_then(|keys| keys.check(token, kind));
            return match kind {
                // A caller's key is no guess: it only does not cover this.
                KeyKind::Registration if known(KeyKind::Api).is_some() => {
                    Err(Refusal::MissingScope)
                }
                kind => known(kind).ok_or(Refusal::BadToken(TokenFault::Unknown)),
            };
        }
        let Some(issuer) = &self.issuer else {
            return Err(Refusal::BadToken(TokenFault::Unknown));
        };
        match issuer.bearer(token).await {
            Ok(bearer) if !opens(&bearer.principal, path) => {
                Err(Refusal::BadToken(TokenFault::Audience))
            }
            Ok(_) if kind == KeyKind::Registration => Err(Refusal::MissingScope),
            Ok(bearer) => Ok(bearer.principal),
            Err(Rejected::Fault(fault)) => Err(Refusal::BadToken(fault)),
            Err(Rejected::Unreachable(unreachable)) => Err(Refusal::Unreachable(unreachable)),
        }
    }

    /// Refuses pages of other sites, even with a valid token.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        for origin in headers.get_all(ORIGIN) {
            let origin = String::from_utf8_lossy(origin.as_bytes());
            let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            let ours = self.origin.as_deref() == Some(&*origin) || host.is_some_and(is_loopback);
            if !ours {
                return Err(Refusal::ForeignOrigin(origin.chars().take(200).collect()));
            }
        }
        Ok(())
    }

    fn metadata(&self, path: &str) -> Value {
        let names = &self.options.scopes;
        let mut metadata = json!({
            "resource": format!("{}{path}", self.options.public_url),
            "resource_name": "Powerstrip",
            "bearer_methods_supported": ["header"],
            "scopes_supported": [names.name(scope::TOOLS_READ), names.name(scope::TOOLS_CALL)],
        });
        if let Some(issuer) = &self.options.issuer {
            metadata["authorization_servers"] = json!([issuer.issuer]);
        }
        metadata
    }

    fn challenge(&self, path: &str, scopes: &[&str], refusal: &Refusal) -> Option<String> {
        let base = &self.options.public_url;
        let scopes: Vec<_> = scopes.iter().map(|scope| self.options.scopes.name(scope)).collect();
        let mut challenge = format!("Bearer resource_metadata=\"{base}{METADATA_PATH}{path}\"");
        if !scopes.is_empty() {
            challenge.push_str(&format!(", scope=\"{}\"", scopes.join(" ")));
        }
        match refusal {
            // Without a token there is no `error` to report (RFC 6750, section 3.1).
            Refusal::NoToken => {}
            Refusal::BadToken(_) => {
                challenge.push_str(&format!(
                    ", error=\"invalid_token\", error_description=\"{refusal}\""
                ));
            }
            Refusal::MissingScope => {
                challenge.push_str(&format!(
                    ", error=\"insufficient_scope\", error_description=\"{refusal}\""
                ));
            }
            _ => return None,
        }
        Some(challenge)
    }
}

/// The token of a request. Only `Authorization: Bearer` is accepted: tokens in URLs end up in logs.
fn bearer(headers: &HeaderMap) -> Result<&str, Refusal> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or(Refusal::NoToken)?;
    if values.next().is_some() {
        return Err(Refusal::BadToken(TokenFault::Malformed));
    }
    if value.len() > MAX_TOKEN {
        return Err(Refusal::BadToken(TokenFault::TooLong));
    }
    let malformed = || Refusal::BadToken(TokenFault::Malformed);
    let value = value.to_str().map_err(|_| malformed())?;
    let (scheme, token) = value.split_once(' ').ok_or_else(malformed)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Refusal::NoToken);
    }
    let token = token.trim_matches(' ');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if token.is_empty() || !token.bytes().all(plain) {
        return Err(malformed());
    }
    Ok(token)
}
