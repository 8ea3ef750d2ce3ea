//! People sign in to the gateway at their identity provider (OpenID Connect: authorization code with PKCE). A browser
//! goes there and comes back with a code, which becomes an access token for this gateway: a credential like any other,
//! looked at like any other. That somebody came back proves nothing by itself.

mod fault;
mod proof;
mod stay;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use egress::http::Client;
use proto::{Clock, Digest, digest};
use url::Url;

use super::assertion::random_text;
use super::authority::{self, Authority};
use super::config::{ClientConfig, Resource};
use super::exchange::{Asker, Form};
use super::fault::Fault;
use super::login::away;
use super::resource::shown;
use super::token::{ClientIdentity, Kept, Scopes, Terms};
use super::visit::{fields, sum};
use crate::issuer::Issuer;
use crate::options::{AccessOptions, IssuerOptions, SignInOptions};
use crate::{Secret, scope};

pub use fault::SignInFault;
pub use stay::Stay;

/// Where browsers come back to, below the gateway's public URL.
pub const SIGN_IN_CALLBACK: &str = "/dashboard/sign-in/callback";

/// How long a person may take.
pub const SIGN_IN_PATIENCE: Duration = Duration::from_secs(600);

/// Beyond this many under way, the one that was begun first is forgotten: whoever begins many cannot lock others out
/// for longer than those take who are quick.
const MAX_PENDING: usize = 10_000;

/// How long metadata is believed.
const FRESH_MS: u64 = 10 * 60 * 1000;

/// After a failure the identity provider is left alone for so long.
const HOLD_MS: u64 = 3_000;

/// The scope that makes OAuth OpenID Connect.
const OPENID: &str = "openid";

/// How people sign in at one identity provider.
pub struct SignIn {
    issuer: Issuer,
    config: ClientConfig,
    /// What is asked for, by whom, for whom.
    terms: Terms,
    redirect_uri: String,
    clock: Clock,
    /// What its metadata said, and when. One asks, the others wait.
    known: tokio::sync::Mutex<Option<Known>>,
    pending: Mutex<HashMap<Digest, Pending>>,
}

struct Known {
    authority: Result<Arc<Authority>, Fault>,
    at_ms: u64,
}

/// A sign-in under way.
struct Pending {
    authority: Arc<Authority>,
    verifier: Secret,
    nonce: String,
    /// What the browser that began it keeps; no other can end it.
    browser: Digest,
    next: String,
    began_ms: u64,
}

/// A browser is sent away.
#[derive(Debug)]
pub struct Departure {
    /// Where to.
    pub to: String,
    /// What sets this sign-in apart from others of the same browser; fit for a cookie's name.
    pub tag: String,
    /// What the browser must bring back, fit for a cookie's value.
    pub key: Secret,
}

/// A browser has come back with what can be looked at.
#[derive(Debug)]
pub struct Landed {
    pub stay: Arc<Stay>,
    /// Where the person wanted to go, as it was said when they left.
    pub next: String,
}

