//! The settings of the tools, from the config and the environment.

use std::collections::BTreeMap;

use config::{ProviderKeys, Research};
use research::settings::{ProviderName, ProviderSettings, Quota, Robots, Settings};
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
    for group in &research.search.routing {
        let names = group.0.iter().filter_map(|name| name.parse::<ProviderName>().ok());
        settings.routing.push(names.collect());
    }
    for (name, provider, _) in research.search.providers.entries() {
        let Ok(known) = name.parse::<ProviderName>() else { continue };
        let url = provider.url.as_ref().and_then(|url| url.parse::<Url>().ok());
        let chosen = ProviderSettings {
            key: keys.get(name).map(|key| key.expose().to_owned().into()),
            url,
            cx: provider.cx.clone(),
            mailto: None,
            quota: provider
                .quota
                .map(|quota| Quota { requests: quota.count.get(), period: quota.per.0 }),
        };
        settings.providers.insert(known, chosen);
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
    faults.extend(settings.complete(variables).err().map(|fault| fault.to_string()));
    let (lenses, unread) = lenses(&research.lenses);
    settings.lenses = lenses;
    faults.extend(unread);
    faults.append(&mut settings.warnings);
    (settings, faults)
}
