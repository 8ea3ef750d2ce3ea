//! ContextForge on loopback: a database in its folder, no authentication and no rate limit. The server is registered over
//! its API.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::process::Command;

use crate::load::{Connection, Front, Request};
use crate::process::{Process, free_address};

/// How long it may take until it takes requests, after it listens.
const TIMEOUT: Duration = Duration::from_secs(60);

/// It refuses to start with shorter secrets. Only loopback can reach it.
const SECRET: &str = "powerstrip-bench-powerstrip-bench-powerstrip-bench";

pub(super) async fn start(
    program: &Path,
    home: &Path,
    url: &str,
) -> anyhow::Result<(Process, Front)> {
    let address = free_address()?;
    let mut command = Command::new(program);
    command
        .args(["mcpgateway.main:app", "--host", "127.0.0.1", "--log-level", "error"])
        .args(["--port", &address.port().to_string()])
        .current_dir(home)
        .envs([
            ("DATABASE_URL", "sqlite:///./mcp.db"),
            ("LOG_LEVEL", "ERROR"),
            ("ENVIRONMENT", "development"),
            ("AUTH_REQUIRED", "false"),
            ("MCP_REQUIRE_AUTH", "false"),
            ("ALLOW_UNAUTHENTICATED_ADMIN", "true"),
            ("SSRF_ALLOW_LOCALHOST", "true"),
            ("SSRF_ALLOW_PRIVATE_NETWORKS", "true"),
            ("MCPGATEWAY_UI_ENABLED", "false"),
            ("RATE_LIMITING_ENABLED", "false"),
            ("TOOL_RATE_LIMIT", "1000000000"),
            ("JWT_SECRET_KEY", SECRET),
            ("AUTH_ENCRYPTION_SECRET", SECRET),
            ("PLATFORM_ADMIN_PASSWORD", SECRET),
        ]);
    let process = Process::start_at(command, address, home.join("log")).await?;
    register(address, url).await?;
    // It has a name for each tool, made of the server's and the tool's.
    Ok((process, Front { path: "/mcp/".to_owned(), ..Front::new(address, "up-echo") }))
}

async fn register(address: SocketAddr, url: &str) -> anyhow::Result<()> {
    let server =
        json!({"name": "up", "url": url, "transport": "STREAMABLEHTTP", "visibility": "public"});
    let request = Request::post(address, "/gateways", &[], &server);
    let begun = Instant::now();
    loop {
        let mut connection = Connection::open(address).await?;
        match connection.ask(request.bytes()).await {
            Ok(answer) if answer.status < 300 => return Ok(()),
            Ok(answer) if begun.elapsed() > TIMEOUT => {
                anyhow::bail!("the server is not registered: {answer}")
            }
            Err(error) if begun.elapsed() > TIMEOUT => return Err(error),
            _ => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Reads what `mcpgateway --version` prints.
pub(super) fn version(text: &str) -> Option<String> {
    let version = text.lines().find_map(|line| line.trim().strip_prefix("mcpgateway "))?;
    Some(format!(" {}", version.trim()))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn the_version_is_read() {
        assert_eq!(version("mcpgateway 1.0.7-20260921\n").as_deref(), Some(" 1.0.7-20260921"));
        assert_eq!(version("Running uvicorn 0.54.0"), None);
        assert_eq!(version(""), None);
    }
}
