//! What the operator sets for searches: the providers, and the order in which they are asked.

mod provider;
mod table;

use std::collections::BTreeMap;

pub use provider::{ProviderSettings, Quota};
pub use table::{DefaultRouting, Finds, Kind, ProviderName, ProviderRow, Target};

/// The providers and the order in which they are asked.
#[derive(Clone, Debug, Default)]
pub struct SearchSettings {
    /// The order of fallback; the providers of one group are asked at once. Empty: providers with a key, then
    /// DuckDuckGo.
    pub routing: Vec<Vec<ProviderName>>,
    pub providers: BTreeMap<ProviderName, ProviderSettings>,
    pub order: Order,
}

/// Whether the order of fallback may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As the routing says.
    #[default]
    Fixed,
    /// By recent latency and yield.
    Adaptive,
}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {why}")]
pub struct InvalidSetting {
    /// The name of the variable or the path in the configuration.
    pub setting: String,
    pub why: String,
}

impl InvalidSetting {
    /// Says why a setting cannot be used.
    pub fn new(setting: impl Into<String>, why: impl Into<String>) -> Self {
        Self { setting: setting.into(), why: why.into() }
    }
}

const ROUTING: &str = "SEARCH_ROUTING";

impl SearchSettings {
    /// Fills in from environment variables what the configuration leaves open. Returns the values that cannot be
    /// used; they are left out.
    pub fn complete(&mut self, variables: &BTreeMap<String, String>) -> Vec<InvalidSetting> {
        let mut faults = Vec::new();
        let value =
            |name: &str| variables.get(name).map(|value| value.trim()).filter(|v| !v.is_empty());
        if self.routing.is_empty()
            && let Some(routing) = value(ROUTING)
        {
            match parse_routing(routing) {
                Ok(routing) => self.routing = routing,
                Err(fault) => faults.push(fault),
            }
        }
        for name in ProviderName::ALL {
            let settings = self.providers.entry(*name).or_default();
            for (variable, target) in name.row().variables {
                let filled = value(variable).map(|value| settings.fill(*target, value, variable));
                faults.extend(filled.and_then(Result::err));
            }
        }
        faults
    }

    /// Sets the base URL of a provider, unless it is set. `setting` names it in messages.
    pub fn set_url(
        &mut self,
        name: &str,
        value: &str,
        setting: &str,
    ) -> Result<(), InvalidSetting> {
        let provider: ProviderName =
            name.parse().map_err(|why: String| InvalidSetting::new(setting, why))?;
        self.providers.entry(provider).or_default().fill(Target::Url, value, setting)
    }

    /// The settings of one provider.
    pub fn provider(&self, name: ProviderName) -> ProviderSettings {
        self.providers.get(&name).cloned().unwrap_or_default()
    }

    /// Providers that the routing names and that lack what they need, such as a key.
    pub fn unusable(&self) -> Vec<ProviderName> {
        let mut names: Vec<_> = self.routing.iter().flatten().copied().collect();
        names.sort();
        names.dedup();
        names.retain(|name| !self.provider(*name).suffices_for(*name));
        names
    }
}

/// Reads `brave,serper+exa,duckduckgo`: groups in the order of fallback, joined by `+` to be asked at once.
pub fn parse_routing(text: &str) -> Result<Vec<Vec<ProviderName>>, InvalidSetting> {
    let groups = text.split(',').map(str::trim).filter(|group| !group.is_empty());
    groups.map(parse_group).collect()
}

/// Reads one group: `brave` or `serper+exa`.
fn parse_group(text: &str) -> Result<Vec<ProviderName>, InvalidSetting> {
    web_group(text.split('+')).map_err(|why| InvalidSetting::new(ROUTING, why))
}

/// The web providers of these names, each once; a message if a name is not one of them.
pub fn web_group<'a>(
    names: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<ProviderName>, String> {
    let mut group: Vec<ProviderName> = Vec::new();
    for name in names.into_iter().map(str::trim) {
        let provider = ProviderName::of_web().find(|known| known.is_called(name));
        let provider = provider.ok_or_else(|| match name.parse::<ProviderName>() {
            Ok(_) => {
                format!("`{name}` searches publications only; `academic_search` always asks it")
            }
            Err(_) => {
                let names: Vec<_> = ProviderName::of_web().map(ProviderName::as_str).collect();
                let names = names.join(", ");
                format!("there is no web search provider `{name}`; the providers are {names}")
            }
        })?;
        if !group.contains(&provider) {
            group.push(provider);
        }
    }
    Ok(group)
}

#[cfg(test)]
mod tests;
