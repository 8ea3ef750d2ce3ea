//! What is set for each provider.

use std::str::FromStr;
use std::time::Duration;

use proto::Secret;
use proto::units::parse_duration;
use url::Url;

use super::InvalidSetting;
use super::table::{ProviderName, Target};

/// The settings of one provider.
#[derive(Clone, Debug, Default)]
pub struct ProviderSettings {
    pub key: Option<Secret>,
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
        self.quota == other.quota && self.url == other.url && self.key == other.key
    }

    /// Whether this is all that a provider needs.
    pub(super) fn suffices_for(&self, name: ProviderName) -> bool {
        name.row().needs.iter().all(|target| self.has(*target))
    }

    fn has(&self, target: Target) -> bool {
        match target {
            Target::Key => self.key.is_some(),
            Target::Url => self.url.is_some(),
            Target::Cx => self.cx.is_some(),
            Target::Mailto => self.mailto.is_some(),
        }
    }

    /// Fills in a setting unless it is set.
    pub(super) fn fill(
        &mut self,
        target: Target,
        value: &str,
        variable: &str,
    ) -> Result<(), InvalidSetting> {
        if self.has(target) {
            return Ok(());
        }
        match target {
            Target::Key => self.key = Some(value.into()),
            Target::Cx => self.cx = Some(value.to_owned()),
            Target::Mailto => self.mailto = Some(value.to_owned()),
            Target::Url => {
                let url = value
                    .parse()
                    .ok()
                    .filter(|url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host());
                let fault = || InvalidSetting::new(variable, "not an http or https URL");
                self.url = Some(url.ok_or_else(fault)?);
            }
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
