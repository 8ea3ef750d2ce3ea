//! Token requests: with the grant that the config names, to the authorization server that the server names.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use proto::Secret;
use tokio::time::Instant;
use url::Url;

use super::authority::{self, Authority};
use super::challenge::BearerChallenge;
use super::config::{ClientConfig, Grant, Resource, SubjectToken};
use super::exchange::{Form, TokenRequester};
use super::fault::Fault;
use super::holder::Holder;
use super::login::{self, LoginServer, NewLogin, PendingLogin};
use super::registration::Registrar;
use super::resource;
use super::server::{Discovered, ServerTokens};
use super::token::{ClientIdentity, OFFLINE_ACCESS, Scopes, StoredToken, Terms, Token};

/// How long metadata is cached.
const FRESH: Duration = Duration::from_secs(600);

const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";

const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// The largest subject token that is read from a file.
const MAX_SUBJECT_BYTES: u64 = 64 * 1024;

impl ServerTokens {
    /// Gets a token instead of a refused one, or a first one.
    pub(super) async fn replace(
        self: &Arc<Self>,
        holder: &Holder,
        current: Option<&Token>,
        url: &str,
        challenge: &BearerChallenge,
    ) -> Result<StoredToken, Fault> {
        let found = self.discover(url, challenge).await?;
        let mut scopes: Scopes = self.config.scopes.iter().cloned().collect();
        let requested = if challenge.scopes.is_empty() { &found.scopes } else { &challenge.scopes };
        scopes.extend(requested.iter().cloned());
        let wants_refresh = self.config.grant == Grant::AuthorizationCode
            && found.authority.offers_offline_access
            // Alone it would replace the scopes that the server grants by default.
            && !scopes.is_empty();
        if wants_refresh {
            scopes.insert(OFFLINE_ACCESS.to_owned());
        }
        if challenge.lacks_scopes() {
            // Both the current scopes and the missing ones: a token with the latter alone would lose the former.
            if let Some(token) = current {
                scopes.extend(token.stored.terms.scopes.iter().cloned());
                if scopes == token.stored.terms.scopes {
                    return Err(Fault::Scopes(scopes.into_iter().collect::<Vec<_>>().join(" ")));
                }
            }
        } else if let Some(token) = current
            && token.stored.refresh.is_some()
            && token.stored.terms.issuer == found.authority.issuer
        {
            match self.refresh(&token.stored).await {
                Ok(stored) => return Ok(stored),
                Err(fault) if fault.is_transient() => return Err(fault),
                Err(fault) => {
                    tracing::debug!(server = self.name(), %fault, "a refresh token was rejected");
                }
            }
        }
        let resource = match &self.config.resource {
            Resource::FromMetadata => Some(found.resource.clone()),
            Resource::Named(named) => Some(named.clone()),
            Resource::Omitted => None,
        };
        let authority = found.authority;
        let redirect_uri = self.redirect_uri();
        if self.config.grant == Grant::AuthorizationCode {
            // Checked before we register with a server that does not offer a safe login.
            authority.authorization_endpoint()?;
        }
        let client = self.registrar().identity(&authority, redirect_uri.as_deref()).await?;
        let issuer = authority.issuer.clone();
        let bound = challenge.wants_proof;
        if bound && !authority.binds_tokens {
            let why = "does not bind tokens to keys (DPoP with ES256), which the server requires";
            return Err(Fault::invalid("the authorization server", why));
        }
        let terms = Terms { issuer, url: url.to_owned(), resource, scopes, client, bound };
        if self.config.grant != Grant::AuthorizationCode {
            return self.request_token(&authority, terms).await;
        }
        let Some(redirect_uri) = redirect_uri else {
            // A browser cannot return to a gateway that does not listen.
            return Err(Fault::LoginRequired { server: Arc::clone(&self.name), link: None });
        };
        let server: Arc<dyn LoginServer> = Arc::<Self>::clone(self);
        let holder = holder.clone();
        let login = NewLogin { server, holder, authority, terms, redirect_uri };
        let link = login::begin(&mut self.oauth.pending(), login)?;
        Err(Fault::LoginRequired { server: Arc::clone(&self.name), link: Some(link) })
    }

