//! How a token is had: by the grant that the config names, from the authorization server that the server names.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use url::Url;

use super::authority::{self, Authority};
use super::challenge::Bearer;
use super::config::{Grant, Resource, Subject};
use super::exchange::{Asker, Form};
use super::fault::Fault;
use super::holder::Holder;
use super::login::{self, Pending};
use super::registration::Registrar;
use super::resource;
use super::server::ServerTokens;
use super::token::{Kept, Scopes, Terms, Token};
use crate::Secret;

/// How long metadata is believed.
const FRESH: Duration = Duration::from_secs(600);

const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// The largest subject token that is read from a file.
const MAX_SUBJECT_BYTES: usize = 64 * 1024;

/// What was found out about a server.
#[derive(Clone)]
pub(super) struct Discovered {
    metadata_url: Option<String>,
    resource: String,
    scopes: Vec<String>,
    authority: Arc<Authority>,
    since: Instant,
}

impl ServerTokens {
    /// Gets a token in the place of one that was refused, or of none.
    pub(super) async fn replace(
        self: &Arc<Self>,
        holder: &Holder,
        current: Option<&Token>,
        url: &str,
        challenge: &Bearer,
    ) -> Result<Kept, Fault> {
        let found = self.discover(url, challenge).await?;
        let mut scopes: Scopes = self.config.scopes.iter().cloned().collect();
        let asked = if challenge.scopes.is_empty() { &found.scopes } else { &challenge.scopes };
        scopes.extend(asked.iter().cloned());
        if challenge.wants_more() {
            // All that we had and all that is missing, so that one does not push out the other.
            if let Some(token) = current {
                scopes.extend(token.kept.terms.scopes.iter().cloned());
                if scopes == token.kept.terms.scopes {
                    return Err(Fault::Scopes(scopes.into_iter().collect::<Vec<_>>().join(" ")));
                }
            }
        } else if let Some(token) = current
            && token.kept.refresh.is_some()
        {
            match self.refresh(&token.kept).await {
                Ok(kept) => return Ok(kept),
                Err(fault) if fault.is_passing() => return Err(fault),
                Err(fault) => {
                    tracing::debug!(server = self.name(), %fault, "a refresh token is of no use");
                }
            }
        }
        let resource = match &self.config.resource {
            Resource::OfServer => Some(found.resource.clone()),
            Resource::Named(named) => Some(named.clone()),
            Resource::Unsaid => None,
        };
        let authority = found.authority;
        let redirect_uri = self.redirect_uri();
        if self.config.grant == Grant::AuthorizationCode {
            // Before we introduce ourselves to somebody who could not be trusted with a login.
            authority.authorization_endpoint()?;
        }
        let client = self.registrar().identity(&authority, redirect_uri.as_deref()).await?;
        let issuer = authority.issuer.clone();
        let terms = Terms { issuer, url: url.to_owned(), resource, scopes, client };
        if self.config.grant != Grant::AuthorizationCode {
            return self.granted(&authority, terms).await;
        }
        let Some(redirect_uri) = redirect_uri else {
            // Nobody can come back to a gateway that does not listen.
            return Err(Fault::Login { server: Arc::clone(&self.name), link: None });
        };
        let link = login::begin(self, &self.keyring, holder, authority, terms, redirect_uri)?;
        Err(Fault::Login { server: Arc::clone(&self.name), link: Some(link) })
    }

    /// Gets the next token under the terms of the last.
    pub(super) async fn renew(&self, last: &Kept) -> Result<Kept, Fault> {
        if last.refresh.is_some() {
            match self.refresh(last).await {
                Err(fault) if self.config.grant != Grant::AuthorizationCode => {
                    tracing::debug!(server = self.name(), %fault, "a refresh token is of no use");
                }
                outcome => return outcome,
            }
        }
        let authority = self.authority(&last.terms.issuer).await?;
        self.granted(&authority, last.terms.clone()).await
    }

    async fn refresh(&self, last: &Kept) -> Result<Kept, Fault> {
        let authority = self.authority(&last.terms.issuer).await?;
        self.asker().refresh(&authority, last).await
    }

