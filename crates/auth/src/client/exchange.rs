//! One request to a token endpoint.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use egress::http::Client;
use http::HeaderValue;
use proto::Clock;
use secrecy::zeroize::Zeroizing;
use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::assertion::SigningKey;
use super::authority::Authority;
use super::challenge::scopes;
use super::config::ClientConfig;
use super::fault::Fault;
use super::fetch;
use super::resource::printable;
use super::token::{ClientIdentity, StoredToken, Terms, times};
use crate::Secret;

const WHAT: &str = "the token endpoint";

const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The fields of a form; some are secret.
#[derive(Default)]
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

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    token_type: String,
    refresh_token: Option<String>,
    expires_in: Option<Value>,
    scope: Option<String>,
    id_token: Option<String>,
}

#[derive(Deserialize)]
struct Denied {
    error: String,
    error_description: Option<String>,
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
        let mut stored = self.request(authority, form, last.terms.clone()).await?;
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
        let (form, authorization) = self.authenticate(authority, form, &terms.client)?;
        let content = ("application/x-www-form-urlencoded", form.body().into());
        let endpoint = &authority.token_endpoint;
        let response = fetch::post(self.http, WHAT, endpoint, content, authorization).await?;
        let status = response.status.as_u16();
        if !response.status.is_success() {
            return Err(match serde_json::from_slice::<Denied>(&response.body) {
                Ok(denied) => refused(&denied, &form, self.config),
                Err(_) if status >= 500 => Fault::Refused {
                    code: "server_error".to_owned(),
                    said: format!(" (HTTP {status})"),
                },
                Err(_) => {
                    Fault::invalid(WHAT, format!("answers HTTP {status} without an error code"))
                }
            });
        }
        let mut granted: Granted = serde_json::from_slice(&response.body).map_err(|_| {
            Fault::invalid(WHAT, "answers with a body that is not a token response")
        })?;
        let id_token = granted.id_token.take().map(Secret::new);
        Ok((self.accept(granted, terms)?, id_token))
    }

    fn accept(&self, granted: Granted, mut terms: Terms) -> Result<StoredToken, Fault> {
        let access = Secret::new(granted.access_token);
        if !granted.token_type.eq_ignore_ascii_case("bearer") {
            let kind = printable(&granted.token_type);
            return Err(Fault::invalid(WHAT, format!("gives a token of type `{kind}`")));
        }
        if access.expose().is_empty() {
            return Err(Fault::invalid(WHAT, "gives an empty token"));
        }
        // Scopes that were granted without being requested are requested from now on.
        terms.scopes.extend(granted.scope.iter().flat_map(|list| scopes(list)));
        // Some servers write the number as a string.
        let expires_in = granted.expires_in.and_then(|value| match value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        });
        let (expires_at_ms, renew_at_ms) = times(self.clock.unix_ms(), expires_in);
        let refresh = granted.refresh_token.filter(|token| !token.is_empty()).map(Secret::new);
        Ok(StoredToken { access, refresh, expires_at_ms, renew_at_ms, terms })
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
        let Some(secret) = secret else { return Ok((form.with("client_id", &client.id), None)) };
        if authority.supports_auth_method("client_secret_basic") {
            let part = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
            let pair = format!("{}:{}", part(&client.id), part(secret.expose()));
            let value =
                format!("Basic {}", BASE64_STANDARD.encode(Zeroizing::new(pair).as_bytes()));
            let value = HeaderValue::try_from(value)
                .map_err(|_| Fault::invalid("the client's secret", "cannot be sent in a header"))?;
            return Ok((form, Some(value)));
        }
        if authority.supports_auth_method("client_secret_post") {
            let form = form.with("client_id", &client.id).with("client_secret", secret.expose());
            return Ok((form, None));
        }
        Err(Fault::invalid(WHAT, "accepts no client secret, neither as a header nor in the form"))
    }
}

fn refused(denied: &Denied, form: &Form, config: &ClientConfig) -> Fault {
    let said = denied.error_description.as_deref().unwrap_or_default();
    let secret = config.client_secret.as_ref().is_some_and(|secret| said.contains(secret.expose()));
    let echoed = |text: &str| secret || form.is_echoed_by(text);
    let code = if echoed(&denied.error) { String::new() } else { printable(&denied.error) };
    // A message that repeats a secret of the request must not be logged.
    let said = match printable(said) {
        said if said.is_empty() || echoed(&said) => String::new(),
        said => format!(": {said}"),
    };
    Fault::Refused { code, said }
}