    /// Requests the next token under the terms of the last.
    pub(super) async fn renew(&self, last: &StoredToken) -> Result<StoredToken, Fault> {
        if last.refresh.is_some() {
            match self.refresh(last).await {
                Err(fault) if self.config.grant != Grant::AuthorizationCode => {
                    tracing::debug!(server = self.name(), %fault, "a refresh token was rejected");
                }
                outcome => return outcome,
            }
        }
        let authority = self.authority(&last.terms.issuer).await?;
        self.request_token(&authority, last.terms.clone()).await
    }

    async fn refresh(&self, last: &StoredToken) -> Result<StoredToken, Fault> {
        let authority = self.authority(&last.terms.issuer).await?;
        self.requester().refresh(&authority, last).await
    }

    /// Requests a token with a grant that needs no person.
    async fn request_token(
        &self,
        authority: &Authority,
        terms: Terms,
    ) -> Result<StoredToken, Fault> {
        let form = match self.config.grant {
            Grant::ClientCredentials => Form::new("client_credentials"),
            Grant::TokenExchange => Form::new(TOKEN_EXCHANGE)
                .with("subject_token", self.subject().await?.expose())
                .with("subject_token_type", ACCESS_TOKEN)
                .with("requested_token_type", ACCESS_TOKEN),
            Grant::JwtBearer => {
                Form::new(JWT_BEARER).with("assertion", self.subject().await?.expose())
            }
            Grant::IdentityAssertion => {
                let assertion = self.identity_assertion(authority, &terms).await?;
                Form::new(JWT_BEARER).with("assertion", assertion.expose())
            }
            Grant::AuthorizationCode => {
                return Err(Fault::LoginRequired { server: Arc::clone(&self.name), link: None });
            }
        };
        let form = form.with_terms(&terms);
        self.requester().request(authority, form, terms).await
    }

    /// Exchanges the ID token at the identity provider for an assertion to this authorization server.
    async fn identity_assertion(
        &self,
        authority: &Authority,
        terms: &Terms,
    ) -> Result<Secret, Fault> {
        let Some(provider) = &self.config.identity_provider else {
            return Err(Fault::invalid("the identity provider", "is not configured"));
        };
        let issuing = authority::find(&self.http, &provider.issuer, true).await?;
        let form = Form::new(TOKEN_EXCHANGE)
            .with("requested_token_type", ID_JAG)
            .with("audience", &authority.issuer)
            .with("subject_token", self.subject().await?.expose())
            .with("subject_token_type", ID_TOKEN)
            .with_terms(terms);
        let config = ClientConfig {
            client_secret: provider.client_secret.clone(),
            ..ClientConfig::default()
        };
        let requester =
            TokenRequester { http: &self.http, config: &config, clock: self.oauth.clock() };
        let client = ClientIdentity::public(&provider.client_id);
        requester
            .request_assertion(&issuing, form, Terms { client, bound: false, ..terms.clone() })
            .await
    }

    async fn exchange_code(&self, login: PendingLogin, code: Secret) -> Result<(), Fault> {
        let NewLogin { holder, authority, terms, redirect_uri, .. } = login.params;
        let form = Form::for_code(&code, &redirect_uri, &login.verifier, &terms);
        let outcome = self.requester().request(&authority, form, terms).await;
        if outcome.as_ref().is_err_and(Fault::is_refused_client) {
            self.registrar().forget(&authority).await;
        }
        self.accept_login(&holder, outcome?).await
    }

