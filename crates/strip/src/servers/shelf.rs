//! What all servers offer at one moment, by the names that callers use.

use std::collections::HashMap;
use std::sync::Arc;

use proto::{ToolId, canonical, clean, digest, wire};
use serde_json::Value;

use super::template::Template;
use super::{Offering, Server};

/// More entries than this of one list of one server are left out.
const MAX_ENTRIES: usize = 10_000;

/// The largest entry of a list.
const MAX_BYTES: usize = 64 * 1024;

/// Something of a server's, found by a caller's name for it.
#[derive(Clone)]
pub struct Offered {
    pub server: Arc<dyn Server>,
    /// The server's own name or URI for it.
    pub remote: String,
}

/// What all servers offer. Never changes; a newer one takes its place.
#[derive(Default)]
pub struct Shelf {
    /// As clients see them, by server, in the server's order.
    prompts: Vec<Entry>,
    prompt_names: HashMap<String, usize>,
    resources: Vec<Entry>,
    uris: HashMap<String, usize>,
    templates: Vec<Entry>,
    matchers: Vec<(Template, usize)>,
    servers: Vec<(Arc<dyn Server>, Arc<Offering>)>,
}

struct Entry {
    shown: Arc<Value>,
    offered: Offered,
}

impl Shelf {
    pub(super) fn new<'a>(servers: impl Iterator<Item = &'a Arc<dyn Server>>) -> Self {
        let mut shelf = Self::default();
        for server in servers {
            let offering = server.offering();
            for prompt in offering.prompts.iter().take(MAX_ENTRIES) {
                shelf.add_prompt(server, prompt, offering.prefix);
            }
            for resource in offering.resources.iter().take(MAX_ENTRIES) {
                shelf.add_resource(server, resource);
            }
            for template in offering.templates.iter().take(MAX_ENTRIES) {
                shelf.add_template(server, template);
            }
            shelf.servers.push((Arc::clone(server), offering));
        }
        shelf
    }

    fn add_prompt(&mut self, server: &Arc<dyn Server>, prompt: &Arc<Value>, prefix: bool) {
        let Some(entry) = Entry::read(server, prompt, "name") else { return };
        let remote = entry.offered.remote.clone();
        let canonical = format!("{}:{remote}", server.name());
        let id: Option<ToolId> = canonical.parse().ok();
        let bare = id.as_ref().filter(|_| !prefix).and_then(|id| wire::unprefixed(id, None));
        let preferred = match &id {
            Some(id) => wire::preferred(id, None),
            None => hashed(server.name(), &remote),
        };
        let taken = |name: &String| self.prompt_names.contains_key(name);
        let name = bare
            .filter(|name| !taken(name))
            .or_else(|| Some(preferred).filter(|name| !taken(name)))
            .unwrap_or_else(|| hashed(server.name(), &remote));
        if self.prompt_names.contains_key(&name) || self.prompt_names.contains_key(&canonical) {
            return;
        }
        let place = self.prompts.len();
        self.prompts.push(entry.named("name", &name));
        self.prompt_names.insert(name, place);
        self.prompt_names.insert(canonical, place);
    }

    fn add_resource(&mut self, server: &Arc<dyn Server>, resource: &Arc<Value>) {
        let Some(entry) = Entry::read(server, resource, "uri") else { return };
        let uri = self.free_uri(server, &entry.offered.remote);
        let Some(uri) = uri else { return };
        self.uris.insert(uri.clone(), self.resources.len());
        self.resources.push(entry.named("uri", &uri));
    }

    /// The URI itself, or, where an earlier server has it, the URI with the server's name in front.
    fn free_uri(&self, server: &Arc<dyn Server>, remote: &str) -> Option<String> {
        match self.uris.get(remote).map(|place| &self.resources[*place].offered.server) {
            None => return Some(remote.to_owned()),
            // Listed twice by the same server.
            Some(owner) if owner.name() == server.name() => return None,
            Some(_) => {}
        }
        let own = prefixed(server.name(), remote);
        (!self.uris.contains_key(&own)).then_some(own)
    }

    fn add_template(&mut self, server: &Arc<dyn Server>, template: &Arc<Value>) {
        let Some(entry) = Entry::read(server, template, "uriTemplate") else { return };
        let remote = entry.offered.remote.clone();
        let taken = |text: &str| {
            self.templates.iter().any(|known| known.shown["uriTemplate"].as_str() == Some(text))
        };
        let mut shown = remote.clone();
        if taken(&shown) {
            shown = prefixed(server.name(), &remote);
        }
        if taken(&shown) {
            return;
        }
        let place = self.templates.len();
        // A server that named itself does not get to read what others are asked for.
        let bounded = remote.split('{').next().is_some_and(|literal| literal.contains(':'));
        let trusted = bounded || !server.offering().announced;
        if let Some(matcher) = Template::new(&remote).filter(|_| trusted) {
            self.matchers.push((matcher, place));
        }
        self.templates.push(entry.named("uriTemplate", &shown));
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

    /// Where a URI can be read: listed, with its server in front, or of a template. A URI that nobody lists, such as
    /// one out of a tool's result, belongs to the only server that can have it.
    pub fn resource(&self, uri: &str) -> Option<Offered> {
        if let Some(place) = self.uris.get(uri) {
            return Some(self.resources[*place].offered.clone());
        }
        for (server, _) in &self.servers {
            if let Some(remote) = uri.strip_prefix(&prefixed(server.name(), ""))
                && !remote.is_empty()
            {
                return Some(Offered { server: Arc::clone(server), remote: remote.to_owned() });
            }
        }
        let fitting = self.matchers.iter().find(|(matcher, _)| matcher.matches(uri));
        let server = match fitting {
            Some((_, place)) => Arc::clone(&self.templates[*place].offered.server),
            None => self.likely(uri)?,
        };
        Some(Offered { server, remote: uri.to_owned() })
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

    /// The server that made the task of this id: its name stands in front.
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

    /// Whether any server states an extension.
    pub fn extends(&self, extension: &str) -> bool {
        self.servers
            .iter()
            .any(|(_, offering)| offering.capabilities["extensions"].get(extension).is_some())
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

    /// The entry as callers see it: by their name for it, and without what a person would not see.
    fn named(mut self, key: &str, name: &str) -> Self {
        let mut shown = Value::clone(&self.shown);
        clean::json_in_place(&mut shown);
        shown[key] = name.into();
        self.shown = Arc::new(shown);
        self
    }

    fn listed(&self) -> (&str, &Arc<Value>) {
        (self.offered.server.name(), &self.shown)
    }
}

/// A URI with its server in front, in a form that is a URI still.
fn prefixed(server: &str, uri: &str) -> String {
    let scheme: String = server
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '-' })
        .collect();
    format!("{scheme}+{uri}")
}

/// A name for a prompt whose own one cannot be used.
fn hashed(server: &str, prompt: &str) -> String {
    let sum = digest(format!("{server}:{prompt}").as_bytes()).to_string();
    let room = wire::MAX_LEN - 12;
    let server: String = server.chars().take(room).collect();
    format!("{server}__{}", &sum[..8])
}
