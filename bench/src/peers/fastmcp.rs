//! FastMCP's proxy: what `fastmcp run URL` makes of a URL.

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
    let mut command = Command::new(program);
    command
        .args(["run", url, "--transport", "http", "--host", "127.0.0.1", "--no-banner"])
        .args(["--port", &address.port().to_string(), "--log-level", "ERROR"])
        .current_dir(home);
    let process = Process::start_at(command, address, home.join("log")).await?;
    Ok((process, Front::new(address, "echo")))
}

/// Reads what `fastmcp version` prints.
pub(super) fn version(text: &str) -> Option<String> {
    let version = text.lines().find_map(|line| line.trim().strip_prefix("FastMCP version:"))?;
    Some(format!(" {}", version.trim()))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn the_version_is_read() {
        let text =
            "FastMCP version:                       4.1.2\nMCP version:               2.3.0\n";
        assert_eq!(version(text).as_deref(), Some(" 4.1.2"));
        assert_eq!(version("MCP version: 2.3.0"), None);
        assert_eq!(version(""), None);
    }
}
