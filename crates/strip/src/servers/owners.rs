//! The owner of a name that several servers offer: the first to offer it. A URI with a server's name in front belongs to
//! that server only.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use proto::digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::server::{Offering, Server};

/// The scheme of apps (MCP Apps).
pub(super) const UI: &str = "ui://";

/// How many claims on unlisted entries are kept for each list of a server.
const MAX_UNLISTED: usize = 10_000;

/// When each entry of a server's lists was first offered, in milliseconds since 1970. A claim outlives the entry, so that
/// a resource that comes back is still its server's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Claims {
    pub prompts: BTreeMap<String, u64>,
    /// By URI or by the text of a template.
    pub resources: BTreeMap<String, u64>,
}

/// When names are offered, in milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct OfferedAt {
    /// For resources: the first server to offer one owns it.
    pub now_ms: u64,
    /// For prompts and apps: the same for all servers that start with the gateway, so that the order of the config decides
    /// between them.
    pub start_ms: u64,
}

impl Claims {
    /// The claims of a server that offers these lists now.
    pub fn renew(
        &self,
        prompts: &[Arc<Value>],
        resources: &[Arc<Value>],
        templates: &[Arc<Value>],
        apps: &[String],
        at: OfferedAt,
    ) -> Self {
        let uris = names(resources, "uri").chain(names(templates, "uriTemplate"));
        let uris = uris.chain(apps.iter().map(String::as_str));
        let of_uri = |uri: &str| if uri.starts_with(UI) { at.start_ms } else { at.now_ms };
        Self {
            prompts: renewed(&self.prompts, names(prompts, "name"), |_| at.start_ms),
            resources: renewed(&self.resources, uris, of_uri),
        }
    }
}

fn names<'a>(listed: &'a [Arc<Value>], key: &'a str) -> impl Iterator<Item = &'a str> {
    listed.iter().filter_map(move |entry| entry[key].as_str())
}

fn renewed<'a>(
    before: &BTreeMap<String, u64>,
    listed: impl Iterator<Item = &'a str>,
    at: impl Fn(&str) -> u64,
) -> BTreeMap<String, u64> {
    let mut claims: BTreeMap<String, u64> = listed
        .map(|name| (name.to_owned(), before.get(name).copied().unwrap_or_else(|| at(name))))
        .collect();
    let mut unlisted: Vec<_> =
        before.iter().filter(|(name, _)| !claims.contains_key(*name)).collect();
    unlisted.sort_by_key(|(_, at)| **at);
    let kept = unlisted.into_iter().take(MAX_UNLISTED);
    claims.extend(kept.map(|(name, at)| (name.clone(), *at)));
    claims
}

/// A server with its lists.
pub(super) type Listed = (Arc<dyn Server>, Arc<Offering>);

/// How early a server offered something. Servers that the operator named come before those that registered themselves.
pub(super) fn precedence(offering: &Offering, claim: Option<&u64>) -> (bool, u64) {
    (offering.announced, claim.copied().unwrap_or(u64::MAX))
}

/// The server that owns each URI, by its place among `servers`.
pub(super) fn of_resources(servers: &[Listed]) -> HashMap<&str, usize> {
    let mut owners: HashMap<&str, ((bool, u64), usize)> = HashMap::new();
    for (place, (_, offering)) in servers.iter().enumerate() {
        let claims = &offering.claims.resources;
        let claimed = claims.keys().map(String::as_str);
        let apps = offering.apps.iter().map(String::as_str);
        for uri in claimed.chain(names(&offering.resources, "uri")).chain(apps) {
            let rank = precedence(offering, claims.get(uri));
            let owner = owners.entry(uri).or_insert((rank, place));
            if rank < owner.0 {
                *owner = (rank, place);
            }
        }
    }
    owners.into_iter().map(|(uri, (_, place))| (uri, place)).collect()
}

/// The part before the `+` of each server's qualified URIs.
#[derive(Default)]
pub(super) struct Schemes {
    by_place: Vec<String>,
    places: HashMap<String, usize>,
}

impl Schemes {
    /// If the names of several servers give the same scheme, one server gets it and the others get one with a digest, so
    /// that no server can take over another's URIs by its name.
    pub(super) fn new(servers: &[Listed]) -> Self {
        let name = |place: usize| servers[place].0.name();
        let is_announced = |place: usize| servers[place].1.announced;
        let is_exact = |place: usize| plain(name(place)) == name(place);
        let mut order: Vec<usize> = (0..servers.len()).collect();
        order.sort_by_key(|place| (is_announced(*place), !is_exact(*place), name(*place)));
        let mut schemes = Self { by_place: vec![String::new(); servers.len()], ..Self::default() };
        let mut taken = HashSet::new();
        for place in order {
            let mut scheme = plain(name(place));
            let may_be_plain = is_exact(place) || !is_announced(place);
            if !may_be_plain || !taken.insert(scheme.clone()) {
                let hash = digest(name(place).as_bytes()).to_string();
                // No name of a server becomes a scheme with a dot.
                scheme = format!("{scheme}.{}", &hash[..16]);
            }
            schemes.places.insert(scheme.clone(), place);
            schemes.by_place[place] = scheme;
        }
        schemes
    }

    /// A URI with its server's scheme in front, which is still a URI. The URI of an app keeps its own scheme, because hosts
    /// show nothing else as an app.
    pub(super) fn qualify(&self, place: usize, uri: &str) -> String {
        let scheme = &self.by_place[place];
        match uri.strip_prefix(UI) {
            Some(rest) => format!("{UI}{scheme}/{rest}"),
            None => format!("{scheme}+{uri}"),
        }
    }

    /// The server that a qualified URI names, and its own URI.
    pub(super) fn split<'a>(&self, uri: &'a str) -> Option<(usize, Cow<'a, str>)> {
        let (scheme, remote) = match uri.strip_prefix(UI) {
            Some(rest) => {
                let (scheme, rest) = rest.split_once('/').filter(|(_, rest)| !rest.is_empty())?;
                (scheme, Cow::Owned(format!("{UI}{rest}")))
            }
            None => uri.split_once('+').map(|(scheme, remote)| (scheme, remote.into()))?,
        };
        self.places.get(scheme).map(|place| (*place, remote))
    }
}

fn plain(server: &str) -> String {
    server
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '-' })
        .collect()
}