impl SignIn {
    /// People sign in so if the options say how.
    pub(crate) fn new(options: &AccessOptions, issuer: &Issuer, clock: Clock) -> Option<Arc<Self>> {
        let named = options.issuer.as_ref()?;
        let own = named.sign_in.as_ref()?;
        let public_url = &options.public_url;
        let resource = match &own.resource {
            Resource::OfServer => Some(public_url.clone()),
            Resource::Named(named) => Some(named.clone()),
            Resource::Unsaid => None,
        };
        let terms = Terms {
            issuer: named.issuer.clone(),
            url: public_url.clone(),
            resource,
            scopes: asked_for(own, named, options),
            client: ClientIdentity { id: own.client_id.clone(), secret: None },
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

    /// What people call the identity provider: its host, and its port if that is an unusual one.
    pub fn host(&self) -> String {
        let url = Url::parse(&self.terms.issuer).ok();
        let host = url.as_ref().and_then(|url| Some((url.host_str()?, url.port())));
        match host {
            Some((host, Some(port))) => format!("{host}:{port}"),
            Some((host, None)) => host.to_owned(),
            None => self.terms.issuer.clone(),
        }
    }

    /// What sets a sign-in apart from others of the same browser, by the query that it comes back with.
    pub fn tag(query: &str) -> Option<String> {
        fields(query)?.get("state").map(|state| tag(state))
    }

    /// Sends a browser to the identity provider.
    pub async fn depart(&self, next: &str) -> Result<Departure, SignInFault> {
        let authority = self.authority().await.map_err(unavailable)?;
        let text = || random_text().ok_or(SignInFault::Randomness);
        let (state, nonce, key) = (text()?, text()?, text()?);
        let verifier = Secret::new(text()?);
        let endpoint = authority.sign_in_endpoint().map_err(unavailable)?;
        let mut to = away(endpoint, &self.terms, &self.redirect_uri, &state, &verifier)
            .map_err(unavailable)?;
        to.query_pairs_mut().append_pair("nonce", &nonce);
        let now = self.clock.unix_ms();
        let login = Pending {
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
        Ok(Departure { to: to.into(), tag: tag(&state), key: Secret::new(key) })
    }

    /// Takes a browser's coming back: the query of the callback, and what the browser kept. A state counts once.
    pub async fn land(
        self: &Arc<Self>,
        query: &str,
        key: Option<&str>,
    ) -> Result<Landed, SignInFault> {
        let mut fields = fields(query).ok_or(SignInFault::Unreadable)?;
        let login = self.arrived(fields.get("state").map_or("", String::as_str), key)?;
        if !login.authority.answers(fields.get("iss").map(String::as_str)) {
            tracing::warn!("a sign-in was answered by another issuer than it was sent to");
            return Err(SignInFault::OtherIssuer);
        }
        if let Some(error) = fields.get("error") {
            tracing::info!(error = shown(error), "the identity provider refused a sign-in");
            return Err(SignInFault::refused(error));
        }
        let code = fields.remove("code").filter(|code| !code.is_empty());
        let code = Secret::new(code.ok_or(SignInFault::NoCode)?);
        let next = login.next.clone();
        // Goes on when the browser leaves: a code counts once.
        let this = Arc::clone(self);
        let kept = tokio::spawn(async move { this.exchange(&login, &code).await });
        let kept = kept.await.unwrap_or(Err(SignInFault::NoToken))?;
        Ok(Landed { stay: Arc::new(Stay::new(Arc::clone(self), kept)), next })
    }

    /// The sign-in that a browser comes back from, if it is the browser that went.
    fn arrived(&self, state: &str, key: Option<&str>) -> Result<Pending, SignInFault> {
        let place = digest(state.as_bytes());
        let mut pending = self.pending();
        let login = pending.get(&place).filter(|login| !login.is_over(self.clock.unix_ms()));
        let login = login.ok_or(SignInFault::Unknown)?;
        let brought = digest(key.unwrap_or_default().as_bytes());
        if verify_slices_are_equal(brought.as_bytes(), login.browser.as_bytes()).is_err() {
            // It stays, for the browser whose it is.
            tracing::warn!("a browser came back from a sign-in that another one began");
            return Err(SignInFault::OtherBrowser);
        }
        pending.remove(&place).ok_or(SignInFault::Unknown)
    }

    async fn exchange(&self, login: &Pending, code: &Secret) -> Result<Kept, SignInFault> {
        let form = Form::of_code(code, &self.redirect_uri, &login.verifier, &self.terms);
        let asked = self.asker().ask_who(&login.authority, form, self.terms.clone()).await;
        let (kept, id_token) = asked.map_err(|fault| {
            tracing::warn!(%fault, "a sign-in got no token");
            SignInFault::NoToken
        })?;
        self.proven(id_token.as_ref(), &login.nonce).await?;
        Ok(kept)
    }

    /// Makes sure that what the identity provider says of the person was said for this gateway and for this sign-in.
    async fn proven(&self, id_token: Option<&Secret>, nonce: &str) -> Result<(), SignInFault> {
        let Some(id_token) = id_token else {
            if !self.terms.scopes.contains(OPENID) {
                return Ok(());
            }
            tracing::warn!("a sign-in was asked for with `openid`, and brought no ID token");
            return Err(SignInFault::Unproven);
        };
        let claims = self.issuer.claims(id_token.expose()).await;
        let checked = claims.and_then(|claims| {
            let (issuer, client) = (&self.terms.issuer, &self.terms.client.id);
            Ok(proof::check(&claims, issuer, client, nonce, self.clock.unix_ms())?)
        });
        checked.map_err(|why| {
            tracing::warn!(?why, "the ID token of a sign-in does not hold");
            SignInFault::Unproven
        })
    }

    async fn refresh(&self, last: &Kept) -> Result<Kept, Fault> {
        let authority = self.authority().await?;
        self.asker().refresh(&authority, last).await
    }

    async fn authority(&self) -> Result<Arc<Authority>, Fault> {
        let mut known = self.known.lock().await;
        let now = self.clock.unix_ms();
        if let Some(known) = &*known {
            let life = if known.authority.is_ok() { FRESH_MS } else { HOLD_MS };
            if now < known.at_ms.saturating_add(life) {
                return known.authority.clone();
            }
        }
        let found = authority::find(self.http(), &self.terms.issuer, true).await.map(Arc::new);
        *known = Some(Known { authority: found.clone(), at_ms: now });
        found
    }

    fn http(&self) -> &Client {
        self.issuer.http()
    }

    fn asker(&self) -> Asker<'_> {
        Asker { http: self.http(), config: &self.config, clock: &self.clock }
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<Digest, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    fn is_over(&self, now_ms: u64) -> bool {
        let patience = u64::try_from(SIGN_IN_PATIENCE.as_millis()).unwrap_or(u64::MAX);
        now_ms.saturating_sub(self.began_ms) >= patience
    }
}

/// Where roles say what people may do, `openid` is enough; elsewhere the token must carry scopes.
fn asked_for(own: &SignInOptions, issuer: &IssuerOptions, options: &AccessOptions) -> Scopes {
    if !own.scopes.is_empty() {
        return own.scopes.iter().cloned().collect();
    }
    let named = [scope::TOOLS_READ, scope::TOOLS_CALL].map(|scope| options.scopes.name(scope));
    let named = named.into_iter().filter(|_| issuer.roles_claim.is_none());
    [OPENID].into_iter().chain(named).map(str::to_owned).collect()
}

fn tag(state: &str) -> String {
    sum(state).chars().take(16).collect()
}

fn unavailable(fault: Fault) -> SignInFault {
    tracing::warn!(%fault, "nobody can sign in at the identity provider");
    SignInFault::Unavailable
}

#[cfg(test)]
mod tests;
