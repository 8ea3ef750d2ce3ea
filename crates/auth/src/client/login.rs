//! A person's pending login and its link. The browser's part is in `login_pages.rs`.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use proto::{Digest, Secret};
use tokio::time::Instant;
use url::Url;

use super::authority::Authority;
use super::fault::Fault;
use super::holder::Holder;
use super::token::Terms;
use crate::random::{random_text, sha256_text};

/// How long a person may take.
pub(super) const TIMEOUT: Duration = Duration::from_secs(600);

/// A link with less time left is not given out again.
const MIN_REMAINING: Duration = Duration::from_secs(120);

/// At most this many logins are pending.
const MAX_PENDING: usize = 10_000;

/// The server that a login is for.
pub(super) trait LoginServer: Send + Sync {
    fn name(&self) -> &str;

    /// Forgets the client of a login that the authorization server does not know, so that the next one registers again.
    fn forget_client(
        self: Arc<Self>,
        authority: Arc<Authority>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// Exchanges the code of a finished login for a token of its holder.
    fn finish(
        self: Arc<Self>,
        login: PendingLogin,
        code: Secret,
    ) -> Pin<Box<dyn Future<Output = Result<(), Fault>> + Send>>;
}

/// The parameters of a login.
pub(super) struct NewLogin {
    pub(super) server: Arc<dyn LoginServer>,
    pub(super) holder: Holder,
    pub(super) authority: Arc<Authority>,
    pub(super) terms: Terms,
    pub(super) redirect_uri: String,
}

/// A login whose link was given out.
pub(super) struct PendingLogin {
    pub(super) params: NewLogin,
    pub(super) verifier: Secret,
    /// The gateway's page that asks the person first.
    pub(super) link: Arc<str>,
    /// The authorization server's page.
    pub(super) authorize_url: String,
    /// The browser that went there; the login ends in no other.
    pub(super) browser: Option<Digest>,
    since: Instant,
}

impl PendingLogin {
    pub(super) fn is_over(&self) -> bool {
        self.since.elapsed() >= TIMEOUT
    }

    /// Prepares the same login without `resource`, for an authorization server that refused it.
    pub(super) fn drop_resource(&mut self, state: &str) -> Result<(), Fault> {
        self.params.terms.resource = None;
        let NewLogin { authority, terms, redirect_uri, .. } = &self.params;
        let endpoint = authority.authorization_endpoint()?;
        self.authorize_url =
            authorize_url(endpoint, terms, redirect_uri, state, &self.verifier)?.into();
        Ok(())
    }

    /// The user or users who will use the token.
    pub(super) fn grantee(&self) -> String {
        match &self.params.holder {
            Holder::Gateway => "everybody who uses this gateway".to_owned(),
            Holder::Person { tenant, subject } if tenant == subject => subject.clone(),
            Holder::Person { tenant, subject } => format!("{subject} of {tenant}"),
        }
    }

    /// Whether its link can be given out again for the same parameters.
    fn is_reusable_for(&self, new: &NewLogin) -> bool {
        let own = &self.params;
        Arc::ptr_eq(&own.server, &new.server)
            && own.holder == new.holder
            && own.terms == new.terms
            && own.redirect_uri == new.redirect_uri
            && self.browser.is_none()
            && self.since.elapsed() + MIN_REMAINING < TIMEOUT
    }
}

/// Makes a link for one person, or returns the one that they already have.
pub(super) fn begin(
    pending: &mut HashMap<String, PendingLogin>,
    params: NewLogin,
) -> Result<Arc<str>, Fault> {
    pending.retain(|_, login| !login.is_over());
    if let Some(known) = pending.values().find(|login| login.is_reusable_for(&params)) {
        return Ok(Arc::clone(&known.link));
    }
    if pending.len() >= MAX_PENDING {
        return Err(Fault::invalid("the login", "must wait: too many others are pending"));
    }
    let no_random =
        || Fault::invalid("the login", "needs random numbers, which this machine lacks");
    let state = random_text().ok_or_else(no_random)?;
    let verifier = Secret::new(random_text().ok_or_else(no_random)?);

    let link: Arc<str> = page_url(&params.redirect_uri, &state)?.as_str().into();
    let endpoint = params.authority.authorization_endpoint()?;
    let url = authorize_url(endpoint, &params.terms, &params.redirect_uri, &state, &verifier)?;
    let login = PendingLogin {
        params,
        verifier,
        link: Arc::clone(&link),
        authorize_url: url.into(),
        browser: None,
        since: Instant::now(),
    };
    pending.insert(state, login);
    Ok(link)
}

/// The authorization request that a browser is redirected to.
pub(super) fn authorize_url(
    endpoint: &str,
    terms: &Terms,
    redirect_uri: &str,
    state: &str,
    verifier: &Secret,
) -> Result<Url, Fault> {
    let mut url: Url = endpoint
        .parse()
        .map_err(|_| Fault::invalid("the authorization endpoint", "is not a URL"))?;
    let mut query = url.query_pairs_mut();
    query
        .append_pair("response_type", "code")
        .append_pair("client_id", &terms.client.id)
        .append_pair("redirect_uri", redirect_uri)
        .append_pair("state", state)
        .append_pair("code_challenge", &sha256_text(verifier.expose()))
        .append_pair("code_challenge_method", "S256");
    if !terms.scopes.is_empty() {
        let list: Vec<&str> = terms.scopes.iter().map(String::as_str).collect();
        query.append_pair("scope", &list.join(" "));
    }
    if let Some(resource) = &terms.resource {
        query.append_pair("resource", resource);
    }
    drop(query);
    Ok(url)
}

/// The login page is in the same folder as the callback, so that one cookie path covers both.
fn page_url(redirect_uri: &str, state: &str) -> Result<Url, Fault> {
    let mut url: Url =
        redirect_uri.parse().map_err(|_| Fault::invalid("the redirect URI", "is not a URL"))?;
    let path = url.path().strip_suffix("/callback").map(|folder| format!("{folder}/login"));
    url.set_path(path.as_deref().unwrap_or("/oauth/login"));
    url.set_query(None);
    url.query_pairs_mut().append_pair("state", state);
    Ok(url)
}
