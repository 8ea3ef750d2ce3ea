//! What all servers offer at one moment, by the names that callers use.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use proto::{ToolId, UriTemplate, canonical, clean, digest, wire};
use serde_json::{Map, Value};

use super::owners::{self, Listed, Schemes, UI};
use super::server::{Offering, Server};

/// More entries than this of one list of one server are left out.
const MAX_ENTRIES: usize = 10_000;

/// The largest entry of a list.
const MAX_BYTES: usize = 64 * 1024;

/// A prompt or resource of a server, found by a caller's name for it.
#[derive(Clone)]
pub struct Offered {
    pub server: Arc<dyn Server>,
    /// The server's own name or URI for it.
    pub remote: String,
}

/// What all servers offer. Never changes; a newer one takes its place.
#[derive(Default)]
pub struct Listing {
    /// As clients see them, by server, in the server's order.
    prompts: Vec<Entry>,
    prompt_names: HashMap<String, usize>,
    resources: Vec<Entry>,
    uris: HashMap<String, usize>,
    /// URIs that are not listed at the moment: their servers, and the servers' own URIs for them.
    unlisted: HashMap<String, (usize, String)>,
    /// By server, its own URIs that callers use another URI for.
    renamed: Vec<HashMap<String, String>>,
    templates: Vec<Entry>,
    /// In the order in which they are tried.
    matchers: Vec<(UriTemplate, usize)>,
    schemes: Schemes,
    servers: Vec<Listed>,
}

struct Entry {
    shown: Arc<Value>,
    offered: Offered,
}

impl Listing {
    pub(super) fn new(servers: Vec<Listed>) -> Self {
        let renamed = vec![HashMap::new(); servers.len()];
        let mut listing = Self { schemes: Schemes::new(&servers), renamed, ..Self::default() };
        listing.add_prompts(&servers);
        let owners = owners::of_resources(&servers);
        for (place, (server, offering)) in servers.iter().enumerate() {
            for resource in offering.resources.iter().take(MAX_ENTRIES) {
                let Some(entry) = Entry::read(server, resource, "uri") else { continue };
                let Some(uri) = listing.add_uri(&servers, &owners, place, &entry.offered.remote)
                else {
                    continue;
                };
                listing.uris.insert(uri.clone(), listing.resources.len());
                listing.resources.push(entry.named("uri", &uri));
            }
        }
        for (place, (_, offering)) in servers.iter().enumerate() {
            for app in offering.apps.iter().take(MAX_ENTRIES) {
                if let Some(uri) = listing.add_uri(&servers, &owners, place, app) {
                    listing.unlisted.insert(uri, (place, app.clone()));
                }
            }
        }
        for (uri, place) in owners {
            if !listing.is_known(uri) && !listing.is_of_another(&servers, place, uri) {
                listing.unlisted.insert(uri.to_owned(), (place, uri.to_owned()));
            }
        }
        listing.add_templates(&servers);
        listing.servers = servers;
        listing
    }

    fn is_known(&self, uri: &str) -> bool {
        self.uris.contains_key(uri) || self.unlisted.contains_key(uri)
    }

    /// The URI that callers use for a server's own; none if it has one already, because the server lists it twice.
    fn add_uri(
        &mut self,
        servers: &[Listed],
        owners: &HashMap<&str, usize>,
        place: usize,
        remote: &str,
    ) -> Option<String> {
        let is_owner = owners.get(remote) == Some(&place);
        let mut uri = self.shown_uri(servers, place, remote, is_owner);
        if uri == remote {
            return (!self.is_known(remote)).then_some(uri);
        }
        if self.renamed[place].contains_key(remote) {
            return None;
        }
        if remote.starts_with(UI) && owners.contains_key(uri.as_str()) {
            // A server may itself have the URI that another one of its apps would get.
            let hash = digest(remote.as_bytes()).to_string();
            uri = self
                .schemes
                .qualify(place, &remote.replacen(UI, &format!("{UI}{}/", &hash[..16]), 1));
        }
        if self.is_known(&uri) {
            return None;
        }
        self.renamed[place].insert(remote.to_owned(), uri.clone());
        Some(uri)
    }

