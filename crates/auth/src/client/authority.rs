//! Authorization servers: where they say that they can be asked (RFC 8414, OpenID Connect Discovery).

use egress::http::{Client, Target};
use serde::Deserialize;
use url::{Host, Url};

use super::fault::Fault;
use super::fetch::{Found, document};
use super::resource::shown;

const WHAT: &str = "the authorization server's metadata";

/// An authorization server whose metadata fits.
#[derive(Clone, Debug)]
pub(super) struct Authority {
    pub(super) issuer: String,
    pub(super) token_endpoint: String,
    /// The client registers itself here, if it may.
    pub(super) registration_endpoint: Option<String>,
    authorization_endpoint: Option<String>,
    /// Whether it knows PKCE with S256, if it says which methods it knows.
    s256: Option<bool>,
    /// Whether its answers to browsers must bear its name.
    says_iss: bool,
    /// Whether a URL that leads to our metadata is enough of a name.
    pub(super) takes_documents: bool,
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

/// Asks an issuer for its metadata. `trusted` is one that the config names.
pub(super) async fn find(client: &Client, issuer: &str, trusted: bool) -> Result<Authority, Fault> {
    let url = issuer_url(issuer, trusted)?;
    let mut absent = String::new();
    for place in places(&url) {
        match document::<Metadata>(client, WHAT, place.as_str()).await? {
            Found::There(metadata) => return read(metadata, issuer, &url),
            Found::Absent(why) => absent = why,
        }
    }
    Err(Fault::unfit(WHAT, format!("of {} cannot be had: {absent}", shown(issuer))))
}

fn issuer_url(issuer: &str, trusted: bool) -> Result<Url, Fault> {
    let refuse = |why: &str| Fault::unfit(WHAT, format!("of {}: {why}", shown(issuer)));
    let target = Target::parse(issuer).map_err(|why| refuse(&why.to_string()))?;
    let url = target.url().clone();
    if issuer.contains(['?', '#']) {
        return Err(refuse("an issuer has no query and no fragment"));
    }
    if url.scheme() == "http" && !trusted && !is_loopback(&url) {
        return Err(refuse("an issuer is reached by https, unless `auth.issuer` names it"));
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

/// The places of RFC 8414 and OpenID, the former first.
fn places(issuer: &Url) -> Vec<Url> {
    let at = |path: String| {
        let mut place = issuer.clone();
        place.set_path(&path);
        place
    };
    let path = issuer.path().trim_end_matches('/');
    let mut places = vec![
        at(format!("/.well-known/oauth-authorization-server{path}")),
        at(format!("/.well-known/openid-configuration{path}")),
    ];
    if !path.is_empty() {
        places.push(at(format!("{path}/.well-known/openid-configuration")));
    }
    places
}

fn read(metadata: Metadata, issuer: &str, url: &Url) -> Result<Authority, Fault> {
    if metadata.issuer != issuer {
        let (found, asked) = (shown(&metadata.issuer), shown(issuer));
        return Err(Fault::unfit(WHAT, format!("is of another issuer: {found}, not {asked}")));
    }
    let endpoint = |name: &str, written: Option<String>| {
        written.map(|written| checked(name, written, url)).transpose()
    };
    let token_endpoint = endpoint("token_endpoint", metadata.token_endpoint)?
        .ok_or_else(|| Fault::unfit(WHAT, "has no token_endpoint"))?;
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
        says_iss: metadata.authorization_response_iss_parameter_supported.unwrap_or(false),
        takes_documents: metadata.client_id_metadata_document_supported.unwrap_or(false),
        auth_methods: metadata.token_endpoint_auth_methods_supported,
    })
}

/// An endpoint is a place on the web, and as well protected as its issuer.
fn checked(name: &str, written: String, issuer: &Url) -> Result<String, Fault> {
    let refuse = |why: String| Fault::unfit(WHAT, format!("has an unusable {name}: {why}"));
    let target = Target::parse(&written).map_err(|why| refuse(why.to_string()))?;
    if written.contains('#') {
        return Err(refuse("it has a fragment".to_owned()));
    }
    if target.url().scheme() == "http" && issuer.scheme() != "http" {
        return Err(refuse("it is not reached by https".to_owned()));
    }
    Ok(target.url().to_string())
}

impl Authority {
    /// Where people agree; refused where PKCE would not protect them.
    pub(super) fn authorization_endpoint(&self) -> Result<&str, Fault> {
        self.endpoint_for_people(self.s256.unwrap_or(false))
    }

    /// The same at the identity provider that the config names. Some know PKCE and do not say so; there, the nonce ties
    /// the answer to the browser as well.
    pub(super) fn sign_in_endpoint(&self) -> Result<&str, Fault> {
        self.endpoint_for_people(self.s256.unwrap_or(true))
    }

    fn endpoint_for_people(&self, protected: bool) -> Result<&str, Fault> {
        if !protected {
            return Err(Fault::unfit(
                WHAT,
                "does not offer PKCE with S256, without which no login is begun",
            ));
        }
        self.authorization_endpoint
            .as_deref()
            .ok_or_else(|| Fault::unfit(WHAT, "has no authorization_endpoint"))
    }

    /// Whether an answer that names this issuer, or nobody, is its own and not another's mixed in (RFC 9207).
    pub(super) fn answers(&self, iss: Option<&str>) -> bool {
        match iss {
            Some(iss) => iss == self.issuer,
            None => !self.says_iss,
        }
    }

    /// Whether a way for a client to show who it is can be used. What is not said means `client_secret_basic`.
    pub(super) fn takes(&self, method: &str) -> bool {
        match &self.auth_methods {
            Some(methods) => methods.iter().any(|offered| offered == method),
            None => method == "client_secret_basic",
        }
    }
}

/// An authority as its metadata tells, for the tests of those who ask one.
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

    fn judged(patch: Value) -> Result<Authority, String> {
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
        assert!(judged(json!({})).is_ok());
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
            let fault = judged(patch.clone()).unwrap_err();
            assert!(fault.contains(why), "{patch}: {fault}");
        }
        for patch in [
            json!({"code_challenge_methods_supported": null}),
            json!({"code_challenge_methods_supported": ["plain"]}),
            json!({"authorization_endpoint": null}),
        ] {
            assert!(judged(patch.clone()).unwrap().authorization_endpoint().is_err(), "{patch}");
        }
    }

    #[test]
    fn issuers_are_asked_at_the_places_of_the_book() {
        let shown = |issuer: &str| -> Vec<String> {
            places(&issuer.parse().unwrap()).iter().map(Url::to_string).collect()
        };
        assert_eq!(
            shown("https://as/tenant/1"),
            [
                "https://as/.well-known/oauth-authorization-server/tenant/1",
                "https://as/.well-known/openid-configuration/tenant/1",
                "https://as/tenant/1/.well-known/openid-configuration",
            ]
        );
        assert_eq!(shown("https://as/").len(), 2);
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
