//! Lenses: named sets of domains to which a search is limited.

use std::path::PathBuf;

use search::links::parse_domain;
use serde::{Deserialize, Serialize};

/// A lens, as its YAML file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lens {
    pub name: String,
    #[serde(default)]
    pub domains: Vec<String>,
    /// A Google engine of its own, which is asked directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cx: Option<String>,
}

/// A file of the folder of lenses that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {why}", .path.display())]
pub struct LensFault {
    pub path: PathBuf,
    pub why: String,
}

impl LensFault {
    /// The message to a caller who names the lens: the file's name and why, if the file is named after the lens.
    pub(crate) fn describe_for(&self, lens: &str) -> Option<String> {
        self.path.file_stem().filter(|stem| stem.eq_ignore_ascii_case(lens))?;
        let file = self.path.file_name()?.to_string_lossy();
        Some(format!("{file}: {}", self.why))
    }
}

impl Lens {
    /// Whether a domain, or one that it belongs to, is in the lens.
    pub(crate) fn covers(&self, site: &str) -> bool {
        self.domains.iter().any(|domain| {
            site == domain
                || site.strip_suffix(domain.as_str()).is_some_and(|front| front.ends_with('.'))
        })
    }

    /// A lens whose name and domains are usable, with domains as searches need them.
    pub fn checked(mut self) -> Result<Self, String> {
        self.name = self.name.trim().to_owned();
        if self.name.is_empty() || self.name.len() > 100 {
            return Err("`name` must have 1 to 100 characters".to_owned());
        }
        if self.domains.is_empty() && self.cx.is_none() {
            return Err("needs `domains`, or a Google engine as `cx`".to_owned());
        }
        for domain in &mut self.domains {
            let parsed = parse_domain(domain);
            *domain =
                parsed.ok_or_else(|| format!("`{domain}` is not a domain such as example.com"))?;
        }
        self.domains.dedup();
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
