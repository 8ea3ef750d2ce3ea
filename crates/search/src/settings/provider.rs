//! The providers and what is set for each.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use url::Url;

use super::InvalidSetting;
use super::units::parse_duration;

/// A provider, in the order in which they are asked by default.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ProviderName {
    Brave,
    Serper,
    Tavily,
    Exa,
    Searxng,
    Duckduckgo,
    Google,
    Crossref,
    Arxiv,
    Pubmed,
    SemanticScholar,
    Openalex,
}

/// Which setting a variable fills in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Key,
    Url,
    Cx,
    Mailto,
}

impl ProviderName {
    /// All of them.
    pub(crate) const ALL: [Self; 12] = [
        Self::Brave,
        Self::Serper,
        Self::Tavily,
        Self::Exa,
        Self::Searxng,
        Self::Duckduckgo,
        Self::Google,
        Self::Crossref,
        Self::Arxiv,
        Self::Pubmed,
        Self::SemanticScholar,
        Self::Openalex,
    ];

    /// Its name in settings and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Brave => "brave",
            Self::Serper => "serper",
            Self::Tavily => "tavily",
            Self::Exa => "exa",
            Self::Searxng => "searxng",
            Self::Duckduckgo => "duckduckgo",
            Self::Google => "google",
            Self::Crossref => "crossref",
            Self::Arxiv => "arxiv",
            Self::Pubmed => "pubmed",
            Self::SemanticScholar => "semantic_scholar",
            Self::Openalex => "openalex",
        }
    }

    /// Whether it searches the web, and not only publications.
    pub(crate) fn searches_web(self) -> bool {
        self <= Self::Google
    }

    /// The variables that fill in its settings.
    pub(super) fn variables(self) -> &'static [(&'static str, Target)] {
        match self {
            Self::Brave => &[("BRAVE_API_KEY", Target::Key)],
            Self::Serper => &[("SERPER_API_KEY", Target::Key)],
            Self::Tavily => &[("TAVILY_API_KEY", Target::Key)],
            Self::Exa => &[("EXA_API_KEY", Target::Key)],
            Self::Searxng => &[("SEARXNG_URL", Target::Url)],
            Self::Google => &[
                ("GOOGLE_CUSTOM_SEARCH_API_KEY", Target::Key),
                ("GOOGLE_CUSTOM_SEARCH_ID", Target::Cx),
            ],
            Self::Crossref => &[("CROSSREF_MAILTO", Target::Mailto)],
            Self::Pubmed => &[("NCBI_API_KEY", Target::Key)],
            Self::SemanticScholar => &[("SEMANTIC_SCHOLAR_API_KEY", Target::Key)],
            Self::Openalex => &[("OPENALEX_API_KEY", Target::Key)],
            Self::Duckduckgo | Self::Arxiv => &[],
        }
    }

    /// Where to get what it needs, in one sentence.
    pub fn setup(self) -> &'static str {
        match self {
            Self::Brave => {
                "Get a key at https://api-dashboard.search.brave.com and set BRAVE_API_KEY."
            }
            Self::Serper => "Get a key at https://serper.dev and set SERPER_API_KEY.",
            Self::Tavily => "Get a key at https://app.tavily.com and set TAVILY_API_KEY.",
            Self::Exa => "Get a key at https://dashboard.exa.ai and set EXA_API_KEY.",
            Self::Searxng => {
                "Set SEARXNG_URL to your instance; its `search.formats` must contain `json`."
            }
            Self::Duckduckgo => "It needs no key; keep it in `research.search.routing`.",
            Self::Google => {
                "Set GOOGLE_CUSTOM_SEARCH_API_KEY and GOOGLE_CUSTOM_SEARCH_ID (https://programmablesearchengine.google.com)."
            }
            Self::Crossref => "It needs no key; CROSSREF_MAILTO gives faster answers.",
            Self::Arxiv => "It needs no key.",
            Self::Pubmed => {
                "It needs no key; NCBI_API_KEY (https://account.ncbi.nlm.nih.gov/settings) allows more requests."
            }
            Self::SemanticScholar => {
                "It needs no key; SEMANTIC_SCHOLAR_API_KEY (https://www.semanticscholar.org/product/api) allows more requests."
            }
            Self::Openalex => "Get a key at https://openalex.org and set OPENALEX_API_KEY.",
        }
    }

    /// Says that the routing names it although it lacks what it needs.
    pub fn not_set_up(self) -> String {
        format!("{self} is in the routing but not set up. {}", self.setup())
    }
}

impl fmt::Display for ProviderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ProviderName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let normal = text.to_ascii_lowercase().replace('-', "_");
        Self::ALL.into_iter().find(|name| name.as_str() == normal).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("there is no provider `{text}`; the providers are {names}")
        })
    }
}

/// What is set for one provider.
#[derive(Clone, Debug, Default)]
pub struct ProviderSettings {
    pub key: Option<SecretString>,
    /// The base URL of its API, if it is not the public one. It may be at a private address.
    pub url: Option<Url>,
    /// The engine of Google's programmable search.
    pub cx: Option<String>,
    /// The address that Crossref may write to.
    pub mailto: Option<String>,
    pub quota: Option<Quota>,
}

impl ProviderSettings {
    /// Whether a provider sees the same caller as with other settings, under the same quota.
    pub(crate) fn is_same_account(&self, other: &Self) -> bool {
        let key = |settings: &Self| settings.key.as_ref().map(|key| key.expose_secret().to_owned());
        self.quota == other.quota && self.url == other.url && key(self) == key(other)
    }

    /// Whether this is all that a provider needs.
    pub(super) fn suffices_for(&self, name: ProviderName) -> bool {
        match name {
            ProviderName::Brave
            | ProviderName::Serper
            | ProviderName::Tavily
            | ProviderName::Exa
            | ProviderName::Openalex => self.key.is_some(),
            ProviderName::Searxng => self.url.is_some(),
            ProviderName::Google => self.key.is_some() && self.cx.is_some(),
            ProviderName::Duckduckgo
            | ProviderName::Crossref
            | ProviderName::Arxiv
            | ProviderName::Pubmed
            | ProviderName::SemanticScholar => true,
        }
    }

    pub(super) fn fill(
        &mut self,
        target: Target,
        value: &str,
        variable: &str,
    ) -> Result<(), InvalidSetting> {
        match target {
            Target::Key if self.key.is_none() => self.key = Some(value.into()),
            Target::Cx if self.cx.is_none() => self.cx = Some(value.to_owned()),
            Target::Mailto if self.mailto.is_none() => self.mailto = Some(value.to_owned()),
            Target::Url if self.url.is_none() => {
                let url = value
                    .parse()
                    .ok()
                    .filter(|url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host());
                let fault = || InvalidSetting::new(variable, "not an http or https URL");
                self.url = Some(url.ok_or_else(fault)?);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The most requests to a provider in a period: `1000/1d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub requests: u32,
    pub period: Duration,
}

impl FromStr for Quota {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("`{text}` is not a quota such as `1000/1d`");
        let (requests, period) = text.split_once('/').ok_or_else(fault)?;
        let requests = requests.trim().parse().map_err(|_| fault())?;
        let period = parse_duration(period.trim()).map_err(|_| fault())?;
        Ok(Self { requests, period })
    }
}