    /// Assigns the prefixed names of all prompts first, so that an unprefixed prompt cannot take the name of another
    /// server's.
    fn add_prompts(&mut self, servers: &[Listed]) {
        let mut bare = Vec::new();
        for (server, offering) in servers {
            for prompt in offering.prompts.iter().take(MAX_ENTRIES) {
                let Some(entry) = Entry::read(server, prompt, "name") else { continue };
                let remote = entry.offered.remote.clone();
                let canonical = format!("{}:{remote}", server.name());
                if self.prompt_names.contains_key(&canonical) {
                    continue;
                }
                let id: Option<ToolId> = canonical.parse().ok();
                let preferred = id.as_ref().map(|id| wire::preferred(id, None));
                let name = preferred
                    .filter(|name| !self.prompt_names.contains_key(name))
                    .unwrap_or_else(|| hashed(server.name(), &remote));
                if self.prompt_names.contains_key(&name) {
                    continue;
                }
                let place = self.prompts.len();
                let short = id.as_ref().filter(|_| !offering.prefix);
                if let Some(short) = short.and_then(|id| wire::unprefixed(id, None)) {
                    let claim = offering.claims.prompts.get(&remote);
                    bare.push((owners::precedence(offering, claim), short, place, name.clone()));
                }
                self.prompts.push(entry.named("name", &name));
                self.prompt_names.insert(name, place);
                self.prompt_names.insert(canonical, place);
            }
        }
        bare.sort_by_key(|(rank, ..)| *rank);
        for (_, short, place, long) in bare {
            if !self.prompt_names.contains_key(&short) {
                self.prompt_names.remove(&long);
                self.prompts[place].rename("name", &short);
                self.prompt_names.insert(short, place);
            }
        }
    }

    /// The URI itself for its owner, and the URI with the server's name in front for others.
    fn shown_uri(&self, servers: &[Listed], place: usize, uri: &str, is_owner: bool) -> String {
        if is_owner && !self.is_of_another(servers, place, uri) {
            return uri.to_owned();
        }
        self.schemes.qualify(place, uri)
    }

    /// Whether a URI has the name of another server in front. The names of self-registered servers do not count against
    /// servers that the operator named.
    fn is_of_another(&self, servers: &[Listed], place: usize, uri: &str) -> bool {
        self.schemes.split(uri).is_some_and(|(named, _)| {
            named != place && (!servers[named].1.announced || servers[place].1.announced)
        })
    }

    fn add_templates(&mut self, servers: &[Listed]) {
        let mut offered = Vec::new();
        for (place, (server, offering)) in servers.iter().enumerate() {
            for template in offering.templates.iter().take(MAX_ENTRIES) {
                let Some(entry) = Entry::read(server, template, "uriTemplate") else { continue };
                let claim = offering.claims.resources.get(&entry.offered.remote);
                offered.push((owners::precedence(offering, claim), place, entry));
            }
        }
        offered.sort_by_key(|(rank, place, _)| (*rank, *place));
        let (mut taken, mut placed, mut unbounded) = (HashSet::new(), Vec::new(), Vec::new());
        for (index, (_, place, entry)) in offered.into_iter().enumerate() {
            let remote = entry.offered.remote.clone();
            let is_owner = !taken.contains(&remote);
            let shown = self.shown_uri(servers, place, &remote, is_owner);
            if !taken.insert(shown.clone()) {
                continue;
            }
            // A template that fits any scheme would let a self-registered server see requests for other servers.
            let bounded = remote.split('{').next().is_some_and(|literal| literal.contains(':'));
            if let Some(matcher) = UriTemplate::new(&remote) {
                if bounded {
                    self.matchers.push((matcher, index));
                } else if !servers[place].1.announced {
                    unbounded.push((matcher, index));
                }
            }
            placed.push((place, index, entry.named("uriTemplate", &shown)));
        }
        // Templates without a literal scheme are tried last.
        self.matchers.append(&mut unbounded);
        placed.sort_by_key(|(place, index, _)| (*place, *index));
        let places: HashMap<usize, usize> =
            placed.iter().enumerate().map(|(at, (_, index, _))| (*index, at)).collect();
        for (_, index) in &mut self.matchers {
            *index = places[index];
        }
        self.templates = placed.into_iter().map(|(.., entry)| entry).collect();
    }

    /// Every prompt, with the name that callers use, and its server's name.
    pub fn prompts(&self) -> impl Iterator<Item = (&str, &Arc<Value>)> {
        self.prompts.iter().map(Entry::listed)
    }

    /// Every resource, with the URI that callers use, and its server's name.
    pub fn resources(&self) -> impl Iterator<Item = (&str, &Arc<Value>)> {
        self.resources.iter().map(Entry::listed)
    }

    /// Every template of resources, and its server's name.
    pub fn templates(&self) -> impl Iterator<Item = (&str, &Arc<Value>)> {
        self.templates.iter().map(Entry::listed)
    }

    /// The prompt of this name: as listed, or `server:prompt`.
    pub fn prompt(&self, name: &str) -> Option<Offered> {
        self.prompt_names.get(name).map(|place| self.prompts[*place].offered.clone())
    }

    /// The template that is listed like this.
    pub fn template(&self, shown: &str) -> Option<Offered> {
        let same = |entry: &&Entry| entry.shown["uriTemplate"].as_str() == Some(shown);
        self.templates.iter().find(same).map(|entry| entry.offered.clone())
    }

