//! Search providers: how each is asked, and how its answers are read.

mod api;
mod brave;
mod duckduckgo;
mod exa;
mod fault;
mod google;
mod hit;
mod provider;
mod query;
mod searxng;
mod serper;
mod tavily;

use crate::settings::{ProviderName, ProviderSettings};

pub(crate) use api::{Api, Reply};
pub(crate) use fault::Fault;
pub(crate) use google::Google;
pub(crate) use hit::{Hit, ImageHit};
pub(crate) use provider::{Provider, Supported, endpoint, json, list, some_text, text, with_key};
pub(crate) use query::{Age, ImageFilters, Kind, Query};

/// The web providers that have what they need.
pub(crate) fn configured(
    name: ProviderName,
    settings: &ProviderSettings,
) -> Option<Box<dyn Provider>> {
    let key = settings.key.clone();
    Some(match name {
        ProviderName::Brave => Box::new(brave::Brave { key: key? }),
        ProviderName::Serper => Box::new(serper::Serper { key: key? }),
        ProviderName::Tavily => Box::new(tavily::Tavily { key: key? }),
        ProviderName::Exa => Box::new(exa::Exa { key: key? }),
        ProviderName::Searxng => {
            settings.url.as_ref()?;
            Box::new(searxng::Searxng)
        }
        ProviderName::Duckduckgo => Box::new(duckduckgo::Duckduckgo),
        ProviderName::Google => Box::new(Google { key: key?, cx: settings.cx.clone()? }),
        _ => return None,
    })
}
