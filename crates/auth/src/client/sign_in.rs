//! Signing in to the gateway at an identity provider (OpenID Connect: authorization code with PKCE). A browser goes there
//! and returns with a code, which is exchanged for an access token for this gateway. That token is checked like any other
//! credential: returning from the provider proves nothing by itself.

mod fault;
mod proof;
mod tokens;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use egress::http::Client;
use proto::{Clock, Digest, Secret, digest};
use url::Url;

use super::authority::{self, Authority};
use super::config::{ClientConfig, Resource};
use super::exchange::{Form, TokenRequester};
use super::fault::Fault;
use super::login::authorize_url;
use super::login_pages::fields;
use super::resource::printable;
use super::token::{ClientIdentity, Scopes, StoredToken, Terms};
use crate::issuer::Issuer;
use crate::options::{AccessOptions, IssuerOptions, SignInOptions};
use crate::random::{random_text, sha256_text};
use crate::scope;

pub use fault::SignInFault;
pub use tokens::SessionTokens;

/// The callback path below the gateway's public URL.
pub const SIGN_IN_CALLBACK: &str = "/dashboard/sign-in/callback";

/// How long a person may take.
pub const SIGN_IN_TIMEOUT: Duration = Duration::from_secs(600);

/// Beyond this many pending sign-ins the oldest is dropped, so that a client that begins many cannot lock out others for
/// good.
const MAX_PENDING: usize = 10_000;

/// How long metadata is cached.
const FRESH_MS: u64 = 10 * 60 * 1000;

/// The pause after a failure of the identity provider.
const RETRY_AFTER_MS: u64 = 3_000;

/// The scope that requests an ID token.
const OPENID: &str = "openid";

/// Sign-ins at one identity provider.
pub struct SignIn {
    issuer: Issuer,
    config: ClientConfig,
    /// The client, resource and scopes of token requests.
    terms: Terms,
    redirect_uri: String,
    clock: Clock,
    /// Its metadata. The lock is held while it is fetched, so that one caller fetches and the others wait.
    known: tokio::sync::Mutex<Option<CachedAuthority>>,
    pending: Mutex<HashMap<Digest, PendingSignIn>>,
}

struct CachedAuthority {
    authority: Result<Arc<Authority>, Fault>,
    at_ms: u64,
}

/// A pending sign-in.
struct PendingSignIn {
    authority: Arc<Authority>,
    verifier: Secret,
    nonce: String,
    /// The digest of the browser's key; the sign-in ends in no other browser.
    browser: Digest,
    next: String,
    began_ms: u64,
}

/// The redirect to the identity provider that begins a sign-in.
#[derive(Debug)]
pub struct SignInRedirect {
    pub url: String,
    /// Distinguishes this sign-in from others of the same browser; usable in a cookie's name.
    pub tag: String,
    /// The key that the browser must return with, usable as a cookie's value.
    pub key: Secret,
}

/// A finished sign-in, whose token is not yet checked.
#[derive(Debug)]
pub struct SignedIn {
    pub tokens: Arc<SessionTokens>,
    /// The page that the person asked for when the sign-in began.
    pub next: String,
}

impl SignIn {
    /// Sign-ins by the options, if these configure any.
    pub(crate) fn new(options: &AccessOptions, issuer: &Issuer, clock: Clock) -> Option<Arc<Self>> {
        let named = options.issuer.as_ref()?;
        let own = named.sign_in.as_ref()?;
        let public_url = &options.public_url;
        let resource = match &own.resource {
            Resource::FromMetadata => Some(public_url.clone()),
            Resource::Named(named) => Some(named.clone()),
            Resource::Omitted => None,
        };
        let terms = Terms {
            issuer: named.issuer.clone(),
            url: public_url.clone(),
            resource,
            scopes: requested_scopes(own, named, options),
            client: ClientIdentity::public(&own.client_id),
            bound: false,
        };
        Some(Arc::new(Self {
            issuer: issuer.clone(),
            config: ClientConfig {
                client_secret: own.client_secret.clone(),
                ..ClientConfig::default()
            },
            terms,
            redirect_uri: format!("{public_url}{SIGN_IN_CALLBACK}"),
            clock,
            known: tokio::sync::Mutex::default(),
            pending: Mutex::default(),
        }))
    }

