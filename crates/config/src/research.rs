//! `research`: the built-in web tools.

use std::collections::BTreeMap;
use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::time::Duration;

use environment::Environment;
use proto::Secret;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use search::settings::ProviderName;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::secret::{SecretReader, SecretSource};
use crate::units::{Rate, Size, Span};

/// The server part of the tools' ids. A server of this name in the config replaces the tools.
pub const WEB_RESEARCH: &str = proto::WEB_RESEARCH;

/// The built-in web tools: search, scraping, research sessions.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Research {
    /// Whether the tools `web-research:*` are offered. An entry `web-research` in `servers` replaces them.
    pub tools: Switch,
    /// Which search providers are asked, and in which order.
    pub search: Search,
    /// The browser for pages that need scripts: `auto` looks for Chromium in `PATH`, `off` does without, or the path of a
    /// Chromium.
    pub browser: Browser,
    /// The folder of lenses: one YAML file for each, `{name, domains, cx}`.
    pub lenses: PathBuf,
    /// When robots.txt is respected.
    pub robots: Robots,
    /// Sessions of `sequential_search`.
    pub sessions: Sessions,
    /// Memory for results and pages that were read.
    pub cache: Size,
    /// How much collections of text may hold.
    pub collections: Collections,
    /// Time limits of single steps. Values above the maximum are lowered with a warning.
    pub timeouts: Timeouts,
    /// Size limits. Values above the maximum, which is the default, are lowered with a warning.
    pub sizes: Sizes,
}

impl Default for Research {
    fn default() -> Self {
        Self {
            tools: Switch::default(),
            search: Search::default(),
            browser: Browser::default(),
            lenses: "lenses".into(),
            robots: Robots::default(),
            sessions: Sessions::default(),
            cache: Size(64 << 20),
            collections: Collections::default(),
            timeouts: Timeouts::default(),
            sizes: Sizes::default(),
        }
    }
}

/// Whether something is offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    #[default]
    On,
    Off,
}

/// Search providers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// The order of fallback, such as `[brave, [serper, exa], duckduckgo]`. Providers of an inner list, also written
    /// `serper+exa`, are asked at once and their results are merged. Empty: `SEARCH_ROUTING`, else all providers with a key,
    /// then DuckDuckGo.
    pub routing: Vec<Group>,
    /// `adaptive` sorts the order of fallback by recent latency and yield of the providers.
    pub order: SearchOrder,
    // Its description, which lists the names, comes from the schema of the type.
    pub providers: Providers,
}

/// Whether the order of fallback may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchOrder {
    #[default]
    Fixed,
    Adaptive,
}

/// Providers that are asked at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Group(pub Vec<ProviderName>);

impl JsonSchema for Group {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ProviderGroup".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "provider or list of providers",
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}],
        })
    }
}

impl<'de> Deserialize<'de> for Group {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrNames;
        impl<'de> Visitor<'de> for NameOrNames {
            type Value = Group;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a provider such as `brave`, or a list of providers")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Group, E> {
                Group::of(text.split('+'))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Group, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = items.next_element::<String>()? {
                    names.push(name);
                }
                Group::of(names.iter().map(String::as_str))
            }
        }
        deserializer.deserialize_any(NameOrNames)
    }
}

impl Group {
    fn of<'a, E: de::Error>(names: impl Iterator<Item = &'a str>) -> Result<Self, E> {
        let names = search::settings::web_group(names).map_err(E::custom)?;
        if names.is_empty() { Err(E::custom("names no provider")) } else { Ok(Self(names)) }
    }
}

/// Keys and addresses of providers. A key that is not set here is taken from the provider's variable.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Providers(BTreeMap<ProviderName, Provider>);

impl JsonSchema for Providers {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Providers".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names: Vec<_> = ProviderName::ALL.iter().map(|name| name.as_str()).collect();
        let description =
            format!("Keys and addresses of providers, by name: `{}`.", names.join("`, `"));
        json_schema!({
            "description": description,
            "type": "object",
            "propertyNames": {"enum": names},
            "additionalProperties": generator.subschema_for::<Provider>(),
        })
    }
}

/// One search provider.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Provider {
    /// Its key, as `{env: NAME}`, `{file: PATH}` or `{secret: NAME}`.
    pub key: Option<SecretSource>,
    /// The base URL of its API, if it is not the public one. It may be at a private address.
    pub url: Option<String>,
    /// The id of an engine of Google Programmable Search.
    pub cx: Option<String>,
    /// The most requests in a period, such as `1000/1d`.
    pub quota: Option<Rate>,
}

impl Providers {
    /// What is set for each provider of the table; nothing for those that the config leaves out.
    pub fn entries(&self) -> impl Iterator<Item = (ProviderName, Option<&Provider>)> {
        ProviderName::ALL.iter().map(|name| (*name, self.0.get(name)))
    }
}

/// The browser for pages that need scripts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Browser {
    /// Chromium, if `PATH` has one.
    #[default]
    Auto,
    Off,
    /// This program.
    Program(PathBuf),
}

impl From<String> for Browser {
    fn from(text: String) -> Self {
        match text.as_str() {
            "auto" => Self::Auto,
            "off" => Self::Off,
            _ => Self::Program(text.into()),
        }
    }
}

impl From<Browser> for String {
    fn from(browser: Browser) -> Self {
        match browser {
            Browser::Auto => "auto".to_owned(),
            Browser::Off => "off".to_owned(),
            Browser::Program(path) => path.to_string_lossy().into_owned(),
        }
    }
}

