//! Search providers: how each is asked, and how its answers are read.

mod api;
mod brave;
mod duckduckgo;
mod exa;
mod fault;
mod google;
mod hit;
mod images;
mod provider;
mod query;
mod searxng;
mod serper;
mod tavily;

use crate::settings::{ProviderName, ProviderSettings};

pub use crate::settings::Kind;
pub use api::{Api, Reply};
pub use fault::Fault;
pub(crate) use google::Google;
pub use hit::{Hit, ImageHit};
pub use images::{ColorType, DominantColor, FileType, ImageFilters, ImageSize, ImageType};
pub(crate) use provider::{Provider, Supported};
pub use provider::{endpoint, json, list, some_text, text, with_key};
pub use query::{Age, Query, Safe};

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

#[cfg(test)]
mod tests {
    use super::{ProviderName, ProviderSettings, configured};
    use crate::settings::SearchSettings;

    #[test]
    fn a_provider_can_be_asked_exactly_if_its_settings_are_usable() {
        for name in ProviderName::of_web() {
            for bits in 0..8 {
                let own = ProviderSettings {
                    key: (bits & 1 > 0).then(|| "key".into()),
                    url: (bits & 2 > 0).then(|| "http://127.0.0.1".parse().unwrap()),
                    cx: (bits & 4 > 0).then(|| "engine".to_owned()),
                    ..ProviderSettings::default()
                };
                let usable = configured(name, &own).is_some();
                let settings = SearchSettings {
                    routing: vec![vec![name]],
                    providers: [(name, own)].into(),
                    ..SearchSettings::default()
                };
                assert_eq!(settings.unusable().is_empty(), usable, "{name} {bits}");
            }
        }
    }
}
