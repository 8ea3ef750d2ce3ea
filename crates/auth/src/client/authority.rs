//! Authorization server metadata (RFC 8414, OpenID Connect Discovery).

use egress::http::{Client, Target};
use serde::Deserialize;
use url::{Host, Url};

use super::fault::Fault;
use super::fetch::{Fetched, document};
use super::resource::printable;
use super::token::AuthMethod;

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
    /// Whether it binds tokens to keys such as ours (DPoP).
    pub(super) binds_tokens: bool,
    /// Whether refresh tokens are requested by the scope `offline_access`.
    pub(super) offers_offline_access: bool,
    /// Whether the config names it: its operator vouches for what its metadata leaves out.
    pub(super) trusted: bool,
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
    scopes_supported: Option<Vec<String>>,
    dpop_signing_alg_values_supported: Option<Vec<String>>,
}

/// Fetches the metadata of an issuer. `trusted` is one that the config names.
pub(super) async fn find(client: &Client, issuer: &str, trusted: bool) -> Result<Authority, Fault> {
    match search(client, issuer, trusted).await? {
        Fetched::Document(authority) => Ok(authority),
        Fetched::Absent(why) => {
            Err(Fault::invalid(WHAT, format!("of {} was not found: {why}", printable(issuer))))
        }
    }
}

/// The authorization server of a protected server that names none: the server itself. One without metadata has its
/// endpoints at the paths of the 2025-03-26 specification.
pub(super) async fn find_own(client: &Client, origin: &str) -> Result<Authority, Fault> {
    match search(client, origin, false).await? {
        Fetched::Document(authority) => Ok(authority),
        Fetched::Absent(_) => Ok(Authority {
            issuer: origin.to_owned(),
            token_endpoint: format!("{origin}/token"),
            registration_endpoint: Some(format!("{origin}/register")),
            authorization_endpoint: Some(format!("{origin}/authorize")),
            s256: Some(true),
            sends_iss: false,
            supports_client_documents: false,
            auth_methods: None,
            binds_tokens: false,
            offers_offline_access: false,
            trusted: false,
        }),
    }
}

