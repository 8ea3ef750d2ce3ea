//! The table of search providers: each is one row, from which settings, the router, the config file and the guide take
//! what they need.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What is known about a provider before it is set up.
#[derive(Debug)]
pub struct ProviderRow {
    /// The kinds of results that it finds.
    pub finds: Finds,
    /// The public address of its API. None: every instance has its own.
    pub url: Option<&'static str>,
    /// The variables that fill in its settings.
    pub variables: &'static [(&'static str, Target)],
    /// The settings without which it cannot be asked.
    pub needs: &'static [Target],
    /// When the router asks it although no routing is set.
    pub default_routing: DefaultRouting,
    /// How to set it up, for messages and the guide.
    pub setup: &'static str,
}

/// A kind of web search, for which providers have endpoints of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Web,
    Image,
    News,
}

/// What a provider finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finds {
    /// Pages: it has endpoints for these kinds of search.
    Pages(&'static [Kind]),
    /// Publications only: `academic_search` asks it, and no routing can name it.
    Publications,
}

/// When the router asks a provider although no routing is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultRouting {
    /// If it has what it needs, in the order of the table.
    WhenSetUp,
    /// After all others.
    Last,
    /// Never: a routing or a lens must name it.
    WhenNamed,
}

/// A setting of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Key,
    Url,
    Cx,
    Mailto,
}

/// Declares [`ProviderName`] from the rows: a provider, its name in settings and messages, and its row.
macro_rules! providers {
    ($($provider:ident $name:literal $row:expr;)*) => {
        /// A search provider. The order is that of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum ProviderName {
            $(#[serde(rename = $name)] $provider,)*
        }

        impl ProviderName {
            /// All of them, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$provider),*];

            /// Its name in settings and messages.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$provider => $name,)*
                }
            }

            /// Its row of the table.
            pub fn row(self) -> &'static ProviderRow {
                match self {
                    $(Self::$provider => const { &$row },)*
                }
            }
        }
    };
}

