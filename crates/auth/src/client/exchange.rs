//! One request to a token endpoint.

use std::collections::HashMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use egress::http::Client;
use http::HeaderValue;
use proto::{Clock, Secret};
use secrecy::zeroize::Zeroizing;
use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded::{self, Serializer, byte_serialize};

use super::assertion::SigningKey;
use super::authority::Authority;
use super::challenge::scopes;
use super::config::ClientConfig;
use super::dpop::{DPOP_NONCE, ProofKey, ProofOf};
use super::fault::Fault;
use super::fetch::{self, PostHeaders};
use super::resource::printable;
use super::token::{AuthMethod, ClientIdentity, DPOP_SCHEME, StoredToken, Terms, seconds, times};

const WHAT: &str = "the token endpoint";

/// The error of a server that wants its nonce in the proof.
const USE_NONCE: &str = "use_dpop_nonce";

const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The fields of a form; some are secret.
#[derive(Clone, Default)]
pub(super) struct Form(Vec<(&'static str, Zeroizing<String>)>);

impl Form {
    pub(super) fn new(grant: &str) -> Self {
        Self::default().with("grant_type", grant)
    }

    /// Exchanges the code that a browser returned with.
    pub(super) fn for_code(
        code: &Secret,
        redirect_uri: &str,
        verifier: &Secret,
        terms: &Terms,
    ) -> Self {
        let form = Self::new("authorization_code")
            .with("code", code.expose())
            .with("redirect_uri", redirect_uri)
            .with("code_verifier", verifier.expose());
        match &terms.resource {
            Some(resource) => form.with("resource", resource),
            None => form,
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, Zeroizing::new(value.into())));
        self
    }

    fn without(&self, name: &str) -> Self {
        Self(self.0.iter().filter(|(field, _)| *field != name).cloned().collect())
    }

    /// Adds the requested resource and scopes.
    pub(super) fn with_terms(mut self, terms: &Terms) -> Self {
        if let Some(resource) = &terms.resource {
            self = self.with("resource", resource);
        }
        if !terms.scopes.is_empty() {
            let list: Vec<&str> = terms.scopes.iter().map(String::as_str).collect();
            self = self.with("scope", list.join(" "));
        }
        self
    }

    fn body(&self) -> String {
        let mut body = Serializer::new(String::new());
        for (name, value) in &self.0 {
            body.append_pair(name, value);
        }
        body.finish()
    }

    /// Whether a text contains a secret field that we sent.
    fn is_echoed_by(&self, text: &str) -> bool {
        const PUBLIC: [&str; 4] = ["grant_type", "scope", "resource", "client_id"];
        self.0.iter().any(|(name, value)| {
            !PUBLIC.contains(name) && value.len() >= 4 && text.contains(value.as_str())
        })
    }
}

/// The fields of a token response, or of an error. Unusual ones are read too: a missing `token_type`, `scope` as a list,
/// an error with status 200, an `error` that is an object, a form instead of JSON.
#[derive(Default, Deserialize)]
struct TokenResponse {
    access_token: Option<String>,
    token_type: Option<String>,
    refresh_token: Option<String>,
    expires_in: Option<Value>,
    scope: Option<Value>,
    id_token: Option<String>,
    error: Option<Value>,
    error_description: Option<String>,
}

impl TokenResponse {
    fn read(body: &[u8]) -> Option<Self> {
        if let Ok(response) = serde_json::from_slice(body) {
            return Some(response);
        }
        let mut fields: HashMap<_, _> = form_urlencoded::parse(body).into_owned().collect();
        let mut take = |name: &str| fields.remove(name);
        let response = Self {
            access_token: take("access_token"),
            token_type: take("token_type"),
            refresh_token: take("refresh_token"),
            expires_in: take("expires_in").map(Value::String),
            scope: take("scope").map(Value::String),
            id_token: take("id_token"),
            error: take("error").map(Value::String),
            error_description: take("error_description"),
        };
        (response.access_token.is_some() || response.error.is_some()).then_some(response)
    }

    fn scopes(&self) -> Vec<String> {
        match &self.scope {
            Some(Value::String(list)) => scopes(list),
            Some(Value::Array(list)) => {
                list.iter().filter_map(Value::as_str).flat_map(scopes).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The code and the description of an error.
    fn refusal(&self) -> Option<(String, String)> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let (code, described) = match self.error.as_ref()? {
            Value::String(code) => (code.clone(), None),
            Value::Object(error) => {
                let code = error.get("code").or_else(|| error.get("status"));
                let code = code.and_then(|code| text(code).or_else(|| Some(code.to_string())));
                (code.unwrap_or_default(), error.get("message").and_then(text))
            }
            _ => return None,
        };
        let described = self.error_description.clone().or(described).unwrap_or_default();
        Some((printable(&code), printable(&described)))
    }
}

/// Sends requests to token endpoints.
pub(super) struct TokenRequester<'a> {
    pub(super) http: &'a Client,
    pub(super) config: &'a ClientConfig,
    pub(super) clock: &'a Clock,
}

impl TokenRequester<'_> {
    /// Requests a token under these terms.
    pub(super) async fn request(
        &self,
        authority: &Authority,
        form: Form,
        terms: Terms,
    ) -> Result<StoredToken, Fault> {
        Ok(self.request_with_id_token(authority, form, terms).await?.0)
    }

    /// Requests a new token with the refresh token of the last.
    pub(super) async fn refresh(
        &self,
        authority: &Authority,
        last: &StoredToken,
    ) -> Result<StoredToken, Fault> {
        let Some(refresh) = &last.refresh else { return Err(Fault::Interrupted) };
        let mut form = Form::new("refresh_token").with("refresh_token", refresh.expose());
        // Without `scope`, the granted scopes stay the same.
        if let Some(resource) = &last.terms.resource {
            form = form.with("resource", resource);
        }
        // A refresh token is bound to the same key.
        let key = last.proof_key.as_ref().and_then(ProofKey::read);
        let terms = || last.terms.clone();
        let mut outcome = self.request_bound(authority, &form, terms(), key.as_ref()).await;
        if let Err(Fault::ResourceRefused { .. }) = outcome {
            // The refresh token is bound to the resource that the login was for.
            let form = form.without("resource");
            outcome = self.request_bound(authority, &form, terms(), key.as_ref()).await;
        }
        let (mut stored, _) = outcome?;
        // A server that does not rotate refresh tokens returns no new one.
        stored.refresh = stored.refresh.or_else(|| last.refresh.clone());
        Ok(stored)
    }

    /// Requests a token, and returns the ID token that comes with it.
    pub(super) async fn request_with_id_token(
        &self,
        authority: &Authority,
        form: Form,
        terms: Terms,
    ) -> Result<(StoredToken, Option<Secret>), Fault> {
        let no_key = || Fault::invalid("the token request", "needs a key, which cannot be made");
        let key = if terms.bound { Some(ProofKey::generate().ok_or_else(no_key)?) } else { None };
        self.request_bound(authority, &form, terms, key.as_ref()).await
    }

    /// Requests a token that is bound to this key, if there is one.
    async fn request_bound(
        &self,
        authority: &Authority,
        form: &Form,
        terms: Terms,
        key: Option<&ProofKey>,
    ) -> Result<(StoredToken, Option<Secret>), Fault> {
        let mut outcome = self.try_methods(authority, form, terms.clone(), key).await;
        if let Err(Fault::ResourceRefused { .. }) = outcome
            && authority.trusted
        {
            // Only where the operator has paired server and issuer: otherwise a server could have tokens issued that are
            // good for more than itself.
            let terms = Terms { resource: None, ..terms };
            outcome = self.try_methods(authority, &form.without("resource"), terms, key).await;
        }
        let (mut granted, terms) = outcome?;
        let id_token = granted.id_token.take().map(Secret::new);
        Ok((self.accept(granted, terms, key)?, id_token))
    }

    /// Requests an assertion that another authorization server accepts instead of a person's login.
    pub(super) async fn request_assertion(
        &self,
        authority: &Authority,
        form: Form,
        terms: Terms,
    ) -> Result<Secret, Fault> {
        let (granted, _) = self.try_methods(authority, &form, terms, None).await?;
        let assertion = granted.access_token.filter(|token| !token.is_empty());
        let none = || Fault::invalid("the identity provider", "answers without an assertion");
        assertion.map(Secret::new).ok_or_else(none)
    }

    /// Sends a request with each way of authenticating that the authorization server may want, until it accepts one.
    async fn try_methods(
        &self,
        authority: &Authority,
        form: &Form,
        mut terms: Terms,
        key: Option<&ProofKey>,
    ) -> Result<(TokenResponse, Terms), Fault> {
        let mut refused = None;
        for method in self.auth_methods(authority, &terms.client) {
            terms.client.auth_method = method;
            match self.send(authority, form.clone(), &terms.client, key).await {
                Err(fault) if fault.is_refused_client() => {
                    refused.get_or_insert(fault);
                }
                outcome => return outcome.map(|granted| (granted, terms)),
            }
        }
        Err(refused.unwrap_or(Fault::Interrupted))
    }

    /// The methods to try; `None` where a key signs instead.
    fn auth_methods(
        &self,
        authority: &Authority,
        client: &ClientIdentity,
    ) -> Vec<Option<AuthMethod>> {
        if self.config.private_key.is_some() {
            return vec![None];
        }
        if client.secret.is_none() && self.config.client_secret.is_none() {
            return vec![Some(AuthMethod::None)];
        }
        let methods = authority.secret_methods(client.auth_method, client.secret.is_some());
        methods.into_iter().map(Some).collect()
    }

    async fn send(
        &self,
        authority: &Authority,
        form: Form,
        client: &ClientIdentity,
        key: Option<&ProofKey>,
    ) -> Result<TokenResponse, Fault> {
        let (form, authorization) = self.authenticate(authority, form, client)?;
        let endpoint = &authority.token_endpoint;
        let mut nonce: Option<HeaderValue> = None;
        loop {
            let proof = self.proof(endpoint, nonce.as_ref(), key)?;
            let headers = PostHeaders { authorization: authorization.clone(), proof };
            let content = ("application/x-www-form-urlencoded", form.body().into());
            let response = fetch::post(self.http, WHAT, endpoint, content, headers).await?;
            let status = response.status.as_u16();
            let read = TokenResponse::read(&response.body);
            if let Some((code, said)) = read.as_ref().and_then(TokenResponse::refusal) {
                let requested = response.headers.get(DPOP_NONCE).filter(|_| nonce.is_none());
                if let Some(requested) = requested.filter(|_| key.is_some() && code == USE_NONCE) {
                    nonce = Some(requested.clone());
                    continue;
                }
                return Err(self.refused(&code, &said, &form));
            }
            if !response.status.is_success() {
                return Err(match status {
                    500.. => Fault::Refused {
                        code: "server_error".to_owned(),
                        said: format!(" (HTTP {status})"),
                    },
                    _ => {
                        Fault::invalid(WHAT, format!("answers HTTP {status} without an error code"))
                    }
                });
            }
            let not_a_token = "answers with a body that is not a token response";
            return read.ok_or_else(|| Fault::invalid(WHAT, not_a_token));
        }
    }

    /// The header that shows our key to a token endpoint.
    fn proof(
        &self,
        endpoint: &str,
        nonce: Option<&HeaderValue>,
        key: Option<&ProofKey>,
    ) -> Result<Option<HeaderValue>, Fault> {
        let Some(key) = key else { return Ok(None) };
        let nonce = nonce.and_then(|nonce| nonce.to_str().ok());
        let of = ProofOf { method: "POST", url: endpoint, nonce, token: None };
        let proof = key.proof(&of, self.clock.unix_ms() / 1_000);
        let proof = proof.and_then(|proof| HeaderValue::try_from(proof).ok());
        proof.map(Some).ok_or_else(|| Fault::invalid("the key of a token", "cannot sign"))
    }

    fn accept(
        &self,
        mut granted: TokenResponse,
        mut terms: Terms,
        key: Option<&ProofKey>,
    ) -> Result<StoredToken, Fault> {
        let access = granted.access_token.take().filter(|token| !token.is_empty());
        let access =
            access.ok_or_else(|| Fault::invalid(WHAT, "answers without an access token"))?;
        let access = Secret::new(access);
        let expected = if key.is_some() { DPOP_SCHEME } else { "Bearer" };
        let kind = granted.token_type.as_deref().unwrap_or("Bearer");
        if !kind.eq_ignore_ascii_case(expected) {
            let why = format!("gives a token of type `{}`, not `{expected}`", printable(kind));
            return Err(Fault::invalid(WHAT, why));
        }
        let proof_key = key.map(|key| key.stored.clone());
        // Scopes that were granted without being requested are requested from now on.
        terms.scopes.extend(granted.scopes());
        let expires_in = granted.expires_in.as_ref().and_then(seconds);
        let (expires_at_ms, renew_at_ms) = times(self.clock.unix_ms(), expires_in);
        let refresh = granted.refresh_token.filter(|token| !token.is_empty()).map(Secret::new);
        Ok(StoredToken { access, refresh, expires_at_ms, renew_at_ms, terms, proof_key })
    }

    /// Adds our client credentials, in a form that the authorization server supports.
    fn authenticate(
        &self,
        authority: &Authority,
        form: Form,
        client: &ClientIdentity,
    ) -> Result<(Form, Option<HeaderValue>), Fault> {
        if let Some(pem) = &self.config.private_key {
            let assertion = SigningKey::parse(pem.expose()).ok().and_then(|key| {
                let now = self.clock.unix_ms() / 1_000;
                key.assertion(self.config.key_id.as_deref(), &client.id, &authority.issuer, now)
            });
            let assertion =
                assertion.ok_or_else(|| Fault::invalid("the private key", "cannot sign"))?;
            let form = form
                .with("client_id", &client.id)
                .with("client_assertion_type", JWT_BEARER)
                .with("client_assertion", assertion);
            return Ok((form, None));
        }
        let secret = client.secret.as_ref().or(self.config.client_secret.as_ref());
        let secret = secret.map(Secret::expose).unwrap_or_default();
        let form = match client.auth_method {
            Some(AuthMethod::ClientSecretBasic) => {
                let part = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let pair = Zeroizing::new(format!("{}:{}", part(&client.id), part(secret)));
                let value = format!("Basic {}", BASE64_STANDARD.encode(pair.as_bytes()));
                let value = HeaderValue::try_from(value).map_err(|_| {
                    Fault::invalid("the client's secret", "cannot be sent in a header")
                })?;
                return Ok((form, Some(value)));
            }
            Some(AuthMethod::ClientSecretPost) => form.with("client_secret", secret),
            Some(AuthMethod::None) | None => form,
        };
        Ok((form.with("client_id", &client.id), None))
    }

    /// The fault of a refusal. A message that repeats a secret of the request must not be logged.
    fn refused(&self, code: &str, said: &str, form: &Form) -> Fault {
        let secret = self.config.client_secret.as_ref();
        let secret = secret.is_some_and(|secret| said.contains(secret.expose()));
        let echoed = |text: &str| secret || form.is_echoed_by(text);
        let code = if echoed(code) { String::new() } else { code.to_owned() };
        let said = match said {
            said if said.is_empty() || echoed(said) => String::new(),
            said => format!(": {said}"),
        };
        let sent_resource = form.0.iter().any(|(name, _)| *name == "resource");
        if sent_resource && Fault::is_about_resource(&code, &said) {
            return Fault::ResourceRefused { code, said };
        }
        Fault::Refused { code, said }
    }
}
