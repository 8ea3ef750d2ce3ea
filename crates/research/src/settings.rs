//! What the operator sets: providers, routing, lenses, limits. Adapters fill it from their configuration and pass the
//! environment as a map.

mod limits;
mod provider;
mod units;

use std::collections::BTreeMap;

use secrecy::SecretString;
use url::Url;

pub use limits::{Sizes, Timeouts};
pub use provider::{ProviderName, ProviderSettings, Quota};
pub use units::{parse_duration, parse_size};

use crate::lens::{Lens, LensFault};
use provider::Target;

/// The settings of all tools.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The order of fallback; the providers of one group are asked at once. Empty: providers with a key, then
    /// DuckDuckGo.
    pub routing: Vec<Vec<ProviderName>>,
    pub providers: BTreeMap<ProviderName, ProviderSettings>,
    pub lenses: Vec<Lens>,
    /// Files that are no lenses, for callers who name one of them.
    pub lens_faults: Vec<LensFault>,
    pub robots: Robots,
    pub timeouts: Timeouts,
    pub sizes: Sizes,
    /// Where YouTube is; tests replace it.
    pub youtube_url: Option<Url>,
    /// What was corrected, such as a timeout above its maximum; for the log and `check`.
    pub warnings: Vec<String>,
}

/// When robots.txt is respected.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Robots {
    /// In `search_and_scrape`, which reads pages that a person did not choose.
    #[default]
    Batch,
    Always,
    Off,
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
    pub(crate) fn new(setting: impl Into<String>, why: impl Into<String>) -> Self {
        Self { setting: setting.into(), why: why.into() }
    }
}

const ROUTING: &str = "SEARCH_ROUTING";
const TIMEOUT_PREFIX: &str = "POWERSTRIP_RESEARCH_TIMEOUT_";
const SIZE_PREFIX: &str = "POWERSTRIP_RESEARCH_SIZE_";
const URL_PREFIX: &str = "POWERSTRIP_RESEARCH_URL_";

impl Settings {
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
            let settings = self.providers.entry(name).or_default();
            for (variable, target) in name.variables() {
                let filled = value(variable).map(|value| settings.fill(*target, value, variable));
                faults.extend(filled.and_then(Result::err));
            }
        }
        for variable in variables.keys() {
            let set = value(variable).map(|value| self.set_limit_or_url(variable, value));
            faults.extend(set.and_then(Result::err));
        }
        faults
    }

    fn set_limit_or_url(&mut self, variable: &str, value: &str) -> Result<(), InvalidSetting> {
        let lower = |prefix: &str| variable.strip_prefix(prefix).map(str::to_ascii_lowercase);
        if let Some(name) = lower(TIMEOUT_PREFIX).filter(|name| !self.timeouts.is_set(name)) {
            self.set_timeout(&name, value, variable)
        } else if let Some(name) = lower(SIZE_PREFIX).filter(|name| !self.sizes.is_set(name)) {
            self.set_size(&name, value, variable)
        } else if let Some(name) = variable.strip_prefix(URL_PREFIX) {
            self.set_url(name, value, variable)
        } else {
            Ok(())
        }
    }

    /// Sets the base URL of a provider, or of `youtube`, unless it is set. `setting` names it in messages.
    fn set_url(&mut self, name: &str, value: &str, setting: &str) -> Result<(), InvalidSetting> {
        if name.eq_ignore_ascii_case("youtube") {
            let url = value.parse().map_err(|_| InvalidSetting::new(setting, "not a URL"))?;
            self.youtube_url.get_or_insert(url);
            return Ok(());
        }
        let provider: ProviderName =
            name.parse().map_err(|why: String| InvalidSetting::new(setting, why))?;
        self.providers.entry(provider).or_default().fill(Target::Url, value, setting)
    }

    /// Sets a timeout; a value above the maximum is clamped with a warning. `setting` names it in messages.
    pub fn set_timeout(
        &mut self,
        name: &str,
        value: &str,
        setting: &str,
    ) -> Result<(), InvalidSetting> {
        let time = parse_duration(value).map_err(|why| InvalidSetting::new(setting, why))?;
        let warning =
            self.timeouts.set(name, time).map_err(|why| InvalidSetting::new(setting, why))?;
        self.warnings.extend(warning.map(|warning| format!("{setting}: {warning}")));
        Ok(())
    }

    /// Sets a size; a value above the maximum is clamped with a warning. `setting` names it in messages.
    pub fn set_size(
        &mut self,
        name: &str,
        value: &str,
        setting: &str,
    ) -> Result<(), InvalidSetting> {
        let bytes = parse_size(value).map_err(|why| InvalidSetting::new(setting, why))?;
        let warning =
            self.sizes.set(name, bytes).map_err(|why| InvalidSetting::new(setting, why))?;
        self.warnings.extend(warning.map(|warning| format!("{setting}: {warning}")));
        Ok(())
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

    /// Secret values, which must not occur in answers and logs.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        self.providers.values().filter_map(|provider| provider.key.as_ref())
    }
}

/// Reads `brave,serper+exa,duckduckgo`: groups in the order of fallback, joined by `+` to be asked at once.
pub fn parse_routing(text: &str) -> Result<Vec<Vec<ProviderName>>, InvalidSetting> {
    let groups = text.split(',').map(str::trim).filter(|group| !group.is_empty());
    groups.map(parse_group).collect()
}

/// Reads one entry of `research.search.routing`: `brave` or `serper+exa`.
pub fn parse_group(text: &str) -> Result<Vec<ProviderName>, InvalidSetting> {
    let mut group: Vec<ProviderName> = Vec::new();
    for name in text.split('+').map(str::trim) {
        let provider: ProviderName =
            name.parse().map_err(|why: String| InvalidSetting::new(ROUTING, why))?;
        if !provider.searches_web() {
            let why =
                format!("`{name}` searches publications only; `academic_search` always asks it");
            return Err(InvalidSetting::new(ROUTING, why));
        }
        if !group.contains(&provider) {
            group.push(provider);
        }
    }
    Ok(group)
}

#[cfg(test)]
mod tests;