providers! {
    Brave "brave" ProviderRow {
        finds: Finds::Pages(&[Kind::Web, Kind::Image, Kind::News]),
        url: Some("https://api.search.brave.com"),
        variables: &[("BRAVE_API_KEY", Target::Key)],
        needs: &[Target::Key],
        default_routing: DefaultRouting::WhenSetUp,
        setup: "Get a key at https://api-dashboard.search.brave.com and set BRAVE_API_KEY.",
    };
    Serper "serper" ProviderRow {
        finds: Finds::Pages(&[Kind::Web, Kind::Image, Kind::News]),
        url: Some("https://google.serper.dev"),
        variables: &[("SERPER_API_KEY", Target::Key)],
        needs: &[Target::Key],
        default_routing: DefaultRouting::WhenSetUp,
        setup: "Get a key at https://serper.dev and set SERPER_API_KEY.",
    };
    Tavily "tavily" ProviderRow {
        finds: Finds::Pages(&[Kind::Web, Kind::News]),
        url: Some("https://api.tavily.com"),
        variables: &[("TAVILY_API_KEY", Target::Key)],
        needs: &[Target::Key],
        default_routing: DefaultRouting::WhenSetUp,
        setup: "Get a key at https://app.tavily.com and set TAVILY_API_KEY.",
    };
    Exa "exa" ProviderRow {
        finds: Finds::Pages(&[Kind::Web, Kind::News]),
        url: Some("https://api.exa.ai"),
        variables: &[("EXA_API_KEY", Target::Key)],
        needs: &[Target::Key],
        default_routing: DefaultRouting::WhenSetUp,
        setup: "Get a key at https://dashboard.exa.ai and set EXA_API_KEY.",
    };
    Searxng "searxng" ProviderRow {
        finds: Finds::Pages(&[Kind::Web, Kind::Image, Kind::News]),
        url: None,
        variables: &[("SEARXNG_URL", Target::Url)],
        needs: &[Target::Url],
        default_routing: DefaultRouting::WhenSetUp,
        setup: "Set SEARXNG_URL to your instance, which may have a private address; `search.formats` in its \
                `settings.yml` must contain `json`.",
    };
    Duckduckgo "duckduckgo" ProviderRow {
        finds: Finds::Pages(&[Kind::Web]),
        url: Some("https://html.duckduckgo.com"),
        variables: &[],
        needs: &[],
        default_routing: DefaultRouting::Last,
        setup: "It needs no key; keep it in `research.search.routing`.",
    };
    Google "google" ProviderRow {
        finds: Finds::Pages(&[Kind::Web, Kind::Image]),
        url: Some("https://www.googleapis.com"),
        variables: &[
            ("GOOGLE_CUSTOM_SEARCH_API_KEY", Target::Key),
            ("GOOGLE_CUSTOM_SEARCH_ID", Target::Cx),
        ],
        needs: &[Target::Key, Target::Cx],
        default_routing: DefaultRouting::WhenNamed,
        setup: "Set GOOGLE_CUSTOM_SEARCH_API_KEY and GOOGLE_CUSTOM_SEARCH_ID \
                (https://programmablesearchengine.google.com). Google closes this service on 1 January 2027.",
    };
    Crossref "crossref" ProviderRow {
        finds: Finds::Publications,
        url: Some("https://api.crossref.org"),
        variables: &[("CROSSREF_MAILTO", Target::Mailto)],
        needs: &[],
        default_routing: DefaultRouting::WhenSetUp,
        setup: "It needs no key; CROSSREF_MAILTO with your address gives faster answers.",
    };
    Arxiv "arxiv" ProviderRow {
        finds: Finds::Publications,
        url: Some("https://export.arxiv.org"),
        variables: &[],
        needs: &[],
        default_routing: DefaultRouting::WhenSetUp,
        setup: "It needs no key.",
    };
    Pubmed "pubmed" ProviderRow {
        finds: Finds::Publications,
        url: Some("https://eutils.ncbi.nlm.nih.gov"),
        variables: &[("NCBI_API_KEY", Target::Key)],
        needs: &[],
        default_routing: DefaultRouting::WhenSetUp,
        setup: "It needs no key; NCBI_API_KEY (https://account.ncbi.nlm.nih.gov/settings) allows more requests.",
    };
    SemanticScholar "semantic_scholar" ProviderRow {
        finds: Finds::Publications,
        url: Some("https://api.semanticscholar.org"),
        variables: &[("SEMANTIC_SCHOLAR_API_KEY", Target::Key)],
        needs: &[],
        default_routing: DefaultRouting::WhenSetUp,
        setup: "It needs no key; SEMANTIC_SCHOLAR_API_KEY (https://www.semanticscholar.org/product/api) allows more \
                requests.",
    };
    Openalex "openalex" ProviderRow {
        finds: Finds::Publications,
        url: Some("https://api.openalex.org"),
        variables: &[("OPENALEX_API_KEY", Target::Key)],
        needs: &[Target::Key],
        default_routing: DefaultRouting::WhenSetUp,
        setup: "Get a key at https://openalex.org and set OPENALEX_API_KEY.",
    };
}

impl ProviderName {
    /// Those that search the web, and not only publications.
    pub fn of_web() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|name| name.searches_web())
    }

    /// Whether a person means it by this name.
    pub(super) fn is_called(self, text: &str) -> bool {
        self.as_str() == text.to_ascii_lowercase().replace('-', "_")
    }

    /// Whether it searches the web, and not only publications.
    pub(crate) fn searches_web(self) -> bool {
        matches!(self.row().finds, Finds::Pages(_))
    }

    /// Whether it has an endpoint for this kind of search.
    pub(crate) fn offers(self, kind: Kind) -> bool {
        matches!(self.row().finds, Finds::Pages(kinds) if kinds.contains(&kind))
    }

    /// The variable of its key.
    pub fn key_variable(self) -> Option<&'static str> {
        let of_key =
            |(name, target): &(&'static str, Target)| (*target == Target::Key).then_some(*name);
        self.row().variables.iter().find_map(of_key)
    }

    /// How to set it up, for messages.
    pub fn setup(self) -> &'static str {
        self.row().setup
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
        Self::ALL.iter().copied().find(|name| name.is_called(text)).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|name| name.as_str()).collect();
            format!("there is no provider `{text}`; the providers are {}", names.join(", "))
        })
    }
}
