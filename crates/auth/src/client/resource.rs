//! Protected resource metadata (RFC 9728).

use egress::http::Client;
use serde::Deserialize;
use url::Url;

use super::challenge::{BearerChallenge, scopes};
use super::fault::Fault;
use super::fetch::{Fetched, document};

const WHAT: &str = "the server's OAuth metadata";

/// The metadata of a protected server that a client needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Protected {
    /// The resource identifier of its tokens.
    pub(super) resource: String,
    /// Its authorization servers; empty if it names none.
    pub(super) issuers: Vec<String>,
    pub(super) scopes: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    resource: Option<String>,
    #[serde(default)]
    authorization_servers: Names,
    #[serde(default)]
    scopes_supported: Names,
}

/// A list of names; some servers write one name without a list.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Names {
    Many(Vec<String>),
    One(String),
    #[default]
    None,
}

impl From<Names> for Vec<String> {
    fn from(names: Names) -> Self {
        match names {
            Names::Many(names) => names,
            Names::One(name) => vec![name],
            Names::None => Vec::new(),
        }
    }
}

/// Finds the metadata of the server at `url`; `None` if it has none. With `own_resource`, tokens are requested for the
/// resource that the metadata names, which must then be this server.
pub(super) async fn find(
    client: &Client,
    url: &Url,
    challenge: &BearerChallenge,
    own_resource: bool,
) -> Result<Option<Protected>, Fault> {
    let mut candidates: Vec<String> = metadata_urls(url).iter().map(Url::to_string).collect();
    if let Some(named) = &challenge.resource_metadata {
        // The others follow, because a proxy may hide the URL that the server names.
        candidates.retain(|candidate| candidate != named);
        candidates.insert(0, named.clone());
    }
    for candidate in candidates {
        if let Fetched::Document(metadata) = document::<Metadata>(client, WHAT, &candidate).await? {
            return read(metadata, url, own_resource).map(Some);
        }
    }
    Ok(None)
}

/// The default URLs: with the server's path first, then without.
fn metadata_urls(url: &Url) -> Vec<Url> {
    const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
    let at = |path: &str| {
        let mut candidate = url.clone();
        candidate.set_path(path);
        candidate.set_query(None);
        candidate.set_fragment(None);
        candidate
    };
    let path = url.path().trim_end_matches('/');
    let mut urls = vec![at(&format!("{WELL_KNOWN}{path}"))];
    if !path.is_empty() {
        urls.push(at(WELL_KNOWN));
    }
    urls
}

fn read(metadata: Metadata, url: &Url, own_resource: bool) -> Result<Protected, Fault> {
    let resource = metadata.resource.unwrap_or_else(|| default_resource(url));
    if own_resource && !covers(&resource, url) {
        let why = format!(
            "is about another resource: {}; if that is right, `auth.resource` can name it",
            printable(&resource)
        );
        return Err(Fault::invalid(WHAT, why));
    }
    let named: Vec<String> = metadata.scopes_supported.into();
    Ok(Protected {
        resource,
        issuers: metadata.authorization_servers.into(),
        scopes: named.iter().flat_map(|scope| scopes(scope)).collect(),
    })
}

/// Whether a resource contains this server: the same origin, and the same path or a parent of it.
fn covers(resource: &str, url: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    if resource.origin() != url.origin() || !resource.origin().is_tuple() {
        return false;
    }
    if resource.fragment().is_some() || !resource.username().is_empty() {
        return false;
    }
    let above = resource.path().trim_end_matches('/');
    match url.path().strip_prefix(above) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

/// The resource identifier of a server without metadata.
pub(super) fn default_resource(url: &Url) -> String {
    let mut plain = url.clone();
    plain.set_fragment(None);
    plain.set_query(None);
    plain.as_str().trim_end_matches('/').to_owned()
}

/// Third-party text, cut short and without control characters.
pub(super) fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_accepted_only_for_its_own_server() {
        let url: Url = "https://api.example.com/v1/mcp".parse().unwrap();
        for (resource, expected) in [
            ("https://api.example.com/v1/mcp", true),
            ("https://api.example.com/v1/", true),
            ("https://api.example.com", true),
            ("https://API.example.com:443/v1/mcp", true),
            ("https://api.example.com/v1/mc", false),
            ("https://api.example.com/v1/mcp/deeper", false),
            ("https://api.example.com/v2/mcp", false),
            ("http://api.example.com/v1/mcp", false),
            ("https://evil.com/v1/mcp", false),
            ("https://api.example.com.evil.com/v1/mcp", false),
            ("https://user@api.example.com/v1/mcp", false),
            ("https://api.example.com/v1/mcp#x", false),
            ("data:text/plain,x", false),
            ("", false),
        ] {
            assert_eq!(covers(resource, &url), expected, "{resource}");
        }
    }

    #[test]
    fn metadata_is_looked_for_under_the_path_and_then_at_the_root() {
        let shown = |url: &str| -> Vec<String> {
            metadata_urls(&url.parse().unwrap()).iter().map(Url::to_string).collect()
        };
        assert_eq!(
            shown("https://a/v1/mcp/?key=1"),
            [
                "https://a/.well-known/oauth-protected-resource/v1/mcp",
                "https://a/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(shown("https://a"), ["https://a/.well-known/oauth-protected-resource"]);
    }
}
