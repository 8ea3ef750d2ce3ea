//! Authorization server metadata (RFC 8414, OpenID Connect Discovery).

use egress::http::{Client, Target};
use serde::Deserialize;
use url::{Host, Url};

use super::fault::Fault;
use super::fetch::{Fetched, document};
use super::resource::printable;

const WHAT: &str = "the authorization server's metadata";

/// An authorization server with valid metadata.
#[derive(Clone, Debug)]
pub(super) struct Authority {
    pub(super) issuer: String,
    pub(super) token_endpoint: String,
    /// Where clients register themselves, if it supports that.
    pub(super) registration_endpoint: Option<String>,
    authorization_endpoint: Option<String>,
    /// Whether it supports PKCE with S256; `None` if it does not list its methods.
    s256: Option<bool>,
    /// Whether its authorization responses must carry `iss`.
    sends_iss: bool,
    /// Whether a client id may be the URL of the client's metadata document.
    pub(super) supports_client_documents: bool,
    auth_methods: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    code_challenge_methods_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: Option<bool>,
    client_id_metadata_document_supported: Option<bool>,
}

/// Fetches the metadata of an issuer. `trusted` is one that the config names.
pub(super) async fn find(client: &Client, issuer: &str, trusted: bool) -> Result<Authority, Fault> {
    let url = issuer_url(issuer, trusted)?;
    let mut absent = String::new();
    for candidate in metadata_urls(&url) {
        match document::<Metadata>(client, WHAT, candidate.as_str()).await? {
            Fetched::Document(metadata) => return read(metadata, issuer, &url),
            Fetched::Absent(why) => absent = why,
        }
    }
    Err(Fault::invalid(WHAT, format!("of {} was not found: {absent}", printable(issuer))))
}

