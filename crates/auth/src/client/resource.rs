//! What a protected server says about itself (RFC 9728).

use egress::http::Client;
use serde::Deserialize;
use url::Url;

use super::challenge::{Bearer, scopes};
use super::fault::Fault;
use super::fetch::{Found, document};

const WHAT: &str = "the server's OAuth metadata";

/// A protected server, as far as a client has to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Protected {
    /// The name that tokens for it bear.
    pub(super) resource: String,
    /// Who issues them; empty if it does not say.
    pub(super) issuers: Vec<String>,
    pub(super) scopes: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    resource: String,
    authorization_servers: Option<Vec<String>>,
    scopes_supported: Option<Vec<String>>,
}

/// Finds the metadata of the server at `url`; none if it has none.
pub(super) async fn find(
    client: &Client,
    url: &Url,
    challenge: &Bearer,
) -> Result<Option<Protected>, Fault> {
    if let Some(named) = &challenge.resource_metadata {
        return match document::<Metadata>(client, WHAT, named).await? {
            Found::There(metadata) => read(metadata, url).map(Some),
            Found::Absent(why) => {
                Err(Fault::unfit(WHAT, format!("is not where its challenge says: {why}")))
            }
        };
    }
    for place in places(url) {
        if let Found::There(metadata) = document::<Metadata>(client, WHAT, place.as_str()).await? {
            return read(metadata, url).map(Some);
        }
    }
    Ok(None)
}

/// Where it lies if the server does not say: under the path first, then at the root.
fn places(url: &Url) -> Vec<Url> {
    const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
    let at = |path: &str| {
        let mut place = url.clone();
        place.set_path(path);
        place.set_query(None);
        place.set_fragment(None);
        place
    };
    let path = url.path().trim_end_matches('/');
    let mut places = vec![at(&format!("{WELL_KNOWN}{path}"))];
    if !path.is_empty() {
        places.push(at(WELL_KNOWN));
    }
    places
}

fn read(metadata: Metadata, url: &Url) -> Result<Protected, Fault> {
    if !covers(&metadata.resource, url) {
        let why = format!("speaks of another resource: {}", shown(&metadata.resource));
        return Err(Fault::unfit(WHAT, why));
    }
    let named = metadata.scopes_supported.unwrap_or_default();
    Ok(Protected {
        resource: metadata.resource,
        issuers: metadata.authorization_servers.unwrap_or_default(),
        scopes: named.iter().flat_map(|scope| scopes(scope)).collect(),
    })
}

/// Whether a resource is this server or what it is a part of: the same origin, and a path above it.
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

/// The name of a server that has no metadata.
pub(super) fn plain(url: &Url) -> String {
    let mut plain = url.clone();
    plain.set_fragment(None);
    plain.set_query(None);
    plain.as_str().trim_end_matches('/').to_owned()
}

/// A text of somebody else's, short and printable.
pub(super) fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_server_speaks_for_itself_and_for_nobody_else() {
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
            places(&url.parse().unwrap()).iter().map(Url::to_string).collect()
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
