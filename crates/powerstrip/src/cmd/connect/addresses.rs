//! The addresses of this gateway, by which its entries in the files of clients are known.

use std::path::{Path, PathBuf};

use config::client_files::ClientFile;
use config::clients::Client;
use gateway::connect_record::{ConnectRecord, canonical};
use serde_json::Value;
use url::{Host, Url};

use crate::installer::Installer;
use gateway::handover;

/// The keys of entries under which clients expect a URL.
const URL_KEYS: [&str; 3] = ["url", "serverUrl", "httpUrl"];

/// Where clients reach this gateway, and with which files they start it.
pub(in crate::cmd) struct GatewayAddresses {
    urls: Vec<Url>,
    /// The config file and the data folder, without links.
    config: PathBuf,
    data_dir: PathBuf,
}

impl GatewayAddresses {
    /// The address of the config, its public URL, and the address of the gateway that runs.
    pub(in crate::cmd) async fn find(installer: &Installer<'_>) -> anyhow::Result<Self> {
        let config = installer.load()?.config;
        let mut addresses = vec![format!("http://{}", config.listen.0)];
        // A proxy may serve the public address; the gateway listens on another one.
        addresses.extend(config.public_url);
        // `serve --listen` may have chosen another address than the config.
        addresses.extend(handover::served_at(&config.data_dir).await);
        Ok(Self {
            urls: addresses.iter().filter_map(|url| Url::parse(url).ok()).collect(),
            config: canonical(&std::path::absolute(installer.file())?),
            data_dir: canonical(&std::path::absolute(&config.data_dir)?),
        })
    }

    /// The path of a URL that leads to this gateway, without a slash at its end.
    fn path_here(&self, url: &str) -> Option<String> {
        let url = Url::parse(url).ok()?;
        let is_here = self.urls.iter().any(|address| {
            address.port_or_known_default() == url.port_or_known_default()
                && (address.host() == url.host() || (is_local(address) && is_local(&url)))
        });
        is_here.then(|| url.path().trim_end_matches('/').to_owned())
    }

    /// The names of this gateway's entries in a client's file.
    pub(in crate::cmd) fn names_in(
        &self,
        file: &ClientFile,
        client: Client,
        record: &ConnectRecord,
    ) -> Vec<String> {
        let section = file.get(&[client.section()]);
        let entries = section.as_ref().and_then(Value::as_object).into_iter().flatten();
        let names = entries.filter(|(name, entry)| self.is_gateway(name, entry, record));
        names.map(|(name, _)| name.clone()).collect()
    }

    /// Whether an entry of a client's file is this gateway: it leads to the gateway, starts `powerstrip stdio` for it, or
    /// `connect` has written it.
    pub(super) fn is_gateway(&self, name: &str, entry: &Value, record: &ConnectRecord) -> bool {
        record.has_written(name, entry) || self.is_endpoint(entry) || self.is_bridge(entry)
    }

    /// Whether the URL of an entry is an MCP endpoint of this gateway.
    fn is_endpoint(&self, entry: &Value) -> bool {
        let mut urls = URL_KEYS.iter().filter_map(|key| entry[*key].as_str());
        urls.any(|url| self.path_here(url).is_some_and(|path| is_mcp(&path)))
    }

    /// Whether an entry starts `powerstrip stdio`, and names no other gateway.
    fn is_bridge(&self, entry: &Value) -> bool {
        let arguments = arguments_of(entry);
        let folder = Path::new(entry["cwd"].as_str().unwrap_or_default());
        let is_ours = |option: &str, ours: &Path| {
            value_of(option, &arguments).is_none_or(|path| {
                std::path::absolute(folder.join(path)).is_ok_and(|path| canonical(&path) == ours)
            })
        };
        let leads_here =
            |url: &str| self.path_here(url).is_some_and(|path| path.is_empty() || is_mcp(&path));
        starts_a_gateway(entry)
            && is_ours("--config", &self.config)
            && is_ours("--data-dir", &self.data_dir)
            && value_of("--url", &arguments).is_none_or(leads_here)
    }
}

/// Whether an entry starts `powerstrip stdio`, for whatever gateway.
pub(in crate::cmd) fn starts_a_gateway(entry: &Value) -> bool {
    let program = entry["command"].as_str().map(Path::new).and_then(Path::file_name);
    program.is_some_and(|program| program == "powerstrip") && arguments_of(entry).contains(&"stdio")
}

fn arguments_of(entry: &Value) -> Vec<&str> {
    entry["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The value of an option: `--option VALUE` or `--option=VALUE`.
fn value_of<'a>(option: &str, arguments: &[&'a str]) -> Option<&'a str> {
    arguments.iter().enumerate().find_map(|(index, argument)| {
        match argument.strip_prefix(option)? {
            "" => arguments.get(index + 1).copied(),
            rest => rest.strip_prefix('='),
        }
    })
}

/// Whether a path is that of an MCP endpoint of a gateway.
fn is_mcp(path: &str) -> bool {
    let agent = path.strip_prefix("/agents/").and_then(|rest| rest.strip_suffix("/mcp"));
    path == "/mcp" || agent.is_some()
}

/// Whether a URL has an address that only this machine can reach, or that means all of its addresses.
fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_unspecified(),
        Some(Host::Ipv6(address)) => address.is_loopback() || address.is_unspecified(),
        None => false,
    }
}

#[cfg(test)]
mod tests;
