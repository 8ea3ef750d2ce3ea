//! A person's login: the link that they follow, and their coming back.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use tokio::time::Instant;
use url::{Url, form_urlencoded};

use super::assertion::random_text;
use super::authority::Authority;
use super::fault::Fault;
use super::holder::Holder;
use super::keyring::Keyring;
use super::resource::shown;
use super::server::ServerTokens;
use super::token::Terms;
use crate::Secret;

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(600);

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
    link: Arc<str>,
    since: Instant,
}

/// What the browser is shown when it comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landing {
    pub accepted: bool,
    /// Plain text, not yet fit for a page.
    pub text: String,
}

impl Landing {
    fn refused(text: impl Into<String>) -> Self {
        Self { accepted: false, text: text.into() }
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
    pending.retain(|_, login| login.since.elapsed() < PATIENCE);
    let known = pending.values().find(|login| {
        Arc::ptr_eq(&login.server, server)
            && login.holder == *holder
            && login.terms == terms
            && login.redirect_uri == redirect_uri
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
    let hash = digest::digest(&digest::SHA256, verifier.expose().as_bytes());
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(hash.as_ref());

    let mut link: Url = authority
        .authorization_endpoint()?
        .parse()
        .map_err(|_| Fault::unfit("the authorization endpoint", "is not a URL"))?;
    let mut query = link.query_pairs_mut();
    query
        .append_pair("response_type", "code")
        .append_pair("client_id", &terms.client.id)
        .append_pair("redirect_uri", &redirect_uri)
        .append_pair("state", &state)
        .append_pair("code_challenge", &challenge)
        .append_pair("code_challenge_method", "S256");
    if !terms.scopes.is_empty() {
        let list: Vec<&str> = terms.scopes.iter().map(String::as_str).collect();
        query.append_pair("scope", &list.join(" "));
    }
    if let Some(resource) = &terms.resource {
        query.append_pair("resource", resource);
    }
    drop(query);
    let link: Arc<str> = link.as_str().into();
    let login = Pending {
        server: Arc::clone(server),
        holder: holder.clone(),
        authority,
        terms,
        redirect_uri,
        verifier,
        link: Arc::clone(&link),
        since: Instant::now(),
    };
    pending.insert(state, login);
    Ok(link)
}

impl Keyring {
    /// Takes a browser's coming back: the query of `/oauth/callback`. A state counts once.
    pub async fn land(&self, query: &str) -> Landing {
        let mut fields: HashMap<String, String> = HashMap::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()).take(32) {
            if fields.insert(name.into_owned(), value.into_owned()).is_some() {
                return Landing::refused("This address says something twice; it is not used.");
            }
        }
        let login = fields.get("state").and_then(|state| self.pending().remove(state));
        let Some(login) = login.filter(|login| login.since.elapsed() < PATIENCE) else {
            return Landing::refused(
                "This login is not known, was used already, or took longer than ten minutes. Ask for a new link.",
            );
        };
        let server = login.server.name().to_owned();
        // Another server's answer, mixed into this login (RFC 9207).
        let iss = fields.get("iss");
        let foreign = match iss {
            Some(iss) => *iss != login.authority.issuer,
            None => login.authority.says_iss,
        };
        if foreign {
            tracing::warn!(server, "a login was answered by another issuer than it was sent to");
            return Landing::refused(
                "The answer is of another issuer than the login. It is not used.",
            );
        }
        if let Some(error) = fields.get("error") {
            return Landing::refused(format!("The login was refused: {}.", shown(error)));
        }
        let Some(code) = fields.remove("code").filter(|code| !code.is_empty()) else {
            return Landing::refused("The login brought no code.");
        };
        let whom = match &login.holder {
            Holder::Gateway => "everybody who uses this gateway".to_owned(),
            Holder::Person { tenant, subject } if tenant == subject => subject.clone(),
            Holder::Person { tenant, subject } => format!("{subject} of {tenant}"),
        };
        // Goes on when the browser leaves: a code counts once.
        let finished = tokio::spawn(async move {
            let tokens = Arc::clone(&login.server);
            tokens.finish(login, Secret::new(code)).await
        });
        match finished.await.unwrap_or(Err(Fault::CutShort)) {
            Ok(()) => Landing {
                accepted: true,
                text: format!(
                    "The server {server} can now be used by {whom}. You may close this page."
                ),
            },
            Err(fault) => {
                tracing::warn!(server, %fault, "a login failed");
                Landing::refused(
                    "The authorization server gave no token. The gateway's log says why.",
                )
            }
        }
    }
}
