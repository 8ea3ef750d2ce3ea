//! Under which name an authorization server knows us: the one that the config gives, the address of a document about
//! us, or one that we ask for.

use egress::http::Client;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::VaultPlace;
use url::Url;

use super::authority::Authority;
use super::config::ClientConfig;
use super::fault::Fault;
use super::fetch;
use super::keyring::Keyring;
use super::resource::shown;
use super::token::ClientIdentity;
use crate::Secret;

const WHAT: &str = "the registration endpoint";

/// The kind of row that a registration is kept as.
const KIND: &str = "client";

/// The path at which the document about us lies, beside the callback.
pub(super) const DOCUMENT_PATH: &str = "/oauth/client.json";

/// A registration as it is kept.
#[derive(Serialize, Deserialize)]
struct Registered {
    client: ClientIdentity,
    redirect_uri: String,
    /// When its secret ends, in seconds since 1970; 0 for never.
    secret_ends: u64,
}

#[derive(Deserialize)]
struct Answer {
    client_id: String,
    client_secret: Option<String>,
    client_secret_expires_at: Option<u64>,
}

/// Everything that a registration depends on.
pub(super) struct Registrar<'a> {
    pub(super) server: &'a str,
    pub(super) config: &'a ClientConfig,
    pub(super) http: &'a Client,
    pub(super) keyring: &'a Keyring,
}

impl Registrar<'_> {
    /// Who we are at this authorization server. Only a login needs a `redirect_uri`.
    pub(super) async fn identity(
        &self,
        authority: &Authority,
        redirect_uri: Option<&str>,
    ) -> Result<ClientIdentity, Fault> {
        if let Some(id) = &self.config.client_id {
            return Ok(ClientIdentity { id: id.clone(), secret: None });
        }
        let redirect_uri = redirect_uri.ok_or_else(|| unnamed(authority))?;
        if authority.takes_documents
            && let Some(id) = document_url(redirect_uri)
        {
            self.keyring.tells_about(redirect_uri);
            return Ok(ClientIdentity { id, secret: None });
        }
        let Some(endpoint) = &authority.registration_endpoint else {
            return Err(unnamed(authority));
        };
        if let Some(known) = self.known(authority, redirect_uri).await {
            return Ok(known);
        }
        let registered = self.register(authority, endpoint, redirect_uri).await?;
        let client = registered.client.clone();
        if let Err(fault) = self.keyring.keep(self.place(authority), &registered).await {
            tracing::warn!(server = self.server, %fault, "a registration could not be kept");
        }
        Ok(client)
    }

    /// Forgets a registration that the authorization server does not know any more.
    pub(super) async fn forget(&self, authority: &Authority) {
        self.keyring.forget(&self.place(authority)).await;
    }

    fn place(&self, authority: &Authority) -> VaultPlace {
        VaultPlace {
            kind: KIND,
            server: self.server.to_owned(),
            tenant: String::new(),
            owner: String::new(),
            issuer: authority.issuer.clone(),
        }
    }

    async fn known(&self, authority: &Authority, redirect_uri: &str) -> Option<ClientIdentity> {
        let now = self.keyring.clock().unix_ms() / 1_000;
        let kept = self.keyring.kept::<Registered>(KIND, self.server).await;
        kept.into_iter()
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
    ) -> Result<Registered, Fault> {
        let methods = ["none", "client_secret_basic", "client_secret_post"];
        let method = methods.into_iter().find(|method| authority.takes(method)).unwrap_or("none");
        let mut wish = about_us(&[redirect_uri.to_owned()]);
        wish["token_endpoint_auth_method"] = json!(method);
        let content = ("application/json", wish.to_string().into());
        let response = fetch::post(self.http, WHAT, endpoint, content, None).await?;
        let status = response.status.as_u16();
        if !response.status.is_success() {
            return Err(Fault::unfit(WHAT, format!("refuses to register us with HTTP {status}")));
        }
        let answer: Answer = serde_json::from_slice(&response.body)
            .map_err(|_| Fault::unfit(WHAT, "answers with something that is no registration"))?;
        let secret = answer.client_secret.filter(|secret| !secret.is_empty());
        Ok(Registered {
            client: ClientIdentity { id: answer.client_id, secret: secret.map(Secret::new) },
            redirect_uri: redirect_uri.to_owned(),
            secret_ends: answer.client_secret_expires_at.unwrap_or(0),
        })
    }
}

fn unnamed(authority: &Authority) -> Fault {
    let issuer = shown(&authority.issuer);
    Fault::unfit(
        "the authorization server",
        format!("{issuer} does not let clients register themselves: set `auth.client_id`"),
    )
}

/// The address of the document about us, where the world can read it.
fn document_url(redirect_uri: &str) -> Option<String> {
    let mut url = Url::parse(redirect_uri).ok().filter(|url| url.scheme() == "https")?;
    url.set_path(DOCUMENT_PATH);
    url.set_query(None);
    Some(url.to_string())
}

/// What authorization servers and people may know about us.
pub(super) fn about_us(redirect_uris: &[String]) -> Value {
    json!({
        "client_name": "Powerstrip",
        "redirect_uris": redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "application_type": if redirect_uris.iter().all(|uri| uri.starts_with("https:")) { "web" } else { "native" },
        "token_endpoint_auth_method": "none",
    })
}

/// The document itself, as it lies at the address that is our name.
pub(super) fn document(redirect_uris: &[String]) -> Option<Value> {
    let mut document = about_us(redirect_uris);
    document["client_id"] = json!(document_url(redirect_uris.first()?)?);
    Some(document)
}