    /// A token that needs nobody's help.
    async fn granted(&self, authority: &Authority, terms: Terms) -> Result<Kept, Fault> {
        let form = match self.config.grant {
            Grant::ClientCredentials => Form::of("client_credentials"),
            Grant::TokenExchange => Form::of("urn:ietf:params:oauth:grant-type:token-exchange")
                .with("subject_token", self.subject().await?.expose())
                .with("subject_token_type", ACCESS_TOKEN)
                .with("requested_token_type", ACCESS_TOKEN),
            Grant::AuthorizationCode => {
                return Err(Fault::Login { server: Arc::clone(&self.name), link: None });
            }
        };
        let form = form.about(&terms);
        self.asker().ask(authority, form, terms).await
    }

    /// Ends a login: the code becomes a token of its person.
    pub(super) async fn finish(&self, login: Pending, code: Secret) -> Result<(), Fault> {
        let form = Form::of_code(&code, &login.redirect_uri, &login.verifier, &login.terms);
        let outcome = self.asker().ask(&login.authority, form, login.terms).await;
        if let Err(Fault::Refused { code, .. }) = &outcome
            && code == "invalid_client"
        {
            self.registrar().forget(&login.authority).await;
        }
        self.take(&login.holder, outcome?).await
    }

    /// Finds out what the server is called and who issues its tokens.
    async fn discover(&self, url: &str, challenge: &Bearer) -> Result<Discovered, Fault> {
        let known = self.cache().clone().filter(|known| {
            known.since.elapsed() < FRESH && known.metadata_url == challenge.resource_metadata
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let place: Url =
            url.parse().map_err(|_| Fault::unfit("the server's address", "is not a URL"))?;
        let protected = resource::find(&self.http, &place, challenge).await?;
        let (resource, issuers, scopes) = match protected {
            Some(protected) => (protected.resource, protected.issuers, protected.scopes),
            None => (resource::plain(&place), Vec::new(), Vec::new()),
        };
        let issuer = match (&self.config.issuer, issuers.first()) {
            (Some(named), first) => {
                if first.is_some() && !issuers.contains(named) {
                    tracing::warn!(
                        server = self.name(),
                        "the server names other authorization servers than `auth.issuer`, which holds"
                    );
                }
                named.clone()
            }
            (None, Some(first)) => first.clone(),
            // Servers from before RFC 9728 are their own authorization servers.
            (None, None) => place.origin().ascii_serialization(),
        };
        let authority = self.fetch_authority(&issuer).await?;
        let discovered = Discovered {
            metadata_url: challenge.resource_metadata.clone(),
            resource,
            scopes,
            authority,
            since: Instant::now(),
        };
        *self.cache() = Some(discovered.clone());
        Ok(discovered)
    }

    async fn authority(&self, issuer: &str) -> Result<Arc<Authority>, Fault> {
        let known = self
            .cache()
            .clone()
            .filter(|known| known.since.elapsed() < FRESH && known.authority.issuer == issuer);
        match known {
            Some(known) => Ok(known.authority),
            None => self.fetch_authority(issuer).await,
        }
    }

    async fn fetch_authority(&self, issuer: &str) -> Result<Arc<Authority>, Fault> {
        let trusted = self.config.issuer.as_deref() == Some(issuer);
        Ok(Arc::new(authority::find(&self.http, issuer, trusted).await?))
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, Option<Discovered>> {
        self.discovered.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn redirect_uri(&self) -> Option<String> {
        let own = || self.keyring.callback().map(|callback| String::clone(&callback));
        self.config.redirect_uri.clone().or_else(own)
    }

    async fn subject(&self) -> Result<Secret, Fault> {
        let text = match &self.config.subject {
            Some(Subject::Given(secret)) => return Ok(secret.clone()),
            Some(Subject::File(path)) => tokio::fs::read_to_string(path).await.ok(),
            None => None,
        };
        let text = text.filter(|text| text.len() <= MAX_SUBJECT_BYTES);
        let token = text.as_deref().map(str::trim).filter(|token| !token.is_empty());
        token
            .map(Secret::new)
            .ok_or_else(|| Fault::unfit("the subject token", "cannot be read from its file"))
    }

    fn asker(&self) -> Asker<'_> {
        Asker { http: &self.http, config: &self.config, clock: self.keyring.clock() }
    }

    fn registrar(&self) -> Registrar<'_> {
        let (server, config) = (self.name(), &self.config);
        Registrar { server, config, http: &self.http, keyring: &self.keyring }
    }
}
