//! A person's login: the link that they are given. What comes of it is a matter of their browser (`visit.rs`).

use std::sync::Arc;
use std::time::Duration;

use proto::Digest;
use tokio::time::Instant;
use url::Url;

use super::assertion::random_text;
use super::authority::Authority;
use super::fault::Fault;
use super::holder::Holder;
use super::keyring::Keyring;
use super::server::ServerTokens;
use super::token::Terms;
use super::visit::sum;
use crate::Secret;

/// How long a person may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);

/// A link that is about to end is not given out again.
const WORTH: Duration = Duration::from_secs(120);

/// More logins than this are never under way.
const MAX_PENDING: usize = 10_000;

/// A login that somebody was given a link for.
pub(super) struct Pending {
    pub(super) server: Arc<ServerTokens>,
    pub(super) holder: Holder,
    pub(super) authority: Arc<Authority>,
    pub(super) terms: Terms,
    pub(super) redirect_uri: String,
    pub(super) verifier: Secret,
    /// The page of ours that asks first.
    link: Arc<str>,
    /// Where the authorization server is asked.
    pub(super) away: String,
    /// The browser that went there; no other can come back.
    pub(super) browser: Option<Digest>,
    since: Instant,
}

impl Pending {
    pub(super) fn is_over(&self) -> bool {
        self.since.elapsed() >= PATIENCE
    }

    /// Who will use what the person agrees to.
    pub(super) fn whom(&self) -> String {
        match &self.holder {
            Holder::Gateway => "everybody who uses this gateway".to_owned(),
            Holder::Person { tenant, subject } if tenant == subject => subject.clone(),
            Holder::Person { tenant, subject } => format!("{subject} of {tenant}"),
        }
    }
}

/// Makes a link for one person, or gives them the one that they have.
pub(super) fn begin(
    server: &Arc<ServerTokens>,
    keyring: &Keyring,
    holder: &Holder,
    authority: Arc<Authority>,
    terms: Terms,
    redirect_uri: String,
) -> Result<Arc<str>, Fault> {
    let mut pending = keyring.pending();
    pending.retain(|_, login| !login.is_over());
    let known = pending.values().find(|login| {
        Arc::ptr_eq(&login.server, server)
            && login.holder == *holder
            && login.terms == terms
            && login.redirect_uri == redirect_uri
            && login.browser.is_none()
            && login.since.elapsed() + WORTH < PATIENCE
    });
    if let Some(known) = known {
        return Ok(Arc::clone(&known.link));
    }
    if pending.len() >= MAX_PENDING {
        return Err(Fault::unfit("the login", "must wait: too many others are under way"));
    }
    let no_luck = || Fault::unfit("the login", "needs random numbers, which this machine lacks");
    let state = random_text().ok_or_else(no_luck)?;
    let verifier = Secret::new(random_text().ok_or_else(no_luck)?);

    let link: Arc<str> = page(&redirect_uri, &state)?.as_str().into();
    let endpoint = authority.authorization_endpoint()?;
    let away = away(endpoint, &terms, &redirect_uri, &state, &verifier)?;
    let login = Pending {
        server: Arc::clone(server),
        holder: holder.clone(),
        authority,
        terms,
        redirect_uri,
        verifier,
        link: Arc::clone(&link),
        away: away.into(),
        browser: None,
        since: Instant::now(),
    };
    pending.insert(state, login);
    Ok(link)
}

/// Where a browser is sent to get a code.
pub(super) fn away(
    endpoint: &str,
    terms: &Terms,
    redirect_uri: &str,
    state: &str,
    verifier: &Secret,
) -> Result<Url, Fault> {
    let mut away: Url =
        endpoint.parse().map_err(|_| Fault::unfit("the authorization endpoint", "is not a URL"))?;
    let mut query = away.query_pairs_mut();
    query
        .append_pair("response_type", "code")
        .append_pair("client_id", &terms.client.id)
        .append_pair("redirect_uri", redirect_uri)
        .append_pair("state", state)
        .append_pair("code_challenge", &sum(verifier.expose()))
        .append_pair("code_challenge_method", "S256");
    if !terms.scopes.is_empty() {
        let list: Vec<&str> = terms.scopes.iter().map(String::as_str).collect();
        query.append_pair("scope", &list.join(" "));
    }
    if let Some(resource) = &terms.resource {
        query.append_pair("resource", resource);
    }
    drop(query);
    Ok(away)
}

/// Our page lies beside the place that browsers come back to, so that one cookie reaches both.
fn page(redirect_uri: &str, state: &str) -> Result<Url, Fault> {
    let mut url: Url =
        redirect_uri.parse().map_err(|_| Fault::unfit("the redirect URI", "is not a URL"))?;
    let beside = url.path().strip_suffix("/callback").map(|folder| format!("{folder}/login"));
    url.set_path(beside.as_deref().unwrap_or("/oauth/login"));
    url.set_query(None);
    url.query_pairs_mut().append_pair("state", state);
    Ok(url)
}