fn issuer_url(issuer: &str, trusted: bool) -> Result<Url, Fault> {
    let refuse = |why: &str| Fault::invalid(WHAT, format!("of {}: {why}", printable(issuer)));
    let target = Target::parse(issuer).map_err(|why| refuse(&why.to_string()))?;
    let url = target.url().clone();
    if issuer.contains(['?', '#']) {
        return Err(refuse("an issuer has no query and no fragment"));
    }
    if url.scheme() == "http" && !trusted && !is_loopback(&url) {
        return Err(refuse("an issuer must use https, unless `auth.issuer` names it"));
    }
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// The URLs of RFC 8414 and OpenID Connect, the former first.
pub(crate) fn metadata_urls(issuer: &Url) -> Vec<Url> {
    let at = |path: String| {
        let mut candidate = issuer.clone();
        candidate.set_path(&path);
        candidate
    };
    let path = issuer.path().trim_end_matches('/');
    let mut urls = vec![
        at(format!("/.well-known/oauth-authorization-server{path}")),
        at(format!("/.well-known/openid-configuration{path}")),
    ];
    if !path.is_empty() {
        urls.push(at(format!("{path}/.well-known/openid-configuration")));
    }
    urls
}

fn read(metadata: Metadata, issuer: &str, url: &Url) -> Result<Authority, Fault> {
    if metadata.issuer != issuer {
        let (found, expected) = (printable(&metadata.issuer), printable(issuer));
        return Err(Fault::invalid(WHAT, format!("is of another issuer: {found}, not {expected}")));
    }
    let endpoint = |name: &str, written: Option<String>| {
        written.map(|written| checked(name, written, url)).transpose()
    };
    let token_endpoint = endpoint("token_endpoint", metadata.token_endpoint)?
        .ok_or_else(|| Fault::invalid(WHAT, "has no token_endpoint"))?;
    Ok(Authority {
        issuer: metadata.issuer,
        token_endpoint,
        registration_endpoint: endpoint("registration_endpoint", metadata.registration_endpoint)?,
        authorization_endpoint: endpoint(
            "authorization_endpoint",
            metadata.authorization_endpoint,
        )?,
        s256: metadata
            .code_challenge_methods_supported
            .map(|methods| methods.iter().any(|method| method == "S256")),
        sends_iss: metadata.authorization_response_iss_parameter_supported.unwrap_or(false),
        supports_client_documents: metadata.client_id_metadata_document_supported.unwrap_or(false),
        auth_methods: metadata.token_endpoint_auth_methods_supported,
    })
}

/// An endpoint must be a permitted URL, and use https if its issuer does.
fn checked(name: &str, written: String, issuer: &Url) -> Result<String, Fault> {
    let refuse = |why: String| Fault::invalid(WHAT, format!("has an unusable {name}: {why}"));
    let target = Target::parse(&written).map_err(|why| refuse(why.to_string()))?;
    if written.contains('#') {
        return Err(refuse("it has a fragment".to_owned()));
    }
    if target.url().scheme() == "http" && issuer.scheme() != "http" {
        return Err(refuse("it does not use https".to_owned()));
    }
    Ok(target.url().to_string())
}

impl Authority {
    /// The authorization endpoint; an error if the server does not offer PKCE.
    pub(super) fn authorization_endpoint(&self) -> Result<&str, Fault> {
        self.endpoint_with_pkce(self.s256.unwrap_or(false))
    }

    /// The same for the identity provider that the config names. Some support PKCE without listing it; there, the nonce
    /// also binds the answer to the browser.
    pub(super) fn sign_in_endpoint(&self) -> Result<&str, Fault> {
        self.endpoint_with_pkce(self.s256.unwrap_or(true))
    }

    fn endpoint_with_pkce(&self, has_pkce: bool) -> Result<&str, Fault> {
        if !has_pkce {
            return Err(Fault::invalid(
                WHAT,
                "does not offer PKCE with S256, which logins require",
            ));
        }
        self.authorization_endpoint
            .as_deref()
            .ok_or_else(|| Fault::invalid(WHAT, "has no authorization_endpoint"))
    }

    /// Whether an authorization response with this `iss` comes from this server (mix-up defence, RFC 9207).
    pub(super) fn accepts_iss(&self, iss: Option<&str>) -> bool {
        match iss {
            Some(iss) => iss == self.issuer,
            None => !self.sends_iss,
        }
    }

    /// Whether clients can authenticate by this method. Without a list it is `client_secret_basic`.
    pub(super) fn supports_auth_method(&self, method: &str) -> bool {
        match &self.auth_methods {
            Some(methods) => methods.iter().any(|offered| offered == method),
            None => method == "client_secret_basic",
        }
    }
}

/// An authority from its metadata, for the tests of other modules.
#[cfg(test)]
pub(super) fn of(metadata: serde_json::Value) -> Option<Authority> {
    let metadata: Metadata = serde_json::from_value(metadata).ok()?;
    let issuer = metadata.issuer.clone();
    read(metadata, &issuer, &issuer.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::{Value, json};

    use super::*;

    fn read_patched(patch: Value) -> Result<Authority, String> {
        let mut metadata = json!({
            "issuer": "https://as.example", "token_endpoint": "https://as.example/token",
            "authorization_endpoint": "https://as.example/auth",
            "code_challenge_methods_supported": ["plain", "S256"],
        });
        for (key, value) in patch.as_object().unwrap() {
            metadata[key] = value.clone();
        }
        let metadata: Metadata = serde_json::from_value(metadata).unwrap();
        let issuer = "https://as.example";
        read(metadata, issuer, &issuer.parse().unwrap()).map_err(|fault| fault.to_string())
    }

    #[test]
    fn hostile_endpoints_and_other_issuers_are_refused() {
        assert!(read_patched(json!({})).is_ok());
        for (patch, why) in [
            (json!({"authorization_endpoint": "javascript:alert(1)"}), "authorization_endpoint"),
            (json!({"authorization_endpoint": "file:///etc/passwd"}), "authorization_endpoint"),
            (
                json!({"authorization_endpoint": "https://u:p@as.example/"}),
                "authorization_endpoint",
            ),
            (json!({"token_endpoint": "http://as.example/token"}), "https"),
            (json!({"token_endpoint": "ftp://as.example/token"}), "token_endpoint"),
            (json!({"token_endpoint": null}), "token_endpoint"),
            (json!({"registration_endpoint": "data:,x"}), "registration_endpoint"),
            (json!({"issuer": "https://as.example/"}), "another issuer"),
            (json!({"issuer": "https://evil.example"}), "another issuer"),
        ] {
            let fault = read_patched(patch.clone()).unwrap_err();
            assert!(fault.contains(why), "{patch}: {fault}");
        }
        for patch in [
            json!({"code_challenge_methods_supported": null}),
            json!({"code_challenge_methods_supported": ["plain"]}),
            json!({"authorization_endpoint": null}),
        ] {
            assert!(
                read_patched(patch.clone()).unwrap().authorization_endpoint().is_err(),
                "{patch}"
            );
        }
    }

    #[test]
    fn metadata_is_looked_for_at_the_standard_urls() {
        let list = |issuer: &str| -> Vec<String> {
            metadata_urls(&issuer.parse().unwrap()).iter().map(Url::to_string).collect()
        };
        assert_eq!(
            list("https://as/tenant/1"),
            [
                "https://as/.well-known/oauth-authorization-server/tenant/1",
                "https://as/.well-known/openid-configuration/tenant/1",
                "https://as/tenant/1/.well-known/openid-configuration",
            ]
        );
        assert_eq!(list("https://as/").len(), 2);
        for (issuer, trusted, fits) in [
            ("https://as", false, true),
            ("http://as", false, false),
            ("http://as", true, true),
            ("http://127.0.0.1:9", false, true),
            ("https://as?x=1", true, false),
            ("javascript:alert(1)", true, false),
            ("file:///etc/passwd", true, false),
        ] {
            assert_eq!(issuer_url(issuer, trusted).is_ok(), fits, "{issuer}");
        }
    }
}
