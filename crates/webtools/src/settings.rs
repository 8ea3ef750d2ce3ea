//! The settings of the tools, from the config and the environment.

use std::collections::BTreeMap;

use config::{ProviderKeys, Research};
use research::settings::{Robots, Settings};
use search::settings::{Order, ProviderName, ProviderSettings, Quota};
use url::Url;

use crate::current::lenses;

/// The settings, and what could not be used. A wrong variable leaves the default in place.
pub fn settings(
    research: &Research,
    keys: &ProviderKeys,
    variables: &BTreeMap<String, String>,
) -> (Settings, Vec<String>) {
    let mut faults = Vec::new();
    let mut settings = Settings {
        robots: match research.robots {
            config::Robots::Batch => Robots::Batch,
            config::Robots::Always => Robots::Always,
            config::Robots::Off => Robots::Off,
        },
        ..Settings::default()
    };
    settings.search.routing = research.search.routing.iter().map(|group| group.0.clone()).collect();
    settings.search.order = match research.search.order {
        config::SearchOrder::Fixed => Order::Fixed,
        config::SearchOrder::Adaptive => Order::Adaptive,
    };
    for (name, provider) in research.search.providers.entries() {
        let quota = provider.and_then(|provider| provider.quota);
        let chosen = ProviderSettings {
            key: keys.get(name).cloned(),
            url: provider.and_then(|provider| provider.url.as_ref()?.parse::<Url>().ok()),
            cx: provider.and_then(|provider| provider.cx.clone()),
            mailto: None,
            quota: quota.map(|quota| Quota { requests: quota.count.get(), period: quota.per.0 }),
        };
        settings.search.providers.insert(name, chosen);
    }
    for (name, span) in research.timeouts.entries() {
        let setting = format!("research.timeouts.{name}");
        let set = settings.set_timeout(name, &span.to_string(), &setting);
        faults.extend(set.err().map(|fault| fault.to_string()));
    }
    for (name, size) in research.sizes.entries() {
        let setting = format!("research.sizes.{name}");
        let set = settings.set_size(name, &size.0.to_string(), &setting);
        faults.extend(set.err().map(|fault| fault.to_string()));
    }
    faults.extend(settings.complete(variables).iter().map(ToString::to_string));
    (settings.lenses, settings.lens_faults) = lenses(&research.lenses);
    faults.extend(settings.lens_faults.iter().map(ToString::to_string));
    faults.append(&mut settings.warnings);
    faults.extend(settings.search.unusable().into_iter().map(ProviderName::not_set_up));
    (settings, faults)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use schema::yaml;

    use super::*;

    const LIMITS: yaml::Limits =
        yaml::Limits { max_bytes: 64 << 10, merge_keys: false, custom_tags: false };

    fn variables<const COUNT: usize>(pairs: [(&str, &str); COUNT]) -> BTreeMap<String, String> {
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    #[test]
    fn the_config_comes_first_and_variables_complete_it() {
        let text = "
search:
  routing: [brave, [serper, exa], tavily+searxng]
  providers:
    searxng: {url: 'http://10.0.0.1:8080', quota: 1000/1d}
timeouts: {html: 40s}
sizes: {page: 60KB}
";
        let research: Research = yaml::parse(text, LIMITS).unwrap();
        let variables = variables([
            ("POWERSTRIP_RESEARCH_TIMEOUT_HTML", "1s"),
            ("POWERSTRIP_RESEARCH_TIMEOUT_SEARCH", "20s"),
            ("SEARCH_ROUTING", "duckduckgo"),
            ("BRAVE_API_KEY", "key"),
        ]);
        let (settings, faults) = settings(&research, &ProviderKeys::default(), &variables);
        let routing: Vec<_> = settings
            .search
            .routing
            .iter()
            .map(|group| group.iter().map(|name| name.as_str()).collect::<Vec<_>>().join("+"))
            .collect();
        assert_eq!(routing, ["brave", "serper+exa", "tavily+searxng"]);
        assert_eq!(settings.timeouts.html, Duration::from_secs(30), "lowered to the maximum");
        assert_eq!(settings.timeouts.search, Duration::from_secs(20));
        assert_eq!(settings.sizes.page, 50_000);
        let searxng = settings.search.provider(ProviderName::Searxng);
        assert_eq!(searxng.url.unwrap().as_str(), "http://10.0.0.1:8080/");
        assert_eq!(searxng.quota.unwrap().requests, 1_000);
        assert!(settings.search.provider(ProviderName::Brave).key.is_some());
        assert_eq!(faults.len(), 5, "{faults:?}");
        assert!(faults[0].starts_with("research.timeouts.html"), "{faults:?}");
        let without_key = faults[2..].iter().map(|fault| fault.split(' ').next().unwrap());
        assert_eq!(without_key.collect::<Vec<_>>(), ["serper", "tavily", "exa"], "{faults:?}");
    }

    #[test]
    fn a_wrong_variable_is_named_and_the_default_stays() {
        let variables = variables([("POWERSTRIP_RESEARCH_TIMEOUT_HTML", "soon")]);
        let (settings, faults) =
            settings(&Research::default(), &ProviderKeys::default(), &variables);
        assert_eq!(settings.timeouts.html, Duration::from_secs(15));
        assert!(faults[0].contains("POWERSTRIP_RESEARCH_TIMEOUT_HTML"), "{faults:?}");
    }
}
