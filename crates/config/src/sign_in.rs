//! `auth.sign_in`: people sign in to the dashboard at the identity provider.

use auth::SignInOptions;
use auth::client::Resource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::secret::{SecretReader, SecretSource};
use crate::server_auth::ResourceChoice;

/// How people sign in to the dashboard at the identity provider (OpenID Connect, authorization code with PKCE). The
/// provider must know `PUBLIC_URL/dashboard/sign-in/callback` as a redirect URI.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// The gateway's client id at the provider.
    pub client_id: String,
    /// The client secret, as `{env: NAME}`, `{file: PATH}` or `{secret: NAME}`; unset for a public client.
    #[serde(default)]
    pub client_secret: Option<SecretSource>,
    /// The scopes to request. By default `openid` and, without `roles_claim`, the scopes to list and call tools. Add
    /// `offline_access` if the provider requires it for refresh tokens.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The `resource` parameter (RFC 8707): `true` for `public_url`, `false` for none, or a URL.
    #[serde(default)]
    pub resource: ResourceChoice,
}

impl SignIn {
    /// The section as options of the `auth` crate, with its secret fetched; faults by key.
    pub(super) fn resolve(
        &self,
        reader: &SecretReader<'_>,
    ) -> Result<SignInOptions, Vec<(&'static str, String)>> {
        let mut faults = Vec::new();
        if self.client_id.is_empty() || self.client_id.contains(char::is_control) {
            faults.push((
                "client_id",
                "must be a non-empty id without control characters".to_owned(),
            ));
        }
        let source = self.client_secret.as_ref();
        let secret = source.map(|source| source.fetch(reader)).transpose();
        let client_secret = secret.unwrap_or_else(|why| {
            faults.push(("client_secret", why.to_string()));
            None
        });
        let printable = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
        let valid = |scope: &&String| !scope.is_empty() && scope.bytes().all(printable);
        if let Some(bad) = self.scopes.iter().find(|scope| !valid(scope)) {
            faults.push(("scopes", format!("`{bad}` is not one scope")));
        }
        let resource = match &self.resource {
            ResourceChoice::OfServer => Resource::FromMetadata,
            ResourceChoice::Unsaid => Resource::Omitted,
            ResourceChoice::Named(url) => {
                if let Err(why) = auth::check_url(url) {
                    faults.push(("resource", why.to_string()));
                }
                Resource::Named(url.clone())
            }
        };
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(SignInOptions {
            client_id: self.client_id.clone(),
            client_secret,
            scopes: self.scopes.clone(),
            resource,
        })
    }
}