    /// Where a URI can be read: listed, with its server in front, or of a template. A URI that is not listed, such as
    /// one out of a tool's result, belongs to the only server that can have it.
    pub fn resource(&self, uri: &str) -> Option<Offered> {
        if let Some(place) = self.uris.get(uri) {
            return Some(self.resources[*place].offered.clone());
        }
        let of = |server: &Arc<dyn Server>, remote: &str| {
            Some(Offered { server: Arc::clone(server), remote: remote.to_owned() })
        };
        if let Some((place, remote)) = self.unlisted.get(uri) {
            return of(&self.servers[*place].0, remote);
        }
        if let Some((place, remote)) = self.schemes.split(uri) {
            return if remote.is_empty() { None } else { of(&self.servers[place].0, &remote) };
        }
        let fitting = self.matchers.iter().find(|(matcher, _)| matcher.matches(uri));
        match fitting {
            Some((_, place)) => of(&self.templates[*place].offered.server, uri),
            None => of(&self.likely(uri)?, uri),
        }
    }

    /// The URI that callers use for a resource that a server names by its own. Other links of a server stay as they are.
    pub fn shown<'a>(&self, server: &str, remote: &'a str) -> Cow<'a, str> {
        let place = self.servers.iter().position(|(known, _)| known.name() == server);
        let Some(place) = place else { return remote.into() };
        if let Some(shown) = self.renamed[place].get(remote) {
            return shown.clone().into();
        }
        let leads_there = |found: Offered| found.server.name() == server && found.remote == remote;
        let of_template = || {
            self.matchers.iter().any(|(matcher, at)| {
                self.templates[*at].offered.server.name() == server && matcher.matches(remote)
            })
        };
        if self.resource(remote).is_some_and(leads_there)
            || !(remote.starts_with(UI) || of_template())
        {
            return remote.into();
        }
        self.schemes.qualify(place, remote).into()
    }

    fn likely(&self, uri: &str) -> Option<Arc<dyn Server>> {
        let (scheme, _) = uri.split_once(':')?;
        let alike = |offered: &Offered| {
            offered.remote.split_once(':').is_some_and(|(other, _)| other == scheme)
        };
        let listed = self.resources.iter().chain(&self.templates).map(|entry| &entry.offered);
        let mut names: Vec<_> = listed.filter(|offered| alike(offered)).collect();
        names.dedup_by(|a, b| a.server.name() == b.server.name());
        if let [only] = &names[..] {
            return Some(Arc::clone(&only.server));
        }
        let mut reading = self.servers.iter().filter(|(_, offering)| offering.has("resources"));
        match (reading.next(), reading.next()) {
            (Some((only, _)), None) if names.is_empty() => Some(Arc::clone(only)),
            _ => None,
        }
    }

    /// The server that made the task of this id, which begins with the server's name.
    pub fn task_server(&self, id: &str) -> Option<Arc<dyn Server>> {
        let made = |name: &str| id.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        let servers = self.servers.iter().map(|(server, _)| server);
        let made = servers.filter(|server| made(server.name()));
        made.max_by_key(|server| server.name().len()).cloned()
    }

    /// Whether any server states a capability, such as `logging`.
    pub fn has(&self, capability: &str) -> bool {
        self.servers.iter().any(|(_, offering)| offering.has(capability))
    }

    /// The extensions that each server states, by the server's name.
    pub fn extensions(&self) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
        self.servers.iter().filter_map(|(server, offering)| {
            Some((server.name(), offering.capabilities.get("extensions")?.as_object()?))
        })
    }

    pub(super) fn same_prompts(&self, other: &Self) -> bool {
        same(&self.prompts, &other.prompts)
    }

    pub(super) fn same_resources(&self, other: &Self) -> bool {
        same(&self.resources, &other.resources) && same(&self.templates, &other.templates)
    }
}

fn same(one: &[Entry], other: &[Entry]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a.shown == b.shown)
}

impl Offering {
    /// Whether the server states a capability.
    pub fn has(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(|stated| !stated.is_null())
    }
}

impl Entry {
    /// Reads an entry of a server's list; one that no client could use is left out.
    fn read(server: &Arc<dyn Server>, listed: &Arc<Value>, key: &str) -> Option<Self> {
        let remote = listed[key].as_str().filter(|name| !name.is_empty())?.to_owned();
        if canonical::len(listed) > MAX_BYTES {
            return None;
        }
        let offered = Offered { server: Arc::clone(server), remote };
        Some(Self { shown: Arc::clone(listed), offered })
    }

    /// The entry as callers see it: with their name for it, and without invisible characters.
    fn named(mut self, key: &str, name: &str) -> Self {
        let mut shown = Value::clone(&self.shown);
        clean::json_in_place(&mut shown);
        shown[key] = name.into();
        self.shown = Arc::new(shown);
        self
    }

    fn rename(&mut self, key: &str, name: &str) {
        Arc::make_mut(&mut self.shown)[key] = name.into();
    }

    fn listed(&self) -> (&str, &Arc<Value>) {
        (self.offered.server.name(), &self.shown)
    }
}

/// A name for a prompt whose own name cannot be used.
fn hashed(server: &str, prompt: &str) -> String {
    let hash = digest(format!("{server}:{prompt}").as_bytes()).to_string();
    let room = wire::MAX_LEN - 12;
    let server: String = server.chars().take(room).collect();
    format!("{server}__{}", &hash[..8])
}