/// When robots.txt is respected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Robots {
    /// By `search_and_scrape`, which reads pages that no person has chosen.
    #[default]
    Batch,
    /// Also by `scrape_page`.
    Always,
    Off,
}

/// Sessions of `sequential_search`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sessions {
    /// How long a session is kept after its last step.
    pub ttl: Span,
    /// The most sessions. One tenant has at most half of them while others are active.
    pub max: NonZeroU32,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            ttl: Span(Duration::from_secs(30 * 60)),
            max: NonZeroU32::new(50).unwrap_or(NonZeroU32::MIN),
        }
    }
}

/// Collections of text that can be searched. The first two limits are those of each tenant.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Collections {
    /// The most chunks.
    pub max_chunks: NonZeroU64,
    /// The most bytes: text, words and vectors.
    pub max_bytes: Size,
    /// Memory for the vectors of the collections that were searched last.
    pub memory: Size,
}

impl Default for Collections {
    fn default() -> Self {
        Self {
            max_chunks: NonZeroU64::new(1_000_000).unwrap_or(NonZeroU64::MAX),
            max_bytes: Size(2 << 30),
            memory: Size(256 << 20),
        }
    }
}

/// Time limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// One request to a search provider: `10s`, at most `30s`.
    pub search: Option<Span>,
    /// The request for a page as Markdown: `5s`, at most `10s`.
    pub markdown: Option<Span>,
    /// A request for a page as HTML: `15s`, at most `30s`.
    pub html: Option<Span>,
    /// A page in the browser: `30s`, at most `60s`.
    pub browser: Option<Span>,
    /// A YouTube transcript: `30s`, at most `60s`.
    pub youtube: Option<Span>,
    /// The download of a document: `30s`, at most `60s`.
    pub download: Option<Span>,
    /// A whole call: `60s`, at most `120s`.
    pub total: Option<Span>,
}

impl Timeouts {
    /// Those that are set.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, Span)> {
        let all = [
            ("search", self.search),
            ("markdown", self.markdown),
            ("html", self.html),
            ("browser", self.browser),
            ("youtube", self.youtube),
            ("download", self.download),
            ("total", self.total),
        ];
        all.into_iter().filter_map(|(name, span)| Some((name, span?)))
    }
}

/// Size limits in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sizes {
    /// The content of one page: 50,000 bytes.
    pub page: Option<Size>,
    /// The combined content of `search_and_scrape`: 300,000 bytes.
    pub combined: Option<Size>,
    /// A YouTube transcript: 100,000 bytes.
    pub transcript: Option<Size>,
    /// A downloaded document: 10,000,000 bytes.
    pub download: Option<Size>,
}

impl Sizes {
    /// Those that are set.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, Size)> {
        let all = [
            ("page", self.page),
            ("combined", self.combined),
            ("transcript", self.transcript),
            ("download", self.download),
        ];
        all.into_iter().filter_map(|(name, size)| Some((name, size?)))
    }
}

/// The keys of search providers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProviderKeys(BTreeMap<ProviderName, Secret>);

impl ProviderKeys {
    /// The key of a provider.
    pub fn get(&self, provider: ProviderName) -> Option<&Secret> {
        self.0.get(&provider)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Secret> {
        self.0.values()
    }
}

/// A key below `research`, and what is wrong with it.
pub(crate) type ResearchFault = (Vec<&'static str>, String);

impl Research {
    /// Fetches the keys of providers; a provider without its key is not asked.
    pub(crate) fn resolve(
        &self,
        environment: &Environment,
        reader: &SecretReader<'_>,
    ) -> (ProviderKeys, Vec<ResearchFault>) {
        let (mut keys, mut faults) = (BTreeMap::new(), Vec::new());
        for (name, provider) in self.search.providers.entries() {
            let key = match provider.and_then(|provider| provider.key.as_ref()) {
                Some(source) => source.fetch(reader).map(Some),
                None => {
                    let value = name.key_variable().and_then(|name| environment.secret(name));
                    Ok(value.map(Secret::new))
                }
            };
            match key {
                Ok(key) => keys.extend(key.map(|key| (name, key))),
                Err(why) => {
                    let why = format!("{why}; {name} is not asked without it");
                    faults.push((vec!["search", "providers", name.as_str(), "key"], why));
                }
            }
        }
        (ProviderKeys(keys), faults)
    }

    /// Faults that types alone cannot find.
    pub(crate) fn faults(&self) -> Vec<ResearchFault> {
        let set = self.search.providers.0.iter();
        let urls = set.filter_map(|(name, provider)| Some((name.as_str(), provider.url.as_ref()?)));
        urls.filter_map(|(name, url)| {
            let why = ::auth::check_url(url).err()?.to_string();
            Some((vec!["search", "providers", name, "url"], why))
        })
        .collect()
    }

    /// The sources of keys.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &SecretSource> {
        self.search.providers.0.values().filter_map(|provider| provider.key.as_ref())
    }

    /// Makes relative paths relative to the folder of the config file.
    pub(crate) fn anchor(&mut self, base: &Path) {
        self.lenses = crate::servers::clean(&base.join(&self.lenses));
        if let Browser::Program(program) = &mut self.browser
            && program.components().count() > 1
        {
            *program = crate::servers::clean(&base.join(&*program));
        }
    }
}
