//! The crate `mcp-proxy`. It answers at `/`, puts the server's name before the tool's, and, if built with the feature
//! `protocol-2026-07-28`, answers clients of both eras. By default it logs every call, which would slow it down.

use std::path::Path;

use tokio::process::Command;

use crate::load::Front;
use crate::process::{Process, free_address};

pub(super) async fn start(
    program: &Path,
    home: &Path,
    url: &str,
) -> anyhow::Result<(Process, Front)> {
    let address = free_address()?;
    let port = address.port();
    let config = format!(
        "[proxy]\nname = \"bench\"\n\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = {port}\n\n\
         [observability]\nlog_level = \"error\"\n\n\
         [[backends]]\nname = \"up\"\ntransport = \"http\"\nurl = \"{url}\"\n"
    );
    std::fs::write(home.join("proxy.toml"), config)?;
    let mut command = Command::new(program);
    command.args(["--config", "proxy.toml"]).current_dir(home);
    let process = Process::start_at(command, address, home.join("log")).await?;
    let front = Front { path: "/".to_owned(), ..Front::new(address, "up/echo") };
    Ok((process, front))
}

/// Whether this is the right program: mcp-proxy does not report its version, and the packages of this name on PyPI and npm
/// are other programs.
pub(super) fn introduction(help: &str) -> Option<String> {
    (help.contains("Standalone MCP proxy") && help.contains("--from-mcp-json")).then(String::new)
}

#[cfg(test)]
mod tests {
    use super::introduction;

    #[test]
    fn it_is_known_by_its_help() {
        let help = "Standalone MCP proxy\n\nUsage: mcp-proxy [OPTIONS]\n\nOptions:\n  -c, --config <CONFIG>\n      \
                    --from-mcp-json <PATH>\n";
        assert_eq!(introduction(help), Some(String::new()));
        assert_eq!(introduction("usage: mcp-proxy [-h] [command_or_url]"), None);
        assert_eq!(introduction(""), None);
    }
}