async fn search(client: &Client, issuer: &str, trusted: bool) -> Result<Fetched<Authority>, Fault> {
    let url = issuer_url(issuer, trusted)?;
    let mut absent = String::new();
    for candidate in metadata_urls(&url) {
        match document::<Metadata>(client, WHAT, candidate.as_str()).await? {
            Fetched::Document(metadata) => {
                let mut authority = read(metadata, issuer, &url)?;
                authority.trusted = trusted;
                return Ok(Fetched::Document(authority));
            }
            Fetched::Absent(why) => absent = why,
        }
    }
    Ok(Fetched::Absent(absent))
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

/// Whether two issuers have their metadata at the same URLs: RFC 8414 drops a terminating slash there, and many servers
/// name an authorization server with one that calls itself without, or the reverse.
pub(super) fn is_same_issuer(found: &str, expected: &str) -> bool {
    let trim = |issuer: &str| issuer.strip_suffix('/').unwrap_or(issuer).to_owned();
    trim(found) == trim(expected)
}

fn read(metadata: Metadata, issuer: &str, url: &Url) -> Result<Authority, Fault> {
    if !is_same_issuer(&metadata.issuer, issuer) {
        let (found, expected) = (printable(&metadata.issuer), printable(issuer));
        let why = format!(
            "is of another issuer: {found}, not {expected}; if you trust it, name it in `auth.issuer`"
        );
        return Err(Fault::invalid(WHAT, why));
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
        binds_tokens: metadata
            .dpop_signing_alg_values_supported
            .is_some_and(|offered| offered.iter().any(|name| name == super::dpop::ALGORITHM)),
        offers_offline_access: metadata
            .scopes_supported
            .is_some_and(|scopes| scopes.iter().any(|scope| scope == super::token::OFFLINE_ACCESS)),
        trusted: false,
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
    /// The authorization endpoint; an error if the server does not offer PKCE. Some servers support it without listing
    /// it: that is believed only of one that the config names.
    pub(super) fn authorization_endpoint(&self) -> Result<&str, Fault> {
        match self.s256 {
            Some(true) => {}
            None if self.trusted => {}
            Some(false) => {
                let why = "does not offer PKCE with S256, which logins require";
                return Err(Fault::invalid(WHAT, why));
            }
            None => {
                let why = "does not say that it offers PKCE with S256, which logins require; if it does, name it in \
                           `auth.issuer`";
                return Err(Fault::invalid(WHAT, why));
            }
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

    /// The method to register with.
    pub(super) fn registration_method(&self) -> AuthMethod {
        match &self.auth_methods {
            // RFC 8414: the default.
            None => AuthMethod::ClientSecretBasic,
            Some(_) => {
                [AuthMethod::None, AuthMethod::ClientSecretBasic, AuthMethod::ClientSecretPost]
                    .into_iter()
                    .find(|method| self.lists(*method))
                    .unwrap_or(AuthMethod::None)
            }
        }
    }

    /// The methods to try, best first, for a client with a secret; `issued` is a secret of a registration, which a
    /// server that only lists `none` does not want back.
    pub(super) fn secret_methods(
        &self,
        known: Option<AuthMethod>,
        issued: bool,
    ) -> Vec<AuthMethod> {
        let listed = AuthMethod::WITH_SECRET.into_iter().filter(|method| self.lists(*method));
        let listed = listed.filter(|method| known != Some(*method));
        let mut methods: Vec<_> = known.into_iter().chain(listed).collect();
        if methods.is_empty() {
            methods.extend(Some(AuthMethod::None).filter(|method| issued && self.lists(*method)));
            // Metadata that lists no method for a secret that exists is wrong about it.
            methods.extend(AuthMethod::WITH_SECRET);
        }
        methods
    }

    fn lists(&self, method: AuthMethod) -> bool {
        self.auth_methods.iter().flatten().any(|offered| offered == method.name())
    }
}

/// An authority that the config names, from its metadata, for the tests of other modules.
#[cfg(test)]
pub(super) fn of(metadata: serde_json::Value) -> Option<Authority> {
    let metadata: Metadata = serde_json::from_value(metadata).ok()?;
    let issuer = metadata.issuer.clone();
    let authority = read(metadata, &issuer, &issuer.parse().ok()?).ok()?;
    Some(Authority { trusted: true, ..authority })
}

#[cfg(test)]
mod tests {
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
            (json!({"issuer": "https://as.example/other"}), "another issuer"),
            (json!({"issuer": "https://as.example//"}), "another issuer"),
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
    fn a_terminating_slash_is_not_another_issuer() {
        let authority = read_patched(json!({"issuer": "https://as.example/"})).unwrap();
        // As the server writes it: `iss` is compared with that.
        assert!(authority.accepts_iss(Some("https://as.example/")));
        assert!(!authority.accepts_iss(Some("https://as.example")));
    }

    #[test]
    fn unlisted_pkce_is_believed_of_a_named_issuer_only() {
        let mut authority =
            read_patched(json!({"code_challenge_methods_supported": null})).unwrap();
        assert!(authority.authorization_endpoint().is_err());
        authority.trusted = true;
        assert!(authority.authorization_endpoint().is_ok());
        let mut plain =
            read_patched(json!({"code_challenge_methods_supported": ["plain"]})).unwrap();
        plain.trusted = true;
        assert!(plain.authorization_endpoint().is_err());
    }

    #[test]
    fn a_client_authenticates_as_registered_or_listed() {
        use AuthMethod::{ClientSecretBasic as Basic, ClientSecretPost as Post, None as Public};
        let with = |methods: Value| {
            read_patched(json!({"token_endpoint_auth_methods_supported": methods})).unwrap()
        };
        for (listed, known, issued, expected) in [
            (json!(null), None, false, vec![Basic, Post]),
            (json!([]), None, false, vec![Basic, Post]),
            (json!(["private_key_jwt"]), None, true, vec![Basic, Post]),
            (json!(["client_secret_post"]), None, false, vec![Post]),
            (json!(["client_secret_post", "client_secret_basic"]), None, false, vec![Basic, Post]),
            (json!(["none"]), None, true, vec![Public, Basic, Post]),
            (json!(["none"]), None, false, vec![Basic, Post]),
            (json!(["none", "client_secret_basic"]), None, true, vec![Basic]),
            (json!(["client_secret_basic"]), Some(Post), true, vec![Post, Basic]),
            (
                json!(["client_secret_basic", "client_secret_post"]),
                Some(Post),
                true,
                vec![Post, Basic],
            ),
            (json!(["none", "client_secret_basic"]), Some(Public), true, vec![Public, Basic]),
        ] {
            assert_eq!(with(listed.clone()).secret_methods(known, issued), expected, "{listed}");
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