    /// The identity provider's host, with its port unless that is the default.
    pub fn host(&self) -> String {
        let url = Url::parse(&self.terms.issuer).ok();
        let host = url.as_ref().and_then(|url| Some((url.host_str()?, url.port())));
        match host {
            Some((host, Some(port))) => format!("{host}:{port}"),
            Some((host, None)) => host.to_owned(),
            None => self.terms.issuer.clone(),
        }
    }

    /// The [`SignInRedirect::tag`] of a sign-in, from the query of the callback.
    pub fn tag(query: &str) -> Option<String> {
        fields(query)?.get("state").map(|state| tag(state))
    }

    /// Begins a sign-in; `next` is the page to show afterwards.
    pub async fn begin(&self, next: &str) -> Result<SignInRedirect, SignInFault> {
        let authority = self.authority().await.map_err(unavailable)?;
        let text = || random_text().ok_or(SignInFault::Randomness);
        let (state, nonce, key) = (text()?, text()?, text()?);
        let verifier = Secret::new(text()?);
        let endpoint = authority.authorization_endpoint().map_err(unavailable)?;
        let mut url = authorize_url(endpoint, &self.terms, &self.redirect_uri, &state, &verifier)
            .map_err(unavailable)?;
        url.query_pairs_mut().append_pair("nonce", &nonce);
        let now = self.clock.unix_ms();
        let login = PendingSignIn {
            authority,
            verifier,
            nonce,
            browser: digest(key.as_bytes()),
            next: next.to_owned(),
            began_ms: now,
        };
        let mut pending = self.pending();
        if pending.len() >= MAX_PENDING {
            pending.retain(|_, login| !login.is_over(now));
        }
        if pending.len() >= MAX_PENDING
            && let Some(oldest) = pending.iter().min_by_key(|(_, login)| login.began_ms)
        {
            let oldest = *oldest.0;
            pending.remove(&oldest);
        }
        pending.insert(digest(state.as_bytes()), login);
        Ok(SignInRedirect { url: url.into(), tag: tag(&state), key: Secret::new(key) })
    }

    /// Finishes a sign-in, by the query of the callback and the browser's key. Each state is accepted once.
    pub async fn finish(
        self: &Arc<Self>,
        query: &str,
        key: Option<&str>,
    ) -> Result<SignedIn, SignInFault> {
        let mut fields = fields(query).ok_or(SignInFault::Unreadable)?;
        let login = self.take_pending(fields.get("state").map_or("", String::as_str), key)?;
        if !login.authority.accepts_iss(fields.get("iss").map(String::as_str)) {
            tracing::warn!("a sign-in was answered by another issuer than it was sent to");
            return Err(SignInFault::OtherIssuer);
        }
        if let Some(error) = fields.get("error") {
            tracing::info!(error = printable(error), "the identity provider refused a sign-in");
            return Err(SignInFault::refused(error));
        }
        let code = fields.remove("code").filter(|code| !code.is_empty());
        let code = Secret::new(code.ok_or(SignInFault::NoCode)?);
        let next = login.next.clone();
        // Spawned, so that a code that was sent is used even if the browser disconnects.
        let this = Arc::clone(self);
        let token = tokio::spawn(async move { this.exchange(&login, &code).await });
        let token = token.await.unwrap_or(Err(SignInFault::NoToken))?;
        Ok(SignedIn { tokens: Arc::new(SessionTokens::new(Arc::clone(self), token)), next })
    }

    /// Removes the sign-in that a browser returns from, if that browser began it.
    fn take_pending(&self, state: &str, key: Option<&str>) -> Result<PendingSignIn, SignInFault> {
        let id = digest(state.as_bytes());
        let mut pending = self.pending();
        let login = pending.get(&id).filter(|login| !login.is_over(self.clock.unix_ms()));
        let login = login.ok_or(SignInFault::Unknown)?;
        let returned = digest(key.unwrap_or_default().as_bytes());
        if verify_slices_are_equal(returned.as_bytes(), login.browser.as_bytes()).is_err() {
            // It stays pending for the browser that began it.
            tracing::warn!("a browser came back from a sign-in that another one began");
            return Err(SignInFault::OtherBrowser);
        }
        pending.remove(&id).ok_or(SignInFault::Unknown)
    }