    /// Whether the server names another authorization server than the one that issued a token that it rejects.
    pub(super) async fn has_moved(
        &self,
        issuer: &str,
        url: &str,
        challenge: &BearerChallenge,
    ) -> bool {
        *self.cache() = None;
        let found = self.discover(url, challenge).await;
        found.is_ok_and(|found| found.authority.issuer != issuer)
    }

    /// Finds the server's resource identifier and its authorization server.
    async fn discover(&self, url: &str, challenge: &BearerChallenge) -> Result<Discovered, Fault> {
        let known = self.cache().clone().filter(|known| {
            known.since.elapsed() < FRESH && known.metadata_url == challenge.resource_metadata
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let server_url: Url =
            url.parse().map_err(|_| Fault::invalid("the server's address", "is not a URL"))?;
        let own_resource = self.config.resource == Resource::FromMetadata;
        let protected = resource::find(&self.http, &server_url, challenge, own_resource).await?;
        let (resource, issuers, scopes) = match protected {
            Some(protected) => (protected.resource, protected.issuers, protected.scopes),
            None => (resource::default_resource(&server_url), Vec::new(), Vec::new()),
        };
        let issuer = match (&self.config.issuer, issuers.first()) {
            (Some(named), first) => {
                if first.is_some() && !issuers.contains(named) {
                    tracing::warn!(
                        server = self.name(),
                        "the server names other authorization servers than `auth.issuer`, which takes precedence"
                    );
                }
                named.clone()
            }
            (None, Some(first)) => first.clone(),
            // Servers that predate RFC 9728 are their own authorization servers.
            (None, None) => server_url.origin().ascii_serialization(),
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
        let named = self.config.issuer.as_deref();
        let trusted = named.is_some_and(|named| authority::is_same_issuer(named, issuer));
        let found = if !trusted && self.is_own_origin(issuer) {
            authority::find_own(&self.http, issuer).await
        } else {
            authority::find(&self.http, issuer, trusted).await
        };
        Ok(Arc::new(found?))
    }

    fn is_own_origin(&self, issuer: &str) -> bool {
        let urls = self.urls.iter().filter_map(|url| Url::parse(url).ok());
        urls.map(|url| url.origin().ascii_serialization()).any(|origin| origin == issuer)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, Option<Discovered>> {
        self.discovered.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn redirect_uri(&self) -> Option<String> {
        let own = || self.oauth.callback().map(|callback| String::clone(&callback));
        self.config.redirect_uri.clone().or_else(own)
    }

    async fn subject(&self) -> Result<Secret, Fault> {
        let text = match &self.config.subject {
            Some(SubjectToken::Given(secret)) => return Ok(secret.clone()),
            Some(SubjectToken::File(path)) => {
                let path = path.clone();
                let read = move || userfiles::read_text(&path, MAX_SUBJECT_BYTES).ok();
                tokio::task::spawn_blocking(read).await.ok().flatten()
            }
            None => None,
        };
        let token = text.as_deref().map(str::trim).filter(|token| !token.is_empty());
        token
            .map(Secret::new)
            .ok_or_else(|| Fault::invalid("the subject token", "cannot be read from its file"))
    }

    fn requester(&self) -> TokenRequester<'_> {
        TokenRequester { http: &self.http, config: &self.config, clock: self.oauth.clock() }
    }

    fn registrar(&self) -> Registrar<'_> {
        let (server, config) = (self.name(), &self.config);
        Registrar { server, config, http: &self.http, oauth: &self.oauth }
    }
}

impl LoginServer for ServerTokens {
    fn name(&self) -> &str {
        ServerTokens::name(self)
    }

    fn forget_client(
        self: Arc<Self>,
        authority: Arc<Authority>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move { self.registrar().forget(&authority).await })
    }

    fn finish(
        self: Arc<Self>,
        login: PendingLogin,
        code: Secret,
    ) -> Pin<Box<dyn Future<Output = Result<(), Fault>> + Send>> {
        Box::pin(async move { self.exchange_code(login, code).await })
    }
}
