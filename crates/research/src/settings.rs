//! What the operator sets: providers, routing, lenses, limits. Adapters fill it from their configuration and pass the
//! environment as a map.

mod limits;

use std::collections::BTreeMap;

use proto::units::{parse_duration, parse_size};
use search::settings::{InvalidSetting, SearchSettings};
use url::Url;

pub use limits::{Sizes, Timeouts};

use crate::lens::{Lens, LensFault};

/// The settings of all tools.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The providers, of publications too, and the order in which those of the web are asked.
    pub search: SearchSettings,
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

const TIMEOUT_PREFIX: &str = "POWERSTRIP_RESEARCH_TIMEOUT_";
const SIZE_PREFIX: &str = "POWERSTRIP_RESEARCH_SIZE_";
const URL_PREFIX: &str = "POWERSTRIP_RESEARCH_URL_";

impl Settings {
    /// Fills in from environment variables what the configuration leaves open. Returns the values that cannot be
    /// used; they are left out.
    pub fn complete(&mut self, variables: &BTreeMap<String, String>) -> Vec<InvalidSetting> {
        let mut faults = self.search.complete(variables);
        for (variable, value) in variables {
            let value = value.trim();
            if !value.is_empty() {
                faults.extend(self.set_limit_or_url(variable, value).err());
            }
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
        self.search.set_url(name, value, setting)
    }

    /// Sets a timeout; a value above the maximum is clamped with a warning. `setting` names it in messages.
    pub fn set_timeout(
        &mut self,
        name: &str,
        value: &str,
        setting: &str,
    ) -> Result<(), InvalidSetting> {
        let time =
            parse_duration(value).map_err(|why| InvalidSetting::new(setting, why.to_string()))?;
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
        let bytes =
            parse_size(value).map_err(|why| InvalidSetting::new(setting, why.to_string()))?;
        let warning =
            self.sizes.set(name, bytes).map_err(|why| InvalidSetting::new(setting, why))?;
        self.warnings.extend(warning.map(|warning| format!("{setting}: {warning}")));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