    async fn exchange(
        &self,
        login: &PendingSignIn,
        code: &Secret,
    ) -> Result<StoredToken, SignInFault> {
        let form = Form::for_code(code, &self.redirect_uri, &login.verifier, &self.terms);
        let answer = self
            .requester()
            .request_with_id_token(&login.authority, form, self.terms.clone())
            .await;
        let (token, id_token) = answer.map_err(|fault| {
            tracing::warn!(%fault, "a sign-in got no token");
            SignInFault::NoToken
        })?;
        self.verify_id_token(id_token.as_ref(), &login.nonce).await?;
        Ok(token)
    }

    /// Verifies that the ID token is for this gateway and this sign-in.
    async fn verify_id_token(
        &self,
        id_token: Option<&Secret>,
        nonce: &str,
    ) -> Result<(), SignInFault> {
        let Some(id_token) = id_token else {
            if !self.terms.scopes.contains(OPENID) {
                return Ok(());
            }
            tracing::warn!("a sign-in with the scope `openid` brought no ID token");
            return Err(SignInFault::Unproven);
        };
        let claims = self.issuer.claims(id_token.expose()).await;
        let checked = claims.and_then(|claims| {
            let (issuer, client) = (&self.terms.issuer, &self.terms.client.id);
            Ok(proof::check(&claims, issuer, client, nonce, self.clock.unix_ms())?)
        });
        checked.map_err(|why| {
            tracing::warn!(?why, "the ID token of a sign-in is invalid");
            SignInFault::Unproven
        })
    }

    async fn refresh(&self, last: &StoredToken) -> Result<StoredToken, Fault> {
        let authority = self.authority().await?;
        self.requester().refresh(&authority, last).await
    }

    async fn authority(&self) -> Result<Arc<Authority>, Fault> {
        let mut known = self.known.lock().await;
        let now = self.clock.unix_ms();
        if let Some(known) = &*known {
            let lifetime = if known.authority.is_ok() { FRESH_MS } else { RETRY_AFTER_MS };
            if now < known.at_ms.saturating_add(lifetime) {
                return known.authority.clone();
            }
        }
        let found = authority::find(self.http(), &self.terms.issuer, true).await.map(Arc::new);
        *known = Some(CachedAuthority { authority: found.clone(), at_ms: now });
        found
    }

    fn http(&self) -> &Client {
        self.issuer.http()
    }

    fn requester(&self) -> TokenRequester<'_> {
        TokenRequester { http: self.http(), config: &self.config, clock: &self.clock }
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<Digest, PendingSignIn>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingSignIn {
    fn is_over(&self, now_ms: u64) -> bool {
        let timeout = u64::try_from(SIGN_IN_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
        now_ms.saturating_sub(self.began_ms) >= timeout
    }
}

/// `openid` alone where roles grant access; otherwise the token must carry our scopes as well.
fn requested_scopes(
    own: &SignInOptions,
    issuer: &IssuerOptions,
    options: &AccessOptions,
) -> Scopes {
    if !own.scopes.is_empty() {
        return own.scopes.iter().cloned().collect();
    }
    let named = [scope::TOOLS_READ, scope::TOOLS_CALL].map(|scope| options.scopes.name(scope));
    let named = named.into_iter().filter(|_| issuer.roles_claim.is_none());
    [OPENID].into_iter().chain(named).map(str::to_owned).collect()
}

fn tag(state: &str) -> String {
    sha256_text(state).chars().take(16).collect()
}

fn unavailable(fault: Fault) -> SignInFault {
    tracing::warn!(%fault, "sign-in at the identity provider is not possible");
    SignInFault::Unavailable
}

#[cfg(test)]
mod tests;
