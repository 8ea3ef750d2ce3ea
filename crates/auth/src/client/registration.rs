//! Our client id at an authorization server: the one in the config, the URL of our metadata document, or one from
//! dynamic registration.

use egress::http::Client;
use proto::Secret;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::VaultSlot;
use url::Url;

use super::authority::Authority;
use super::config::ClientConfig;
use super::fault::Fault;
use super::fetch::{self, PostHeaders};
use super::oauth_client::OAuthClient;
use super::resource::printable;
use super::token::{AuthMethod, ClientIdentity, seconds};

const WHAT: &str = "the registration endpoint";

/// The kind of a registration's row in the vault.
const KIND: &str = "client";

/// The path of our metadata document, on the same host as the callback.
const DOCUMENT_PATH: &str = "/oauth/client.json";

/// A registration as the vault stores it.
#[derive(Serialize, Deserialize)]
struct StoredRegistration {
    client: ClientIdentity,
    redirect_uri: String,
    /// When its secret expires, in seconds since 1970; 0 for never.
    secret_ends: u64,
}

#[derive(Deserialize)]
struct RegistrationResponse {
    client_id: String,
    client_secret: Option<String>,
    client_secret_expires_at: Option<Value>,
    token_endpoint_auth_method: Option<String>,
}

/// Finds or makes the registration of one server.
pub(super) struct Registrar<'a> {
    pub(super) server: &'a str,
    pub(super) config: &'a ClientConfig,
    pub(super) http: &'a Client,
    pub(super) oauth: &'a OAuthClient,
}

impl Registrar<'_> {
    /// Our client identity at this authorization server. Only a login needs a `redirect_uri`.
    pub(super) async fn identity(
        &self,
        authority: &Authority,
        redirect_uri: Option<&str>,
    ) -> Result<ClientIdentity, Fault> {
        if let Some(id) = &self.config.client_id {
            return Ok(ClientIdentity::public(id));
        }
        let redirect_uri = redirect_uri.ok_or_else(|| no_client_id(authority))?;
        if authority.supports_client_documents
            && let Some(id) = document_url(redirect_uri)
        {
            self.oauth.document_callback(redirect_uri);
            return Ok(ClientIdentity::public(id));
        }
        let Some(endpoint) = &authority.registration_endpoint else {
            return Err(no_client_id(authority));
        };
        if let Some(known) = self.stored(authority, redirect_uri).await {
            return Ok(known);
        }
        let registered = self.register(authority, endpoint, redirect_uri).await?;
        let client = registered.client.clone();
        if let Err(fault) = self.oauth.save(self.place(authority), &registered).await {
            tracing::warn!(server = self.server, %fault, "a registration could not be stored");
        }
        Ok(client)
    }

    /// Removes a registration that the authorization server no longer knows.
    pub(super) async fn forget(&self, authority: &Authority) {
        self.oauth.remove(&self.place(authority)).await;
    }

    fn place(&self, authority: &Authority) -> VaultSlot {
        VaultSlot {
            kind: KIND,
            server: self.server.to_owned(),
            tenant: String::new(),
            owner: String::new(),
            issuer: authority.issuer.clone(),
        }
    }

    async fn stored(&self, authority: &Authority, redirect_uri: &str) -> Option<ClientIdentity> {
        let now = self.oauth.clock().unix_ms() / 1_000;
        let stored = self.oauth.load::<StoredRegistration>(KIND, self.server).await;
        stored
            .into_iter()
            .filter(|(place, _)| place.issuer == authority.issuer)
            .map(|(_, registered)| registered)
            .find(|registered| {
                registered.redirect_uri == redirect_uri
                    && (registered.secret_ends == 0 || registered.secret_ends > now)
            })
            .map(|registered| registered.client)
    }

    async fn register(
        &self,
        authority: &Authority,
        endpoint: &str,
        redirect_uri: &str,
    ) -> Result<StoredRegistration, Fault> {
        let mut metadata = client_metadata(&[redirect_uri.to_owned()]);
        metadata["token_endpoint_auth_method"] = json!(authority.registration_method().name());
        let content = ("application/json", metadata.to_string().into());
        let response =
            fetch::post(self.http, WHAT, endpoint, content, PostHeaders::default()).await?;
        let status = response.status.as_u16();
        if !response.status.is_success() {
            let why = refusal(&response.body).unwrap_or_default();
            let why = format!(
                "refuses to register the gateway with HTTP {status}{why}; if you have a client there, set \
                 `auth.client_id`; if the server wants a fixed key, set `headers`"
            );
            return Err(Fault::invalid(WHAT, why));
        }
        let answer: RegistrationResponse = serde_json::from_slice(&response.body)
            .map_err(|_| Fault::invalid(WHAT, "answers with a body that is not a registration"))?;
        let secret = answer.client_secret.filter(|secret| !secret.is_empty());
        let auth_method = answer.token_endpoint_auth_method.as_deref().and_then(AuthMethod::named);
        let secret = secret.map(Secret::new);
        Ok(StoredRegistration {
            client: ClientIdentity { id: answer.client_id, secret, auth_method },
            redirect_uri: redirect_uri.to_owned(),
            secret_ends: answer.client_secret_expires_at.as_ref().and_then(seconds).unwrap_or(0),
        })
    }
}

/// What an error response (RFC 7591) says.
fn refusal(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let error = printable(body["error"].as_str()?);
    let said = body["error_description"].as_str().map(printable).unwrap_or_default();
    Some(if said.is_empty() { format!(" (`{error}`)") } else { format!(" (`{error}`: {said})") })
}

fn no_client_id(authority: &Authority) -> Fault {
    let issuer = printable(&authority.issuer);
    Fault::invalid(
        "the authorization server",
        format!("{issuer} does not let clients register themselves: set `auth.client_id`"),
    )
}

/// The URL of our metadata document, if it is public.
fn document_url(redirect_uri: &str) -> Option<String> {
    let mut url = Url::parse(redirect_uri).ok().filter(|url| url.scheme() == "https")?;
    url.set_path(DOCUMENT_PATH);
    url.set_query(None);
    Some(url.to_string())
}

/// Our client metadata (RFC 7591).
fn client_metadata(redirect_uris: &[String]) -> Value {
    json!({
        "client_name": "Powerstrip",
        "redirect_uris": redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "application_type": if redirect_uris.iter().all(|uri| uri.starts_with("https:")) { "web" } else { "native" },
        "token_endpoint_auth_method": "none",
    })
}

impl OAuthClient {
    /// Our metadata document, if an authorization server was given its URL as our client id.
    pub fn client_document(&self) -> Option<Value> {
        let redirect_uris = self.documented_callbacks();
        let mut document = client_metadata(&redirect_uris);
        document["client_id"] = json!(document_url(redirect_uris.first()?)?);
        Some(document)
    }
}
