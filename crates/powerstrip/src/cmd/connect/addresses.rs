//! The addresses of this gateway, by which its entries in the files of clients are known.

use std::path::Path;

use config::client_files::ClientFile;
use config::clients::Client;
use serde_json::Value;
use url::{Host, Url};

use super::moved::ConnectRecord;
use crate::handover;
use crate::installer::Installer;

/// The keys of entries under which clients expect a URL.
const URL_KEYS: [&str; 3] = ["url", "serverUrl", "httpUrl"];

/// Where clients reach this gateway.
pub(in crate::cmd) struct GatewayAddresses(Vec<Url>);

impl GatewayAddresses {
    /// The address of the config, its public URL, and the address of the gateway that runs.
    pub(in crate::cmd) async fn find(installer: &Installer<'_>) -> anyhow::Result<Self> {
        let config = installer.load()?.config;
        let mut addresses = vec![format!("http://{}", config.listen.0)];
        // A proxy may serve the public address; the gateway listens on another one.
        addresses.extend(config.public_url);
        // `serve --listen` may have chosen another address than the config.
        addresses.extend(handover::served_at(&config.data_dir).await);
        Ok(Self(addresses.iter().filter_map(|url| Url::parse(url).ok()).collect()))
    }

    /// Whether a URL leads to this gateway, whatever its path.
    pub(super) fn serve(&self, url: &str) -> bool {
        let Ok(url) = Url::parse(url) else { return false };
        self.0.iter().any(|address| {
            address.port_or_known_default() == url.port_or_known_default()
                && (address.host() == url.host() || (is_local(address) && is_local(&url)))
        })
    }

    /// The names of this gateway's entries in a client's file: those that lead to it, that start `powerstrip stdio`, or
    /// that `connect` has written.
    pub(in crate::cmd) fn names_in(
        &self,
        file: &ClientFile,
        client: Client,
        record: &ConnectRecord,
    ) -> Vec<String> {
        let section = file.get(&[client.section()]);
        let entries = section.as_ref().and_then(Value::as_object).into_iter().flatten();
        let is_gateway = |name: &str, entry: &Value| {
            record.has_written(name, entry) || self.is_endpoint(entry) || is_bridge(entry)
        };
        let names = entries.filter(|(name, entry)| is_gateway(name, entry));
        names.map(|(name, _)| name.clone()).collect()
    }

    /// Whether the URL of an entry is an MCP endpoint of this gateway.
    fn is_endpoint(&self, entry: &Value) -> bool {
        let mut urls = URL_KEYS.iter().filter_map(|key| entry[*key].as_str());
        urls.any(|url| self.serve(url) && is_mcp(url))
    }
}

/// Whether a URL has the path of an MCP endpoint of a gateway.
fn is_mcp(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| {
        let path = url.path().trim_end_matches('/');
        let agent = path.strip_prefix("/agents/").and_then(|rest| rest.strip_suffix("/mcp"));
        path == "/mcp" || agent.is_some()
    })
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

/// Whether an entry starts `powerstrip stdio`.
fn is_bridge(entry: &Value) -> bool {
    let program = entry["command"].as_str().map(Path::new).and_then(Path::file_name);
    let mut arguments = entry["args"].as_array().into_iter().flatten();
    program.is_some_and(|program| program == "powerstrip")
        && arguments.any(|argument| argument.as_str() == Some("stdio"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use url::Url;

    use super::{GatewayAddresses, is_bridge};

    #[test]
    fn only_urls_of_this_gateway_are_its_endpoints() {
        let urls = ["http://127.0.0.1:7777", "https://tools.example.com"];
        let addresses = GatewayAddresses(urls.map(|url| Url::parse(url).unwrap()).into());
        for url in [
            "http://127.0.0.1:7777/mcp",
            "http://localhost:7777/mcp/",
            "http://[::1]:7777/agents/analyst/mcp",
            "https://tools.example.com/mcp",
            "https://tools.example.com:443/mcp",
        ] {
            assert!(addresses.is_endpoint(&json!({"type": "http", "url": url})), "{url}");
            assert!(addresses.is_endpoint(&json!({"serverUrl": url})), "{url}");
        }
        for url in [
            "https://mcp.example.com/mcp",
            "https://tools.example.com.evil.example/mcp",
            "https://tools.example.com/crm/mcp",
            "http://tools.example.com:7777/mcp",
            "http://127.0.0.1:7778/mcp",
            "http://localhost/mcp",
            "/mcp",
        ] {
            assert!(!addresses.is_endpoint(&json!({"url": url})), "{url}");
        }
        let values = json!({"command": "http://127.0.0.1:7777/mcp", "cwd": "/srv/mcp"});
        assert!(!addresses.is_endpoint(&values));
    }

    #[test]
    fn only_the_stdio_command_is_a_bridge() {
        for arguments in [json!(["stdio"]), json!(["--data-dir", "x", "stdio"])] {
            assert!(is_bridge(&json!({"command": "/opt/powerstrip", "args": arguments})));
            assert!(!is_bridge(&json!({"command": "/opt/other", "args": arguments})));
        }
        assert!(!is_bridge(&json!({"command": "powerstrip", "args": ["serve"]})));
        assert!(!is_bridge(&json!({"command": "powerstrip"})));
        assert!(!is_bridge(&json!("powerstrip stdio")));
    }
}
