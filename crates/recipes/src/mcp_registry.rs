//! Looks up servers in an MCP registry that has the API of the official one. What a registry answers is untrusted: an
//! entry is accepted only if it names a package or a URL in plain form and sets nothing that could run other code.

mod address;
mod names;
mod package;
mod remote;
mod settings;
mod variables;

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use config::Config;
use egress::http::{
    AddressPolicy, Client, Limits, OwnListeners, Request, Rule, Scope, encode_component,
};
use serde_json::{Value, json};

use crate::Recipe;

pub use address::find_private_address;

/// What the user adds to an entry of a registry.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Arguments behind those of the entry.
    pub arguments: &'a [String],
    /// Variables, which replace those of the entry.
    pub given: &'a BTreeMap<String, String>,
    /// Whether the entry may lead into a private network.
    pub allow_private: bool,
}

/// How many servers a search may find.
const MAX_RESULTS: usize = 50;

/// One server of a registry.
#[derive(Clone, Debug)]
pub struct RegistryServer {
    pub name: String,
    pub about: String,
    definition: Value,
}

/// Searches a registry. Its address is reachable because the user named it; nothing else is.
pub async fn search(
    config: &Config,
    registry: &str,
    word: &str,
) -> anyhow::Result<Vec<RegistryServer>> {
    let rule = Rule::for_url(registry).with_context(|| format!("`{registry}` is no registry"))?;
    let policy = AddressPolicy::new(config.egress.rules(), OwnListeners::default()).allowing(rule);
    let client = Client::new(policy).context("the guarded HTTP client cannot be built")?;
    let base = registry.trim_end_matches('/');
    let base = if base.ends_with("/v0") || base.ends_with("/v0.1") {
        base.to_owned()
    } else {
        format!("{base}/v0")
    };
    let word = encode_component(word);
    let url = format!("{base}/servers?search={word}&limit={MAX_RESULTS}&version=latest");
    let request = Request::get(url);
    let answer = client
        .send(request, &Limits::default(), &Scope::origins([registry]))
        .await
        .with_context(|| format!("the registry {registry} cannot be reached"))?;
    if !answer.status.is_success() {
        bail!("the registry {registry} answered with HTTP {}", answer.status.as_u16());
    }
    let list: Value = serde_json::from_slice(&answer.body)
        .with_context(|| format!("{registry} did not answer as an MCP registry"))?;
    let servers = list["servers"].as_array();
    let servers =
        servers.with_context(|| format!("{registry} did not answer as an MCP registry"))?;
    Ok(servers.iter().filter_map(RegistryServer::read).take(MAX_RESULTS).collect())
}

impl RegistryServer {
    /// Reads a row; rows of old versions and removed servers are passed over.
    fn read(row: &Value) -> Option<Self> {
        let definition = row.get("server").unwrap_or(row);
        let official = &row["_meta"]["io.modelcontextprotocol.registry/official"];
        let status = official["status"].as_str().or_else(|| definition["status"].as_str());
        if official["isLatest"] == json!(false) || status == Some("deleted") {
            return None;
        }
        let text = |key: &str| definition[key].as_str().map(terminal::shown);
        let about = text("description").unwrap_or_default();
        Some(Self { name: text("name")?, about, definition: definition.clone() })
    }

    /// The last part of the name, which can name a server here.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// How the server is added: by its URL if it has one, as a package otherwise. The error says what of the entry is
    /// not accepted from a registry.
    pub fn recipe(&self, options: &Options<'_>) -> Result<Recipe, String> {
        names::check_server(&self.name)?;
        let list = |key: &str| self.definition[key].as_array().cloned().unwrap_or_default();
        let mut remotes = list("remotes");
        remotes.retain(|remote| {
            let url = remote["url"].as_str().unwrap_or_default();
            !url.contains('{') && url.starts_with("http")
        });
        remotes.sort_by_key(|remote| remote::transport(remote) == "sse");
        if let Some(remote) = remotes.first() {
            return remote::recipe(self.short_name(), remote, options);
        }
        let packages = list("packages");
        let package = packages.iter().find(|package| package::is_supported(package));
        let package = package.ok_or_else(|| {
            format!("`{}` has no URL and no package of npm, PyPI or Docker", self.name)
        })?;
        package::recipe(&self.name, package, options)
    }
}

#[cfg(test)]
mod tests;
